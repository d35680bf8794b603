#include "compiler/codegen/host/kernel_emitter.hpp"

#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <functional>
#include <gsl/gsl>

#include "compiler/codegen/host/value_emitter.hpp"

namespace dtj::codegen {
namespace {

using llvm::Value;

/// A kernel call should do this many elements of cheap work.
constexpr std::int64_t min_elements_per_call = 16384;
/// Sums of more vectors than this are made of blocks of 64 vectors in f32, added up in f64.
constexpr std::int64_t max_plain_sum = 256;
constexpr std::int64_t sum_block = 64;

std::int64_t product(const LoopNest& nest, bool reduced, std::size_t begin, std::size_t end) {
  std::int64_t total = 1;
  for (std::size_t d = begin; d < end; ++d)
    if (nest.reduced[d] == reduced) total *= nest.extents[d];
  return total;
}

/// True if there is nothing to vectorise: the nest is a single element.
bool is_scalar(const LoopNest& nest) {
  return is_flat(nest) && nest.results.front().where.coeff[0] == 0;
}

class KernelEmitter {
 public:
  KernelEmitter(llvm::Function& function, const LoopNest& nest, const Schedule& schedule, const TargetSpec& target)
      : nest_(nest),
        schedule_(schedule),
        widths_(pick_widths(nest, schedule, target)),
        b_(function.getContext()),
        entry_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)) {
    b_.SetInsertPoint(entry_);
    llvm::Instruction* end = b_.CreateRetVoid();
    b_.SetInsertPoint(end);
    Value* buffers = function.getArg(0);
    begin_ = function.getArg(2);
    end_ = function.getArg(3);
    std::vector<Value*> inputs;
    const auto buffer = [&](std::size_t i) {
      return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), buffers, i));
    };
    for (std::size_t i = 0; i < nest.inputs.size(); ++i) inputs.push_back(buffer(i));
    for (std::size_t i = 0; i < nest.results.size(); ++i) outputs_.push_back(buffer(nest.inputs.size() + i));
    values_ = std::make_unique<ValueEmitter>(b_, nest, schedule, std::move(inputs), end, target.has_fma);
  }

  void emit() {
    if (is_flat(nest_)) return emit_flat();
    if (nest_.kind == NestKind::column) return emit_columns();
    make_row_caches();
    values_->loop(begin_, end_, 1, std::nullopt, [&](Value* row) {
      set_outer_indices(row, false);
      if (nest_.kind == NestKind::row) return emit_row_pass(0);
      emit_segments([&](int) { store_results(all_results()); });
    });
  }

 private:
  struct Accumulator {
    std::uint32_t reduction = 0;
    int width = 1;
    Value* sum = nullptr;    ///< one partial result per lane
    Value* total = nullptr;  ///< f64: the partial results of finished blocks
  };

  Value* number(std::int64_t value) { return b_.getInt64(static_cast<std::uint64_t>(value)); }
  const Reduction& reduction(std::uint32_t r) const { return nest_.reductions[r]; }

  std::vector<std::uint32_t> all_results() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < nest_.results.size(); ++i) all.push_back(i);
    return all;
  }

  /// All values first: a result may share the memory of an input.
  void store_results(const std::vector<std::uint32_t>& results) {
    std::vector<Value*> stored;
    for (const std::uint32_t r : results) stored.push_back(values_->emit(nest_.results[r].value));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const NestResult& result = nest_.results[results[i]];
      values_->store(stored[i], outputs_[results[i]], result.where, result.dtype);
    }
  }

  void emit_flat() {
    Value* lo = begin_;
    for (const int width : widths_) {
      values_->set_width(width);
      values_->loop(lo, end_, width, nest_.vector_dim(), [&](Value*) { store_results(all_results()); });
      values_->here();
      Value* done = b_.CreateAnd(b_.CreateSub(end_, lo), number(-static_cast<std::int64_t>(width)));
      lo = b_.CreateAdd(lo, done);
    }
    values_->set_width(1);
  }

  /// Loops over the vector dim, from the widest on.
  void emit_segments(const std::function<void(int)>& body) {
    const std::int64_t extent = nest_.extents[nest_.vector_dim()];
    std::int64_t start = 0;
    for (const int width : widths_) {
      const std::int64_t end = extent - (extent - start) % width;
      if (end == start) continue;
      values_->set_width(width);
      values_->loop(number(start), number(end), width, nest_.vector_dim(), [&](Value*) { body(width); });
      start = end;
    }
    values_->set_width(1);
  }

  /// The indices of the dims that are not reduced, the vector dim excepted, from a row number.
  void set_outer_indices(Value* row, bool with_blocks) {
    values_->here();
    std::vector<std::size_t> dims;
    for (std::size_t d = 0; d < nest_.num_dims(); ++d)
      if (!nest_.reduced[d] && d != nest_.vector_dim()) dims.push_back(d);
    Expects(!with_blocks || nest_.kind == NestKind::column);
    for (std::size_t i = dims.size(); i-- > 0;) {
      const std::size_t d = dims[i];
      values_->here();
      Value* index = i == 0 ? row : b_.CreateURem(row, number(nest_.extents[d]));
      if (i != 0) row = b_.CreateUDiv(row, number(nest_.extents[d]));
      values_->set_index(d, index);
    }
  }

  // ---- sums
  // ----------------------------------------------------------------------------------------------------------

  llvm::AllocaInst* allocate(llvm::Type* type, std::int64_t count = 1) {
    llvm::IRBuilder<> at_entry(entry_, entry_->begin());
    llvm::AllocaInst* memory = at_entry.CreateAlloca(type, at_entry.getInt64(static_cast<std::uint64_t>(count)));
    if (count > 1) memory->setAlignment(llvm::Align(64));
    return memory;
  }

  bool sums_in_blocks(std::uint32_t r, std::int64_t vectors) const {
    const DType dtype = reduction(r).dtype;
    return reduction(r).op == ir::Op::reduce_sum && is_float(dtype) && dtype != DType::f64 && vectors > max_plain_sum;
  }

  Accumulator make_accumulator(std::uint32_t r, int width, std::int64_t vectors) {
    Accumulator acc{r, width, nullptr, nullptr};
    llvm::Type* type = values_->vector_type(reduction(r).dtype, width);
    acc.sum = allocate(type);
    values_->here();
    b_.CreateStore(values_->neutral(reduction(r).op, reduction(r).dtype, width), acc.sum);
    if (sums_in_blocks(r, vectors)) {
      llvm::Type* wide = values_->vector_type(DType::f64, width);
      acc.total = allocate(wide);
      b_.CreateStore(llvm::Constant::getNullValue(wide), acc.total);
    }
    return acc;
  }

  void accumulate(const Accumulator& acc) {
    const Reduction& r = reduction(acc.reduction);
    Value* value = values_->emit(r.body);
    values_->here();
    value = values_->as_vector(value);
    Value* sum = b_.CreateLoad(value->getType(), acc.sum);
    b_.CreateStore(values_->combine(r.op, r.dtype, sum, value), acc.sum);
  }

  /// Moves a finished block to the total.
  void flush(const std::vector<Accumulator>& accs, int width) {
    values_->here();
    for (const Accumulator& acc : accs) {
      if (acc.total == nullptr || acc.width != width) continue;
      llvm::Type* narrow = values_->vector_type(DType::f32, width);
      llvm::Type* wide = values_->vector_type(DType::f64, width);
      Value* block = b_.CreateFPExt(b_.CreateLoad(narrow, acc.sum), wide);
      b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(wide, acc.total), block), acc.total);
      b_.CreateStore(llvm::Constant::getNullValue(narrow), acc.sum);
    }
  }

  /// What an accumulator holds: f64 if it has a total.
  Value* read(const Accumulator& acc) {
    const DType dtype = acc.total != nullptr ? DType::f64 : reduction(acc.reduction).dtype;
    return b_.CreateLoad(values_->vector_type(dtype, acc.width), acc.total != nullptr ? acc.total : acc.sum);
  }

  /// The lanes in one: halves onto halves, always in the same order.
  Value* fold(ir::Op op, DType dtype, Value* vector, int width) {
    while (width > 1) {
      width /= 2;
      std::vector<int> low, high;
      for (int i = 0; i < width; ++i) {
        low.push_back(i);
        high.push_back(i + width);
      }
      vector = values_->combine(op, dtype, b_.CreateShuffleVector(vector, low), b_.CreateShuffleVector(vector, high));
    }
    return vector->getType()->isVectorTy() ? b_.CreateExtractElement(vector, std::uint64_t{0}) : vector;
  }

  // ---- rows
  // ----------------------------------------------------------------------------------------------------------

  void make_row_caches() {
    const std::int64_t row = product(nest_, true, 0, nest_.num_dims());
    for (ExprId id = 0; id < nest_.exprs.size(); ++id)
      if (schedule_.cached_from[id])
        values_->set_row_cache(id, allocate(values_->lane_type(nest_.exprs[id].dtype), std::max<std::int64_t>(row, 2)));
  }

  void emit_row_pass(int pass) {
    const auto p = static_cast<std::size_t>(pass);
    values_->set_pass(pass);
    const std::int64_t row = product(nest_, true, 0, nest_.num_dims());
    std::vector<Accumulator> accs;
    for (const std::uint32_t r : schedule_.reductions[p])
      for (const int width : widths_) accs.push_back(make_accumulator(r, width, row / widths_.front()));
    emit_reduced_dims(0, number(0), [&](Value* base) { emit_row_segments(p, accs, base); });
    values_->here();
    for (const std::uint32_t r : schedule_.reductions[p]) values_->set_reduction(r, finish(r, accs));
    values_->scope(pass + 1, [&] {
      if (pass + 1 < schedule_.num_passes) return emit_row_pass(pass + 1);
      std::vector<std::uint32_t> kept;
      for (std::uint32_t i = 0; i < nest_.results.size(); ++i)
        if (nest_.results[i].is_kept) kept.push_back(i);
      store_results(kept);
    });
  }

  /// Loops over the reduced dims outside the vector dim; `base` is the position in the row.
  void emit_reduced_dims(std::size_t dim, Value* base, const std::function<void(Value*)>& body) {
    while (dim < nest_.vector_dim() && !nest_.reduced[dim]) ++dim;
    if (dim == nest_.vector_dim()) return body(base);
    const std::int64_t stride = product(nest_, true, dim + 1, nest_.num_dims());
    values_->loop(number(0), number(nest_.extents[dim]), 1, dim, [&](Value* i) {
      values_->here();
      Value* inner = b_.CreateAdd(base, b_.CreateMul(i, number(stride)));
      emit_reduced_dims(dim + 1, inner, body);
    });
  }

  void emit_row_step(std::size_t pass, const std::vector<Accumulator>& accs, int width, Value* base, Value* i) {
    values_->here();
    values_->set_row_position(b_.CreateAdd(base, i));
    // Sums first: a result may share the memory of what they read.
    for (const Accumulator& acc : accs)
      if (acc.width == width) accumulate(acc);
    store_results(schedule_.results[pass]);
  }

  void emit_row_segments(std::size_t pass, const std::vector<Accumulator>& accs, Value* base) {
    const bool in_blocks =
        std::any_of(accs.begin(), accs.end(), [](const Accumulator& acc) { return acc.total != nullptr; });
    const std::int64_t extent = nest_.extents[nest_.vector_dim()];
    std::int64_t start = 0;
    for (const int width : widths_) {
      const std::int64_t end = extent - (extent - start) % width;
      if (end == start) continue;
      values_->set_width(width);
      const auto step = [&](Value* i) { emit_row_step(pass, accs, width, base, i); };
      if (in_blocks) {
        const std::int64_t block = sum_block * width;
        values_->loop(number(0), number((end - start + block - 1) / block), 1, std::nullopt, [&](Value* k) {
          values_->here();
          Value* lo = b_.CreateAdd(b_.CreateMul(k, number(block)), number(start));
          Value* hi = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(lo, number(block)), number(end));
          values_->loop(lo, hi, width, nest_.vector_dim(), step);
          flush(accs, width);
        });
      } else {
        values_->loop(number(start), number(end), width, nest_.vector_dim(), step);
      }
      start = end;
    }
    values_->set_width(1);
  }

  Value* finish(std::uint32_t r, const std::vector<Accumulator>& accs) {
    Value* result = nullptr;
    DType dtype = reduction(r).dtype;
    for (const Accumulator& acc : accs) {
      if (acc.reduction != r) continue;
      if (acc.total != nullptr) dtype = DType::f64;
      Value* part = fold(reduction(r).op, dtype, read(acc), acc.width);
      result = result == nullptr ? part : values_->combine(reduction(r).op, dtype, result, part);
    }
    return dtype == reduction(r).dtype ? result : b_.CreateFPTrunc(result, values_->lane_type(reduction(r).dtype));
  }

  // ---- columns
  // -------------------------------------------------------------------------------------------------------

  void emit_columns() {
    const std::int64_t columns = nest_.extents[nest_.vector_dim()];
    const std::int64_t block = widths_.front();
    values_->loop(begin_, end_, 1, std::nullopt, [&](Value* item) {
      values_->here();
      Value* num_blocks = number((columns + block - 1) / block);
      Value* lo = b_.CreateMul(b_.CreateURem(item, num_blocks), number(block));
      Value* hi = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(lo, number(block)), number(columns));
      set_outer_indices(b_.CreateUDiv(item, num_blocks), true);
      for (const int width : widths_) {
        values_->set_width(width);
        values_->loop(lo, hi, width, nest_.vector_dim(), [&](Value*) { emit_column_block(width); });
        values_->here();
        lo = b_.CreateAdd(lo, b_.CreateAnd(b_.CreateSub(hi, lo), number(-static_cast<std::int64_t>(width))));
      }
      values_->set_width(1);
    });
  }

  void emit_column_block(int width) {
    std::vector<Accumulator> accs;
    const std::int64_t rows = product(nest_, true, 0, nest_.num_dims());
    for (std::uint32_t r = 0; r < nest_.reductions.size(); ++r) accs.push_back(make_accumulator(r, width, rows));
    emit_column_rows(0, accs, width);
    values_->here();
    for (const Accumulator& acc : accs) {
      Value* value = read(acc);
      const Reduction& r = reduction(acc.reduction);
      if (acc.total != nullptr) value = b_.CreateFPTrunc(value, values_->vector_type(r.dtype, width));
      values_->set_reduction(acc.reduction, value);
    }
    values_->scope(1, [&] { store_results(all_results()); });
  }

  void emit_column_rows(std::size_t dim, const std::vector<Accumulator>& accs, int width) {
    while (dim < nest_.vector_dim() && !nest_.reduced[dim]) ++dim;
    if (dim == nest_.vector_dim()) {
      for (const Accumulator& acc : accs) accumulate(acc);
      return;
    }
    const auto body = [&](Value*) { emit_column_rows(dim + 1, accs, width); };
    const bool is_last = product(nest_, true, dim + 1, nest_.num_dims()) == 1 && !has_reduced_after(dim);
    const bool in_blocks =
        is_last && std::any_of(accs.begin(), accs.end(), [](const auto& acc) { return acc.total != nullptr; });
    const std::int64_t extent = nest_.extents[dim];
    if (!in_blocks) return values_->loop(number(0), number(extent), 1, dim, body);
    values_->loop(number(0), number((extent + sum_block - 1) / sum_block), 1, std::nullopt, [&](Value* k) {
      values_->here();
      Value* lo = b_.CreateMul(k, number(sum_block));
      Value* hi = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(lo, number(sum_block)), number(extent));
      values_->loop(lo, hi, 1, dim, body);
      flush(accs, width);
    });
  }

  bool has_reduced_after(std::size_t dim) const {
    for (std::size_t d = dim + 1; d < nest_.num_dims(); ++d)
      if (nest_.reduced[d]) return true;
    return false;
  }

  const LoopNest& nest_;
  const Schedule& schedule_;
  const std::vector<int> widths_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock* entry_;
  Value* begin_ = nullptr;
  Value* end_ = nullptr;
  std::vector<Value*> outputs_;
  std::unique_ptr<ValueEmitter> values_;
};

/// Vectors per step: enough independent work to hide latency, few enough live registers.
int pick_unroll(const LoopNest& nest, const Schedule& schedule) {
  if (schedule.has_strided_loads || nest.inputs.size() > 12) return 1;
  int unroll = schedule.weight_per_element > 24 ? 2 : 4;
  if (nest.kind == NestKind::column && nest.reductions.size() == 1 && schedule.weight_per_element < 8) unroll = 8;
  return schedule.has_f64 ? std::max(1, unroll / 2) : unroll;
}

}  // namespace

std::vector<int> pick_widths(const LoopNest& nest, const Schedule& schedule, const TargetSpec& target) {
  if (is_scalar(nest)) return {1};
  int narrow = target.vector_bits / 32;
  const std::int64_t extent = nest.extents[nest.vector_dim()];
  const bool is_fixed = !is_flat(nest);
  while (is_fixed && narrow > 1 && narrow > extent) narrow /= 2;
  int wide = narrow * pick_unroll(nest, schedule);
  while (is_fixed && wide > narrow && wide > extent) wide /= 2;
  for (int width = wide; is_fixed && width >= narrow; width /= 2) {
    if (extent % width != 0) continue;
    wide = width;
    break;
  }
  std::vector<int> widths{wide};
  if (is_fixed && extent % wide == 0) return widths;
  if (is_fixed && nest.kind == NestKind::elementwise) {
    // Short rows (of an image, for example) have a long rest: ever narrower vectors take it.
    std::int64_t rest = extent % wide;
    for (int width = wide / 2; rest > 0; width /= 2) {
      if (rest < width) continue;
      widths.push_back(width);
      rest %= width;
    }
    return widths;
  }
  if (narrow < wide && (!is_fixed || extent % wide >= narrow)) widths.push_back(narrow);
  if (widths.back() > 1 && (!is_fixed || extent % widths.back() != 0)) widths.push_back(1);
  return widths;
}

WorkSplit split_work(const LoopNest& nest, const Schedule& schedule, const TargetSpec& target) {
  WorkSplit split;
  std::int64_t per_item = 1;
  const std::int64_t kept = product(nest, false, 0, nest.num_dims());
  const std::int64_t reduced = product(nest, true, 0, nest.num_dims());
  const std::int64_t last = nest.extents[nest.vector_dim()];
  if (is_flat(nest)) {
    split.extent = last;
    split.work_items = last;
  } else if (nest.kind == NestKind::row) {
    split.work_items = kept;
    per_item = reduced;
  } else if (nest.kind == NestKind::elementwise) {
    split.work_items = product(nest, false, 0, nest.vector_dim());
    per_item = last;
  } else {
    const std::int64_t block = pick_widths(nest, schedule, target).front();
    split.work_items = product(nest, false, 0, nest.vector_dim()) * ((last + block - 1) / block);
    per_item = reduced * block;
  }
  if (kept == 0) split.work_items = 0;
  // Transcendental functions make an element worth more.
  const std::int64_t elements = min_elements_per_call / std::clamp(schedule.weight_per_element / 16, 1, 8);
  split.grain = std::max<std::int64_t>(1, (elements + per_item - 1) / std::max<std::int64_t>(per_item, 1));
  return split;
}

void emit_kernel(llvm::Module& module, const LoopNest& nest, const Schedule& schedule, const TargetSpec& target,
                 const std::string& symbol) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* integer = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, integer, integer, integer}, false);
  llvm::Function* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", std::to_string(target.vector_bits));
  function->addFnAttr("min-legal-vector-width", std::to_string(target.vector_bits));
  function->addFnAttr("target-cpu", target.cpu);
  function->addFnAttr("target-features", target.features);
  KernelEmitter(*function, nest, schedule, target).emit();
}

}  // namespace dtj::codegen
