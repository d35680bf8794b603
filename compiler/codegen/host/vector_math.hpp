#pragma once

#include <llvm/IR/IRBuilder.h>

namespace dtj::codegen {

/// Elementary functions of f32 as polynomials in IR. Each takes and returns a float or a vector of floats; every lane
/// gives the same bits wherever it stands. Errors in units in the last place of f32, over all finite arguments:
///   exp 1.0, log 0.9, tanh 2.4, erf 1.3, sin and cos 1.5 (|x| < 2^28), pow 0.6
/// exp flushes no denormal results; exp(x < -104) = 0, exp(x > 88.73) = inf; log(0) = -inf, log(x < 0) = nan.
/// Products and sums are contracted only where `fma` is called; without FMA in the CPU that rounds twice instead.
class VectorMath {
 public:
  VectorMath(llvm::IRBuilder<>& builder, bool has_fma) : b_(builder), has_fma_(has_fma) {}

  llvm::Value* exp(llvm::Value* x);
  llvm::Value* log(llvm::Value* x);
  llvm::Value* tanh(llvm::Value* x);
  llvm::Value* erf(llvm::Value* x);
  llvm::Value* sin(llvm::Value* x) { return sin_cos(x, 0); }
  llvm::Value* cos(llvm::Value* x) { return sin_cos(x, 1); }
  /// As in C: pow(x, 0) = 1, pow(1, y) = 1, a negative x needs an integer y.
  llvm::Value* pow(llvm::Value* x, llvm::Value* y);
  /// Of f32 or f64.
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);

  /// A constant, in every lane, of the type of `like`.
  llvm::Value* splat(llvm::Value* like, double value);
  llvm::Value* splat_int(llvm::Value* like, std::int64_t value);

 private:
  struct Reduced {
    llvm::Value* bits;       ///< n as an integer
    llvm::Value* remainder;  ///< x - n ln 2
  };
  Reduced reduce_exp(llvm::Value* x);
  /// expm1 of a reduced argument.
  llvm::Value* exp_remainder(llvm::Value* r);
  llvm::Value* polynomial(llvm::Value* x, llvm::ArrayRef<double> coefficients);
  llvm::Value* power_of_two(llvm::Value* n);
  llvm::Value* copy_sign(llvm::Value* magnitude, llvm::Value* sign);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::Value* x);
  llvm::Value* sin_cos(llvm::Value* x, std::int64_t quarter_turns);
  /// ln of a positive normal f64 and exp of an f64, relative error below 1e-15.
  llvm::Value* log_f64(llvm::Value* x);
  llvm::Value* exp_f64(llvm::Value* x);
  llvm::Type* with_scalar(llvm::Value* like, llvm::Type* scalar);

  llvm::IRBuilder<>& b_;
  bool has_fma_;
};

}  // namespace dtj::codegen
