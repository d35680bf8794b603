#include "compiler/diagnostics/explain.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/embedded.hpp"
#include "compiler/diagnostics/severity.hpp"

namespace dtj::diag {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string trim(std::string text) {
  const auto is_space = [](char c) { return c == '\n' || c == ' '; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  const auto begin = text.find_first_not_of("\n ");
  return begin == std::string::npos ? std::string() : text.substr(begin);
}

/// Reads one file of explanations line by line.
class Reader {
 public:
  explicit Reader(std::vector<Explanation>& out) : out_(out) {}

  void read(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  void line(std::string_view text) {
    if (fence_ == nullptr && starts_with(text, "## ")) {
      out_.push_back({std::string(text.substr(3)), {}, {}, {}, {}});
      prose_ = &out_.back().what;
      example_ = nullptr;
      return;
    }
    if (out_.empty()) return;
    if (fence_ == nullptr && starts_with(text, "### ")) return heading(text.substr(4));
    if (starts_with(text, "```")) return fence(text.substr(3));
    std::string& target = fence_ != nullptr ? fence_->text : *prose_;
    target += text;
    target += '\n';
  }

  void heading(std::string_view name) {
    example_ = name == "Fails" ? &out_.back().fails : name == "Passes" ? &out_.back().passes : nullptr;
    if (name == "Why") prose_ = &out_.back().why;
  }

  void fence(std::string_view info) {
    if (fence_ != nullptr || example_ == nullptr) {
      fence_ = nullptr;
      return;
    }
    fence_ = &example_->emplace(Example{std::string(info), {}});
  }

  std::vector<Explanation>& out_;
  std::string* prose_ = nullptr;
  std::optional<Example>* example_ = nullptr;
  Example* fence_ = nullptr;  ///< inside of a fenced example
};

std::vector<Explanation> read_all() {
  std::vector<Explanation> all;
  for (const source::EmbeddedFile& file : embedded_explanations()) {
    Reader(all).read({reinterpret_cast<const char*>(file.text), file.size});
  }
  for (Explanation& explanation : all) {
    explanation.what = trim(std::move(explanation.what));
    explanation.why = trim(std::move(explanation.why));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.code < b.code; });
  return all;
}

std::string heading_of(std::string_view code) {
  for (std::size_t i = 0; i < num_kinds(); ++i) {
    const KindInfo& kind = info(static_cast<Kind>(i));
    if (kind.code == code) return fmt::format("{}[{}]: {}\n\n", to_string(kind.severity), code, kind.summary);
  }
  return fmt::format("{}\n\n", code);
}

void render_example(std::string_view title, const std::optional<Example>& example, std::string& out) {
  if (!example) return;
  out += fmt::format("\n{}:\n\n", title);
  const auto options = example->fence.find(' ');
  if (options != std::string::npos) out += fmt::format("    // with{}\n", example->fence.substr(options));
  bool is_line_start = true;
  for (const char c : example->text) {
    if (is_line_start && c != '\n') out += "    ";
    out += c;
    is_line_start = c == '\n';
  }
}

}  // namespace

const std::vector<Explanation>& explanations() {
  static const std::vector<Explanation> all = read_all();
  return all;
}

const Explanation* find_explanation(std::string_view code) {
  const auto is_same = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
  };
  for (const Explanation& explanation : explanations()) {
    if (std::equal(code.begin(), code.end(), explanation.code.begin(), explanation.code.end(), is_same)) return &explanation;
  }
  return nullptr;
}

std::string render_explanation(const Explanation& explanation) {
  std::string out = heading_of(explanation.code) + explanation.what + "\n\n" + explanation.why + "\n";
  render_example("This fails", explanation.fails, out);
  render_example("This passes", explanation.passes, out);
  return out;
}

}  // namespace dtj::diag
