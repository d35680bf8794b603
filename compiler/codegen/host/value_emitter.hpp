#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/host/loop_nest.hpp"
#include "compiler/codegen/host/schedule.hpp"
#include "compiler/codegen/host/vector_math.hpp"

namespace dtj::codegen {

/// Emits expressions of a nest inside its loops. A value goes into the outermost open scope that has all that it needs,
/// and is shared there. Values that vary with the vector dim are vectors of `width` lanes; others are scalars.
class ValueEmitter {
 public:
  /// New code goes before `point`; `buffers` are the addresses of the nest's inputs.
  ValueEmitter(llvm::IRBuilder<>& builder, const LoopNest& nest, const Schedule& schedule,
               std::vector<llvm::Value*> inputs, llvm::Instruction* point, bool has_fma);

  llvm::Value* emit(ExprId id);
  /// Element `where` of `base` (a memory of `dtype`) gets `value`.
  void store(llvm::Value* value, llvm::Value* base, const Affine& where, DType dtype);

  /// Runs `body(i)` for i = lo, lo + step, ... while i + step <= hi. The index is that of dim `dim`, if given.
  void loop(llvm::Value* lo, llvm::Value* hi, std::int64_t step, std::optional<std::size_t> dim,
            const std::function<void(llvm::Value*)>& body);
  /// A scope without a loop, in which more is known: dims set by `set_index`, reductions by `set_reduction`.
  void scope(int pass, const std::function<void()>& body);
  void set_index(std::size_t dim, llvm::Value* index);
  void set_reduction(std::uint32_t number, llvm::Value* value);

  /// Lanes of the vector dim in the scopes opened from here on.
  void set_width(int width) { width_ = width; }
  int width() const { return width_; }
  /// A row in memory that holds a cached value; element = position in the row.
  void set_row_cache(ExprId id, llvm::Value* row) { rows_[id] = row; }
  /// Pass that is being emitted, and the position in the row of the current vector.
  void set_pass(int pass) { pass_ = pass; }
  void set_row_position(llvm::Value* position) { row_position_ = position; }

  /// The builder, placed where new code of the innermost scope goes.
  llvm::IRBuilder<>& here();
  llvm::Type* lane_type(DType dtype);
  llvm::Type* vector_type(DType dtype, int width);
  /// A vector of the current width (the scalar itself at width 1).
  llvm::Value* as_vector(llvm::Value* value);
  llvm::Value* combine(ir::Op reduce, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Constant* neutral(ir::Op reduce, DType dtype, int width);

 private:
  struct Scope {
    llvm::Instruction* point = nullptr;
    std::uint64_t dims = 0;
    int pass = 0;
    bool is_guard = false;
    std::unordered_map<ExprId, llvm::Value*> values;
    std::unordered_map<ExprId, llvm::Value*> addresses;
  };

  Scope& top() { return scopes_.back(); }
  std::size_t home(std::uint64_t dims, int pass) const;
  std::size_t floor() const;
  bool is_vector(ExprId id) const;
  void move_points(llvm::Instruction* from, llvm::Instruction* to);

  llvm::Value* emit_new(ExprId id);
  llvm::Value* emit_index(const Expr& expr);
  llvm::Value* emit_load(ExprId id);
  llvm::Value* emit_strided_load(const Expr& expr, llvm::Value* address, llvm::Type* memory);
  llvm::Value* emit_guard(ExprId id);
  llvm::Value* emit_branch(const Expr& expr, llvm::Value* condition);
  llvm::Value* emit_masked(const Expr& expr);
  llvm::Value* emit_cached(ExprId id);
  llvm::Value* emit_apply(const Expr& expr, std::vector<llvm::Value*> args);
  llvm::Value* emit_float(const Expr& expr, const std::vector<llvm::Value*>& args);
  llvm::Value* emit_f32_function(ir::Op op, const std::vector<llvm::Value*>& args);
  llvm::Value* emit_f64_function(ir::Op op, const std::vector<llvm::Value*>& args);
  llvm::Value* emit_integer(const Expr& expr, const std::vector<llvm::Value*>& args);
  llvm::Value* emit_quotient(llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* emit_compare(const Expr& expr, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_cast(llvm::Value* x, DType from, DType to);
  llvm::Value* emit_random(const Expr& expr, llvm::Value* counter);
  llvm::Value* emit_pow(const Expr& expr, const std::vector<llvm::Value*>& args);
  llvm::Value* extreme(bool is_max, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* round_to_bf16(llvm::Value* x);
  llvm::Value* from_memory(llvm::Value* raw, DType dtype);
  llvm::Value* to_memory(llvm::Value* value, DType dtype);
  llvm::Type* memory_type(DType dtype);
  /// The address of `where` in memory of `dtype`, at the current indices.
  llvm::Value* address(llvm::Value* base, llvm::Type* memory, const Affine& where, std::uint64_t dims);
  llvm::Value* scalar_index(const Affine& where, std::uint64_t dims);
  llvm::Constant* lanes(llvm::Type* integer, std::int64_t step);

  llvm::IRBuilder<>& b_;
  const LoopNest& nest_;
  const Schedule& schedule_;
  VectorMath math_;
  std::vector<llvm::Value*> inputs_;
  std::vector<Scope> scopes_;
  std::vector<llvm::Value*> indices_;
  std::unordered_map<std::uint32_t, llvm::Value*> reductions_;
  std::unordered_map<ExprId, llvm::Value*> rows_;
  llvm::Value* row_position_ = nullptr;
  llvm::Value* mask_ = nullptr;
  int width_ = 1;
  int pass_ = 0;
};

}  // namespace dtj::codegen
