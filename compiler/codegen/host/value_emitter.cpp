#include "compiler/codegen/host/value_emitter.hpp"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <gsl/gsl>

// Scopes, loops, loads and stores; the ops themselves are in value_ops.cpp.

namespace dtj::codegen {

using llvm::Value;

ValueEmitter::ValueEmitter(llvm::IRBuilder<>& builder, const LoopNest& nest, const Schedule& schedule,
                           std::vector<Value*> inputs, llvm::Instruction* point, bool has_fma)
    : b_(builder),
      nest_(nest),
      schedule_(schedule),
      math_(builder, has_fma),
      inputs_(std::move(inputs)),
      indices_(nest.num_dims(), nullptr) {
  Scope outermost;
  outermost.point = point;
  scopes_.push_back(std::move(outermost));
}

llvm::IRBuilder<>& ValueEmitter::here() {
  b_.SetInsertPoint(top().point);
  return b_;
}

void ValueEmitter::loop(Value* lo, Value* hi, std::int64_t step, std::optional<std::size_t> dim,
                        const std::function<void(Value*)>& body) {
  llvm::Instruction* const after_point = top().point;
  llvm::BasicBlock* before = after_point->getParent();
  llvm::BasicBlock* after = before->splitBasicBlock(after_point, "after");
  llvm::BasicBlock* block = llvm::BasicBlock::Create(b_.getContext(), "loop", before->getParent(), after);

  llvm::Instruction* old_end = before->getTerminator();
  b_.SetInsertPoint(old_end);
  Value* enters = b_.CreateICmpSLE(b_.CreateAdd(lo, b_.getInt64(static_cast<std::uint64_t>(step))), hi);
  llvm::Instruction* enter = b_.CreateCondBr(enters, block, after);
  old_end->eraseFromParent();
  move_points(after_point, enter);

  b_.SetInsertPoint(block);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, "i");
  i->addIncoming(lo, before);
  Value* next = b_.CreateAdd(i, b_.getInt64(static_cast<std::uint64_t>(step)));
  Value* goes_on = b_.CreateICmpSLE(b_.CreateAdd(next, b_.getInt64(static_cast<std::uint64_t>(step))), hi);
  llvm::Instruction* back = b_.CreateCondBr(goes_on, block, after);

  Scope inner;
  inner.point = back;
  inner.dims = top().dims;
  inner.pass = top().pass;
  scopes_.push_back(std::move(inner));
  if (dim) set_index(*dim, i);
  body(i);
  i->addIncoming(next, back->getParent());
  scopes_.pop_back();
  move_points(enter, after_point);
}

/// Scopes without a loop of their own write at one place: they move together.
void ValueEmitter::move_points(llvm::Instruction* from, llvm::Instruction* to) {
  for (Scope& scope : scopes_)
    if (scope.point == from) scope.point = to;
}

void ValueEmitter::scope(int pass, const std::function<void()>& body) {
  Scope inner;
  inner.point = top().point;
  inner.dims = top().dims;
  inner.pass = pass;
  scopes_.push_back(std::move(inner));
  body();
  scopes_.pop_back();
}

void ValueEmitter::set_index(std::size_t dim, Value* index) {
  indices_[dim] = index;
  top().dims |= std::uint64_t{1} << dim;
}

void ValueEmitter::set_reduction(std::uint32_t number, Value* value) {
  reductions_[number] = value;
}

std::size_t ValueEmitter::home(std::uint64_t dims, int pass) const {
  std::size_t i = 0;
  while (i + 1 < scopes_.size() && ((dims & ~scopes_[i].dims) != 0 || scopes_[i].pass < pass)) ++i;
  return i;
}

std::size_t ValueEmitter::floor() const {
  std::size_t i = scopes_.size() - 1;
  while (i > 0 && !scopes_[i].is_guard) --i;
  return i;
}

bool ValueEmitter::is_vector(ExprId id) const {
  return width_ > 1 && (schedule_.dims[id] >> nest_.vector_dim() & 1) != 0;
}

Value* ValueEmitter::emit(ExprId id) {
  const std::size_t wanted = home(schedule_.dims[id], schedule_.pass[id]);
  for (std::size_t i = wanted; i < scopes_.size(); ++i)
    if (const auto known = scopes_[i].values.find(id); known != scopes_[i].values.end()) return known->second;
  const std::size_t target = std::max(wanted, floor());
  // Scopes further in are set aside, so that arguments land here or further out too.
  std::vector<Scope> aside;
  while (scopes_.size() > target + 1) {
    aside.push_back(std::move(scopes_.back()));
    scopes_.pop_back();
  }
  const int outer_width = width_;
  if (!is_vector(id)) width_ = 1;
  Value* value = emit_new(id);
  width_ = outer_width;
  top().values[id] = value;
  while (!aside.empty()) {
    scopes_.push_back(std::move(aside.back()));
    aside.pop_back();
  }
  return value;
}

Value* ValueEmitter::emit_new(ExprId id) {
  const Expr& expr = nest_.exprs[id];
  switch (expr.kind) {
    case ExprKind::constant: {
      llvm::Type* type = lane_type(expr.dtype);
      if (is_float(expr.dtype)) return llvm::ConstantFP::get(type, expr.value);
      if (expr.dtype == DType::boolean) return llvm::ConstantInt::get(type, expr.value != 0 ? 1 : 0);
      return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(expr.value)), true);
    }
    case ExprKind::load:
      return emit_load(id);
    case ExprKind::index:
      return emit_index(expr);
    case ExprKind::guard:
      return emit_guard(id);
    case ExprKind::reduction:
      return reductions_.at(expr.number);
    case ExprKind::apply:
      break;
  }
  if (const auto from = schedule_.cached_from[id]; from && *from < pass_) return emit_cached(id);
  std::vector<Value*> args;
  for (const ExprId arg : expr.args) args.push_back(emit(arg));
  here();
  Value* value = emit_apply(expr, std::move(args));
  if (const auto from = schedule_.cached_from[id]; from && *from == pass_) {
    Value* at = b_.CreateInBoundsGEP(lane_type(expr.dtype), rows_.at(id), row_position_);
    b_.CreateAlignedStore(as_vector(value), at, llvm::Align(4));
  }
  return value;
}

Value* ValueEmitter::emit_cached(ExprId id) {
  here();
  llvm::Type* lane = lane_type(nest_.exprs[id].dtype);
  Value* at = b_.CreateInBoundsGEP(lane, rows_.at(id), row_position_);
  return b_.CreateAlignedLoad(vector_type(nest_.exprs[id].dtype, width_), at, llvm::Align(4));
}

llvm::Constant* ValueEmitter::lanes(llvm::Type* integer, std::int64_t step) {
  std::vector<llvm::Constant*> values;
  for (int lane = 0; lane < width_; ++lane)
    values.push_back(llvm::ConstantInt::get(integer, static_cast<std::uint64_t>(step * lane), true));
  return llvm::ConstantVector::get(values);
}

/// offset + sum over the dims in `dims`.
Value* ValueEmitter::scalar_index(const Affine& where, std::uint64_t dims) {
  Value* sum = b_.getInt64(static_cast<std::uint64_t>(where.offset));
  for (std::size_t d = 0; d < where.coeff.size(); ++d) {
    if (where.coeff[d] == 0 || (dims >> d & 1) == 0) continue;
    sum = b_.CreateAdd(sum, b_.CreateMul(indices_[d], b_.getInt64(static_cast<std::uint64_t>(where.coeff[d]))));
  }
  return sum;
}

Value* ValueEmitter::address(Value* base, llvm::Type* memory, const Affine& where, std::uint64_t dims) {
  return b_.CreateGEP(memory, base, scalar_index(where, dims));
}

Value* ValueEmitter::emit_index(const Expr& expr) {
  here();
  const bool wide = expr.dtype == DType::i64 || expr.dtype == DType::f64;
  llvm::Type* integer = wide ? b_.getInt64Ty() : b_.getInt32Ty();
  Value* index = b_.CreateTrunc(scalar_index(expr.where, ~std::uint64_t{0}), integer);
  const std::int64_t step = expr.where.coeff[nest_.vector_dim()];
  if (width_ > 1)
    index = b_.CreateAdd(b_.CreateVectorSplat(static_cast<unsigned>(width_), index), lanes(integer, step));
  return emit_cast(index, wide ? DType::i64 : DType::i32, expr.dtype);
}

Value* ValueEmitter::emit_load(ExprId id) {
  const Expr& expr = nest_.exprs[id];
  llvm::Type* memory = memory_type(expr.dtype);
  // The part of the address that the vector dim leaves alone is computed in the scope around its loop.
  const std::uint64_t vector_bit = std::uint64_t{1} << nest_.vector_dim();
  const std::uint64_t outer_dims = schedule_.dims[id] & ~vector_bit;
  Scope& scope = scopes_[std::min(home(outer_dims, 0), scopes_.size() - 1)];
  Value*& row = scope.addresses[id];
  if (row == nullptr) {
    b_.SetInsertPoint(scope.point);
    row = address(inputs_[expr.number], memory, expr.where, outer_dims);
  }
  here();
  const std::int64_t step = expr.where.coeff[nest_.vector_dim()];
  if (step == 0) return from_memory(b_.CreateAlignedLoad(memory, row, llvm::Align(size_of(expr.dtype))), expr.dtype);
  Value* offset = b_.CreateMul(indices_[nest_.vector_dim()], b_.getInt64(static_cast<std::uint64_t>(step)));
  if (width_ == 1) {
    Value* at = b_.CreateGEP(memory, row, offset);
    return from_memory(b_.CreateAlignedLoad(memory, at, llvm::Align(size_of(expr.dtype))), expr.dtype);
  }
  if (step != 1) return from_memory(emit_strided_load(expr, b_.CreateGEP(memory, row, offset), memory), expr.dtype);
  Value* at = b_.CreateGEP(memory, row, offset);
  const llvm::Align align(size_of(expr.dtype));
  auto* vector = llvm::FixedVectorType::get(memory, static_cast<unsigned>(width_));
  if (mask_ != nullptr)
    return from_memory(b_.CreateMaskedLoad(vector, at, align, mask_, llvm::Constant::getNullValue(vector)), expr.dtype);
  return from_memory(b_.CreateAlignedLoad(vector, at, align), expr.dtype);
}

/// One load per lane. Under a mask, lanes that are off read the start of the input, which exists because a lane is on
/// somewhere in the loop.
Value* ValueEmitter::emit_strided_load(const Expr& expr, Value* at, llvm::Type* memory) {
  const std::int64_t step = expr.where.coeff[nest_.vector_dim()];
  Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(memory, static_cast<unsigned>(width_)));
  for (int lane = 0; lane < width_; ++lane) {
    Value* place = b_.CreateGEP(memory, at, b_.getInt64(static_cast<std::uint64_t>(step * lane)));
    if (mask_ != nullptr)
      place = b_.CreateSelect(b_.CreateExtractElement(mask_, static_cast<std::uint64_t>(lane)), place,
                              inputs_[expr.number]);
    Value* element = b_.CreateAlignedLoad(memory, place, llvm::Align(size_of(expr.dtype)));
    vector = b_.CreateInsertElement(vector, element, static_cast<std::uint64_t>(lane));
  }
  return vector;
}

Value* ValueEmitter::emit_guard(ExprId id) {
  const Expr& expr = nest_.exprs[id];
  if (width_ > 1 && expr.where.coeff[nest_.vector_dim()] != 0) return emit_masked(expr);
  here();
  Value* index = scalar_index(expr.where, ~std::uint64_t{0});
  Value* above = b_.CreateICmpSGE(index, b_.getInt64(static_cast<std::uint64_t>(expr.lo)));
  Value* below = b_.CreateICmpSLT(index, b_.getInt64(static_cast<std::uint64_t>(expr.hi)));
  return emit_branch(expr, b_.CreateAnd(above, below));
}

Value* ValueEmitter::emit_branch(const Expr& expr, Value* condition) {
  llvm::Instruction* ends[2] = {nullptr, nullptr};
  llvm::Instruction* const after_point = top().point;
  llvm::SplitBlockAndInsertIfThenElse(condition, after_point, &ends[0], &ends[1]);
  // What the branches share (addresses) goes before them.
  llvm::Instruction* const fork = ends[0]->getParent()->getSinglePredecessor()->getTerminator();
  move_points(after_point, fork);
  Value* values[2];
  for (int side = 0; side < 2; ++side) {
    Scope inner;
    inner.point = ends[side];
    inner.dims = top().dims;
    inner.pass = top().pass;
    inner.is_guard = true;
    scopes_.push_back(std::move(inner));
    values[side] = emit(expr.args[static_cast<std::size_t>(side)]);
    here();
    values[side] = as_vector(values[side]);
    scopes_.pop_back();
  }
  move_points(fork, after_point);
  b_.SetInsertPoint(after_point->getParent(), after_point->getParent()->begin());
  llvm::PHINode* phi = b_.CreatePHI(values[0]->getType(), 2);
  for (int side = 0; side < 2; ++side) phi->addIncoming(values[side], ends[side]->getParent());
  return phi;
}

Value* ValueEmitter::emit_masked(const Expr& expr) {
  here();
  Value* index = b_.CreateVectorSplat(static_cast<unsigned>(width_), scalar_index(expr.where, ~std::uint64_t{0}));
  index = b_.CreateAdd(index, lanes(b_.getInt64Ty(), expr.where.coeff[nest_.vector_dim()]));
  Value* above = b_.CreateICmpSGE(index, llvm::ConstantInt::getSigned(index->getType(), expr.lo));
  Value* below = b_.CreateICmpSLT(index, llvm::ConstantInt::getSigned(index->getType(), expr.hi));
  Value* inside = b_.CreateAnd(above, below);
  Value* const outer_mask = mask_;
  Value* values[2];
  for (int side = 0; side < 2; ++side) {
    here();
    Value* on = side == 0 ? inside : b_.CreateNot(inside);
    mask_ = outer_mask == nullptr ? on : b_.CreateAnd(outer_mask, on);
    Scope inner;
    inner.point = top().point;
    inner.dims = top().dims;
    inner.pass = top().pass;
    inner.is_guard = true;
    scopes_.push_back(std::move(inner));
    values[side] = emit(expr.args[static_cast<std::size_t>(side)]);
    scopes_.pop_back();
  }
  mask_ = outer_mask;
  here();
  return b_.CreateSelect(inside, as_vector(values[0]), as_vector(values[1]));
}

void ValueEmitter::store(Value* value, Value* base, const Affine& where, DType dtype) {
  here();
  if (width_ > 1 && where.coeff[nest_.vector_dim()] == 0) Expects(!value->getType()->isVectorTy());
  if (width_ > 1 && where.coeff[nest_.vector_dim()] != 0) value = as_vector(value);
  Value* at = address(base, memory_type(dtype), where, ~std::uint64_t{0});
  const std::int64_t step = where.coeff[nest_.vector_dim()];
  if (width_ > 1 && step > 1) {
    Value* lanes = to_memory(value, dtype);
    for (int lane = 0; lane < width_; ++lane) {
      Value* place = b_.CreateGEP(memory_type(dtype), at, b_.getInt64(static_cast<std::uint64_t>(step * lane)));
      Value* element = b_.CreateExtractElement(lanes, static_cast<std::uint64_t>(lane));
      b_.CreateAlignedStore(element, place, llvm::Align(size_of(dtype)));
    }
    return;
  }
  b_.CreateAlignedStore(to_memory(value, dtype), at, llvm::Align(size_of(dtype)));
}

llvm::Type* ValueEmitter::lane_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::bf16:
    case DType::f16:
      return b_.getFloatTy();
    case DType::f64:
      return b_.getDoubleTy();
    case DType::i32:
      return b_.getInt32Ty();
    case DType::i64:
      return b_.getInt64Ty();
    case DType::u8:
      return b_.getInt8Ty();
    case DType::u16:
      return b_.getInt16Ty();
    case DType::boolean:
      return b_.getInt1Ty();
  }
  Ensures(false);
  return nullptr;
}

llvm::Type* ValueEmitter::vector_type(DType dtype, int width) {
  llvm::Type* lane = lane_type(dtype);
  return width == 1 ? lane : llvm::FixedVectorType::get(lane, static_cast<unsigned>(width));
}

llvm::Type* ValueEmitter::memory_type(DType dtype) {
  if (dtype == DType::bf16) return b_.getInt16Ty();
  if (dtype == DType::f16) return b_.getHalfTy();
  if (dtype == DType::boolean) return b_.getInt8Ty();
  return lane_type(dtype);
}

Value* ValueEmitter::as_vector(Value* value) {
  if (width_ == 1 || value->getType()->isVectorTy()) return value;
  return b_.CreateVectorSplat(static_cast<unsigned>(width_), value);
}

}  // namespace dtj::codegen
