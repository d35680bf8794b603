#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <gsl/assert>

#include "compiler/lower/constructs.hpp"

namespace dtj::lower {
namespace {

/// One side of "b t (s h d)": a list of groups of names; a name without parentheses is a group of one.
using Pattern = std::vector<std::vector<std::string>>;

Pattern parse_pattern(std::string_view text) {
  Pattern groups;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ') {
      ++at;
    } else if (c == '(') {
      groups.emplace_back();
      inside = true;
      ++at;
    } else if (c == ')') {
      inside = false;
      ++at;
    } else {
      const auto end = std::min(text.find_first_of(" ()", at), text.size());
      if (!inside) groups.emplace_back();
      groups.back().emplace_back(text.substr(at, end - at));
      at = end;
    }
  }
  return groups;
}

/// `1` stands for a dim of extent 1, which the other side need not have.
std::vector<std::string> names_of(const Pattern& pattern) {
  std::vector<std::string> names;
  for (const auto& group : pattern)
    for (const auto& name : group)
      if (name != "1") names.push_back(name);
  return names;
}

}  // namespace

// Split every group into its names, permute the names, merge them again: reshape, transpose, reshape.
ir::ValueId lower_rearrange(ir::Builder& builder, const Construct& construct) {
  const auto& tensor = construct.tensor;
  Expects(construct.operands.size() == 1 && tensor.names.size() == tensor.ints.size());
  const std::string_view text = tensor.text;
  const auto arrow = text.find("->");
  Expects(arrow != std::string_view::npos);
  std::map<std::string, std::int64_t> extents;
  for (std::size_t i = 0; i < tensor.names.size(); ++i) extents[tensor.names[i]] = tensor.ints[i];

  const auto from = names_of(parse_pattern(text.substr(0, arrow)));
  const auto to = names_of(parse_pattern(text.substr(arrow + 2)));
  Expects(from.size() == to.size());
  Shape split;
  for (const auto& name : from) split.push_back(extents.at(name));
  std::vector<std::int64_t> permutation;
  for (const auto& name : to) {
    const auto found = std::find(from.begin(), from.end(), name);
    Expects(found != from.end());
    permutation.push_back(found - from.begin());
  }
  const auto parts = reshape_to(builder, construct.operands[0], std::move(split));
  return reshape_to(builder, transpose_to(builder, parts, std::move(permutation)), tensor.type.shape);
}

}  // namespace dtj::lower
