#include "tests/unit/check/eval_support.hpp"

namespace dtj::check::testing {
namespace {

TEST_CASE("symbolic: the standard library holds for every size", "[unit][check]") {
  for (const std::string module : {"nn", "optim", "init", "data", "io", "transformer"}) {
    const auto found = mistakes(std::string(*source::find_stdlib(module)));
    INFO(module << ": " << (found.empty() ? "" : found[0]));
    CHECK(found.empty());
  }
}

TEST_CASE("symbolic: the examples hold for every size", "[unit][check]") {
  for (const std::string name : {"01_fashion_mlp", "02_char_gpt", "04_gpt2_124m", "05_llama_tiny"}) {
    const auto found = mistakes(read_file(DTJ_SOURCE_DIR "/examples/" + name + ".dtj"));
    INFO(name << ": " << (found.empty() ? "" : found[0]));
    CHECK(found.empty());
  }
}

TEST_CASE("symbolic: a shape mistake is found though no job uses the module", "[unit][check]") {
  CHECK(mistakes("import std.nn.{Linear};\nmodule M(C: dim) { sub a = Linear(C, 3 * C); sub b = Linear(C, C);\n"
                 "  fn forward(x: act[B, C]) -> act[B, C] { b(a(x)) } }") ==
        Strings{"E201 `a(x)`: argument `x` of `Linear.forward` is f32[B, 3*C], but dim 1 must be `I` = C"});
}

TEST_CASE("symbolic: the declared result is checked", "[unit][check]") {
  CHECK(mistakes("fn f(x: f32[B, T, C]) -> f32[B, C, T] { x }") ==
        Strings{"E201 `x`: the result of `f` is f32[B, T, C], but dim 1 must be C"});
  CHECK(mistakes("fn f(x: f32[B, T]) -> f32[B] { sum(x, axis = 0) }") ==
        Strings{"E201 `sum(x, axis = 0)`: the result of `f` is f32[T], but dim 0 must be B"});
}

TEST_CASE("symbolic: a mistake at some lengths of a pack is none", "[unit][check]") {
  CHECK(mistakes("fn f(x: f32[..L, C]) -> f32[..L, C] { transpose(transpose(x, [0, 2, 1]), [0, 2, 1]) }").empty());
  CHECK(mistakes("fn f(x: f32[..L, C]) -> f32[..L] { x }").size() == 1);
}

TEST_CASE("symbolic: what cannot be decided is left to the job", "[unit][check]") {
  CHECK(mistakes("module M(C: dim, heads: int) { fn forward(x: act[B, C]) -> act[B, C] {\n"
                 "  rearrange(rearrange(x, \"b (h d) -> b h d\", h = heads), \"b h d -> b (h d)\") } }")
            .empty());
  CHECK(
      mistakes("module M(k: int, pad: int) { fn forward(x: act[B, H]) -> act[B, H + 2 * pad - k + 1] { x } }").empty());
  CHECK(mistakes("module M(C: dim) { fn forward(x: act[B, C]) -> act[B, C] { if C > 4 { x[:, 0] } else { x } } }")
            .empty());
}

TEST_CASE("symbolic: dims that a where clause equates are one", "[unit][check]") {
  const std::string body = "{ fn forward(x: act[B, I]) -> act[B, O] { x } }";
  CHECK(mistakes("module M(I: dim, O: dim) " + body).size() == 1);
  CHECK(mistakes("module M(I: dim, O: dim) where I == O " + body).empty());
}

}  // namespace
}  // namespace dtj::check::testing
