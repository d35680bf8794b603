#include <string>
#include <set>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/source/source.hpp"
#include "tests/support/catch.hpp"

using dtj::ErrorCode;
using dtj::source::SourceManager;

namespace {

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dtj_source_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("load: reads a file under the name it was given", "[unit][source]") {
  const Folder folder;
  const std::string path = folder.write("a.dtj", "dtj 1;\n");
  SourceManager sources;
  const auto id = sources.load(path);
  REQUIRE(id);
  CHECK(sources.file(*id).name() == path);
  CHECK(sources.file(*id).text() == "dtj 1;\n");
  CHECK(sources.num_files() == 1);
}

TEST_CASE("load: leaves out a byte order mark", "[unit][source]") {
  const Folder folder;
  SourceManager sources;
  const auto id = sources.load(folder.write("a.dtj", "\xEF\xBB\xBF" "dtj 1;"));
  REQUIRE(id);
  CHECK(sources.file(*id).text() == "dtj 1;");
}

TEST_CASE("load: names what is wrong with a path", "[unit][source]") {
  const Folder folder;
  SourceManager sources;
  const auto fails = [&](const std::string& path, ErrorCode code, const std::string& text) {
    const auto id = sources.load(path);
    REQUIRE_FALSE(id);
    CHECK(id.error().code == code);
    CHECK(id.error().message.find(path) != std::string::npos);
    CHECK(id.error().message.find(text) != std::string::npos);
  };
  fails(folder.path() + "/none.dtj", ErrorCode::not_found, "No such file");
  fails(folder.path(), ErrorCode::invalid_argument, "it is a directory");
  fails(folder.write("latin1.dtj", "dtj 1; // caf\xE9\n"), ErrorCode::invalid_argument, "not UTF-8 text (byte 13");
  fails(folder.write("binary.dtj", std::string("dtj\0 1", 6)), ErrorCode::invalid_argument, "binary data");
  fails(folder.write("large.dtj", std::string((16 << 20) + 1, ' ')), ErrorCode::invalid_argument, "larger than 16 MiB");
  CHECK(sources.num_files() == 0);
}

TEST_CASE("load: reports a file without permission", "[unit][source]") {
  if (geteuid() == 0) return;  // root may read everything
  const Folder folder;
  const std::string path = folder.write("secret.dtj", "dtj 1;");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  SourceManager sources;
  const auto id = sources.load(path);
  REQUIRE_FALSE(id);
  CHECK(id.error().code == ErrorCode::invalid_argument);
  CHECK(id.error().message.find("Permission denied") != std::string::npos);
}

TEST_CASE("add: references stay valid while files are added", "[unit][source]") {
  SourceManager sources;
  const auto first = sources.add("first", "1");
  const auto& file = sources.file(first);
  for (int i = 0; i < 100; ++i) sources.add("more", "x");
  CHECK(&file == &sources.file(first));
  CHECK(file.text() == "1");
}

TEST_CASE("find_stdlib: holds the library as it lies in stdlib/", "[unit][source]") {
  const auto modules = dtj::source::stdlib_modules();
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(DTJ_SOURCE_DIR "/stdlib")) {
    if (entry.path().extension() == ".dtj") files.insert(entry.path().stem().string());
  }
  CHECK(files.count("nn") == 1);
  CHECK(std::set<std::string>(modules.begin(), modules.end()) == files);
  for (const std::string_view module : modules) {
    std::ifstream file(DTJ_SOURCE_DIR "/stdlib/" + std::string(module) + ".dtj", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    REQUIRE_FALSE(text.empty());
    CHECK(dtj::source::find_stdlib(module) == std::optional<std::string_view>(text));
  }
  CHECK_FALSE(dtj::source::find_stdlib("none"));
}
