#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/format/format.hpp"
#include "compiler/parse/lexemes.hpp"
#include "compiler/parse/parse.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_program.hpp"

// fmt(fmt(x)) = fmt(x) and parse(fmt(x)) = parse(x).

namespace dtj {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::optional<std::string> formatted(const std::string& text) {
  source::SourceManager sources;
  diag::Sink sink;
  return format::format(sources.file(sources.add("x.dtj", text)), sink);
}

std::string tree_of(const std::string& text) {
  source::SourceManager sources;
  diag::Sink sink;
  return ast::print(*parse::parse(sources.file(sources.add("x.dtj", text)), sink));
}

/// What the parser has to say; "" for a well-formed text.
std::string mistakes_in(const std::string& text) {
  source::SourceManager sources;
  diag::Sink sink;
  parse::parse(sources.file(sources.add("x.dtj", text)), sink);
  return diag::render_text(sink.sorted(), sources, {});
}

std::vector<std::string> comments_of(const std::string& text) {
  source::SourceManager sources;
  const source::SourceFile& file = sources.file(sources.add("x.dtj", text));
  std::vector<std::string> comments;
  for (const parse::Lexeme& lexeme : parse::read_lexemes(file)) {
    const bool is_comment = lexeme.kind == parse::LexemeKind::line_comment || lexeme.kind == parse::LexemeKind::block_comment;
    if (!is_comment) continue;
    std::string comment(file.slice(lexeme.range));
    comment.erase(comment.find_last_not_of(" \t\r") + 1);
    comments.push_back(std::move(comment));
  }
  return comments;
}

void holds(const std::string& text) {
  INFO("source:\n" << text);
  const auto once = formatted(text);
  REQUIRE(once.has_value());
  const auto twice = formatted(*once);
  REQUIRE(twice.has_value());
  CHECK(format::unified_diff("twice", *once, *twice).empty());
  if (*once != *twice) WARN(format::unified_diff("twice", *once, *twice));
  CHECK(tree_of(*once) == tree_of(text));
  CHECK(comments_of(*once) == comments_of(text));
}

/// The same words and signs with other space and comments between them.
std::string respace(const std::string& text, std::minstd_rand& random) {
  source::SourceManager sources;
  const source::SourceFile& file = sources.file(sources.add("x.dtj", text));
  static const char* const spaces[] = {" ", "  ", "\n", "\n\n", "\n\n\n", "\t", " \n ", "\r\n", " // note\n", " // note\n// more\n", " /* in */ ", " /* two\n lines */"};
  std::string result;
  std::uint32_t end = 0;
  bool is_past_edition = false;  // `dtj 1;` is one piece
  for (const parse::Lexeme& lexeme : parse::read_lexemes(file)) {
    const bool was_apart = lexeme.range.begin != end;
    const auto choice = random() % 8;
    if (choice < 2 && is_past_edition) {
      result += spaces[random() % std::size(spaces)];
    } else if (was_apart) {
      result += choice < 6 ? " " : file.text().substr(end, lexeme.range.begin - end);
    }
    result += file.slice(lexeme.range);
    if (lexeme.kind == parse::LexemeKind::line_comment) result += '\n';
    end = lexeme.range.end;
    is_past_edition = is_past_edition || file.slice(lexeme.range) == ";";
  }
  return result;
}

}  // namespace

TEST_CASE("format: holds for every file of the project", "[property][format]") {
  std::minstd_rand random(1);
  int num_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(DTJ_SOURCE_DIR)) {
    if (entry.path().extension() != ".dtj" || entry.path().string().find("/build/") != std::string::npos) continue;
    const std::string text = read(entry.path());
    if (!mistakes_in(text).empty()) continue;
    INFO(entry.path().string());
    holds(text);
    for (int i = 0; i < 2; ++i) holds(respace(text, random));
    ++num_files;
  }
  CHECK(num_files > 80);
}

TEST_CASE("format: holds for generated programs", "[property][format]") {
  std::minstd_rand random(2);
  int num_programs = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const std::string text = test::random_program(seed);
    INFO(text);
    REQUIRE(mistakes_in(text) == "");
    holds(text);
    holds(respace(text, random));
    ++num_programs;
  }
  CHECK(num_programs == 300);
}

}  // namespace dtj
