#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/check/builtins/primitives.hpp"

// einsum("...i,oi->...o", x, w): one or two operands; dims are single letters, `...` stands for any number of leading
// dims.

namespace dtj::check {

namespace {

struct Term {
  std::string letters;  ///< `...` expanded to letters that the pattern does not use
  std::string written;
  std::vector<std::size_t> offsets;     ///< of each letter in the pattern
  std::optional<std::size_t> ellipsis;  ///< how many letters stand before it
  std::size_t offset = 0;               ///< of the term in the pattern
};

struct Pattern {
  std::vector<Term> inputs;
  Term output;
};

class Reader {
 public:
  Reader(const PrimitiveCall& call, const std::string& text) : call_(call), text_(text) {}

  std::optional<Pattern> read() {
    const auto arrow = text_.find("->");
    if (arrow == std::string::npos) return fail(0, text_.size(), "the pattern has no `->`");
    Pattern pattern;
    std::size_t begin = 0;
    while (begin <= arrow) {
      const auto comma = std::min(text_.find(',', begin), arrow);
      auto term = read_term(begin, comma);
      if (!term) return std::nullopt;
      pattern.inputs.push_back(std::move(*term));
      begin = comma + 1;
    }
    auto output = read_term(arrow + 2, text_.size());
    if (!output) return std::nullopt;
    pattern.output = std::move(*output);
    return pattern;
  }

  std::nullopt_t fail(std::size_t offset, std::size_t length, const std::string& message) const {
    call_.fail(diag::Kind::bad_pattern, range_inside(call_.in, call_.args[0], offset, length), message);
    return std::nullopt;
  }

 private:
  std::optional<Term> read_term(std::size_t begin, std::size_t end) {
    Term term;
    term.offset = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const char c = text_[i];
      if (c == ' ') continue;
      term.written += c;
      if (text_.compare(i, 3, "...") == 0 && i + 3 <= end) {
        if (term.ellipsis) return fail(i, 3, "`...` stands twice in one operand");
        term.ellipsis = term.letters.size();
        term.written += "..";
        i += 2;
        continue;
      }
      if (!std::isalpha(static_cast<unsigned char>(c))) return fail(i, 1, fmt::format("`{}` is not a letter", c));
      if (term.letters.find(c) != std::string::npos)
        return fail(i, 1, fmt::format("`{}` stands twice in one operand", c));
      term.letters += c;
      term.offsets.push_back(i);
    }
    return term;
  }

  const PrimitiveCall& call_;
  const std::string& text_;
};

/// "x      : f32[8, 64, 7, 7]"
std::vector<std::string> operand_table(const PrimitiveCall& call, const std::vector<Value>& operands,
                                       const Pattern& pattern) {
  std::vector<std::string> names;
  std::size_t width = 0;
  for (const Value& value : operands) {
    std::string name = call.in.text_of(value.range);
    if (name.size() > 24 || name.find('\n') != std::string::npos) name = "operand " + std::to_string(names.size());
    width = std::max(width, name.size());
    names.push_back(std::move(name));
  }
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const TensorValue& tensor = *as_tensor(operands[i]);
    rows.push_back(fmt::format("{:<{}} : {} as {}", names[i], width, to_string(tensor.dtype, tensor.dims),
                               pattern.inputs[i].written));
  }
  return rows;
}

/// Expands `...`; the letters are counted from the right, so that operands of different rank match.
bool expand(const Reader& reader, Pattern& pattern, const std::vector<Value>& operands) {
  std::string used;
  for (const auto& term : pattern.inputs) used += term.letters;
  std::size_t longest = 0;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Term& term = pattern.inputs[i];
    const std::size_t rank = as_tensor(operands[i])->dims.size();
    if (rank < term.letters.size() || (!term.ellipsis && rank != term.letters.size())) {
      reader.fail(
          term.offset, std::max<std::size_t>(term.written.size(), 1),
          fmt::format("`{}` names {}{} dim{}, but the operand is {}", term.written, term.ellipsis ? "at least " : "",
                      term.letters.size(), term.letters.size() == 1 ? "" : "s",
                      to_string(as_tensor(operands[i])->dtype, as_tensor(operands[i])->dims)));
      return false;
    }
    lengths.push_back(rank - term.letters.size());
    longest = std::max(longest, lengths.back());
  }
  std::string letters;
  for (char c = 'A'; letters.size() < longest; c = c == 'Z' ? 'a' : static_cast<char>(c + 1)) {
    if (used.find(c) == std::string::npos) letters += c;
    if (c == 'z') return false;
  }
  auto insert = [&](Term& term, std::size_t length) {
    if (!term.ellipsis) return;
    term.letters.insert(*term.ellipsis, letters.substr(longest - length));
    term.offsets.insert(term.offsets.begin() + static_cast<std::ptrdiff_t>(*term.ellipsis), length, term.offset);
  };
  for (std::size_t i = 0; i < operands.size(); ++i) insert(pattern.inputs[i], lengths[i]);
  insert(pattern.output, longest);
  return true;
}

void suggest_flatten(const std::vector<Value>& operands, const Dims& found, const Dim& wanted,
                     diag::Diagnostic& diagnostic, const PrimitiveCall& call) {
  Dim trailing = 1;
  std::optional<std::size_t> from;  // the longest tail: dims of extent 1 before it belong to it too
  for (std::size_t i = found.size(); i-- > 1;) {
    trailing = trailing * found[i];
    if (i + 1 != found.size() && are_equal(trailing, wanted) == Truth::yes) from = i;
  }
  if (!from) return;
  diagnostic.help(fmt::format("{} is the product of the trailing dims of {}; insert `|> flatten(from = {})`",
                              wanted.to_string(), call.in.text_of(operands[0].range), *from));
}

/// The size of every letter. None: two operands disagree (reported).
std::optional<std::map<char, Dim>> letter_sizes(const PrimitiveCall& call, const Pattern& pattern,
                                                const std::vector<Value>& operands) {
  std::map<char, Dim> sizes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Term& term = pattern.inputs[i];
    const Dims& dims = as_tensor(operands[i])->dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      auto [place, is_new] = sizes.emplace(term.letters[d], dims[d]);
      if (is_new || are_equal(place->second, dims[d]) != Truth::no) continue;
      const bool is_ellipsis = term.ellipsis && term.offsets[d] == term.offset && term.written[0] == '.';
      const std::string letter = is_ellipsis ? "..." : std::string(1, term.letters[d]);
      auto& diagnostic = call.in.report(
          diag::Kind::shape_mismatch, range_inside(call.in, call.args[0], term.offsets[d], letter.size()),
          fmt::format("shapes disagree in `einsum`: `{}` is {} in the first operand and {} in the second", letter,
                      place->second.to_string(), dims[d].to_string()));
      for (auto& row : operand_table(call, operands, pattern)) diagnostic.note(std::move(row));
      suggest_flatten(operands, as_tensor(operands[0])->dims, dims[d], diagnostic, call);
      return std::nullopt;
    }
  }
  return sizes;
}

Value einsum(PrimitiveCall& call) {
  auto text = call.text(0);
  if (!text || !call.tensor(1) || (call.has(2) && !call.tensor(2))) return {};
  const Reader reader(call, *text);
  auto pattern = Reader(call, *text).read();
  if (!pattern) return {};
  std::vector<Value> operands{call.args[1]};
  if (call.has(2)) operands.push_back(call.args[2]);
  if (pattern->inputs.size() != operands.size()) {
    reader.fail(0, text->size(),
                fmt::format("the pattern has {} operand{}, the call has {}", pattern->inputs.size(),
                            pattern->inputs.size() == 1 ? "" : "s", operands.size()));
    return {};
  }
  const bool adopts =
      std::all_of(operands.begin(), operands.end(), [](const Value& value) { return as_tensor(value)->adopts; });
  if (!call.in.unify_dtypes(operands, "einsum", call.range)) return {};
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i].range = call.args[i + 1].range;
  const DType dtype = as_tensor(operands[0])->dtype;
  if (!is_float(dtype))
    return call.fail(diag::Kind::dtype_mismatch, call.args[1].range,
                     fmt::format("`einsum` takes float tensors, found {}", describe(call.args[1])));
  if (!expand(reader, *pattern, operands)) return {};
  auto sizes = letter_sizes(call, *pattern, operands);
  if (!sizes) return {};
  Dims dims;
  for (std::size_t i = 0; i < pattern->output.letters.size(); ++i) {
    auto size = sizes->find(pattern->output.letters[i]);
    if (size == sizes->end()) {
      reader.fail(pattern->output.offsets[i], 1,
                  fmt::format("`{}` stands in the result but in no operand", pattern->output.letters[i]));
      return {};
    }
    dims.push_back(size->second);
  }
  TracedTensor op;
  op.op = TraceOp::einsum;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    op.operands.push_back(call.in.ref(operands[i]));
    op.text += (i == 0 ? "" : ",") + pattern->inputs[i].letters;
  }
  op.text += "->" + pattern->output.letters;
  return call.in.emit(std::move(op), dtype, std::move(dims), call.range, adopts);
}

}  // namespace

std::vector<Primitive> einsum_primitives() {
  return {{"einsum", "pattern, x, y?", einsum}};
}

Value matmul(Interpreter& in, const Value& lhs, const Value& rhs, source::Range range) {
  const auto* right = as_tensor(rhs);
  const bool is_matrix = right && right->dims.size() == 2;
  const std::string pattern = is_matrix ? "...mk,kn->...mn" : "...mk,...kn->...mn";
  const auto* left = as_tensor(lhs);
  if (left && right && left->dims.size() == 1 && is_matrix) {
    PrimitiveCall call{in, "@", range, {{std::string("k,kn->n"), range}, lhs, rhs}};
    return einsum(call);
  }
  PrimitiveCall call{in, "@", range, {{pattern, range}, lhs, rhs}};
  return einsum(call);
}

}  // namespace dtj::check
