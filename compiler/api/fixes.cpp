#include <algorithm>
#include <utility>

#include "compiler/api/compilation.hpp"
#include "compiler/parse/parse.hpp"
#include "dtj/tools.hpp"

namespace dtj {
namespace {

/// How bad a text is: mistakes of syntax first, for they hide others.
struct Badness {
  std::size_t num_syntax = 0;
  std::size_t num_all = 0;
  bool operator<(const Badness& other) const {
    return std::pair(num_syntax, num_all) < std::pair(other.num_syntax, other.num_all);
  }
};

struct Edit {
  std::uint32_t begin, end;
  std::string text;
};
/// The fixes of one diagnostic: all of them or none.
using Suggestion = std::vector<Edit>;

struct Judged {
  Badness badness;
  std::vector<Suggestion> suggestions;
};

Judged judge(const std::string& name, const std::string& text, const CompileOptions& options) {
  Judged judged;
  source::SourceManager sources;
  diag::Sink syntax;
  parse::parse(sources.file(sources.add(name, text)), syntax);
  judged.badness.num_syntax = syntax.num_errors();

  const Compilation compilation = Compilation::from_text(name, text, Compilation::Stage::check, options);
  for (const diag::Diagnostic& diagnostic : compilation.impl().sorted) {
    if (diag::info(diagnostic.kind).severity == diag::Severity::error) ++judged.badness.num_all;
    Suggestion suggestion;
    for (const diag::Fix& fix : diagnostic.fixes) {
      // The job's text is the first file; those that it imports are not ours to change.
      const bool is_sure = fix.applicability == diag::Applicability::machine_applicable && !fix.range.is_none &&
                           fix.range.file.value == 0;
      if (!is_sure) {
        suggestion.clear();
        break;
      }
      suggestion.push_back({fix.range.begin, fix.range.end, fix.text});
    }
    if (!suggestion.empty()) judged.suggestions.push_back(std::move(suggestion));
  }
  return judged;
}

bool overlap(const Edit& a, const Edit& b) {
  if (a.begin == b.begin) return true;  // two insertions at one place depend on their order
  return a.begin < b.end && b.begin < a.end;
}

bool overlap(const std::vector<Edit>& edits, const Suggestion& suggestion) {
  return std::any_of(edits.begin(), edits.end(), [&](const Edit& a) {
    return std::any_of(suggestion.begin(), suggestion.end(), [&](const Edit& b) { return overlap(a, b); });
  });
}

std::string apply(std::string text, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin > b.begin; });
  for (const Edit& edit : edits) text.replace(edit.begin, edit.end - edit.begin, edit.text);
  return text;
}

/// The first suggestion that helps by itself.
bool apply_one(const std::string& name, FixedText& fixed, Judged& judged, const CompileOptions& options) {
  for (const Suggestion& suggestion : judged.suggestions) {
    std::string text = apply(fixed.text, suggestion);
    Judged after = judge(name, text, options);
    if (!(after.badness < judged.badness)) continue;
    fixed.text = std::move(text);
    fixed.num_fixes += 1;
    judged = std::move(after);
    return true;
  }
  return false;
}

/// All suggestions that do not overlap; one alone when together they do not help.
bool apply_round(const std::string& name, FixedText& fixed, Judged& judged, const CompileOptions& options) {
  std::vector<Edit> edits;
  std::size_t num_used = 0;
  for (const Suggestion& suggestion : judged.suggestions) {
    if (overlap(edits, suggestion)) continue;
    edits.insert(edits.end(), suggestion.begin(), suggestion.end());
    ++num_used;
  }
  if (edits.empty()) return false;
  std::string text = apply(fixed.text, edits);
  Judged after = judge(name, text, options);
  if (!(after.badness < judged.badness)) return num_used > 1 && apply_one(name, fixed, judged, options);
  fixed.text = std::move(text);
  fixed.num_fixes += num_used;
  judged = std::move(after);
  return true;
}

}  // namespace

FixedText apply_fixes(const std::string& name, const std::string& text, const CompileOptions& options) {
  constexpr int max_rounds = 20;
  FixedText fixed{text, 0};
  Judged judged = judge(name, text, options);
  for (int round = 0; round < max_rounds; ++round) {
    if (!apply_round(name, fixed, judged, options)) break;
  }
  return fixed;
}

}  // namespace dtj
