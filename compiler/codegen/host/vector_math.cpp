#include "compiler/codegen/host/vector_math.hpp"

#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <limits>

// Argument reduction after Cody and Waite, "Software manual for the elementary functions", 1980. The coefficients are
// minimax fits of relative error (Lawson's iteration), made for these intervals.

namespace dtj::codegen {
namespace {

constexpr double log2_e = 1.4426950408889634;
/// ln 2 as a float and the rest.
constexpr double ln2_hi = 0.693147182464599609375;
constexpr double ln2_lo = -1.904654299957768e-09;
/// ln 2 to so few bits that a product with an exponent is exact, and the rest: for CPUs without FMA.
constexpr double ln2_short = 0.693359375;
constexpr double ln2_rest = -2.1219444005469057e-04;
/// Adding 1.5 * 2^23 rounds a float to an integer, which is then in its low bits.
constexpr double round_f32 = 12582912.0;
constexpr std::int64_t round_f32_bits = 0x4b400000;
constexpr double round_f64 = 6755399441055744.0;
constexpr std::int64_t round_f64_bits = 0x4338000000000000;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

using llvm::Value;

Value* VectorMath::splat(Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

Value* VectorMath::splat_int(Value* like, std::int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<std::uint64_t>(value), true);
}

llvm::Type* VectorMath::with_scalar(Value* like, llvm::Type* scalar) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType()))
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
  return scalar;
}

Value* VectorMath::fma(Value* a, Value* b, Value* c) {
  if (!has_fma_) return b_.CreateFAdd(b_.CreateFMul(a, b), c);
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* VectorMath::intrinsic(llvm::Intrinsic::ID id, Value* x) {
  return b_.CreateUnaryIntrinsic(id, x);
}

Value* VectorMath::polynomial(Value* x, llvm::ArrayRef<double> coefficients) {
  Value* sum = splat(x, coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, splat(x, coefficients[i]));
  return sum;
}

Value* VectorMath::copy_sign(Value* magnitude, Value* sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

/// 2^n for -126 <= n <= 127, n an integer vector.
Value* VectorMath::power_of_two(Value* n) {
  Value* bits = b_.CreateShl(b_.CreateAdd(n, splat_int(n, 127)), splat_int(n, 23));
  return b_.CreateBitCast(bits, with_scalar(n, b_.getFloatTy()));
}

VectorMath::Reduced VectorMath::reduce_exp(Value* x) {
  Value* shifted = fma(x, splat(x, log2_e), splat(x, round_f32));
  Value* n = b_.CreateFSub(shifted, splat(x, round_f32));
  Value* r = fma(n, splat(x, has_fma_ ? -ln2_hi : -ln2_short), x);
  r = fma(n, splat(x, has_fma_ ? -ln2_lo : -ln2_rest), r);
  Value* bits = b_.CreateBitCast(shifted, with_scalar(x, b_.getInt32Ty()));
  return {b_.CreateSub(bits, splat_int(bits, round_f32_bits)), r};
}

Value* VectorMath::exp_remainder(Value* r) {
  Value* q = polynomial(r, {0.5, 0.1666666716337204, 0.041666269302368164, 0.008333263918757439, 0.0013946177205070853,
                            0.000199185247765854});
  return fma(b_.CreateFMul(q, r), r, r);
}

Value* VectorMath::exp(Value* x) {
  // The limits keep n inside [-150, 129]; comparisons with nan are false, so nan goes through.
  Value* high = splat(x, 89.0);
  Value* low = splat(x, -104.0);
  Value* y = b_.CreateSelect(b_.CreateFCmpOGT(x, high), high, x);
  y = b_.CreateSelect(b_.CreateFCmpOLT(y, low), low, y);
  const Reduced reduced = reduce_exp(y);
  Value* p = b_.CreateFAdd(exp_remainder(reduced.remainder), splat(x, 1.0));
  // In two factors: 2^n alone leaves the normal range before the result does.
  Value* half = b_.CreateAShr(reduced.bits, splat_int(reduced.bits, 1));
  p = b_.CreateFMul(p, power_of_two(half));
  return b_.CreateFMul(p, power_of_two(b_.CreateSub(reduced.bits, half)));
}

Value* VectorMath::log(Value* x) {
  llvm::Type* ints = with_scalar(x, b_.getInt32Ty());
  Value* is_tiny = b_.CreateFCmpOLT(x, splat(x, 1.1754943508222875e-38));
  Value* normal = b_.CreateSelect(is_tiny, b_.CreateFMul(x, splat(x, 8388608.0)), x);
  Value* bits = b_.CreateBitCast(normal, ints);
  Value* exponent = b_.CreateAShr(b_.CreateSub(bits, splat_int(bits, 0x3f3504f3)), splat_int(bits, 23));
  Value* mantissa = b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(exponent, splat_int(bits, 23))), x->getType());
  exponent = b_.CreateSub(exponent, b_.CreateSelect(is_tiny, splat_int(bits, 23), splat_int(bits, 0)));
  Value* e = b_.CreateSIToFP(exponent, x->getType());
  Value* f = b_.CreateFSub(mantissa, splat(x, 1.0));
  Value* r = polynomial(f, {0.3333333134651184, -0.2500081956386566, 0.20001226663589478, -0.16623356938362122,
                            0.14201757311820984, -0.13160182535648346, 0.1276157647371292, -0.07634496688842773});
  Value* square = b_.CreateFMul(f, f);
  Value* y = b_.CreateFMul(b_.CreateFMul(r, f), square);
  y = fma(e, splat(x, has_fma_ ? ln2_lo : ln2_rest), y);
  y = fma(splat(x, -0.5), square, y);
  y = fma(e, splat(x, has_fma_ ? ln2_hi : ln2_short), b_.CreateFAdd(y, f));
  y = b_.CreateSelect(b_.CreateFCmpOEQ(x, splat(x, 0.0)), splat(x, -infinity), y);
  y = b_.CreateSelect(b_.CreateFCmpOEQ(x, splat(x, infinity)), x, y);
  return b_.CreateSelect(b_.CreateFCmpULT(x, splat(x, 0.0)), splat(x, not_a_number), y);
}

Value* VectorMath::tanh(Value* x) {
  // expm1(2 |x|) / (expm1(2 |x|) + 2); beyond 9.02 the result rounds to 1.
  Value* magnitude = intrinsic(llvm::Intrinsic::fabs, x);
  Value* limit = splat(x, 9.1);
  magnitude = b_.CreateSelect(b_.CreateFCmpOGT(magnitude, limit), limit, magnitude);
  const Reduced reduced = reduce_exp(b_.CreateFAdd(magnitude, magnitude));
  Value* scale = power_of_two(reduced.bits);
  Value* e = fma(scale, exp_remainder(reduced.remainder), b_.CreateFSub(scale, splat(x, 1.0)));
  return copy_sign(b_.CreateFDiv(e, b_.CreateFAdd(e, splat(x, 2.0))), x);
}

Value* VectorMath::erf(Value* x) {
  Value* t = intrinsic(llvm::Intrinsic::fabs, x);
  Value* square = b_.CreateFMul(x, x);
  Value* small = polynomial(square, {0.12837915122509003, -0.37612494826316833, 0.11281802505254745,
                                     -0.02676556631922722, 0.0049909804947674274, -0.0005976894753985107});
  small = fma(small, x, x);
  // 1 - exp(ln erfc(t)) with ln erfc(t) = -t + t p(t); beyond 3.95 the result rounds to 1.
  Value* limit = splat(x, 3.95);
  Value* u = b_.CreateSelect(b_.CreateFCmpOGT(t, limit), limit, t);
  Value* p = polynomial(u, {-0.12850742042064667, -0.6357421278953552, -0.10523007810115814, 0.022869344800710678,
                            -0.003208451671525836, 0.00021318782819435});
  p = fma(p, u, b_.CreateFNeg(u));
  const Reduced reduced = reduce_exp(p);
  Value* e = b_.CreateFAdd(exp_remainder(reduced.remainder), splat(x, 1.0));
  e = b_.CreateFMul(e, power_of_two(reduced.bits));
  Value* large = copy_sign(b_.CreateFSub(splat(x, 1.0), e), x);
  // Unordered: nan takes the small branch, which keeps it.
  return b_.CreateSelect(b_.CreateFCmpOGT(t, splat(x, 0.93)), large, small);
}

Value* VectorMath::sin_cos(Value* x, std::int64_t quarter_turns) {
  // The reduction is in f64: x - n pi/2 is then good to the last bit of f32.
  llvm::Type* doubles = with_scalar(x, b_.getDoubleTy());
  Value* wide = b_.CreateFPExt(x, doubles);
  Value* shifted = fma(wide, splat(wide, 0.6366197723675814), splat(wide, round_f64));
  Value* n = b_.CreateFSub(shifted, splat(wide, round_f64));
  Value* r = fma(n, splat(wide, -1.5707963267948966), wide);
  r = fma(n, splat(wide, -6.123233995736766e-17), r);
  Value* bits = b_.CreateBitCast(shifted, with_scalar(x, b_.getInt64Ty()));
  bits = b_.CreateTrunc(bits, with_scalar(x, b_.getInt32Ty()));
  bits = b_.CreateAdd(bits, splat_int(bits, quarter_turns));
  Value* a = b_.CreateFPTrunc(r, x->getType());
  Value* z = b_.CreateFMul(a, a);
  Value* sine =
      polynomial(z, {-0.1666666716337204, 0.008333329111337662, -0.00019839327433146536, 2.71823728326126e-06});
  sine = fma(b_.CreateFMul(sine, z), a, a);
  Value* cosine =
      polynomial(z, {0.0416666679084301, -0.0013888883404433727, 2.479951217537746e-05, -2.7209549102735764e-07});
  cosine = fma(b_.CreateFMul(cosine, z), z, fma(splat(x, -0.5), z, splat(x, 1.0)));
  const auto has_bit = [&](std::int64_t bit) {
    return b_.CreateICmpNE(b_.CreateAnd(bits, splat_int(bits, bit)), splat_int(bits, 0));
  };
  Value* y = b_.CreateSelect(has_bit(1), cosine, sine);
  y = b_.CreateSelect(has_bit(2), b_.CreateFNeg(y), y);
  // inf - inf above gave nan already for infinite x; make sure of it whatever the rounding trick did.
  Value* is_finite = b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, x), splat(x, infinity));
  return b_.CreateSelect(is_finite, y, splat(x, not_a_number));
}

Value* VectorMath::log_f64(Value* x) {
  Value* bits = b_.CreateBitCast(x, with_scalar(x, b_.getInt64Ty()));
  Value* exponent = b_.CreateAShr(b_.CreateSub(bits, splat_int(bits, 0x3fe6a09e667f3bcd)), splat_int(bits, 52));
  Value* mantissa = b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(exponent, splat_int(bits, 52))), x->getType());
  // The exponent as f64 by the rounding trick: AVX2 has no conversion from i64.
  Value* e = b_.CreateBitCast(b_.CreateAdd(exponent, splat_int(bits, round_f64_bits)), x->getType());
  e = b_.CreateFSub(e, splat(x, round_f64));
  Value* f = b_.CreateFSub(mantissa, splat(x, 1.0));
  Value* s = b_.CreateFDiv(f, b_.CreateFAdd(f, splat(x, 2.0)));
  Value* w = b_.CreateFMul(s, s);
  Value* p = polynomial(w, {0.6666666666666713, 0.3999999999950624, 0.28571428731457366, 0.22222198935223916,
                            0.18183577026974493, 0.15313072214457352, 0.14811102982883473});
  Value* y = fma(b_.CreateFMul(p, w), s, b_.CreateFAdd(s, s));
  return fma(e, splat(x, 0.6931471805599453), y);
}

Value* VectorMath::exp_f64(Value* x) {
  Value* shifted = fma(x, splat(x, log2_e), splat(x, round_f64));
  Value* n = b_.CreateFSub(shifted, splat(x, round_f64));
  Value* r = fma(n, splat(x, -0.6931471805599453), x);
  r = fma(n, splat(x, -2.3190468138462996e-17), r);
  Value* q = polynomial(r, {0.5000000000000021, 0.16666666666667324, 0.0416666666664213, 0.00833333333300449,
                            0.001388888897317757, 0.0001984127042583832, 2.480146306035717e-05, 2.7556859185749326e-06,
                            2.764055696967318e-07, 2.5207397942533192e-08});
  Value* p = b_.CreateFAdd(fma(b_.CreateFMul(q, r), r, r), splat(x, 1.0));
  Value* bits = b_.CreateBitCast(shifted, with_scalar(x, b_.getInt64Ty()));
  bits = b_.CreateSub(bits, splat_int(bits, round_f64_bits));
  Value* scale = b_.CreateShl(b_.CreateAdd(bits, splat_int(bits, 1023)), splat_int(bits, 52));
  return b_.CreateFMul(p, b_.CreateBitCast(scale, x->getType()));
}

Value* VectorMath::pow(Value* x, Value* y) {
  llvm::Type* doubles = with_scalar(x, b_.getDoubleTy());
  Value* zero = splat(x, 0.0);
  Value* magnitude = intrinsic(llvm::Intrinsic::fabs, x);
  // A denormal f32 is a normal f64.
  Value* base = b_.CreateFPExt(magnitude, doubles);
  Value* power = b_.CreateFMul(b_.CreateFPExt(y, doubles), log_f64(base));
  // Far outside of the range of f32 but inside that of f64; nan goes through.
  power = b_.CreateSelect(b_.CreateFCmpOGT(power, splat(power, 300.0)), splat(power, 300.0), power);
  power = b_.CreateSelect(b_.CreateFCmpOLT(power, splat(power, -300.0)), splat(power, -300.0), power);
  Value* result = b_.CreateFPTrunc(exp_f64(power), x->getType());

  Value* y_rises = b_.CreateFCmpOGT(y, zero);
  Value* small_or_large = b_.CreateSelect(y_rises, zero, splat(x, infinity));
  Value* large_or_small = b_.CreateSelect(y_rises, splat(x, infinity), zero);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(magnitude, zero), small_or_large, result);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(magnitude, splat(x, infinity)), large_or_small, result);

  Value* is_whole = b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::floor, y), y);
  Value* half = b_.CreateFMul(y, splat(x, 0.5));
  Value* is_odd = b_.CreateAnd(is_whole, b_.CreateFCmpONE(intrinsic(llvm::Intrinsic::floor, half), half));
  result = b_.CreateSelect(is_odd, copy_sign(result, x), result);
  Value* is_invalid = b_.CreateAnd(b_.CreateFCmpOLT(x, zero), b_.CreateNot(is_whole));
  is_invalid = b_.CreateAnd(is_invalid, b_.CreateFCmpOLT(magnitude, splat(x, infinity)));
  result = b_.CreateSelect(is_invalid, splat(x, not_a_number), result);
  result = b_.CreateSelect(b_.CreateFCmpUNO(x, y), splat(x, not_a_number), result);

  // An infinite y: |x| decides.
  Value* one = splat(x, 1.0);
  Value* y_is_infinite = b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, y), splat(x, infinity));
  Value* grows = b_.CreateICmpEQ(b_.CreateFCmpOGT(magnitude, one), y_rises);
  Value* limit = b_.CreateSelect(grows, splat(x, infinity), zero);
  limit = b_.CreateSelect(b_.CreateFCmpOEQ(magnitude, one), one, limit);
  limit = b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, limit);
  result = b_.CreateSelect(y_is_infinite, limit, result);
  Value* is_one = b_.CreateOr(b_.CreateFCmpOEQ(y, zero), b_.CreateFCmpOEQ(x, one));
  return b_.CreateSelect(is_one, one, result);
}

}  // namespace dtj::codegen
