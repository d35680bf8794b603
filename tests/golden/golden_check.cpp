#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/check/check.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/site/site.hpp"
#include "compiler/source/source.hpp"
#include "tests/support/catch.hpp"

// Every tests/golden/check/*.dtj is checked. `fail_<what>.dtj` must give the errors in `fail_<what>.expected`,
// `say_<what>.dtj` the notes and warnings in its text, the others no error. A line `// options: --bind name=value --job name` gives options. DTJ_UPDATE_GOLDEN=1 rewrites the texts.

namespace dtj {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(DTJ_SOURCE_DIR) / "tests/golden/check"))
    if (entry.path().extension() == ".dtj") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// `say_<what>.dtj`: notes and warnings, and no error.
bool must_say(const fs::path& path) { return path.filename().string().rfind("say_", 0) == 0; }

bool must_fail(const fs::path& path) { return path.filename().string().rfind("fail_", 0) == 0; }

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The value of a flag that stands once.
std::string option_of(const std::string& text, const std::string& wanted) {
  const std::string mark = "// options: ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  std::istringstream words(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
  for (std::string flag, value; words >> flag >> value;)
    if (flag == wanted) return value;
  return "";
}

check::CheckOptions options_of(const std::string& text) {
  check::CheckOptions options;
  const std::string mark = "// options: ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return options;
  std::istringstream words(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
  for (std::string flag, value; words >> flag >> value;) {
    if (flag == "--job") options.job = value;
    if (flag == "--import-dir") options.import_folders.push_back(value);
    if (flag == "--bind") options.bindings[value.substr(0, value.find('='))] = value.substr(value.find('=') + 1);
  }
  return options;
}

struct Checked {
  std::string text;
  bool has_errors = false;
  std::set<diag::Kind> kinds;
};

/// Everything that a check of one file leaves.
struct Run {
  source::SourceManager sources;
  diag::Sink sink;

  explicit Run(const fs::path& path, std::optional<std::string> changed = std::nullopt) {
    fs::current_path(path.parent_path());  // imports are relative to the file, which is named without its folder
    const std::string text = changed ? *changed : read(path);
    const source::FileId id = sources.add(path.filename().string(), text);
    const auto file = parse::parse(sources.file(id), sink);
    check::CheckOptions options = options_of(text);
    if (const std::string profile = option_of(text, "--site"); !profile.empty())
      if (const auto site = site::read_profile(profile, option_of(text, "--site-name"), sources, sink))
        for (const auto& [name, value] : site->bind) options.site_values[name] = {value.text, value.place};
    if (file) check::check(*file, sources, options, sink);
  }
};

Checked check_file(const fs::path& path) {
  const Run run(path);
  Checked checked;
  checked.has_errors = run.sink.has_errors();
  for (const diag::Diagnostic& diagnostic : run.sink.sorted()) checked.kinds.insert(diagnostic.kind);
  checked.text = diag::render_text(run.sink.sorted(), run.sources, {});
  return checked;
}

bool is_updating() {
  const char* flag = std::getenv("DTJ_UPDATE_GOLDEN");
  return flag != nullptr && std::string(flag) == "1";
}

/// Kinds that no file of this folder can show, with the reason.
const std::set<diag::Kind> kinds_without_case = {
    diag::Kind::cannot_read_file,      // the loader says it, before there is a text
    diag::Kind::site_profile_tracked,  // depends on the repository around the file: tests/unit/site
};

}  // namespace

TEST_CASE("golden: a file that must fail, or say something, gives its expected text", "[golden]") {
  for (const fs::path& path : cases()) {
    if (!must_fail(path) && !must_say(path)) continue;
    INFO(path.filename().string());
    const Checked checked = check_file(path);
    CHECK(checked.has_errors == must_fail(path));
    const fs::path expected_path = fs::path(path).replace_extension(".expected");
    if (is_updating()) std::ofstream(expected_path, std::ios::binary) << checked.text;
    CHECK(checked.text == read(expected_path));
  }
}

TEST_CASE("golden: a file that must pass gives no error", "[golden]") {
  int num_files = 0;
  for (const fs::path& path : cases()) {
    if (must_fail(path)) continue;
    const Checked checked = check_file(path);
    INFO(path.filename().string() << "\n" << checked.text);
    CHECK_FALSE(checked.has_errors);
    ++num_files;
  }
  CHECK(num_files > 0);
}

TEST_CASE("golden: no expected text is left over", "[golden]") {
  for (const auto& entry : fs::directory_iterator(fs::path(DTJ_SOURCE_DIR) / "tests/golden/check")) {
    if (entry.path().extension() != ".expected") continue;
    INFO(entry.path().filename().string());
    CHECK(fs::exists(fs::path(entry.path()).replace_extension(".dtj")));
  }
}

TEST_CASE("golden: every kind of diagnostic is shown by some file", "[golden]") {
  std::set<diag::Kind> shown = kinds_without_case;
  for (const fs::path& path : cases()) {
    const Checked checked = check_file(path);
    shown.insert(checked.kinds.begin(), checked.kinds.end());
  }
  for (std::size_t k = 0; k < diag::num_kinds(); ++k) {
    const auto kind = static_cast<diag::Kind>(k);
    INFO(std::string(diag::info(kind).code) << " " << diag::info(kind).name);
    CHECK(shown.count(kind) == 1);
  }
}

TEST_CASE("golden: messages start in lower case, have no full stop", "[golden]") {
  for (const fs::path& path : cases()) {
    fs::current_path(path.parent_path());
    source::SourceManager sources;
    diag::Sink sink;
    const std::string text = read(path);
    const auto file = parse::parse(sources.file(sources.add(path.filename().string(), text)), sink);
    if (file) check::check(*file, sources, options_of(text), sink);
    for (const diag::Diagnostic& diagnostic : sink.sorted()) {
      INFO(path.filename().string() << ": " << diagnostic.message);
      REQUIRE_FALSE(diagnostic.message.empty());
      CHECK(std::isupper(static_cast<unsigned char>(diagnostic.message.front())) == 0);
      CHECK(diagnostic.message.back() != '.');
    }
  }
}

}  // namespace dtj
