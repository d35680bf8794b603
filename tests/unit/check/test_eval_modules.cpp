#include <cmath>

#include "tests/unit/check/eval_support.hpp"

namespace dtj::check::testing {
namespace {

Strings names_of(const Evaluator& evaluator) {
  Strings names;
  for (const auto& param : evaluator.params()) names.push_back(param.name + " " + dtj::to_string(param.type.shape));
  return names;
}

TEST_CASE("modules: parameters are numbered in the order of declaration, depth first", "[unit][check]") {
  Program good(R"(
import std.nn.{Linear};
import std.init.{ones, zeros};
module Inner(C: dim) { param scale: par[C] = ones(); sub fc = Linear(C, 2 * C, bias = false); param shift: par[C] = zeros(); }
module Outer(C: dim, n: int) { sub h[i in 0..n] = Inner(C * (i + 1)); param last: par[C, C] = zeros(); }
const m = Outer(4, 2);
)");
  INFO(good.all_errors());
  CHECK(names_of(good.evaluator) == Strings{"h.0.scale [4]", "h.0.fc.weight [8, 4]", "h.0.shift [4]", "h.1.scale [8]",
                                            "h.1.fc.weight [16, 8]", "h.1.shift [8]", "last [4, 4]"});
}

TEST_CASE("modules: `when` leaves a parameter out", "[unit][check]") {
  Program program("import std.nn.{Linear};\nconst m = Linear(3, 4, bias = false);");
  CHECK(names_of(program.evaluator) == Strings{"weight [4, 3]"});
}

TEST_CASE("modules: initialisers know the fan-in", "[unit][check]") {
  Program program("import std.nn.{Linear};\nconst m = Linear(9, 4);");
  const auto& params = program.evaluator.params();
  REQUIRE(params.size() == 2);
  CHECK(params[0].init.kind == InitKind::uniform);
  CHECK(params[0].init.b == Approx(1.0 / 3.0));  // sqrt(6 / (1 + 5)) / sqrt(9)
  CHECK(params[0].init.a == Approx(-1.0 / 3.0));
  CHECK(params[1].init.b == Approx(1.0 / 3.0));
  Program normal(
      "import std.nn.{Embedding};\nimport std.init.{normal};\nconst m = Embedding(5, 2, init = normal(0.02));");
  CHECK(normal.evaluator.params()[0].init.kind == InitKind::normal);
  CHECK(normal.evaluator.params()[0].init.a == 0.0);
  CHECK(normal.evaluator.params()[0].init.b == 0.02);
}

TEST_CASE("modules: storage dtype of parameters follows the precision", "[unit][check]") {
  PrecisionSpec precision;
  precision.params = DType::bf16;
  Program program("import std.nn.{Linear};\nconst m = Linear(3, 4);", precision);
  CHECK(program.evaluator.params()[0].type.dtype == DType::bf16);
}

TEST_CASE("modules: constants and where clauses of a module", "[unit][check]") {
  Program good(
      "import std.init.{zeros};\nmodule M(C: dim, heads: int) where heads divides C { const D = C / heads; param w: "
      "par[D] = zeros(); } const m = M(12, 3);");
  INFO(good.all_errors());
  CHECK(names_of(good.evaluator) == Strings{"w [4]"});
  Program bad("import std.nn.{CausalSelfAttention};\nconst m = CausalSelfAttention(128, 5);");
  CHECK(bad.errors() == Strings{"E306 `CausalSelfAttention(128, 5)`: `CausalSelfAttention` needs `heads divides C`"});
  CHECK(bad.first_help() == "the nearest valid value of `heads` is 4 or 8");
}

TEST_CASE("modules: mistakes in their declarations", "[unit][check]") {
  CHECK(Program("module M() { param w: par[3]; } const m = M();").errors() ==
        Strings{"E404 `w`: `w` has no initial value"});
  CHECK(Program("module M() { param w: par[3] = 0.5; } const m = M();").errors() ==
        Strings{"E304 `0.5`: the initial value of `w` must be an initialiser, found a number with a fraction"});
  CHECK(Program("import std.init.{zeros};\nmodule M() { param w: i32[3] = zeros(); } const m = M();").errors() ==
        Strings{"E304 `i32[3]`: the type of the parameter `w` must be a float tensor such as `par[O, I]`"});
  CHECK(Program("module M() { sub a = 3; } const m = M();").errors() ==
        Strings{"E304 `3`: `sub a` must be an instance of a module, found an integer"});
  CHECK(Program("import std.nn.{Linear};\nconst m = Linear(0, 4);").errors() ==
        Strings{"E305 `0`: argument `I` of `Linear` must be at least 1, found 0"});
  CHECK(Program("import std.nn.{Linear};\nconst m = Linear(4);").errors() ==
        Strings{"E404 `Linear(4)`: `Linear` misses its argument `O`"});
  CHECK(Program("import std.nn.{Linear};\nconst m = Linear(1_000_000_000, 1_000_000_000);").errors() ==
        Strings{"E005 `Linear(1_000_000_000, 1_000_000_000)`: the parameter `weight` of f32[1000000000, 1000000000] is "
                "too large"});
  CHECK(Program("module M() { state v: f32[3]; } const m = M();").errors() ==
        Strings{"E304 `v`: `M` has a state, but is not an optimizer"});
}

TEST_CASE("modules: an unbound argument leaves the module unbound", "[unit][check]") {
  Program program("import std.nn.{Linear};\nbind <n>: int;\nconst m = Linear(3, <n>);");
  CHECK(program.errors().empty());
  CHECK(program.value("m").is_unbound());
}

}  // namespace
}  // namespace dtj::check::testing
