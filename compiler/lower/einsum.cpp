#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <gsl/assert>

#include "compiler/lower/constructs.hpp"

// A product of two operands becomes one matmul with as few transposes as its layout allows. Every letter has one role:
//   batch  in both operands and in the result      row     in a and in the result
//   sum    in both operands only                   column  in b and in the result
// and letters of one operand alone are summed away first.

namespace dtj::lower {
namespace {

/// An operand with the letters of its dims, each at most once.
struct Labelled {
  ir::ValueId value;
  std::string letters;
};

bool has(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

template <class Predicate>
std::string keep_if(std::string_view letters, Predicate predicate) {
  std::string kept;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(kept), predicate);
  return kept;
}

std::int64_t extent_of(ir::Builder& builder, const Labelled& x, std::string_view letters) {
  std::int64_t extent = 1;
  for (const char letter : letters) extent *= builder.type(x.value).shape[x.letters.find(letter)];
  return extent;
}

/// A letter that stands twice means the diagonal: everything else is masked and one of the two dims summed away.
Labelled take_diagonals(ir::Builder& builder, Labelled x) {
  for (std::size_t first = 0; first < x.letters.size(); ++first) {
    const auto second = x.letters.find(x.letters[first], first + 1);
    if (second == std::string::npos) continue;
    const ir::Type type = builder.type(x.value);
    const ir::Type index{DType::i32, type.shape};
    const auto on_diagonal = builder.binary(ir::Op::eq, builder.iota(index, static_cast<std::int64_t>(first)),
                                            builder.iota(index, static_cast<std::int64_t>(second)));
    const auto masked = builder.select(on_diagonal, x.value, builder.constant(type, 0));
    x.value = sum_away(builder, masked, {static_cast<std::int64_t>(second)}, type.dtype);
    x.letters.erase(second, 1);
    --first;  // the letter may stand a third time
  }
  return x;
}

/// Sums over the letters that `wanted` lacks.
Labelled drop_letters(ir::Builder& builder, Labelled x, std::string_view wanted, DType dtype) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < x.letters.size(); ++axis)
    if (!has(wanted, x.letters[axis])) axes.push_back(static_cast<std::int64_t>(axis));
  if (axes.empty()) return x;
  x.value = sum_away(builder, x.value, std::move(axes), dtype);
  x.letters = keep_if(x.letters, [&](char letter) { return has(wanted, letter); });
  return x;
}

ir::ValueId permute_to(ir::Builder& builder, const Labelled& x, std::string_view order) {
  Expects(order.size() == x.letters.size());
  std::vector<std::int64_t> permutation;
  for (const char letter : order) permutation.push_back(static_cast<std::int64_t>(x.letters.find(letter)));
  return transpose_to(builder, x.value, std::move(permutation));
}

/// As a tensor with one dim per letter of `order`, of extent 1 where `x` lacks the letter.
ir::ValueId spread_to(ir::Builder& builder, const Labelled& x, std::string_view order) {
  Shape shape;
  for (const char letter : order) shape.push_back(has(x.letters, letter) ? extent_of(builder, x, {&letter, 1}) : 1);
  const auto own = keep_if(order, [&](char letter) { return has(x.letters, letter); });
  return reshape_to(builder, permute_to(builder, x, own), std::move(shape));
}

/// Outer and dot products: multiply element by element, then sum.
ir::ValueId multiply_and_sum(ir::Builder& builder, const Labelled& a, const Labelled& b, std::string_view out,
                             DType dtype) {
  const auto sums = keep_if(a.letters, [&](char letter) { return !has(out, letter); });
  const std::string order = std::string(out) + sums;
  Shape shape;
  for (const char letter : order) shape.push_back(extent_of(builder, has(a.letters, letter) ? a : b, {&letter, 1}));
  const auto wide = sums.empty() ? dtype : accumulator_of(builder.type(a.value).dtype);
  const auto product = builder.binary(
      ir::Op::mul, builder.broadcast(spread_to(builder, {builder.cast(a.value, wide), a.letters}, order), shape),
      builder.broadcast(spread_to(builder, {builder.cast(b.value, wide), b.letters}, order), shape));
  std::vector<std::int64_t> axes;
  for (std::size_t axis = out.size(); axis < order.size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return sum_away(builder, product, std::move(axes), dtype);
}

/// One way to write the product as a matmul: the letters of each role, in the order of the matmul's dims.
struct Layout {
  bool swapped = false;  ///< b is the left factor
  std::string batch, rows, sums, columns;
  std::int64_t moved = 0;  ///< elements that transposes copy
};

/// The flag with which the operand can be used as it lies; none = it must be transposed first.
std::optional<bool> trans_flag(std::string_view letters, const std::string& batch, const std::string& outer,
                               const std::string& inner) {
  if (letters == batch + outer + inner) return false;
  if (letters == batch + inner + outer) return true;
  return std::nullopt;
}

Layout make_layout(ir::Builder& builder, const Labelled& left, const Labelled& right, std::string_view out,
                   bool swapped, std::string_view sum_order) {
  Layout layout;
  layout.swapped = swapped;
  layout.batch = keep_if(out, [&](char letter) { return has(left.letters, letter) && has(right.letters, letter); });
  layout.rows = keep_if(out, [&](char letter) { return !has(right.letters, letter); });
  layout.columns = keep_if(out, [&](char letter) { return !has(left.letters, letter); });
  layout.sums = keep_if(sum_order, [&](char letter) { return !has(out, letter); });
  const auto count = [&](const Labelled& x) { return num_elements(builder.type(x.value).shape); };
  if (!trans_flag(left.letters, layout.batch, layout.rows, layout.sums)) layout.moved += count(left);
  if (!trans_flag(right.letters, layout.batch, layout.sums, layout.columns)) layout.moved += count(right);
  if (out != layout.batch + layout.rows + layout.columns)
    layout.moved += extent_of(builder, left, layout.batch + layout.rows) * extent_of(builder, right, layout.columns);
  return layout;
}

/// The cheapest of: either operand on the left, summed letters in the order of either.
Layout choose_layout(ir::Builder& builder, const Labelled& a, const Labelled& b, std::string_view out) {
  std::array<Layout, 4> layouts = {
      make_layout(builder, a, b, out, false, a.letters), make_layout(builder, a, b, out, false, b.letters),
      make_layout(builder, b, a, out, true, a.letters), make_layout(builder, b, a, out, true, b.letters)};
  return *std::min_element(layouts.begin(), layouts.end(),
                           [](const Layout& x, const Layout& y) { return x.moved < y.moved; });
}

struct Factor {
  ir::ValueId
      value;  ///< [batch, outer, inner], or the last two exchanged if `transposed`; no batch dim without letters
  bool transposed = false;
};

Factor make_factor(ir::Builder& builder, const Labelled& x, const std::string& batch, const std::string& outer,
                   const std::string& inner) {
  const auto flag = trans_flag(x.letters, batch, outer, inner);
  const bool transposed = flag.value_or(false);
  const auto value = flag ? x.value : permute_to(builder, x, batch + outer + inner);
  Shape shape;
  if (!batch.empty()) shape.push_back(extent_of(builder, x, batch));
  shape.push_back(extent_of(builder, x, transposed ? inner : outer));
  shape.push_back(extent_of(builder, x, transposed ? outer : inner));
  return {reshape_to(builder, value, std::move(shape)), transposed};
}

ir::ValueId multiply_matrices(ir::Builder& builder, const Labelled& a, const Labelled& b, std::string_view out,
                              DType dtype) {
  const auto layout = choose_layout(builder, a, b, out);
  const auto& left = layout.swapped ? b : a;
  const auto& right = layout.swapped ? a : b;
  const auto left_factor = make_factor(builder, left, layout.batch, layout.rows, layout.sums);
  const auto right_factor = make_factor(builder, right, layout.batch, layout.sums, layout.columns);
  const auto product =
      builder.matmul(left_factor.value, right_factor.value, left_factor.transposed, right_factor.transposed, dtype);
  const std::string order = layout.batch + layout.rows + layout.columns;
  Shape shape;
  for (const char letter : order)
    shape.push_back(extent_of(builder, has(left.letters, letter) ? left : right, {&letter, 1}));
  return permute_to(builder, {reshape_to(builder, product, std::move(shape)), order}, out);
}

}  // namespace

ir::ValueId lower_einsum(ir::Builder& builder, const Construct& construct) {
  const auto text = keep_if(construct.tensor.text, [](char c) { return c != ' '; });
  const auto arrow = text.find("->");
  Expects(arrow != std::string::npos);
  const std::string_view out = std::string_view(text).substr(arrow + 2);
  const auto comma = text.find(',');
  const DType dtype = construct.tensor.type.dtype;

  if (comma == std::string::npos) {
    Expects(construct.operands.size() == 1);
    auto x = take_diagonals(builder, {construct.operands[0], text.substr(0, arrow)});
    x = drop_letters(builder, std::move(x), out, dtype);
    return permute_to(builder, {builder.cast(x.value, dtype), x.letters}, out);
  }

  Expects(construct.operands.size() == 2);
  auto a = take_diagonals(builder, {construct.operands[0], text.substr(0, comma)});
  auto b = take_diagonals(builder, {construct.operands[1], text.substr(comma + 1, arrow - comma - 1)});
  a = drop_letters(builder, a, b.letters + std::string(out), builder.type(a.value).dtype);
  b = drop_letters(builder, b, a.letters + std::string(out), builder.type(b.value).dtype);
  const bool has_sums = std::any_of(a.letters.begin(), a.letters.end(), [&](char letter) { return !has(out, letter); });
  const bool has_free = std::any_of(out.begin(), out.end(),
                                    [&](char letter) { return !has(a.letters, letter) || !has(b.letters, letter); });
  // Matrix products exist for floats only.
  if (!has_sums || !has_free || !is_float(builder.type(a.value).dtype))
    return multiply_and_sum(builder, a, b, out, dtype);
  return multiply_matrices(builder, a, b, out, dtype);
}

}  // namespace dtj::lower
