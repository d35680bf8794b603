#include "compiler/format/format.hpp"

#include <algorithm>
#include <gsl/gsl>

#include "compiler/format/tokens.hpp"
#include "compiler/parse/parse.hpp"

namespace dtj::format {

bool is_same_but_for_space(const source::SourceFile& a, const source::SourceFile& b) {
  const std::vector<Token> left = read_tokens(a);
  const std::vector<Token> right = read_tokens(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Token& x, const Token& y) { return x.kind == y.kind && x.text == y.text; });
}

std::optional<std::string> format(const source::SourceFile& file, diag::Sink& sink) {
  const bool had_errors = sink.has_errors();
  parse::parse(file, sink);
  if (had_errors || sink.has_errors()) return std::nullopt;
  std::string text = lay_out(file);
  source::SourceManager sources;
  const bool is_kept = is_same_but_for_space(file, sources.file(sources.add(file.name(), text)));
  Ensures(is_kept);
  return text;
}

}  // namespace dtj::format
