#include <llvm/IR/Module.h>

#include <gsl/gsl>

#include <limits>
#include <string>

#include "compiler/codegen/host/value_emitter.hpp"

// The ops of ValueEmitter. bf16 and f16 values are floats here: they are rounded by casts and by stores only.

namespace dtj::codegen {

using ir::Op;
using llvm::Value;

namespace {

bool is_signed(DType dtype) {
  return dtype == DType::i32 || dtype == DType::i64;
}

std::string_view libm_name(Op op) {
  switch (op) {
    case Op::exp:
      return "exp";
    case Op::log:
      return "log";
    case Op::tanh:
      return "tanh";
    case Op::erf:
      return "erf";
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::pow:
      return "pow";
    default:
      break;
  }
  Ensures(false);
  return "";
}

}  // namespace

Value* ValueEmitter::emit_apply(const Expr& expr, std::vector<Value*> args) {
  bool any_vector = false;
  for (const Value* arg : args) any_vector = any_vector || arg->getType()->isVectorTy();
  if (any_vector)
    for (Value*& arg : args) arg = as_vector(arg);
  switch (expr.op) {
    case Op::cast:
      return emit_cast(args[0], expr.from, expr.dtype);
    case Op::select:
      return b_.CreateSelect(args[0], args[1], args[2]);
    case Op::logical_not:
      return b_.CreateNot(args[0]);
    case Op::logical_and:
      return b_.CreateAnd(args[0], args[1]);
    case Op::logical_or:
      return b_.CreateOr(args[0], args[1]);
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
      return emit_compare(expr, args[0], args[1]);
    case Op::random:
      return emit_random(expr, args[0]);
    case Op::maximum:
      return extreme(true, expr.dtype, args[0], args[1]);
    case Op::minimum:
      return extreme(false, expr.dtype, args[0], args[1]);
    default:
      break;
  }
  return is_float(expr.dtype) ? emit_float(expr, args) : emit_integer(expr, args);
}

Value* ValueEmitter::emit_float(const Expr& expr, const std::vector<Value*>& args) {
  Value* x = args[0];
  switch (expr.op) {
    case Op::neg:
      return b_.CreateFNeg(x);
    case Op::add:
      return b_.CreateFAdd(x, args[1]);
    case Op::sub:
      return b_.CreateFSub(x, args[1]);
    case Op::mul:
      return b_.CreateFMul(x, args[1]);
    case Op::div:
      return b_.CreateFDiv(x, args[1]);
    case Op::sqrt:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Op::rsqrt:
      return b_.CreateFDiv(math_.splat(x, 1.0), b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case Op::abs:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case Op::floor:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case Op::sign: {
      Value* zero = math_.splat(x, 0.0);
      Value* negative = b_.CreateSelect(b_.CreateFCmpOLT(x, zero), math_.splat(x, -1.0), x);
      return b_.CreateSelect(b_.CreateFCmpOGT(x, zero), math_.splat(x, 1.0), negative);
    }
    case Op::pow:
      return emit_pow(expr, args);
    default:
      break;
  }
  return expr.dtype == DType::f64 ? emit_f64_function(expr.op, args) : emit_f32_function(expr.op, args);
}

/// Philox4x32-10, as in engine/base/philox.cpp. Every word has 64 bits here, the upper half zero, so that a product of two
/// words is one multiplication.
Value* ValueEmitter::emit_random(const Expr& expr, Value* counter) {
  llvm::Type* type = counter->getType();
  const auto number = [&](std::uint64_t value) { return llvm::ConstantInt::get(type, value); };
  Value* const mask = number(0xFFFFFFFFu);
  const auto high = [&](Value* x) { return b_.CreateLShr(x, number(32)); };
  const auto seed = static_cast<std::uint64_t>(expr.lo), stream = static_cast<std::uint64_t>(expr.hi);
  auto key_0 = static_cast<std::uint32_t>(seed), key_1 = static_cast<std::uint32_t>(seed >> 32);
  Value* words[] = {b_.CreateAnd(counter, mask), high(counter), number(stream & 0xFFFFFFFFu), number(stream >> 32)};
  for (int round = 0; round < 10; ++round) {
    Value* product_0 = b_.CreateMul(words[0], number(0xD2511F53u));
    Value* product_1 = b_.CreateMul(words[2], number(0xCD9E8D57u));
    words[0] = b_.CreateXor(b_.CreateXor(high(product_1), words[1]), number(key_0));
    words[2] = b_.CreateXor(b_.CreateXor(high(product_0), words[3]), number(key_1));
    words[1] = b_.CreateAnd(product_1, mask);
    words[3] = b_.CreateAnd(product_0, mask);
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  llvm::Type* narrow = b_.getInt32Ty();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    narrow = llvm::FixedVectorType::get(narrow, vector->getNumElements());
  Value* bits = b_.CreateTrunc(b_.CreateLShr(words[0], number(8)), narrow);
  Value* whole = b_.CreateSIToFP(bits, narrow->getWithNewType(b_.getFloatTy()));
  return b_.CreateFMul(whole, math_.splat(whole, 0x1p-24));
}

Value* ValueEmitter::emit_pow(const Expr& expr, const std::vector<Value*>& args) {
  Value* x = args[0];
  const Expr& exponent = nest_.exprs[expr.args[1]];
  if (exponent.kind == ExprKind::constant) {
    if (exponent.value == 2) return b_.CreateFMul(x, x);
    if (exponent.value == 1) return x;
    if (exponent.value == -1) return b_.CreateFDiv(math_.splat(x, 1.0), x);
  }
  return expr.dtype == DType::f64 ? emit_f64_function(expr.op, args) : math_.pow(x, args[1]);
}

Value* ValueEmitter::emit_f32_function(Op op, const std::vector<Value*>& args) {
  switch (op) {
    case Op::exp:
      return math_.exp(args[0]);
    case Op::log:
      return math_.log(args[0]);
    case Op::tanh:
      return math_.tanh(args[0]);
    case Op::erf:
      return math_.erf(args[0]);
    case Op::sin:
      return math_.sin(args[0]);
    case Op::cos:
      return math_.cos(args[0]);
    default:
      break;
  }
  Ensures(false);
  return nullptr;
}

/// f64 stands in schedules, on scalars: the C library is good enough, lane by lane.
Value* ValueEmitter::emit_f64_function(Op op, const std::vector<Value*>& args) {
  llvm::Module* module = b_.GetInsertBlock()->getModule();
  const std::vector<llvm::Type*> parameters(args.size(), b_.getDoubleTy());
  const std::string_view name = libm_name(op);
  const auto callee = module->getOrInsertFunction(llvm::StringRef(name.data(), name.size()),
                                                  llvm::FunctionType::get(b_.getDoubleTy(), parameters, false));
  if (!args[0]->getType()->isVectorTy()) return b_.CreateCall(callee, args);
  Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int lane = 0; lane < width_; ++lane) {
    std::vector<Value*> lane_args;
    for (Value* arg : args) lane_args.push_back(b_.CreateExtractElement(arg, static_cast<std::uint64_t>(lane)));
    result = b_.CreateInsertElement(result, b_.CreateCall(callee, lane_args), static_cast<std::uint64_t>(lane));
  }
  return result;
}

Value* ValueEmitter::emit_integer(const Expr& expr, const std::vector<Value*>& args) {
  Value* x = args[0];
  switch (expr.op) {
    case Op::neg:
      return b_.CreateNeg(x);
    case Op::add:
      return b_.CreateAdd(x, args[1]);
    case Op::sub:
      return b_.CreateSub(x, args[1]);
    case Op::mul:
      return b_.CreateMul(x, args[1]);
    case Op::div:
      return emit_quotient(x, args[1], is_signed(expr.dtype));
    case Op::abs:
      return is_signed(expr.dtype) ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse()) : x;
    case Op::sign: {
      Value* zero = math_.splat_int(x, 0);
      Value* positive = b_.CreateZExt(b_.CreateICmpNE(x, zero), x->getType());
      if (!is_signed(expr.dtype)) return positive;
      return b_.CreateSelect(b_.CreateICmpSLT(x, zero), math_.splat_int(x, -1), positive);
    }
    default:
      break;
  }
  Ensures(false);  // `build_loop_nest` got a graph that ir::verify accepts
  return nullptr;
}

/// Rounds towards zero. By zero it gives 0, and the least number by -1 gives itself: the CPU would trap.
Value* ValueEmitter::emit_quotient(Value* a, Value* b, bool is_signed) {
  Value* is_zero = b_.CreateICmpEQ(b, math_.splat_int(b, 0));
  Value* one = math_.splat_int(b, 1);
  Value* zero = math_.splat_int(b, 0);
  if (!is_signed) return b_.CreateSelect(is_zero, zero, b_.CreateUDiv(a, b_.CreateSelect(is_zero, one, b)));
  Value* is_minus_one = b_.CreateICmpEQ(b, math_.splat_int(b, -1));
  Value* safe = b_.CreateSelect(b_.CreateOr(is_zero, is_minus_one), one, b);
  Value* quotient = b_.CreateSelect(is_minus_one, b_.CreateNeg(a), b_.CreateSDiv(a, safe));
  return b_.CreateSelect(is_zero, zero, quotient);
}

Value* ValueEmitter::emit_compare(const Expr& expr, Value* a, Value* b) {
  const bool floats = is_float(expr.from), signs = is_signed(expr.from);
  using P = llvm::CmpInst::Predicate;
  const auto pick = [&](P on_float, P on_signed, P on_unsigned) {
    if (floats) return b_.CreateFCmp(on_float, a, b);
    return b_.CreateICmp(signs ? on_signed : on_unsigned, a, b);
  };
  switch (expr.op) {
    case Op::eq:
      return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case Op::ne:
      return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case Op::lt:
      return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case Op::le:
      return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case Op::gt:
      return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    case Op::ge:
      return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
    default:
      break;
  }
  Ensures(false);
  return nullptr;
}

Value* ValueEmitter::emit_cast(Value* x, DType from, DType to) {
  if (from == to) return x;
  const int width = x->getType()->isVectorTy() ? width_ : 1;
  llvm::Type* type = vector_type(to, width);
  if (to == DType::boolean) {
    if (is_float(from)) return b_.CreateFCmpUNE(x, math_.splat(x, 0.0));
    return b_.CreateICmpNE(x, math_.splat_int(x, 0));
  }
  if (is_float(from) && is_float(to)) {
    if (from == DType::f64) x = b_.CreateFPTrunc(x, vector_type(DType::f32, width));
    if (to == DType::f64) return b_.CreateFPExt(x, type);
    if (to == DType::bf16) return round_to_bf16(x);
    if (to == DType::f16) {
      llvm::Type* half = b_.getHalfTy();
      if (width > 1) half = llvm::FixedVectorType::get(half, static_cast<unsigned>(width));
      return b_.CreateFPExt(b_.CreateFPTrunc(x, half), type);
    }
    return x;
  }
  if (is_float(from)) {
    const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {type, x->getType()}, {x});
  }
  if (is_float(to)) {
    Value* number = is_signed(from) ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
    return to == DType::bf16 ? round_to_bf16(number) : number;
  }
  return is_signed(from) ? b_.CreateSExtOrTrunc(x, type) : b_.CreateZExtOrTrunc(x, type);
}

/// The larger (smaller) of two; nan if one of them is.
Value* ValueEmitter::extreme(bool is_max, DType dtype, Value* a, Value* b) {
  if (!is_float(dtype)) {
    const auto id = is_signed(dtype) ? (is_max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin)
                                     : (is_max ? llvm::Intrinsic::umax : llvm::Intrinsic::umin);
    return b_.CreateBinaryIntrinsic(id, a, b);
  }
  // One instruction on x86, which gives `a` when either is nan.
  Value* takes_b = is_max ? b_.CreateFCmpOGT(b, a) : b_.CreateFCmpOLT(b, a);
  Value* larger = b_.CreateSelect(takes_b, b, a);
  if (llvm::isa<llvm::Constant>(b)) return larger;
  return b_.CreateSelect(b_.CreateFCmpUNO(b, b), b, larger);
}

Value* ValueEmitter::combine(Op reduce, DType dtype, Value* a, Value* b) {
  if (reduce == Op::reduce_max) return extreme(true, dtype, a, b);
  return is_float(dtype) ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
}

llvm::Constant* ValueEmitter::neutral(Op reduce, DType dtype, int width) {
  llvm::Type* type = vector_type(dtype, width);
  if (reduce == Op::reduce_sum) return llvm::Constant::getNullValue(type);
  if (is_float(dtype)) return llvm::ConstantFP::get(type, -std::numeric_limits<double>::infinity());
  if (!is_signed(dtype)) return llvm::Constant::getNullValue(type);
  const unsigned bits = type->getScalarSizeInBits();
  return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
}

/// To the nearest bf16, ties to even, as a float. In integers: the bits do not depend on the CPU.
Value* ValueEmitter::round_to_bf16(Value* x) {
  llvm::Type* ints = x->getType()->isVectorTy() ? vector_type(DType::i32, width_) : b_.getInt32Ty();
  Value* bits = b_.CreateBitCast(x, ints);
  const auto number = [&](std::int64_t value) { return math_.splat_int(bits, value); };
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, number(16)), number(1));
  Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(odd, number(0x7fff)));
  Value* quiet = b_.CreateOr(bits, number(0x400000));
  rounded = b_.CreateSelect(b_.CreateFCmpUNO(x, x), quiet, rounded);
  return b_.CreateBitCast(b_.CreateAnd(rounded, number(static_cast<std::int32_t>(0xffff0000))), x->getType());
}

Value* ValueEmitter::from_memory(Value* raw, DType dtype) {
  const bool is_vector = raw->getType()->isVectorTy();
  llvm::Type* type = vector_type(dtype, is_vector ? width_ : 1);
  if (dtype == DType::boolean) return b_.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
  if (dtype == DType::f16) return b_.CreateFPExt(raw, type);
  if (dtype != DType::bf16) return raw;
  Value* bits = b_.CreateZExt(raw, vector_type(DType::i32, is_vector ? width_ : 1));
  return b_.CreateBitCast(b_.CreateShl(bits, math_.splat_int(bits, 16)), type);
}

Value* ValueEmitter::to_memory(Value* value, DType dtype) {
  const bool is_vector = value->getType()->isVectorTy();
  llvm::Type* lane = memory_type(dtype);
  llvm::Type* type = is_vector ? llvm::FixedVectorType::get(lane, static_cast<unsigned>(width_)) : lane;
  if (dtype == DType::boolean) return b_.CreateZExt(value, type);
  if (dtype == DType::f16) return b_.CreateFPTrunc(value, type);
  if (dtype != DType::bf16) return value;
  Value* bits = b_.CreateBitCast(round_to_bf16(value), vector_type(DType::i32, is_vector ? width_ : 1));
  return b_.CreateTrunc(b_.CreateLShr(bits, math_.splat_int(bits, 16)), type);
}

}  // namespace dtj::codegen
