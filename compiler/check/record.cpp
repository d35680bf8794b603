#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gsl/gsl>

#include "compiler/check/interpreter.hpp"

// The trace: tensor operations, typed and appended.

namespace dtj::check {

namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 44;

bool is_comparison(TraceOp op) {
  return op >= TraceOp::eq && op <= TraceOp::ge;
}
bool is_logical(TraceOp op) {
  return op == TraceOp::logical_and || op == TraceOp::logical_or || op == TraceOp::logical_not;
}

/// How the op is written in a job.
std::string spelling(TraceOp op) {
  switch (op) {
    case TraceOp::neg:
      return "-";
    case TraceOp::add:
      return "+";
    case TraceOp::sub:
      return "-";
    case TraceOp::mul:
      return "*";
    case TraceOp::div:
      return "/";
    case TraceOp::pow:
      return "**";
    case TraceOp::eq:
      return "==";
    case TraceOp::ne:
      return "!=";
    case TraceOp::lt:
      return "<";
    case TraceOp::le:
      return "<=";
    case TraceOp::gt:
      return ">";
    case TraceOp::ge:
      return ">=";
    case TraceOp::logical_and:
      return "and";
    case TraceOp::logical_or:
      return "or";
    case TraceOp::logical_not:
      return "not";
    case TraceOp::input:
    case TraceOp::constant:
    case TraceOp::iota:
    case TraceOp::exp:
    case TraceOp::log:
    case TraceOp::sqrt:
    case TraceOp::rsqrt:
    case TraceOp::tanh:
    case TraceOp::erf:
    case TraceOp::sin:
    case TraceOp::cos:
    case TraceOp::abs:
    case TraceOp::floor:
    case TraceOp::sign:
    case TraceOp::maximum:
    case TraceOp::minimum:
    case TraceOp::where:
    case TraceOp::cast:
    case TraceOp::sum:
    case TraceOp::mean:
    case TraceOp::max:
    case TraceOp::min:
    case TraceOp::argmax:
    case TraceOp::einsum:
    case TraceOp::rearrange:
    case TraceOp::reshape:
    case TraceOp::transpose:
    case TraceOp::broadcast_to:
    case TraceOp::slice:
    case TraceOp::concat:
    case TraceOp::pad:
    case TraceOp::windows:
    case TraceOp::random:
    case TraceOp::all_mean:
    case TraceOp::gather_rows:
    case TraceOp::stop_gradient:
      break;
  }
  return std::string(to_string(op));
}

/// The dtype that two tensors meet in; none: one of them must be cast by hand.
std::optional<DType> meet(DType a, DType b) {
  if (a == b) return a;
  const bool narrow = is_float(a) && is_float(b) && a != DType::f64 && b != DType::f64;
  return narrow ? std::optional(DType::f32) : std::nullopt;
}

}  // namespace

std::string_view to_string(TraceOp op) {
  switch (op) {
    case TraceOp::input:
      return "input";
    case TraceOp::constant:
      return "constant";
    case TraceOp::iota:
      return "iota";
    case TraceOp::neg:
      return "neg";
    case TraceOp::exp:
      return "exp";
    case TraceOp::log:
      return "log";
    case TraceOp::sqrt:
      return "sqrt";
    case TraceOp::rsqrt:
      return "rsqrt";
    case TraceOp::tanh:
      return "tanh";
    case TraceOp::erf:
      return "erf";
    case TraceOp::sin:
      return "sin";
    case TraceOp::cos:
      return "cos";
    case TraceOp::abs:
      return "abs";
    case TraceOp::floor:
      return "floor";
    case TraceOp::sign:
      return "sign";
    case TraceOp::logical_not:
      return "logical_not";
    case TraceOp::add:
      return "add";
    case TraceOp::sub:
      return "sub";
    case TraceOp::mul:
      return "mul";
    case TraceOp::div:
      return "div";
    case TraceOp::pow:
      return "pow";
    case TraceOp::maximum:
      return "maximum";
    case TraceOp::minimum:
      return "minimum";
    case TraceOp::eq:
      return "eq";
    case TraceOp::ne:
      return "ne";
    case TraceOp::lt:
      return "lt";
    case TraceOp::le:
      return "le";
    case TraceOp::gt:
      return "gt";
    case TraceOp::ge:
      return "ge";
    case TraceOp::logical_and:
      return "logical_and";
    case TraceOp::logical_or:
      return "logical_or";
    case TraceOp::where:
      return "where";
    case TraceOp::cast:
      return "cast";
    case TraceOp::sum:
      return "sum";
    case TraceOp::mean:
      return "mean";
    case TraceOp::max:
      return "max";
    case TraceOp::min:
      return "min";
    case TraceOp::argmax:
      return "argmax";
    case TraceOp::einsum:
      return "einsum";
    case TraceOp::rearrange:
      return "rearrange";
    case TraceOp::reshape:
      return "reshape";
    case TraceOp::transpose:
      return "transpose";
    case TraceOp::broadcast_to:
      return "broadcast_to";
    case TraceOp::slice:
      return "slice";
    case TraceOp::concat:
      return "concat";
    case TraceOp::pad:
      return "pad";
    case TraceOp::windows:
      return "windows";
    case TraceOp::random:
      return "random";
    case TraceOp::all_mean:
      return "all_mean";
    case TraceOp::gather_rows:
      return "gather_rows";
    case TraceOp::stop_gradient:
      return "stop_gradient";
  }
  return "";
}

TensorRef Interpreter::ref(const Value& value) const {
  const auto* tensor = as_tensor(value);
  Expects(tensor != nullptr);
  return tensor->ref;
}

Value Interpreter::emit(TracedTensor op, DType dtype, Dims dims, source::Range range, bool adopts) {
  if (!is_recording()) {
    report(diag::Kind::wrong_type, range, "a tensor is computed outside of the functions that the job runs");
    return {};
  }
  Shape shape;
  std::int64_t num_elements = 1;
  for (const Dim& dim : dims) {
    const auto size = dim.number();
    if (!size) {
      recording_->is_symbolic = true;
      continue;
    }
    shape.push_back(*size);
    if (*size < 0 ||
        (*size > 0 && (__builtin_mul_overflow(num_elements, *size, &num_elements) || num_elements > max_elements))) {
      report(diag::Kind::too_large, range, fmt::format("a tensor {} is too large", to_string(dtype, dims)));
      return {};
    }
  }
  op.type = {dtype, std::move(shape)};
  op.range = range;
  auto& tensors = recording_->trace.tensors;
  const auto index = gsl::narrow<TensorRef>(tensors.size());
  tensors.push_back(std::move(op));
  return {TensorValue{index, dtype, std::move(dims), adopts}, range};
}

Value Interpreter::emit_constant(double number, DType dtype, source::Range range) {
  TracedTensor op;
  op.op = TraceOp::constant;
  op.number = number;
  return emit(std::move(op), dtype, {}, range);
}

Value Interpreter::emit_cast(const Value& value, DType dtype, source::Range range) {
  TensorValue tensor = *as_tensor(value);
  if (tensor.dtype == dtype) {
    tensor.adopts = false;
    return {tensor, value.range};
  }
  TracedTensor op;
  op.op = TraceOp::cast;
  op.operands = {tensor.ref};
  Value result = emit(std::move(op), dtype, tensor.dims, range);
  result.range = value.range;
  return result;
}

Value Interpreter::emit_input(InputKind kind, std::uint32_t index, DType dtype, Dims dims, bool adopts,
                              source::Range range) {
  TracedTensor op;
  op.op = TraceOp::input;
  Value value = emit(std::move(op), dtype, std::move(dims), range, adopts);
  if (value.is_poison()) return value;
  recording_->trace.inputs.push_back({ref(value), kind, index});
  if (kind == InputKind::param) recording_->params[index] = ref(value);
  return value;
}

Value Interpreter::use_param(const ParamSlot& slot, source::Range range) {
  auto known = recording_->params.find(slot.index);
  if (known == recording_->params.end())
    return emit_input(InputKind::param, slot.index, slot.dtype, slot.dims, true, range);
  return {TensorValue{known->second, slot.dtype, slot.dims, true}, range};
}

Value Interpreter::use_slot(const Value& value, source::Range range) {
  if (!is_recording()) return value;
  if (const auto* slot = value.as<ParamSlot>()) return use_param(*slot, range);
  if (const auto* slot = value.as<BufferSlot>()) return use_buffer(*slot, range);
  return value;
}

bool Interpreter::unify_dtypes(std::vector<Value>& operands, const std::string& op, source::Range range) {
  std::optional<DType> dtype;
  const Value* giver = nullptr;
  const bool all_adopt = std::none_of(operands.begin(), operands.end(),
                                      [](const Value& value) { return as_tensor(value) && !as_tensor(value)->adopts; });
  for (int round = 0; round < 2; ++round) {
    for (const Value& value : operands) {
      const auto* tensor = as_tensor(value);
      // In the first round those that give the dtype; in the second those that adopt it.
      if (!tensor || (tensor->adopts && !all_adopt) != (round == 1)) continue;
      auto common = dtype ? meet(*dtype, tensor->dtype) : tensor->dtype;
      if (round == 1 && is_float(*dtype) && is_float(tensor->dtype)) common = dtype;
      if (common) {
        dtype = common;
        giver = giver ? giver : &value;
        continue;
      }
      auto& diagnostic = report(diag::Kind::dtype_mismatch, value.range,
                                fmt::format("`{}` needs operands of one dtype, found {} and {}", op, to_string(*dtype),
                                            to_string(tensor->dtype)));
      diagnostic.under(to_string(tensor->dtype, tensor->dims)).label(giver->range, std::string(to_string(*dtype)));
      const bool casts_value = !is_float(tensor->dtype) || tensor->dtype == DType::f64;
      diagnostic.help(fmt::format("convert one of them: `({} as {})`", text_of((casts_value ? value : *giver).range),
                                  to_string(casts_value ? *dtype : tensor->dtype)));
      return false;
    }
  }
  Expects(dtype.has_value());
  for (Value& value : operands) {
    if (as_tensor(value)) {
      if (as_tensor(value)->dtype != *dtype) value = emit_cast(value, *dtype, range);
    } else if (const auto* flag = value.as<bool>(); flag && *dtype == DType::boolean) {
      value = emit_constant(*flag ? 1 : 0, *dtype, value.range);
    } else if (is_number(value) && *dtype != DType::boolean) {
      const auto* real = value.as<double>();
      if (real && !is_float(*dtype)) {
        report(diag::Kind::dtype_mismatch, value.range,
               fmt::format("`{}` needs operands of one dtype, found {} and a number with a fraction", op,
                           to_string(*dtype)))
            .label(giver->range, std::string(to_string(*dtype)))
            .help(fmt::format("write an integer, or convert the tensor: `{} as f32`", text_of(giver->range)));
        return false;
      }
      value = emit_constant(as_number(value).value_or(0), *dtype, value.range);
    } else {
      report(is_number(value) || value.as<bool>() ? diag::Kind::dtype_mismatch : diag::Kind::wrong_type, value.range,
             fmt::format("`{}` does not take {} and {}", op, describe(*giver), describe(value)));
      return false;
    }
    if (value.is_poison()) return false;
  }
  return true;
}

std::optional<Dims> Interpreter::broadcast(const std::vector<Value>& operands, const std::string& op, source::Range) {
  Dims result;
  const Value* widest = nullptr;
  for (const Value& value : operands) {
    const Dims& dims = as_tensor(value)->dims;
    if (!widest) {
      widest = &value;
      result = dims;
      continue;
    }
    const std::size_t rank = std::max(result.size(), dims.size());
    Dims merged(rank, Dim(1));
    for (std::size_t i = rank; i-- > 0;) {
      const Dim a = i < rank - result.size() ? Dim(1) : result[i - (rank - result.size())];
      const Dim b = i < rank - dims.size() ? Dim(1) : dims[i - (rank - dims.size())];
      merged[i] = a.is(1) ? b : a;
      if (a.is(1) || b.is(1) || are_equal(a, b) != Truth::no) continue;
      report(diag::Kind::shape_mismatch, value.range,
             fmt::format("shapes disagree in `{}`: {} and {}, dim {} from the right is {} and {}", op,
                         to_string(result), to_string(dims), rank - i, a.to_string(), b.to_string()))
          .under(to_string(as_tensor(value)->dtype, dims))
          .label(widest->range, to_string(as_tensor(*widest)->dtype, as_tensor(*widest)->dims))
          .note("dims are matched from the right; a dim of 1 is repeated");
      return std::nullopt;
    }
    if (dims.size() > result.size()) widest = &value;
    result = std::move(merged);
  }
  return result;
}

Value Interpreter::emit_binary(TraceOp op, const Value& lhs, const Value& rhs, source::Range range) {
  if (lhs.is_poison() || rhs.is_poison()) return {};
  const std::string name = spelling(op);
  std::vector<Value> operands{lhs, rhs};
  const bool adopts = std::all_of(operands.begin(), operands.end(),
                                  [](const Value& value) { return !as_tensor(value) || as_tensor(value)->adopts; });
  if (!unify_dtypes(operands, name, range)) return {};
  const DType dtype = as_tensor(operands[0])->dtype;
  const bool takes_bool = is_logical(op) || op == TraceOp::eq || op == TraceOp::ne;
  const bool needs_float = op == TraceOp::div || op == TraceOp::pow;
  if ((is_logical(op) && dtype != DType::boolean) || (dtype == DType::boolean && !takes_bool) ||
      (needs_float && !is_float(dtype))) {
    const Value& tensor = as_tensor(lhs) ? lhs : rhs;
    const std::string wanted = is_logical(op) ? "bool tensors" : needs_float ? "float tensors" : "numbers";
    auto& diagnostic = report(diag::Kind::dtype_mismatch, tensor.range,
                              fmt::format("`{}` takes {}, found {}", name, wanted, describe(tensor)));
    if (!is_logical(op)) diagnostic.help(fmt::format("convert it: `{} as f32`", text_of(tensor.range)));
    return {};
  }
  operands[0].range = lhs.range;
  operands[1].range = rhs.range;
  auto dims = broadcast(operands, name, range);
  if (!dims) return {};
  TracedTensor traced;
  traced.op = op;
  traced.operands = {ref(operands[0]), ref(operands[1])};
  const bool is_bool = is_comparison(op) || is_logical(op);
  return emit(std::move(traced), is_bool ? DType::boolean : dtype, *dims, range, adopts && !is_bool);
}

Value Interpreter::emit_unary(TraceOp op, const Value& operand, source::Range range) {
  if (operand.is_poison()) return {};
  const TensorValue tensor = *as_tensor(operand);
  const bool wants_bool = op == TraceOp::logical_not;
  const bool takes_int = op == TraceOp::neg || op == TraceOp::abs || op == TraceOp::sign;
  const bool good = wants_bool ? tensor.dtype == DType::boolean
                               : is_float(tensor.dtype) || (takes_int && tensor.dtype != DType::boolean);
  if (!good) {
    auto& diagnostic = report(diag::Kind::dtype_mismatch, operand.range,
                              fmt::format("`{}` takes a {} tensor, found {}", spelling(op),
                                          wants_bool ? "bool" : "float", to_string(tensor.dtype, tensor.dims)));
    if (!wants_bool) diagnostic.help(fmt::format("convert it: `{} as f32`", text_of(operand.range)));
    return {};
  }
  TracedTensor traced;
  traced.op = op;
  traced.operands = {tensor.ref};
  return emit(std::move(traced), tensor.dtype, tensor.dims, range, tensor.adopts);
}

}  // namespace dtj::check
