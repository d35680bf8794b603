#include "tests/support/snippet.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace dtj::test {
namespace {

constexpr const char* job_top = R"(dtj 1;
import std.nn.{Linear, relu, cross_entropy, accuracy};
import std.optim.{SGD, AdamW, constant_lr, warmup_cosine};
import std.data.{idx_images, text_chars, token_shards};

module Net(classes: int) {
  sub head = Linear(784, classes);
  fn forward(x: act[B, 1, 28, 28]) -> act[B, classes] { x |> flatten(from = 1) |> head }
}
)";

/// The parts of a job that is right, by what they are.
const std::vector<std::pair<std::string, std::string>>& job_parts() {
  static const std::vector<std::pair<std::string, std::string>> parts = {
      {"launch", "launch { method = local; nodes = 1; ranks_per_node = 2; }"},
      {"model", "model = Net(classes = 10);"},
      {"data train",
       "data train { source = idx_images(\"data\"); global_batch = 128sample; sampler = shuffle(seed = 1); }"},
      {"data test",
       "data test { source = idx_images(\"data\", split = \"test\"); global_batch = 1_000sample; sampler = sequential(); }"},
      {"fn objective",
       "fn objective(m, batch) {\n  let logits = m(batch.image);\n"
       "  {loss = cross_entropy(logits, batch.label), acc = accuracy(logits, batch.label)}\n}"},
      {"optimizer", "optimizer = SGD(lr = 0.1);"},
      {"train", "train { stop = 10epoch; }"},
  };
  return parts;
}

/// Cuts a text into its outermost items: each ends with a `;` or with a bracket that closes on the outermost level.
std::vector<std::string> cut_items(const std::string& text) {
  std::vector<std::string> items;
  std::string item;
  int depth = 0;
  bool in_string = false, in_comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    item += c;
    if (in_comment) {
      in_comment = c != '\n';
      continue;
    }
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    if (in_string) continue;
    in_comment = c == '/' && i + 1 < text.size() && text[i + 1] == '/';
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == ')' || c == ']') --depth;
    if (depth == 0 && (c == ';' || c == '}')) {
      const bool goes_on = c == '}' && i + 1 < text.size() && text[i + 1] == ';';
      if (goes_on) continue;
      items.push_back(item);
      item.clear();
    }
  }
  if (item.find_first_not_of(" \n") != std::string::npos) items.push_back(item);
  return items;
}

/// "data train", "fn objective", "launch", "seed"
std::string kind_of(const std::string& item) {
  std::istringstream lines(item);
  std::string line;
  while (std::getline(lines, line)) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.compare(begin, 2, "//") != 0) break;
  }
  std::istringstream words(line);
  std::string first, second;
  words >> first >> second;
  if (first == "data" || first == "fn") return first + " " + second.substr(0, second.find('('));
  return first;
}

bool is_declaration(const std::string& kind) {
  const char* const words[] = {"bind", "import", "module", "record", "enum", "dim"};
  return std::any_of(std::begin(words), std::end(words), [&](const char* word) { return kind == word; });
}

std::string complete_job(const std::string& text) {
  std::string top = job_top;
  std::string body;
  std::vector<std::string> written;
  for (const std::string& item : cut_items(text)) {
    const std::string kind = kind_of(item);
    written.push_back(kind);
    if (kind == "import") {
      top.insert(top.find('\n') + 1, item + "\n");  // behind the edition
    } else {
      (is_declaration(kind) ? top : body) += item + "\n";
    }
  }
  for (const auto& [kind, part] : job_parts()) {
    if (std::find(written.begin(), written.end(), kind) == written.end()) body += part + "\n";
  }
  return top + "job example {\n" + body + "}\n";
}

}  // namespace

std::vector<Snippet> fenced_snippets(std::string_view markdown) {
  std::vector<Snippet> snippets;
  std::istringstream lines{std::string(markdown)};
  std::string line;
  bool is_inside = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.rfind("```", 0) == 0) {
      if (!is_inside) snippets.push_back({line.substr(3), {}, number});
      is_inside = !is_inside;
    } else if (is_inside) {
      snippets.back().text += line + "\n";
    }
  }
  return snippets;
}

std::string tag_of(const std::string& fence) { return fence.substr(0, fence.find(' ')); }

std::map<std::string, std::string> bindings_of(const std::string& fence) {
  std::map<std::string, std::string> bindings;
  std::istringstream words(fence);
  std::string word;
  while (words >> word) {
    if (word != "--bind" || !(words >> word)) continue;
    bindings[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  return bindings;
}

std::string complete_snippet(const std::string& tag, const std::string& text) {
  if (tag == "dtj-top") return "dtj 1;\n" + text;
  if (tag == "dtj-job") return complete_job(text);
  if (tag == "dtj-body") return "dtj 1;\nfn body() {\n" + text + "}\n";
  return text;
}

}  // namespace dtj::test
