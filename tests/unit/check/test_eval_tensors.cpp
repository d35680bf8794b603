#include "tests/unit/check/eval_support.hpp"

// Tensor operations in an objective over a batch x: f32[2, 4, 8], y: i32[2, 4], z: f32[2, 4].

namespace dtj::check::testing {
namespace {

Strings wrong(const std::string& body) {
  return mistakes_in_objective(body);
}

/// The type of an expression, as a declared type would be written; the objective reduces it to a loss.
void check_type(const std::string& expr, const std::string& type) {
  INFO(expr);
  CHECK(mistakes_in_objective("let r = typed(" + expr + "); {loss = 0.0}", "fn typed(r: " + type + ") { r }").empty());
}

TEST_CASE("tensors: broadcasting and dtypes of operators", "[unit][check]") {
  check_type("batch.x * 2", "f32[2, 4, 8]");
  check_type("batch.x + batch.z[..., none]", "f32[2, 4, 8]");
  check_type("batch.y + 1", "i32[2, 4]");
  check_type("batch.y == 1", "bool[2, 4]");
  check_type("(batch.y == 1) and not (batch.z > 0)", "bool[2, 4]");
  check_type("1.0 / (batch.x as f64)", "f64[2, 4, 8]");
  check_type("where(batch.y > 0, batch.z, 0.0)", "f32[2, 4]");
  check_type("batch.x @ transpose(m.fc.weight, [1, 0])", "f32[2, 4, 3]");
}

TEST_CASE("tensors: reductions", "[unit][check]") {
  check_type("sum(batch.x)", "f32[]");
  check_type("mean(batch.x, axis = -1)", "f32[2, 4]");
  check_type("max(batch.x, axis = [0, 2], keep = true)", "f32[1, 4, 1]");
  check_type("argmax(batch.x, axis = -1)", "i32[2, 4]");
}

TEST_CASE("tensors: shapes", "[unit][check]") {
  check_type("reshape(batch.x, [8, -1])", "f32[8, 8]");
  check_type("flatten(batch.x, from = 1)", "f32[2, 32]");
  check_type("transpose(batch.x, [2, 0, 1])", "f32[8, 2, 4]");
  check_type("split(batch.x)[1]", "f32[4, 8]");
  check_type("split(batch.x, parts = 2, axis = -1)[0]", "f32[2, 4, 4]");
  check_type("concat([batch.x, batch.x], axis = 1)", "f32[2, 8, 8]");
  check_type("rearrange(batch.x, \"b t (h d) -> b h t d\", h = 2)", "f32[2, 2, 4, 4]");
  check_type("rearrange(batch.x, \"... c -> c ...\")", "f32[8, 2, 4]");
  check_type("rearrange(batch.z, \"b t -> b 1 t\")", "f32[2, 1, 4]");
  check_type("einsum(\"...i,oi->...o\", batch.x, m.fc.weight)", "f32[2, 4, 3]");
  check_type("einsum(\"btc->c\", batch.x)", "f32[8]");
  check_type("gather_rows(m.fc.weight, batch.y)", "f32[2, 4, 8]");
  check_type("iota(size(batch.x, -1)) + ndim(batch.x)", "i32[8]");
}

TEST_CASE("tensors: subscripts", "[unit][check]") {
  check_type("batch.x[0]", "f32[4, 8]");
  check_type("batch.x[..., -1]", "f32[2, 4]");
  check_type("batch.x[:, 1:3, :-1]", "f32[2, 2, 7]");
  check_type("batch.x[:, none, 0]", "f32[2, 1, 8]");
}

TEST_CASE("tensors: shapes that disagree in an operator", "[unit][check]") {
  CHECK(wrong("{loss = sum(batch.x + batch.z)}") ==
        Strings{"E201 `batch.z`: shapes disagree in `+`: [2, 4, 8] and [2, 4], dim 1 from the right is 8 and 4"});
}

TEST_CASE("tensors: dtypes that disagree in an operator", "[unit][check]") {
  CHECK(wrong("{loss = sum(batch.z + batch.y)}") ==
        Strings{"E202 `batch.z`: `+` needs operands of one dtype, found i32 and f32"});
  CHECK(wrong("{loss = sum((batch.y * 0.5) as f32)}") ==
        Strings{"E202 `0.5`: `*` needs operands of one dtype, found i32 and a number with a fraction"});
  Program wide("job j { model = none; fn objective(m, batch) { {loss = sum((batch.z as f64) * (batch.z as f32))} } }");
  wide.objective({{"z", DType::f32, {4}, false}}, 2);
  CHECK(wide.errors() == Strings{"E202 `batch.z as f32`: `*` needs operands of one dtype, found f64 and f32"});
  CHECK(wrong("{loss = sum((batch.y / 2) as f32)}") ==
        Strings{"E202 `batch.y`: `/` takes float tensors, found a tensor i32[2, 4]"});
  CHECK(wrong("{loss = sum(batch.y == 1)}") == Strings{"E202 `batch.y == 1`: `sum` does not take a tensor bool[2, 4]"});
}

TEST_CASE("tensors: einsum points into its pattern", "[unit][check]") {
  CHECK(
      wrong(
          "{loss = sum(einsum(\"bti,oj->bto\", batch.x, m.fc.weight) + einsum(\"btc,btc->bt\", batch.x, batch.z))}") ==
      Strings{"E203 `btc`: `btc` names 3 dims, but the operand is f32[2, 4]"});
  CHECK(wrong("{loss = sum(einsum(\"bti,io->bto\", batch.x, m.fc.weight))}") ==
        Strings{"E201 `i`: shapes disagree in `einsum`: `i` is 8 in the first operand and 3 in the second"});
  CHECK(wrong("{loss = sum(einsum(\"bti->bq\", batch.x))}") ==
        Strings{"E203 `q`: `q` stands in the result but in no operand"});
  CHECK(wrong("{loss = sum(einsum(\"bti\", batch.x))}") == Strings{"E203 `bti`: the pattern has no `->`"});
  CHECK(wrong("{loss = sum(einsum(\"bti,o->b\", batch.x))}") ==
        Strings{"E203 `bti,o->b`: the pattern has 2 operands, the call has 1"});
}

TEST_CASE("tensors: einsum shows its operands and the missing flatten", "[unit][check]") {
  Program program(
      "import std.nn.{Linear};\njob j { model = Linear(32, 3); fn objective(m, batch) { {loss = "
      "sum(einsum(\"...i,oi->...o\", batch.x, m.weight))} } }");
  program.objective({{"x", DType::f32, {4, 8}, false}}, 2);
  REQUIRE(program.errors().size() == 1);
  const auto error = program.sink.sorted()[0];
  CHECK(error.notes == Strings{"batch.x  : f32[2, 4, 8] as ...i", "m.weight : f32[3, 32] as oi"});
  CHECK(error.helps == Strings{"32 is the product of the trailing dims of batch.x; insert `|> flatten(from = 1)`"});
}

TEST_CASE("tensors: rearrange points into its pattern", "[unit][check]") {
  CHECK(wrong("{loss = sum(rearrange(batch.x, \"b t (h d) -> b h t d\", h = 3))}") ==
        Strings{"E201 `(`: shapes disagree in `rearrange`: dim 2 of f32[2, 4, 8] is 8, which 3 does not divide"});
  CHECK(wrong("{loss = sum(rearrange(batch.x, \"b t (h d) -> b h t d\"))}") ==
        Strings{"E203 `d`: the sizes of `h` and `d` are both unknown"});
  CHECK(wrong("{loss = sum(rearrange(batch.x, \"b t c -> b t\"))}") ==
        Strings{"E203 `c`: `c` stands on the left but not on the right"});
  CHECK(wrong("{loss = sum(rearrange(batch.x, \"b t -> t b\"))}") ==
        Strings{"E203 `b t `: the pattern names 2 dims, but the tensor is f32[2, 4, 8]"});
  CHECK(wrong("{loss = sum(rearrange(batch.x, \"b t c -> c t b\", q = 3))}") ==
        Strings{"E404 `q`: the pattern has no name `q`"});
}

TEST_CASE("tensors: reshapes, axes and indices out of range", "[unit][check]") {
  CHECK(wrong("{loss = sum(reshape(batch.x, [3, -1]))}") ==
        Strings{"E201 `[3, -1]`: f32[2, 4, 8] cannot be reshaped: 64 elements are not divisible by 3"});
  CHECK(wrong("{loss = sum(reshape(batch.x, [3, 4]))}") ==
        Strings{"E201 `[3, 4]`: f32[2, 4, 8] cannot be reshaped to [3, 4]: it has 64 elements, not 12"});
  CHECK(wrong("{loss = sum(sum(batch.x, axis = 3))}") ==
        Strings{"E204 `3`: `sum` has no axis 3: the tensor has 3 dims"});
  CHECK(wrong("{loss = sum(batch.x[2])}") ==
        Strings{"E204 `2`: the index 2 is outside of dim 0 of a tensor f32[2, 4, 8]"});
  CHECK(wrong("{loss = sum(batch.z[0, 0, 0])}") ==
        Strings{"E204 `batch.z[0, 0, 0]`: 3 indices for a tensor f32[2, 4]"});
  CHECK(wrong("{loss = sum(transpose(batch.x, [0, 1]))}") ==
        Strings{"E204 `[0, 1]`: `transpose` takes all 3 axes of f32[2, 4, 8], found 2"});
}

TEST_CASE("tensors: arguments of modules show both shapes", "[unit][check]") {
  Program program(
      "import std.nn.{Linear};\njob j { model = Linear(32, 3); fn objective(m, batch) { {loss = sum(m(batch.x))} } }");
  program.objective({{"x", DType::f32, {4, 8}, false}}, 2);
  CHECK(program.errors() ==
        Strings{"E201 `batch.x`: argument `x` of `Linear.forward` is f32[2, 4, 8], but dim 2 must be `I` = 32"});
  const auto error = program.sink.sorted()[0];
  CHECK(error.labels.at(0).text == "declared as `act[..L, I]`");
  CHECK(error.helps == Strings{"32 is the product of the trailing dims; insert `|> flatten(from = 1)`"});
}

TEST_CASE("tensors: dims of two arguments must agree", "[unit][check]") {
  CHECK(wrong("{loss = cross_entropy(m(batch.x), batch.y[:, 0])}") ==
        Strings{"E201 `batch.y[:, 0]`: argument `target` of `cross_entropy` is i32[2], but `..L` is [2, 4], as in "
                "argument `logits` of `cross_entropy`"});
  CHECK(wrong("{loss = cross_entropy(m(batch.x), batch.z)}") ==
        Strings{"E202 `batch.z`: argument `target` of `cross_entropy` must be i32, found f32[2, 4]"});
}

TEST_CASE("tensors: a mistake inside the library is shown at the call", "[unit][check]") {
  CHECK(wrong("{loss = sum(relu(\"x\"))}") ==
        Strings{"E304 `relu(\"x\")`: `maximum` takes numbers or tensors, found a string"});
}

TEST_CASE("tensors: `if` on a tensor and casts to no dtype", "[unit][check]") {
  CHECK(wrong("{loss = if batch.z { 1.0 } else { 0.0 }}") ==
        Strings{"E304 `batch.z`: the condition of `if` is a tensor f32[2, 4]"});
  CHECK(wrong("{loss = sum(batch.x as string)}") == Strings{"E304 `string`: a tensor cannot become `string`"});
  CHECK(wrong("{loss = sum(batch.x as f32[2, 4, 9])}") ==
        Strings{"E201 `batch.x`: the value is f32[2, 4, 8], but dim 2 must be 9"});
}

TEST_CASE("tensors: the loss is a scalar", "[unit][check]") {
  CHECK(wrong("{loss = batch.z}") ==
        Strings{"E201 `batch.z`: the metric `loss` must be a scalar f32[], found a tensor f32[2, 4]"});
  CHECK(wrong("{acc = sum(batch.z)}") ==
        Strings{"E304 `{acc = sum(batch.z)}`: the first field of the objective's record must be `loss`"});
  CHECK(wrong("sum(batch.z)") ==
        Strings{"E304 `sum(batch.z)`: the objective must give a record of metrics, found a tensor f32[]"});
  CHECK(wrong("{loss = sum(batch.labels)}") == Strings{"E401 `labels`: a record `batch` has no `labels`"});
}

TEST_CASE("tensors: primitives check their arguments", "[unit][check]") {
  CHECK(wrong("{loss = sum(batch.x, axes = 1)}") == Strings{"E404 `axes`: `sum` has no parameter `axes`"});
  CHECK(wrong("{loss = sum()}") == Strings{"E404 `sum()`: `sum` misses its argument `x`"});
  CHECK(wrong("{loss = sum(exp(batch.y))}") == Strings{"E202 `batch.y`: `exp` takes a float tensor, found i32[2, 4]"});
  CHECK(wrong("{loss = sum(where(batch.z, 1.0, 0.0))}").size() == 1);
  CHECK(wrong("{loss = sum(gather_rows(m.fc.weight, batch.z))}").size() == 1);
}

}  // namespace
}  // namespace dtj::check::testing
