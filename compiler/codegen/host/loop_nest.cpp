#include "compiler/codegen/host/loop_nest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <gsl/gsl>
#include <map>
#include <unordered_map>

namespace dtj::codegen {
namespace {

using ir::Op;
using Index = std::vector<Affine>;  ///< one per dim of a value

void add_bytes(std::string& out, std::int64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void add_bytes(std::string& out, const Affine& affine) {
  add_bytes(out, affine.offset);
  for (const std::int64_t c : affine.coeff) add_bytes(out, c);
}

void add_bytes(std::string& out, const Expr& expr) {
  add_bytes(out, static_cast<std::int64_t>(expr.kind));
  add_bytes(out, static_cast<std::int64_t>(expr.op));
  add_bytes(out, static_cast<std::int64_t>(expr.dtype));
  add_bytes(out, static_cast<std::int64_t>(expr.from));
  add_bytes(out, static_cast<std::int64_t>(expr.args.size()));
  for (const ExprId arg : expr.args) add_bytes(out, arg);
  add_bytes(out, static_cast<std::int64_t>(expr.where.coeff.size()));
  add_bytes(out, expr.where);
  add_bytes(out, expr.lo);
  add_bytes(out, expr.hi);
  add_bytes(out, expr.number);
  std::int64_t bits = 0;
  std::memcpy(&bits, &expr.value, sizeof bits);
  add_bytes(out, bits);
}

class NestBuilder {
 public:
  explicit NestBuilder(const ir::Graph& region) : region_(region) {}

  Result<LoopNest> build() {
    DTJ_TRY(find_dims());
    for (const ir::Input& input : region_.inputs()) {
      input_number_[input.value.value] = static_cast<std::uint32_t>(nest_.inputs.size());
      nest_.inputs.push_back(region_.type(input.value).dtype);
    }
    for (const ir::Output& output : region_.outputs()) DTJ_TRY(add_result(output.value));
    return std::move(nest_);
  }

 private:
  tl::unexpected<Error> unsupported(Op op, std::string_view why) const {
    return fail(ErrorCode::unimplemented, fmt::format("{}: {}", to_string(op), why));
  }

  /// The iteration dims are the dims wider than 1 of what is reduced, or of the result.
  Status find_dims() {
    Expects(!region_.outputs().empty());
    Shape iteration = region_.type(region_.outputs().front().value).shape;
    std::vector<std::int64_t> axes;
    for (const ir::Node& node : region_.nodes()) {
      if (ir::category(node.op) != ir::OpCategory::reduce) continue;
      iteration = region_.type(node.operands.front()).shape;
      axes = node.attrs.ints;
      break;
    }
    nest_.extents.clear();
    for (std::size_t i = 0; i < iteration.size(); ++i) {
      if (iteration[i] == 1) continue;
      nest_.extents.push_back(iteration[i]);
      nest_.reduced.push_back(std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end());
    }
    if (nest_.extents.empty()) {
      nest_.extents.push_back(1);
      nest_.reduced.push_back(!axes.empty());
    }
    if (axes.empty()) return {};
    if (std::none_of(nest_.reduced.begin(), nest_.reduced.end(), [](bool r) { return r; }))
      return unsupported(Op::reduce_sum, "reduces only dims of extent 1");
    nest_.kind = nest_.reduced.back() ? NestKind::row : NestKind::column;
    return {};
  }

  Affine variable(std::size_t dim) const {
    Affine affine = number(0);
    affine.coeff[dim] = 1;
    return affine;
  }
  static Affine scale(Affine affine, std::int64_t factor) {
    affine.offset *= factor;
    for (std::int64_t& c : affine.coeff) c *= factor;
    return affine;
  }
  static Affine add(Affine a, const Affine& b) {
    a.offset += b.offset;
    for (std::size_t d = 0; d < a.coeff.size(); ++d) a.coeff[d] += b.coeff[d];
    return a;
  }
  Affine number(std::int64_t value) const { return {value, std::vector<std::int64_t>(nest_.num_dims(), 0)}; }

  /// The index of a value that has the iteration dims (or only those that are kept) and any dims of extent 1.
  std::optional<Index> identity(const Shape& shape, bool kept_only) const {
    Index index;
    std::size_t dim = 0;
    const auto skip = [&] {
      while (dim < nest_.num_dims() && ((kept_only && nest_.reduced[dim]) || nest_.extents[dim] == 1)) ++dim;
    };
    for (const std::int64_t extent : shape) {
      if (extent == 1) {
        index.push_back(number(0));
        continue;
      }
      skip();
      if (dim == nest_.num_dims() || nest_.extents[dim] != extent) return std::nullopt;
      index.push_back(variable(dim++));
    }
    skip();
    if (dim != nest_.num_dims()) return std::nullopt;
    return index;
  }

  Affine address(const Shape& shape, const Index& index) const {
    const std::vector<std::int64_t> strides = contiguous_strides(shape);
    Affine sum = number(0);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      sum.offset += strides[i] * index[i].offset;
      for (std::size_t d = 0; d < nest_.num_dims(); ++d) sum.coeff[d] += strides[i] * index[i].coeff[d];
    }
    return sum;
  }

  Status add_result(ir::ValueId value) {
    const ir::Type& type = region_.type(value);
    const bool has_reduction = nest_.kind != NestKind::elementwise;
    NestResult result;
    result.dtype = type.dtype;
    std::optional<Index> index = identity(type.shape, false);
    if (has_reduction && !index) {
      index = identity(type.shape, true);
      result.is_kept = true;
    }
    if (!index || (nest_.kind == NestKind::column && !result.is_kept))
      return unsupported(Op::fused, "a result " + to_string(type.shape) + " does not have the dims of its region");
    result.where = address(type.shape, *index);
    DTJ_TRY_ASSIGN(result.value, pull(value, *index));
    nest_.results.push_back(result);
    return {};
  }

  ExprId intern(Expr expr) {
    std::string key;
    add_bytes(key, expr);
    const auto [at, is_new] = interned_.emplace(std::move(key), static_cast<ExprId>(nest_.exprs.size()));
    if (is_new) nest_.exprs.push_back(std::move(expr));
    return at->second;
  }

  ExprId constant(DType dtype, double value) {
    Expr expr;
    expr.dtype = dtype;
    expr.value = value;
    return intern(std::move(expr));
  }

  /// The expression of `value` at `index`.
  Result<ExprId> pull(ir::ValueId value, const Index& index) {
    std::string key;
    add_bytes(key, value.value);
    for (const Affine& affine : index) add_bytes(key, affine);
    if (const auto known = pulled_.find(key); known != pulled_.end()) return known->second;
    DTJ_TRY_ASSIGN(const ExprId expr, pull_new(value, index));
    pulled_[key] = expr;
    return expr;
  }

  Result<ExprId> pull_new(ir::ValueId value, const Index& index) {
    const ir::Type& type = region_.type(value);
    const std::optional<ir::NodeId> producer = region_.value(value).producer;
    if (!producer) {
      Expr load;
      load.kind = ExprKind::load;
      load.dtype = type.dtype;
      load.number = input_number_.at(value.value);
      load.where = address(type.shape, index);
      return intern(std::move(load));
    }
    const ir::Node& node = region_.node(*producer);
    switch (ir::category(node.op)) {
      case ir::OpCategory::leaf:
        return pull_leaf(node, type, index);
      case ir::OpCategory::elementwise:
        return pull_elementwise(node, type, index);
      case ir::OpCategory::reduce:
        return pull_reduce(node, type, index);
      case ir::OpCategory::movement:
        return pull_movement(node, index);
      case ir::OpCategory::contraction:
      case ir::OpCategory::indexing:
      case ir::OpCategory::collective:
      case ir::OpCategory::fused:
        break;
    }
    return unsupported(node.op, "cannot be inside a region");
  }

  Result<ExprId> pull_leaf(const ir::Node& node, const ir::Type& type, const Index& index) {
    if (node.op == Op::constant) return constant(type.dtype, node.attrs.number);
    Expr expr;
    expr.kind = ExprKind::index;
    expr.dtype = type.dtype;
    expr.where = index[gsl::narrow<std::size_t>(node.attrs.ints.at(0))];
    return intern(std::move(expr));
  }

  Result<ExprId> pull_elementwise(const ir::Node& node, const ir::Type& type, const Index& index) {
    Expr expr;
    expr.kind = ExprKind::apply;
    expr.op = node.op;
    expr.dtype = type.dtype;
    expr.from = region_.type(node.operands.back()).dtype;
    for (const ir::ValueId operand : node.operands) {
      DTJ_TRY_ASSIGN(const ExprId arg, pull(operand, index));
      expr.args.push_back(arg);
    }
    if (node.op == Op::stop_gradient || (node.op == Op::cast && expr.from == expr.dtype)) return expr.args[0];
    if (node.op == Op::random) {
      expr.lo = node.attrs.ints.at(0);
      expr.hi = node.attrs.ints.at(1);
    }
    return intern(std::move(expr));
  }

  Result<ExprId> pull_reduce(const ir::Node& node, const ir::Type& type, const Index& index) {
    const Shape& shape = region_.type(node.operands[0]).shape;
    const std::optional<Index> here = identity(shape, false);
    if (!here) return unsupported(node.op, "operand " + to_string(shape) + " does not have the dims of its region");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const bool is_reduced = std::find(node.attrs.ints.begin(), node.attrs.ints.end(), static_cast<std::int64_t>(i)) !=
                              node.attrs.ints.end();
      for (std::size_t d = 0; d < nest_.num_dims(); ++d)
        if ((*here)[i].coeff[d] != 0 && nest_.reduced[d] != is_reduced)
          return unsupported(node.op, "reduces other dims than its region");
      if (!is_reduced && !((*here)[i] == index[i]))
        return unsupported(node.op, "is used at another place than its row");
    }
    DTJ_TRY_ASSIGN(const ExprId body, pull(node.operands[0], *here));
    const auto same = [&](const Reduction& r) { return r.op == node.op && r.body == body && r.dtype == type.dtype; };
    const auto at = std::find_if(nest_.reductions.begin(), nest_.reductions.end(), same);
    Expr expr;
    expr.kind = ExprKind::reduction;
    expr.dtype = type.dtype;
    expr.number = static_cast<std::uint32_t>(at - nest_.reductions.begin());
    if (at == nest_.reductions.end()) nest_.reductions.push_back({node.op, type.dtype, body});
    return intern(std::move(expr));
  }

  Result<ExprId> pull_movement(const ir::Node& node, const Index& index) {
    const Shape& shape = region_.type(node.operands.at(0)).shape;
    const std::vector<std::int64_t>& ints = node.attrs.ints;
    Index from = index;
    if (node.op == Op::broadcast) {
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 1) from[i] = number(0);
    } else if (node.op == Op::transpose) {
      for (std::size_t i = 0; i < shape.size(); ++i) from[gsl::narrow<std::size_t>(ints[i])] = index[i];
    } else if (node.op == Op::slice) {
      for (std::size_t i = 0; i < shape.size(); ++i) from[i].offset += ints[2 * i];
    } else if (node.op == Op::windows) {
      from.resize(shape.size());
      for (std::size_t i = 0; i < ints.size(); i += 3) {
        const auto axis = gsl::narrow<std::size_t>(ints[i]);
        from[axis] = add(scale(index[axis], ints[i + 2]), index[shape.size() + i / 3]);
      }
    } else if (node.op == Op::pad) {
      return pull_pad(node, index, 0);
    } else if (node.op == Op::concat) {
      return pull_concat(node, index, 0, 0);
    } else {
      DTJ_TRY_ASSIGN(from, reshape_index(shape, region_.type(node.results[0]).shape, index));
    }
    return pull(node.operands[0], from);
  }

  /// A reshape may drop and add dims of extent 1 and split a dim of its operand.
  Result<Index> reshape_index(const Shape& from, const Shape& to, const Index& index) const {
    Index result;
    std::size_t j = 0;
    const auto skip_narrow = [&] {
      while (j < to.size() && to[j] == 1) ++j;
    };
    for (const std::int64_t extent : from) {
      if (extent == 1) {
        result.push_back(number(0));
        continue;
      }
      skip_narrow();
      if (j < to.size() && to[j] == extent) {
        result.push_back(index[j++]);
        continue;
      }
      Affine sum = number(0);
      std::int64_t size = 1;
      while (j < to.size() && size < extent) {
        size *= to[j];
        sum.offset = sum.offset * to[j] + index[j].offset;
        for (std::size_t d = 0; d < sum.coeff.size(); ++d) sum.coeff[d] = sum.coeff[d] * to[j] + index[j].coeff[d];
        ++j;
      }
      if (size != extent) return unsupported(Op::reshape, to_string(from) + " to " + to_string(to) + " merges dims");
      result.push_back(std::move(sum));
    }
    return result;
  }

  /// Where `affine` can be, both ends included. The nest must not be empty.
  std::pair<std::int64_t, std::int64_t> bounds(const Affine& affine) const {
    std::int64_t lo = affine.offset, hi = affine.offset;
    for (std::size_t d = 0; d < nest_.num_dims(); ++d) {
      const std::int64_t reach = affine.coeff[d] * (nest_.extents[d] - 1);
      (reach < 0 ? lo : hi) += reach;
    }
    return {lo, hi};
  }

  template <class Inside, class Outside>
  Result<ExprId> guard(DType dtype, const Affine& where, std::int64_t lo, std::int64_t hi, Inside inside,
                       Outside outside) {
    const auto [least, greatest] = bounds(where);
    if (lo >= hi || greatest < lo || least >= hi) return outside();
    if (least >= lo && greatest < hi) return inside();
    Expr expr;
    expr.kind = ExprKind::guard;
    expr.dtype = dtype;
    expr.where = where;
    expr.lo = lo;
    expr.hi = hi;
    DTJ_TRY_ASSIGN(const ExprId in, inside());
    DTJ_TRY_ASSIGN(const ExprId out, outside());
    expr.args = {in, out};
    return intern(std::move(expr));
  }

  Result<ExprId> pull_pad(const ir::Node& node, const Index& index, std::size_t dim) {
    const ir::Type& type = region_.type(node.operands[0]);
    if (dim == type.shape.size()) {
      Index from = index;
      for (std::size_t i = 0; i < from.size(); ++i) from[i].offset -= node.attrs.ints[2 * i];
      return pull(node.operands[0], from);
    }
    const std::int64_t before = node.attrs.ints[2 * dim];
    return guard(
        type.dtype, index[dim], before, before + type.shape[dim], [&] { return pull_pad(node, index, dim + 1); },
        [&]() -> Result<ExprId> { return constant(type.dtype, 0); });
  }

  Result<ExprId> pull_concat(const ir::Node& node, const Index& index, std::size_t part, std::int64_t start) {
    const auto axis = gsl::narrow<std::size_t>(node.attrs.ints.at(0));
    const ir::Type& type = region_.type(node.operands[part]);
    const std::int64_t end = start + type.shape[axis];
    const auto inside = [&] {
      Index from = index;
      from[axis].offset -= start;
      return pull(node.operands[part], from);
    };
    if (part + 1 == node.operands.size()) return inside();
    return guard(type.dtype, index[axis], start, end, inside, [&] { return pull_concat(node, index, part + 1, end); });
  }

  const ir::Graph& region_;
  LoopNest nest_;
  std::unordered_map<std::uint32_t, std::uint32_t> input_number_;
  std::map<std::string, ExprId> interned_;
  std::map<std::string, ExprId> pulled_;
};

/// True if dims d and d + 1 can be one dim for this address.
bool merges(const Affine& affine, std::size_t d, std::int64_t inner_extent) {
  return affine.coeff[d] == affine.coeff[d + 1] * inner_extent;
}

bool dims_merge(const LoopNest& nest, std::size_t d) {
  if (nest.reduced[d] != nest.reduced[d + 1]) return false;
  const std::int64_t inner = nest.extents[d + 1];
  for (const Expr& expr : nest.exprs)
    if (!expr.where.coeff.empty() && !merges(expr.where, d, inner)) return false;
  return std::all_of(nest.results.begin(), nest.results.end(),
                     [&](const NestResult& result) { return merges(result.where, d, inner); });
}

void merge_dims(LoopNest& nest) {
  for (std::size_t d = nest.num_dims() - 1; d-- > 0;) {
    if (!dims_merge(nest, d)) continue;
    const auto at = static_cast<std::ptrdiff_t>(d);
    const auto drop = [&](Affine& affine) {
      if (!affine.coeff.empty()) affine.coeff.erase(affine.coeff.begin() + at);
    };
    nest.extents[d + 1] *= nest.extents[d];
    nest.extents.erase(nest.extents.begin() + at);
    nest.reduced.erase(nest.reduced.begin() + at);
    for (Expr& expr : nest.exprs) drop(expr.where);
    for (NestResult& result : nest.results) drop(result.where);
  }
}

constexpr std::int64_t narrow_dim = 8;

/// A last dim of a few elements leaves most of a vector empty: a wider dim takes its place, and the steps between
/// neighbours in memory grow instead.
void move_wide_dim_last(LoopNest& nest) {
  if (nest.kind != NestKind::elementwise || nest.num_dims() < 2 || nest.extents.back() >= narrow_dim) return;
  std::size_t wide = nest.num_dims();
  for (std::size_t d = nest.vector_dim(); d-- > 0 && wide == nest.num_dims();)
    if (nest.extents[d] >= narrow_dim) wide = d;
  if (wide == nest.num_dims()) return;
  const auto at = static_cast<std::ptrdiff_t>(wide);
  const auto move = [&](Affine& affine) {
    if (!affine.coeff.empty()) std::rotate(affine.coeff.begin() + at, affine.coeff.begin() + at + 1, affine.coeff.end());
  };
  std::rotate(nest.extents.begin() + at, nest.extents.begin() + at + 1, nest.extents.end());
  for (Expr& expr : nest.exprs) move(expr.where);
  for (NestResult& result : nest.results) move(result.where);
}

constexpr std::int64_t tile = 32;

/// The dim along which a load that jumps in the last dim takes its next element, if there is one.
std::optional<std::size_t> find_crossed_dim(const LoopNest& nest) {
  for (const Expr& expr : nest.exprs) {
    if (expr.kind != ExprKind::load || expr.where.coeff[nest.vector_dim()] <= 1) continue;
    for (std::size_t d = 0; d < nest.vector_dim(); ++d)
      if (expr.where.coeff[d] == 1 && nest.extents[d] > 1) return d;
  }
  return std::nullopt;
}

/// A transpose reads a cache line per element. With the last dim in tiles, the next rows find those lines in the cache:
/// [.., d, .., last] becomes [.., last / tile, d, .., tile].
void tile_transposes(LoopNest& nest) {
  if (nest.kind != NestKind::elementwise || nest.num_dims() < 2 || nest.extents.back() % tile != 0) return;
  const std::optional<std::size_t> crossed = find_crossed_dim(nest);
  if (!crossed || nest.extents.back() <= tile) return;
  const auto at = static_cast<std::ptrdiff_t>(*crossed);
  const auto split = [&](Affine& affine) {
    if (!affine.coeff.empty()) affine.coeff.insert(affine.coeff.begin() + at, affine.coeff.back() * tile);
  };
  nest.extents.insert(nest.extents.begin() + at, nest.extents.back() / tile);
  nest.extents.back() = tile;
  nest.reduced.insert(nest.reduced.begin() + at, false);
  for (Expr& expr : nest.exprs) split(expr.where);
  for (NestResult& result : nest.results) split(result.where);
}

}  // namespace

Result<LoopNest> build_loop_nest(const ir::Graph& region) {
  DTJ_TRY_ASSIGN(LoopNest nest, NestBuilder(region).build());
  merge_dims(nest);
  move_wide_dim_last(nest);
  tile_transposes(nest);
  return nest;
}

std::string serialize(const LoopNest& nest) {
  std::string out;
  add_bytes(out, static_cast<std::int64_t>(nest.kind));
  add_bytes(out, static_cast<std::int64_t>(nest.num_dims()));
  for (std::size_t d = 0; d < nest.num_dims(); ++d) {
    add_bytes(out, is_flat(nest) ? 0 : nest.extents[d]);
    add_bytes(out, nest.reduced[d] ? 1 : 0);
  }
  add_bytes(out, static_cast<std::int64_t>(nest.exprs.size()));
  for (const Expr& expr : nest.exprs) add_bytes(out, expr);
  for (const Reduction& reduction : nest.reductions) {
    add_bytes(out, static_cast<std::int64_t>(reduction.op));
    add_bytes(out, static_cast<std::int64_t>(reduction.dtype));
    add_bytes(out, reduction.body);
  }
  add_bytes(out, static_cast<std::int64_t>(nest.results.size()));
  for (const NestResult& result : nest.results) {
    add_bytes(out, result.value);
    add_bytes(out, static_cast<std::int64_t>(result.dtype));
    add_bytes(out, result.is_kept ? 1 : 0);
    add_bytes(out, result.where);
  }
  for (const DType dtype : nest.inputs) add_bytes(out, static_cast<std::int64_t>(dtype));
  return out;
}

}  // namespace dtj::codegen
