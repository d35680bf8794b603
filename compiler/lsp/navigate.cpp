#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/format/format.hpp"
#include "compiler/lsp/document.hpp"
#include "compiler/parse/lexemes.hpp"
#include "engine/base/hash.hpp"

// Hover, definition, references, rename, outline.

namespace dtj::lsp {
namespace {

namespace fs = std::filesystem;

/// The declaration's head: up to its body, on one line.
std::string signature(const Symbol& symbol, const source::SourceManager& sources) {
  if (symbol.whole.is_none) return symbol.name;
  std::string text(sources.file(symbol.whole.file).slice(symbol.whole));
  const bool has_body = symbol.kind == SymbolKind::module || symbol.kind == SymbolKind::function || symbol.kind == SymbolKind::job ||
                        symbol.kind == SymbolKind::data;
  if (has_body) {
    // The body is the brace on the outermost level.
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(' || text[i] == '[') ++depth;
      if (text[i] == ')' || text[i] == ']') --depth;
      if (text[i] == '{' && depth == 0) text.resize(i);
    }
  }
  std::string line;
  for (const char c : text) {
    const bool is_space = c == '\n' || c == ' ' || c == '\t' || c == '\r';
    if (!is_space) line += c;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// The `///` lines right above a declaration.
std::string documentation(const Symbol& symbol, const source::SourceManager& sources) {
  if (symbol.whole.is_none) return {};
  const source::SourceFile& file = sources.file(symbol.whole.file);
  std::vector<std::string> lines;
  for (std::int32_t number = file.position(symbol.whole.begin).line - 1; number >= 1; --number) {
    std::string_view line = file.line(number);
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    if (line.front() == '@') continue;  // attributes stand between
    if (line.substr(0, 3) != "///") break;
    line.remove_prefix(line.size() > 3 && line[3] == ' ' ? 4 : 3);
    lines.emplace_back(line);
  }
  std::reverse(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

bool is_own(const Symbol& symbol) { return !symbol.declaration.is_none && symbol.declaration.file.value == 0; }

/// A place where editors can open an embedded file: a copy in the user's cache, named by its contents.
std::optional<std::string> library_path(const source::SourceFile& file) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if ((cache == nullptr || *cache != '/') && (home == nullptr || *home != '/')) return std::nullopt;
  const fs::path base = cache != nullptr && *cache == '/' ? fs::path(cache) : fs::path(home) / ".cache";
  const fs::path path = base / "dtj" / to_hex(hash64(file.text())) / file.name();
  std::error_code error;
  if (fs::exists(path, error)) return path.string();
  fs::create_directories(path.parent_path(), error);
  if (error) return std::nullopt;
  // A reader never sees half of it.
  const fs::path partial = path.string() + ".new";
  std::ofstream(partial, std::ios::binary) << file.text();
  fs::rename(partial, path, error);
  return error ? std::nullopt : std::optional(path.string());
}

Json location(source::Range range, const Document& document) {
  const source::SourceFile& file = document.sources().file(range.file);
  if (range.file.value == 0) return {{"uri", document.uri()}, {"range", range_of(range, file)}};
  const auto path = library_path(file);
  if (!path) return nullptr;
  return {{"uri", uri_of(*path)}, {"range", range_of(range, file)}};
}

std::string values_text(const Document& document, const Use& use, const Symbol& symbol) {
  std::vector<std::string> values = document.values_of(use.result);
  std::string head = "gives ";
  if (values.empty()) {
    head = "is ";
    values = document.values_of(use.range);
  }
  if (values.empty() && is_own(symbol)) values = document.values_of(symbol.value);
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? head : ", or ") + value;
  return text;
}

/// What a name of the language must look like.
bool is_name(const std::string& text) {
  source::SourceManager sources;
  const auto lexemes = parse::read_lexemes(sources.file(sources.add("name", text)));
  if (lexemes.size() != 1 || lexemes[0].range.begin != 0 || lexemes[0].range.end != text.size()) return false;
  return lexemes[0].kind == parse::LexemeKind::name || (lexemes[0].kind == parse::LexemeKind::word && parse::may_be_name(text));
}

/// A use inside of the brackets of a placeholder covers them.
source::Range name_range(const Use& use, const Symbol& symbol, const source::SourceFile& file) {
  const bool has_brackets = symbol.kind == SymbolKind::placeholder && use.range.begin < file.text().size() && file.text()[use.range.begin] == '<';
  return has_brackets ? source::Range::of(use.range.file, use.range.begin + 1, use.range.end - 1) : use.range;
}

/// Where the names of a text stand and what each stands for, without the names.
std::vector<std::size_t> shape_of(const SymbolTable& table) {
  std::vector<std::pair<std::uint32_t, std::size_t>> uses;
  for (const Use& use : table.uses) {
    if (use.range.file.value == 0) uses.emplace_back(use.range.begin, use.symbol);
  }
  std::sort(uses.begin(), uses.end());
  std::vector<std::size_t> shape;
  for (const auto& [begin, symbol] : uses) shape.push_back(symbol);
  return shape;
}

}  // namespace

Json hover(const Document& document, std::uint32_t offset) {
  const Use* use = document.symbols().find(offset);
  if (use == nullptr) return nullptr;
  const Symbol& symbol = document.symbols().symbols[use->symbol];
  std::string text = "```dtj\n" + signature(symbol, document.sources()) + "\n```";
  if (const std::string values = values_text(document, *use, symbol); !values.empty()) text += "\n\n" + values;
  if (symbol.kind == SymbolKind::primitive) text += "\n\na primitive of the compiler";
  if (const std::string words = documentation(symbol, document.sources()); !words.empty()) text += "\n\n" + words;
  return {{"contents", {{"kind", "markdown"}, {"value", text}}}, {"range", range_of(use->range, document.file())}};
}

Json definition(const Document& document, std::uint32_t offset) {
  const Use* use = document.symbols().find(offset);
  if (use == nullptr) return nullptr;
  const Symbol& symbol = document.symbols().symbols[use->symbol];
  return symbol.declaration.is_none ? Json() : location(symbol.declaration, document);
}

Json references(const Document& document, std::uint32_t offset, bool with_declaration) {
  const Use* use = document.symbols().find(offset);
  if (use == nullptr) return nullptr;
  Json list = Json::array();
  for (const Use& other : document.symbols().uses) {
    if (other.symbol != use->symbol || other.range.file.value != 0 || (other.is_declaration && !with_declaration)) continue;
    list.push_back(location(other.range, document));
  }
  return list;
}

Json document_symbols(const Document& document) {
  Json list = Json::array();
  for (const Symbol& symbol : document.symbols().symbols) {
    if (!is_own(symbol)) continue;
    int kind = 0;  // of the protocol
    switch (symbol.kind) {
      case SymbolKind::module: kind = 5; break;
      case SymbolKind::function: kind = 12; break;
      case SymbolKind::record: kind = 23; break;
      case SymbolKind::enumeration: kind = 10; break;
      case SymbolKind::constant: kind = 14; break;
      case SymbolKind::job: kind = 2; break;
      case SymbolKind::placeholder: kind = 13; break;
      case SymbolKind::data: kind = 19; break;
      case SymbolKind::member: kind = 8; break;
      case SymbolKind::parameter:
      case SymbolKind::variable:
      case SymbolKind::dim:
      case SymbolKind::library:
      case SymbolKind::primitive: continue;
    }
    list.push_back({{"name", symbol.name},
                    {"kind", kind},
                    {"range", range_of(symbol.whole, document.file())},
                    {"selectionRange", range_of(symbol.declaration, document.file())}});
  }
  return list;
}

Json prepare_rename(const Document& document, std::uint32_t offset) {
  const Use* use = document.symbols().find(offset);
  if (use == nullptr) return nullptr;
  const Symbol& symbol = document.symbols().symbols[use->symbol];
  return is_own(symbol) ? range_of(name_range(*use, symbol, document.file()), document.file()) : Json();
}

Renamed rename(const Document& document, std::uint32_t offset, const std::string& new_name) {
  const Use* use = document.symbols().find(offset);
  if (use == nullptr) return {{}, "there is no name here"};
  const Symbol& symbol = document.symbols().symbols[use->symbol];
  if (!is_own(symbol)) return {{}, "`" + symbol.name + "` is not declared in this file"};
  if (!is_name(new_name)) return {{}, "`" + new_name + "` is not a name of the language"};

  std::vector<source::Range> places;
  for (const Use& other : document.symbols().uses) {
    if (other.symbol == use->symbol && other.range.file.value == 0) places.push_back(name_range(other, symbol, document.file()));
  }
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.begin > b.begin; });
  places.erase(std::unique(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.begin == b.begin; }), places.end());
  std::string text(document.file().text());
  Json edits = Json::array();
  for (const source::Range& place : places) {
    text.replace(place.begin, place.end - place.begin, new_name);
    edits.push_back({{"range", range_of(place, document.file())}, {"newText", new_name}});
  }
  // The text must mean what it meant: every name stands for the same thing, and nothing new is wrong.
  const Document after(document.uri(), text);
  if (shape_of(after.symbols()) != shape_of(document.symbols())) return {{}, "`" + new_name + "` would be taken for another name"};
  if (after.num_errors() > document.num_errors()) return {{}, "`" + new_name + "` would break the file: the name is used where it cannot be followed"};
  return {{{"changes", {{document.uri(), edits}}}}, {}};
}

}  // namespace dtj::lsp
