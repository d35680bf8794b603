#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

namespace dtj::check {

namespace {

/// i32[n]: 0, 1, ..., n - 1
Value run_iota(PrimitiveCall& call) {
  auto size = call.integer(0);
  if (!size) return {};
  if (size->number() && (*size->number() < 0 || *size->number() > INT32_MAX)) {
    return call.fail(diag::Kind::bad_value, call.args[0].range,
                     fmt::format("`iota` cannot count to {}", *size->number()));
  }
  TracedTensor op;
  op.op = TraceOp::iota;
  return call.in.emit(std::move(op), DType::i32, {*size}, call.range);
}

/// table[V, C], index i32[...] -> [..., C]
Value run_gather_rows(PrimitiveCall& call) {
  const auto* table = call.tensor(0);
  const auto* index = call.tensor(1);
  if (!table || !index) return {};
  if (table->dims.size() != 2) {
    return call.fail(diag::Kind::shape_mismatch, call.args[0].range,
                     fmt::format("`gather_rows` takes a table of 2 dims, found {}", describe(call.args[0])));
  }
  if (index->dtype != DType::i32) {
    return call.fail(diag::Kind::dtype_mismatch, call.args[1].range,
                     fmt::format("`gather_rows` takes an i32 index, found {}", describe(call.args[1])),
                     fmt::format("write `{} as i32`", call.in.text_of(call.args[1].range)));
  }
  TracedTensor op;
  op.op = TraceOp::gather_rows;
  op.operands = {table->ref, index->ref};
  Dims dims = index->dims;
  dims.push_back(table->dims[1]);
  return call.in.emit(std::move(op), table->dtype, std::move(dims), call.range, table->adopts);
}

}  // namespace

std::vector<Primitive> indexing_primitives() {
  return {
      {"gather_rows", "table, index", run_gather_rows},
      {"iota", "n", run_iota},
  };
}

}  // namespace dtj::check
