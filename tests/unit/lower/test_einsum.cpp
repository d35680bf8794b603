#include <map>

#include "tests/support/catch.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/unit/lower/trace_builder.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

/// The definition: sum over all letters of the products, one index at a time.
std::vector<double> direct_einsum(const std::string& text, const std::vector<Tensor>& operands) {
  const auto arrow = text.find("->");
  std::vector<std::string> inputs;
  for (std::size_t at = 0; at <= arrow;) {
    const auto end = std::min(text.find(',', at), arrow);
    inputs.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t d = 0; d < inputs[i].size(); ++d) extents[inputs[i][d]] = operands[i].type.shape[d];
  const std::string out = text.substr(arrow + 2);
  std::int64_t out_size = 1;
  for (const char letter : out) out_size *= extents[letter];
  std::vector<double> result(static_cast<std::size_t>(out_size), 0.0);

  std::int64_t total = 1;
  for (const auto& [letter, extent] : extents) total *= extent;
  for (std::int64_t number = 0; number < total; ++number) {
    std::map<char, std::int64_t> index;
    std::int64_t rest = number;
    for (const auto& [letter, extent] : extents) {
      index[letter] = rest % extent;
      rest /= extent;
    }
    const auto flat = [&](const std::string& letters) {
      std::int64_t at = 0;
      for (const char letter : letters) at = at * extents[letter] + index[letter];
      return static_cast<std::size_t>(at);
    };
    double product = 1;
    for (std::size_t i = 0; i < inputs.size(); ++i) product *= operands[i].values[flat(inputs[i])];
    result[flat(out)] += product;
  }
  return result;
}

struct Case {
  std::string text;
  std::vector<Shape> shapes;
  Shape out;
  int matmuls;
  int transposes;
};

ir::Graph lower_case(const Case& c, DType dtype = DType::f32, DType result = DType::f32) {
  TraceBuilder trace;
  std::vector<check::TensorRef> operands;
  for (const auto& shape : c.shapes) operands.push_back(trace.input(dtype, shape));
  return trace.lower(trace.push(check::TraceOp::einsum, operands, result, c.out, {}, c.text));
}

void require_direct(const Case& c) {
  INFO(c.text);
  const auto graph = lower_case(c);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) inputs.push_back(random_tensor({DType::f32, c.shapes[i]}, 7 + i));
  const auto result = evaluate(graph, inputs);
  const auto expected = direct_einsum(c.text, inputs);
  REQUIRE(result.type.shape == c.out);
  REQUIRE(result.values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(result.values[i] == Approx(expected[i]).margin(1e-12));
  CHECK(count(graph, ir::Op::matmul) == c.matmuls);
  CHECK(count(graph, ir::Op::transpose) == c.transposes);
}

}  // namespace

TEST_CASE("einsum: products that fit a matmul need no transposes", "[unit][lower]") {
  const auto c = GENERATE(values<Case>({
      {"bti,oi->bto", {{2, 3, 4}, {5, 4}}, {2, 3, 5}, 1, 0},                  // a linear layer: flat rows
      {"i,oi->o", {{4}, {5, 4}}, {5}, 1, 0},                                  // without leading dims
      {"bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}}, {2, 3, 4, 6}, 1, 0},  // attention scores
      {"bhqk,bhkd->bhqd", {{2, 3, 4, 6}, {2, 3, 6, 5}}, {2, 3, 4, 5}, 1, 0},  // attention output
      {"ki,kj->ij", {{6, 2}, {6, 3}}, {2, 3}, 1, 0},                          // a weight gradient
      {"ik,kj->ji", {{2, 6}, {6, 3}}, {3, 2}, 1, 0},                          // the other order: exchanged factors
      {"abk,abc->kc", {{2, 3, 4}, {2, 3, 5}}, {4, 5}, 1, 0},                  // two summed letters
      {"bij,bjk->bki", {{2, 3, 4}, {2, 4, 5}}, {2, 5, 3}, 1, 0},
  }));
  require_direct(c);
}

TEST_CASE("einsum: other layouts are transposed first", "[unit][lower]") {
  const auto c = GENERATE(values<Case>({
      {"bthd,bshd->bhts", {{2, 3, 4, 5}, {2, 6, 4, 5}}, {2, 4, 3, 6}, 1, 2},
      {"ijk,kl->lij", {{2, 3, 4}, {4, 5}}, {5, 2, 3}, 1, 0},
      {"ijk,kl->ilj", {{2, 3, 4}, {4, 5}}, {2, 5, 3}, 1, 1},
      {"abkc,kcd->adb", {{2, 3, 4, 2}, {4, 2, 5}}, {2, 5, 3}, 1, 1},
      {"xay,ayx->a", {{2, 3, 4}, {3, 4, 2}}, {3}, 0, 2},
  }));
  require_direct(c);
}

TEST_CASE("einsum: letters of one operand are summed away", "[unit][lower]") {
  const auto c = GENERATE(values<Case>({
      {"ijx,jk->ik", {{2, 3, 5}, {3, 4}}, {2, 4}, 1, 0},
      {"ij,jky->ik", {{2, 3}, {3, 4, 2}}, {2, 4}, 1, 0},
      {"ax,by->ab", {{2, 3}, {4, 5}}, {2, 4}, 0, 0},
  }));
  require_direct(c);
}

TEST_CASE("einsum: outer, dot and element-wise products are no matmuls", "[unit][lower]") {
  const auto c = GENERATE(values<Case>({
      {"i,j->ij", {{3}, {4}}, {3, 4}, 0, 0},
      {"i,i->", {{5}, {5}}, {}, 0, 0},
      {"bi,bi->b", {{3, 5}, {3, 5}}, {3}, 0, 0},
      {"ij,ij->ij", {{3, 5}, {3, 5}}, {3, 5}, 0, 0},
      {"ij,ji->ij", {{3, 5}, {5, 3}}, {3, 5}, 0, 1},
      {"ij,j->ij", {{3, 5}, {5}}, {3, 5}, 0, 0},
  }));
  require_direct(c);
}

TEST_CASE("einsum: one operand is summed, permuted, or reduced to its diagonal", "[unit][lower]") {
  const auto c = GENERATE(values<Case>({
      {"ijk->ki", {{2, 3, 4}}, {4, 2}, 0, 1},
      {"ij->", {{2, 3}}, {}, 0, 0},
      {"ij->ij", {{2, 3}}, {2, 3}, 0, 0},
      {"ii->i", {{4, 4}}, {4}, 0, 0},
      {"ii->", {{4, 4}}, {}, 0, 0},
      {"iji->ji", {{3, 2, 3}}, {2, 3}, 0, 1},
  }));
  require_direct(c);
}

TEST_CASE("einsum: a diagonal inside of a product", "[unit][lower]") {
  require_direct({"ii,ij->ij", {{3, 3}, {3, 2}}, {3, 2}, 0, 0});
}

TEST_CASE("einsum: empty dims give zeros", "[unit][lower]") {
  require_direct({"ik,kj->ij", {{2, 0}, {0, 3}}, {2, 3}, 1, 0});
  require_direct({"ik,kj->ij", {{0, 2}, {2, 3}}, {0, 3}, 1, 0});
}

TEST_CASE("einsum: bf16 operands give the dtype of the trace and accumulate in f32", "[unit][lower]") {
  const Case product{"ik,jk->ij", {{2, 3}, {4, 3}}, {2, 4}, 1, 0};
  const auto narrow = lower_case(product, DType::bf16, DType::bf16);
  CHECK(narrow.type(narrow.outputs()[0].value).dtype == DType::bf16);
  const auto wide = lower_case(product, DType::bf16, DType::f32);
  CHECK(wide.type(wide.outputs()[0].value).dtype == DType::f32);
  CHECK(count(wide, ir::Op::cast) == 0);

  const Case dot{"bi,bi->b", {{3, 300}, {3, 300}}, {3}, 0, 0};
  const auto graph = lower_case(dot, DType::bf16, DType::bf16);
  for (const auto& node : graph.nodes())
    if (node.op == ir::Op::reduce_sum) CHECK(graph.type(node.operands[0]).dtype == DType::f32);
  CHECK(count(graph, ir::Op::reduce_sum) == 1);
}

TEST_CASE("einsum: integers are multiplied and summed", "[unit][lower]") {
  const Case c{"ik,kj->ij", {{2, 3}, {3, 2}}, {2, 2}, 0, 0};
  const auto graph = lower_case(c, DType::i32, DType::i32);
  CHECK(count(graph, ir::Op::matmul) == 0);
  const auto result = evaluate(graph, {counting({2, 3}, DType::i32), counting({3, 2}, DType::i32)});
  CHECK(result.values == std::vector<double>{22, 28, 49, 64});
}
