#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "engine/base/dtype.hpp"
#include "engine/base/result.hpp"

// A region as loops: iteration dims, expressions over them, reductions and results. Movement ops are gone: they have
// become addresses (affine in the iteration dims) and guards. No LLVM here.

namespace dtj::codegen {

using ExprId = std::uint32_t;

/// offset + sum of coeff[d] * (index of iteration dim d)
struct Affine {
  std::int64_t offset = 0;
  std::vector<std::int64_t> coeff;

  friend bool operator==(const Affine& a, const Affine& b) { return a.offset == b.offset && a.coeff == b.coeff; }
};

enum class ExprKind : std::uint8_t { constant, load, index, apply, guard, reduction };

struct Expr {
  ExprKind kind = ExprKind::constant;
  ir::Op op = ir::Op::constant;  ///< of apply
  DType dtype = DType::f32;
  DType from = DType::f32;      ///< of the operands of apply
  std::vector<ExprId> args;     ///< of apply; guard: inside, outside
  Affine where;                 ///< load: element of the input; index: the value; guard: what is tested
  std::int64_t lo = 0, hi = 0;  ///< guard: inside when lo <= where < hi; random: seed and stream
  std::uint32_t number = 0;     ///< load: the input; reduction: the reduction
  double value = 0;             ///< of constant
};

struct Reduction {
  ir::Op op = ir::Op::reduce_sum;
  DType dtype = DType::f32;
  ExprId body = 0;
};

struct NestResult {
  ExprId value = 0;
  Affine where;  ///< element of the result
  DType dtype = DType::f32;
  bool is_kept = false;  ///< has one value per combination of the dims that are not reduced
};

/// elementwise: no dim is reduced; row: the last dims are; column: dims before the last are.
enum class NestKind : std::uint8_t { elementwise, row, column };

struct LoopNest {
  NestKind kind = NestKind::elementwise;
  std::vector<std::int64_t> extents;  ///< outer to inner, at least one
  std::vector<bool> reduced;
  std::vector<Expr> exprs;  ///< arguments come before their uses; no two are equal
  std::vector<Reduction> reductions;
  std::vector<NestResult> results;
  std::vector<DType> inputs;

  std::size_t num_dims() const { return extents.size(); }
  std::size_t vector_dim() const { return extents.size() - 1; }
};

/// The nest of a region, with adjacent dims merged where every address allows it.
/// Errors: unimplemented (a use of a value that is no address of its dims).
Result<LoopNest> build_loop_nest(const ir::Graph& region);

/// Everything that decides the code, as bytes: equal for nests that can share a kernel. A flat element-wise nest leaves
/// its extent out, which its kernel reads at run time.
std::string serialize(const LoopNest& nest);

/// One dim, nothing reduced: the extent is a run-time argument.
inline bool is_flat(const LoopNest& nest) {
  return nest.kind == NestKind::elementwise && nest.num_dims() == 1;
}

}  // namespace dtj::codegen
