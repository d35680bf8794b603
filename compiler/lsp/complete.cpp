#include <algorithm>
#include <set>

#include "compiler/check/sections.hpp"
#include "compiler/lsp/document.hpp"
#include "compiler/parse/lexemes.hpp"

// Completion. What is wanted follows from the words and signs before the cursor, so that it works where the text does not
// parse; the names that are known there come from the tree.

namespace dtj::lsp {
namespace {

using parse::Lexeme;
using parse::LexemeKind;

/// The numbers of the protocol.
enum class ItemKind : int { function = 3, variable = 6, class_ = 7, module = 9, property = 10, enum_member = 20, keyword = 14, constant = 21, struct_ = 22 };

class Items {
 public:
  void add(std::string_view label, ItemKind kind, std::string_view detail = {}, std::string_view insert = {}) {
    if (!seen_.insert(std::string(label)).second) return;
    Json item = {{"label", label}, {"kind", static_cast<int>(kind)}};
    if (!detail.empty()) item["detail"] = detail;
    if (!insert.empty()) item["insertText"] = insert;
    list_.push_back(std::move(item));
  }
  Json take() { return {{"isIncomplete", false}, {"items", std::move(list_)}}; }

 private:
  std::set<std::string> seen_;
  Json list_ = Json::array();
};

ItemKind item_kind(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::module: return ItemKind::class_;
    case SymbolKind::function:
    case SymbolKind::primitive: return ItemKind::function;
    case SymbolKind::record:
    case SymbolKind::job: return ItemKind::struct_;
    case SymbolKind::enumeration: return ItemKind::class_;
    case SymbolKind::constant: return ItemKind::constant;
    case SymbolKind::placeholder:
    case SymbolKind::parameter:
    case SymbolKind::variable:
    case SymbolKind::dim:
    case SymbolKind::data: return ItemKind::variable;
    case SymbolKind::member: return ItemKind::property;
    case SymbolKind::library: return ItemKind::module;
  }
  return ItemKind::variable;
}

/// An open bracket before the cursor: the words since the statement that it ends, and its own place.
struct Open {
  std::size_t at = 0;     ///< index of its lexeme
  std::size_t start = 0;  ///< index of the first lexeme of the statement around it
};

/// The lexemes before the cursor; the word under it is left out.
class Context {
 public:
  Context(const Document& document, std::uint32_t offset) : file_(document.file()) {
    for (const Lexeme& lexeme : parse::read_lexemes(file_)) {
      const bool is_comment = lexeme.kind == LexemeKind::line_comment || lexeme.kind == LexemeKind::block_comment;
      const bool is_inside = lexeme.range.begin < offset && (offset < lexeme.range.end || (is_comment && offset == lexeme.range.end));
      is_quiet_ = is_quiet_ || (is_inside && (is_comment || lexeme.kind == LexemeKind::string));
      if (lexeme.range.begin >= offset) break;
      const bool is_word = lexeme.kind == LexemeKind::name || lexeme.kind == LexemeKind::word;
      if (is_comment || (is_word && offset <= lexeme.range.end)) continue;
      lexemes_.push_back(lexeme);
    }
    std::size_t start = 0;
    for (std::size_t i = 0; i < lexemes_.size(); ++i) {
      const std::string_view text = at(i);
      if (text == "{" || text == "(" || text == "[") {
        open_.push_back({i, start});
        start = i + 1;
      } else if ((text == "}" || text == ")" || text == "]") && !open_.empty()) {
        start = text == "}" ? i + 1 : open_.back().start;
        open_.pop_back();
      } else if (text == ";") {
        start = i + 1;
      }
    }
    start_ = start;
  }

  bool is_quiet() const { return is_quiet_; }
  std::size_t size() const { return lexemes_.size(); }
  std::string_view at(std::size_t i) const { return file_.slice(lexemes_[i].range); }
  std::string_view back(std::size_t n) const { return n < size() ? at(size() - 1 - n) : std::string_view(); }
  const std::vector<Open>& open() const { return open_; }
  /// The first lexeme of the statement at the cursor.
  std::size_t start() const { return start_; }
  bool is_at_start() const { return start_ == size(); }

 private:
  const source::SourceFile& file_;
  std::vector<Lexeme> lexemes_;
  std::vector<Open> open_;
  std::size_t start_ = 0;
  bool is_quiet_ = false;
};

void add_symbols(const std::vector<const Symbol*>& symbols, Items& items) {
  for (const Symbol* symbol : symbols) items.add(symbol->name, item_kind(symbol->kind));
}

/// Section or job that the cursor stands in; null anywhere else.
const check::SectionSchema* section_at(const Context& context) {
  const std::vector<Open>& open = context.open();
  if (open.empty() || context.at(open.front().at) != "{" || context.at(open.front().start) != "job") return nullptr;
  if (open.size() == 1) return &check::job_schema();
  return open.size() == 2 && context.at(open[1].at) == "{" ? check::find_section_schema(context.at(open[1].start)) : nullptr;
}

void add_keys(const Context& context, const check::SectionSchema& section, Items& items) {
  std::set<std::string_view> written;
  int depth = 0;  // of brackets inside of the section
  for (std::size_t i = context.open().back().at + 1; i + 1 < context.size(); ++i) {
    const std::string_view text = context.at(i);
    if (text == "{" || text == "(" || text == "[") ++depth;
    if (text == "}" || text == ")" || text == "]") --depth;
    if (depth == 0 && context.at(i + 1) == "=") written.insert(text);
  }
  for (const check::KeySchema& key : section.keys) {
    if (written.count(key.name) != 0) continue;
    const std::string insert = std::string(key.name) + " = ";
    items.add(key.name, ItemKind::property, "for example " + std::string(key.example), insert);
  }
  if (&section != &check::job_schema()) return;
  for (const check::SectionSchema& inner : check::section_schemas()) items.add(inner.name, ItemKind::module, inner.example);
  for (const char* word : {"fn", "const"}) items.add(word, ItemKind::keyword);
}

/// `import std.`, `import std.nn.{`: what may come next.
bool add_imports(const Context& context, const Document& document, Items& items) {
  std::size_t start = context.start();
  const bool is_list = !context.open().empty() && context.at(context.open().back().at) == "{" && context.at(context.open().back().start) == "import";
  if (is_list) start = context.open().back().start;
  if (start >= context.size() || context.at(start) != "import") return false;
  if (!is_list) {
    if (context.back(0) == "import") items.add("std", ItemKind::module);
    if (context.back(0) == "." && context.back(1) == "std") {
      for (const std::string_view module : source::stdlib_modules()) {
        if (module != "prelude") items.add(module, ItemKind::module);
      }
    }
    return true;
  }
  const std::string module(context.at(start + 3));
  const auto known = document.symbols().members_of(module);
  add_symbols(known, items);
  if (!known.empty()) return true;
  // The import is not whole yet: a file of its own has its names.
  const Document other("import", "dtj 1;\nimport std." + module + ";\n");
  add_symbols(other.symbols().members_of(module), items);
  return true;
}

/// `optim.`: the names of the module.
bool add_members(const Context& context, const Document& document, Items& items) {
  if (context.back(0) != ".") return false;
  add_symbols(document.symbols().members_of(context.back(1)), items);
  return true;
}

/// Inside of the brackets of a call: its parameters.
void add_parameters(const Context& context, const Document& document, std::uint32_t offset, Items& items) {
  if (context.open().empty()) return;
  const std::size_t bracket = context.open().back().at;
  const bool is_place = context.back(0) == "(" || context.back(0) == ",";
  if (context.at(bracket) != "(" || bracket == 0 || !is_place) return;
  for (const Symbol* symbol : document.symbols().visible(offset)) {
    if (symbol->name != context.at(bracket - 1)) continue;
    for (const std::string& parameter : symbol->parameters) items.add(parameter, ItemKind::property, "parameter of " + symbol->name, parameter + " = ");
  }
}

void add_words_of_key(const Context& context, const check::SectionSchema& section, const Document& document, Items& items) {
  const check::KeySchema* key = context.start() < context.size() ? section.find(context.at(context.start())) : nullptr;
  if (key == nullptr) return;
  for (const std::string_view word : key->words) items.add(word, ItemKind::enum_member, key->name);
  if (key->type == check::KeyType::boolean) {
    for (const char* word : {"true", "false"}) items.add(word, ItemKind::keyword);
  }
  if (key->name != "on") return;
  for (const Symbol& symbol : document.symbols().symbols) {
    if (symbol.kind == SymbolKind::data) items.add(symbol.name, ItemKind::variable);
  }
}

}  // namespace

Json completion(const Document& document, std::uint32_t offset) {
  const Context context(document, offset);
  Items items;
  if (context.is_quiet()) return items.take();
  if (add_imports(context, document, items) || add_members(context, document, items)) return items.take();
  const check::SectionSchema* section = section_at(context);
  if (section != nullptr && context.is_at_start()) {
    add_keys(context, *section, items);
    return items.take();
  }
  if (section != nullptr) add_words_of_key(context, *section, document, items);
  add_parameters(context, document, offset, items);
  add_symbols(document.symbols().visible(offset), items);
  for (const std::string& word : parse::language_words()) items.add(word, ItemKind::keyword);
  return items.take();
}

}  // namespace dtj::lsp
