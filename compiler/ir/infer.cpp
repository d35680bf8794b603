#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/graph.hpp"
#include "compiler/ir/text.hpp"

// The shape rule of every op. A message says what was found, then the rule.

namespace dtj::ir {
namespace {

using Types = std::vector<Type>;

struct Call {
  Op op;
  const Types& operands;
  const Attrs& attrs;
  const Types& wanted;

  const Type& x() const { return operands.front(); }
  std::int64_t rank() const { return static_cast<std::int64_t>(x().shape.size()); }
};

tl::unexpected<Error> wrong(const Call& call, const std::string& message) {
  return fail(ErrorCode::invalid_argument, fmt::format("{}: {}", to_string(call.op), message));
}

Result<Types> one(Type type) {
  return Types{std::move(type)};
}

bool is_numeric(DType dtype) {
  return is_float(dtype) || is_integer(dtype);
}

Result<Type> declared(const Call& call) {
  if (call.wanted.size() != 1) return wrong(call, "needs one declared result type");
  return call.wanted.front();
}

Result<Types> infer_constant(const Call& call) {
  DTJ_TRY_ASSIGN(Type type, declared(call));
  return one(std::move(type));
}

Result<Types> infer_iota(const Call& call) {
  DTJ_TRY_ASSIGN(Type type, declared(call));
  if (!is_numeric(type.dtype)) return wrong(call, "result " + to_string(type) + " is not integer or float");
  if (call.attrs.ints.size() != 1 || call.attrs.ints[0] < 0 ||
      call.attrs.ints[0] >= static_cast<std::int64_t>(type.shape.size()))
    return wrong(call, "needs one axis of the result " + to_string(type));
  return one(std::move(type));
}

enum class Wants : std::uint8_t { floats, numbers, bools, anything };

Status check_dtype(const Call& call, const Type& type, Wants wants) {
  if (wants == Wants::floats && !is_float(type.dtype)) return wrong(call, to_string(type) + " is not a float");
  if (wants == Wants::numbers && !is_numeric(type.dtype)) return wrong(call, to_string(type) + " is not a number");
  if (wants == Wants::bools && type.dtype != DType::boolean) return wrong(call, to_string(type) + " is not bool");
  return {};
}

Result<Types> infer_same(const Call& call, Wants wants) {
  for (const Type& type : call.operands) {
    DTJ_TRY(check_dtype(call, type, wants));
    if (type != call.x())
      return wrong(call, fmt::format("operands {} and {} differ", to_string(call.x()), to_string(type)));
  }
  return one(call.x());
}

Result<Types> infer_comparison(const Call& call, Wants wants) {
  DTJ_TRY(infer_same(call, wants).map([](const Types&) {}));
  return one({DType::boolean, call.x().shape});
}

Result<Types> infer_cast(const Call& call) {
  DTJ_TRY_ASSIGN(const Type type, declared(call));
  if (type.shape != call.x().shape)
    return wrong(call, fmt::format("cannot turn {} into {}: the shapes differ", to_string(call.x()), to_string(type)));
  return one(type);
}

Result<Types> infer_select(const Call& call) {
  const Type& condition = call.operands[0];
  const Type& a = call.operands[1];
  const Type& b = call.operands[2];
  DTJ_TRY(check_dtype(call, condition, Wants::bools));
  if (a != b) return wrong(call, fmt::format("operands {} and {} differ", to_string(a), to_string(b)));
  if (condition.shape != a.shape)
    return wrong(call, fmt::format("condition {} does not fit {}", to_string(condition), to_string(a)));
  return one(a);
}

Result<Types> infer_reduce(const Call& call) {
  DTJ_TRY(check_dtype(call, call.x(), Wants::numbers));
  Type type = call.x();
  std::int64_t last = -1;
  for (const std::int64_t axis : call.attrs.ints) {
    if (axis <= last || axis >= call.rank())
      return wrong(call, fmt::format("axes [{}] are not ascending axes of {}", fmt::join(call.attrs.ints, ", "),
                                     to_string(call.x())));
    type.shape[static_cast<std::size_t>(axis)] = 1;
    last = axis;
  }
  return one(std::move(type));
}

Result<Types> infer_broadcast(const Call& call) {
  DTJ_TRY_ASSIGN(const Type type, declared(call));
  bool fits = type.dtype == call.x().dtype && type.shape.size() == call.x().shape.size();
  for (std::size_t i = 0; fits && i < type.shape.size(); ++i)
    fits = call.x().shape[i] == type.shape[i] || call.x().shape[i] == 1;
  if (!fits) return wrong(call, fmt::format("{} does not grow to {}", to_string(call.x()), to_string(type)));
  return one(type);
}

Result<Types> infer_reshape(const Call& call) {
  DTJ_TRY_ASSIGN(const Type type, declared(call));
  if (type.dtype != call.x().dtype || num_elements(type.shape) != num_elements(call.x().shape))
    return wrong(call, fmt::format("{} and {} do not hold the same elements", to_string(call.x()), to_string(type)));
  return one(type);
}

Result<Types> infer_transpose(const Call& call) {
  const std::vector<std::int64_t>& order = call.attrs.ints;
  Type type{call.x().dtype, {}};
  std::vector<bool> seen(call.x().shape.size(), false);
  for (const std::int64_t dim : order) {
    if (dim < 0 || dim >= call.rank() || seen[static_cast<std::size_t>(dim)]) break;
    seen[static_cast<std::size_t>(dim)] = true;
    type.shape.push_back(call.x().shape[static_cast<std::size_t>(dim)]);
  }
  if (order.size() != call.x().shape.size() || type.shape.size() != order.size())
    return wrong(
        call, fmt::format("[{}] is not a permutation of the dims of {}", fmt::join(order, ", "), to_string(call.x())));
  return one(std::move(type));
}

Result<Types> infer_slice(const Call& call) {
  const std::vector<std::int64_t>& ints = call.attrs.ints;
  Type type = call.x();
  if (ints.size() != 2 * type.shape.size())
    return wrong(call, "needs a begin and an end for every dim of " + to_string(type));
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const std::int64_t begin = ints[2 * i], end = ints[2 * i + 1];
    if (begin < 0 || begin > end || end > type.shape[i])
      return wrong(call, fmt::format("[{}, {}) is not inside dim {} of {}", begin, end, i, to_string(call.x())));
    type.shape[i] = end - begin;
  }
  return one(std::move(type));
}

Result<Types> infer_pad(const Call& call) {
  const std::vector<std::int64_t>& ints = call.attrs.ints;
  Type type = call.x();
  if (ints.size() != 2 * type.shape.size()) return wrong(call, "needs two widths for every dim of " + to_string(type));
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (ints[2 * i] < 0 || ints[2 * i + 1] < 0) return wrong(call, fmt::format("the widths of dim {} are negative", i));
    type.shape[i] += ints[2 * i] + ints[2 * i + 1];
  }
  return one(std::move(type));
}

Result<Types> infer_concat(const Call& call) {
  if (call.operands.empty()) return wrong(call, "needs an operand");
  if (call.attrs.ints.size() != 1 || call.attrs.ints[0] < 0 || call.attrs.ints[0] >= call.rank())
    return wrong(call, "needs one axis of " + to_string(call.x()));
  const auto axis = static_cast<std::size_t>(call.attrs.ints[0]);
  Type type = call.x();
  type.shape[axis] = 0;
  for (const Type& part : call.operands) {
    Type rest = part;
    if (rest.shape.size() == type.shape.size()) rest.shape[axis] = type.shape[axis];
    if (rest != type)
      return wrong(
          call, fmt::format("operands {} and {} differ outside axis {}", to_string(call.x()), to_string(part), axis));
    type.shape[axis] += part.shape[axis];
  }
  return one(std::move(type));
}

/// What windows and fold say about one axis.
struct Window {
  std::size_t axis = 0;
  std::int64_t size = 0, stride = 0, extent = 0;
  std::int64_t count() const { return (extent - size) / stride + 1; }
};

/// Reads groups of three numbers (the extents are those of `shape`) or of four.
Result<std::vector<Window>> read_windows(const Call& call, const Shape& shape, std::size_t group, std::size_t num_axes) {
  const std::vector<std::int64_t>& ints = call.attrs.ints;
  if (ints.empty() || ints.size() % group != 0)
    return wrong(call, fmt::format("needs {} numbers for every axis, found [{}]", group, fmt::join(ints, ", ")));
  std::vector<Window> windows;
  for (std::size_t i = 0; i < ints.size(); i += group) {
    const auto least = windows.empty() ? 0 : static_cast<std::int64_t>(windows.back().axis) + 1;
    if (ints[i] < least || ints[i] >= static_cast<std::int64_t>(num_axes))
      return wrong(call, fmt::format("{} is no axis of {}, or not above the one before", ints[i], to_string(call.x())));
    const auto axis = static_cast<std::size_t>(ints[i]);
    const Window window{axis, ints[i + 1], ints[i + 2], group == 4 ? ints[i + 3] : shape[axis]};
    if (window.size < 1 || window.stride < 1 || window.size > window.extent)
      return wrong(call, fmt::format("windows of {} with stride {} do not lie in axis {} of extent {}", window.size,
                                     window.stride, axis, window.extent));
    windows.push_back(window);
  }
  return windows;
}

Result<Types> infer_windows(const Call& call) {
  Type type = call.x();
  DTJ_TRY_ASSIGN(const auto windows, read_windows(call, type.shape, 3, type.shape.size()));
  for (const Window& window : windows) {
    type.shape[window.axis] = window.count();
    type.shape.push_back(window.size);
  }
  return one(std::move(type));
}

Result<Types> infer_fold(const Call& call) {
  DTJ_TRY(check_dtype(call, call.x(), Wants::floats));
  Type type = call.x();
  const std::size_t num_axes = type.shape.size() - std::min(call.attrs.ints.size() / 4, type.shape.size());
  DTJ_TRY_ASSIGN(const auto windows, read_windows(call, type.shape, 4, num_axes));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    if (type.shape[window.axis] != window.count() || type.shape[num_axes + i] != window.size)
      return wrong(call, fmt::format("{} does not hold the windows of axis {}", to_string(call.x()), window.axis));
    type.shape[window.axis] = window.extent;
  }
  type.shape.resize(num_axes);
  return one(std::move(type));
}

Result<Types> infer_random(const Call& call) {
  if (call.x().dtype != DType::i64) return wrong(call, "counter " + to_string(call.x()) + " is not i64");
  if (call.attrs.ints.size() != 2) return wrong(call, "needs a seed and a stream");
  return one({DType::f32, call.x().shape});
}

Result<Types> infer_matmul(const Call& call) {
  DTJ_TRY_ASSIGN(const Type result, declared(call));
  const Type& a = call.operands[0];
  const Type& b = call.operands[1];
  const std::vector<std::int64_t>& ints = call.attrs.ints;
  const auto is_flag = [](std::int64_t flag) { return flag == 0 || flag == 1; };
  if (ints.size() != 2 || !is_flag(ints[0]) || !is_flag(ints[1]))
    return wrong(call, "needs trans_a and trans_b, 0 or 1");
  const std::string both = fmt::format("{} and {}", to_string(a), to_string(b));
  if (a.dtype != b.dtype || !is_float(a.dtype)) return wrong(call, both + " are not of one float dtype");
  if (!is_float(result.dtype) || (result.dtype == DType::f64) != (a.dtype == DType::f64))
    return wrong(call, fmt::format("{} cannot give {}", both, to_string(result)));
  const std::size_t rank = a.shape.size();
  if (rank < 2 || b.shape.size() != rank) return wrong(call, both + " are not matrices of one rank");
  if (!std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin()))
    return wrong(call, "the batch dims of " + both + " differ");
  const std::size_t rows = rank - 2, columns = rank - 1;
  if (a.shape[ints[0] == 0 ? columns : rows] != b.shape[ints[1] == 0 ? rows : columns])
    return wrong(call, "the inner dims of " + both + " differ");
  Type type{result.dtype, a.shape};
  type.shape[rows] = a.shape[ints[0] == 0 ? rows : columns];
  type.shape[columns] = b.shape[ints[1] == 0 ? columns : rows];
  return one(std::move(type));
}

bool is_index(const Type& type) {
  return type.dtype == DType::i32 && type.shape.size() == 1;
}

Result<Types> infer_gather_rows(const Call& call) {
  const Type& table = call.operands[0];
  const Type& index = call.operands[1];
  if (table.shape.size() != 2) return wrong(call, "table " + to_string(table) + " is not a matrix");
  if (!is_index(index)) return wrong(call, "index " + to_string(index) + " is not i32[N]");
  return one({table.dtype, {index.shape[0], table.shape[1]}});
}

Result<Types> infer_scatter_add_rows(const Call& call) {
  const Type& index = call.operands[0];
  const Type& rows = call.operands[1];
  if (!is_index(index)) return wrong(call, "index " + to_string(index) + " is not i32[N]");
  if (rows.shape.size() != 2 || rows.shape[0] != index.shape[0] || !is_numeric(rows.dtype))
    return wrong(call, fmt::format("rows {} do not fit index {}", to_string(rows), to_string(index)));
  if (call.attrs.ints.size() != 1 || call.attrs.ints[0] < 0) return wrong(call, "needs the number of result rows");
  return one({rows.dtype, {call.attrs.ints[0], rows.shape[1]}});
}

Result<Types> infer_argmax_last(const Call& call) {
  DTJ_TRY(check_dtype(call, call.x(), Wants::numbers));
  if (call.rank() != 2) return wrong(call, to_string(call.x()) + " is not a matrix");
  if (call.x().shape[1] == 0 && call.x().shape[0] != 0)
    return wrong(call, "the rows of " + to_string(call.x()) + " are empty");
  return one({DType::i32, {call.x().shape[0]}});
}

Result<Types> infer_all_reduce(const Call& call) {
  if (call.operands.empty()) return wrong(call, "needs an operand");
  if (call.attrs.text.empty()) return wrong(call, "needs the name of a mesh axis");
  if (call.attrs.ints.size() != 1) return wrong(call, "needs a bucket number");
  for (const Type& type : call.operands) DTJ_TRY(check_dtype(call, type, Wants::numbers));
  return call.operands;
}

Result<Types> infer_fused(const Call& call) {
  if (call.wanted.empty()) return wrong(call, "needs declared result types");
  return call.wanted;
}

Result<Types> infer_call(const Call& call) {
  switch (call.op) {
    case Op::constant:
      return infer_constant(call);
    case Op::iota:
      return infer_iota(call);
    case Op::neg:
    case Op::abs:
    case Op::sign:
      return infer_same(call, Wants::numbers);
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::tanh:
    case Op::erf:
    case Op::sin:
    case Op::cos:
    case Op::floor:
      return infer_same(call, Wants::floats);
    case Op::logical_not:
      return infer_same(call, Wants::bools);
    case Op::cast:
      return infer_cast(call);
    case Op::random:
      return infer_random(call);
    case Op::stop_gradient:
      return infer_same(call, Wants::anything);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::maximum:
    case Op::minimum:
      return infer_same(call, Wants::numbers);
    case Op::pow:
      return infer_same(call, Wants::floats);
    case Op::eq:
    case Op::ne:
      return infer_comparison(call, Wants::anything);
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
      return infer_comparison(call, Wants::numbers);
    case Op::logical_and:
    case Op::logical_or:
      return infer_same(call, Wants::bools);
    case Op::select:
      return infer_select(call);
    case Op::reduce_sum:
    case Op::reduce_max:
      return infer_reduce(call);
    case Op::broadcast:
      return infer_broadcast(call);
    case Op::reshape:
      return infer_reshape(call);
    case Op::transpose:
      return infer_transpose(call);
    case Op::slice:
      return infer_slice(call);
    case Op::pad:
      return infer_pad(call);
    case Op::concat:
      return infer_concat(call);
    case Op::windows:
      return infer_windows(call);
    case Op::fold:
      return infer_fold(call);
    case Op::matmul:
      return infer_matmul(call);
    case Op::gather_rows:
      return infer_gather_rows(call);
    case Op::scatter_add_rows:
      return infer_scatter_add_rows(call);
    case Op::argmax_last:
      return infer_argmax_last(call);
    case Op::all_reduce:
      return infer_all_reduce(call);
    case Op::fused:
      return infer_fused(call);
  }
  return wrong(call, "is not an op");
}

}  // namespace

Result<std::vector<Type>> infer(Op op, const std::vector<Type>& operands, const Attrs& attrs,
                                const std::vector<Type>& wanted) {
  const Call call{op, operands, attrs, wanted};
  const int expected = num_operands(op);
  if (expected >= 0 && operands.size() != static_cast<std::size_t>(expected))
    return wrong(call, fmt::format("has {} operands, takes {}", operands.size(), expected));
  for (const Type& type : wanted)
    for (const std::int64_t extent : type.shape)
      if (extent < 0) return wrong(call, "result " + to_string(type) + " has a negative extent");
  return infer_call(call);
}

}  // namespace dtj::ir
