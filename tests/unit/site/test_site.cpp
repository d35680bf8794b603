#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/site/site.hpp"
#include "tests/support/catch.hpp"

namespace dtj::site {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("dtj_site_" + std::to_string(::getpid()))) { fs::create_directories(path_ / ".git"); }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

/// An index of git with these names, in the form of `version`.
std::string index_of(char version, const std::vector<std::string>& names) {
  std::string bytes = "DIRC" + std::string(3, '\0') + version + std::string(3, '\0') + static_cast<char>(names.size());
  std::string before;
  for (const std::string& name : names) {
    std::string entry = std::string(61, '\0') + static_cast<char>(name.size());
    if (version == 4) {
      std::size_t shared = 0;
      while (shared < std::min(before.size(), name.size()) && before[shared] == name[shared]) ++shared;
      entry += static_cast<char>(before.size() - shared);
      entry += name.substr(shared) + '\0';
    } else {
      entry += name;
      entry += std::string(8 - entry.size() % 8, '\0');
    }
    bytes += entry;
    before = name;
  }
  return bytes;
}

const std::string two_sites = "default = \"a\"\n[site.a.bind]\nqueue = \"gpu\"\nnodes = 4\n[site.b.bind]\nqueue = \"cpu\"\n";

}  // namespace

TEST_CASE("site: the default site counts, and another when it is named", "[unit][site]") {
  const Folder folder;
  const std::string path = folder.write("site.toml", two_sites);
  source::SourceManager sources;
  diag::Sink sink;
  const auto profile = read_profile(path, "", sources, sink);
  REQUIRE(profile);
  CHECK(profile->site == "a");
  CHECK(profile->bind.at("queue").text == "gpu");
  CHECK(profile->bind.at("queue").place == path + ":3");
  CHECK(profile->bind.at("nodes").text == "4");
  CHECK(read_profile(path, "b", sources, sink)->bind.at("queue").text == "cpu");
  CHECK(sink.sorted().empty());
}

TEST_CASE("site: two sites without a default are not guessed at", "[unit][site]") {
  const Folder folder;
  source::SourceManager sources;
  diag::Sink sink;
  CHECK_FALSE(read_profile(folder.write("site.toml", two_sites.substr(two_sites.find('['))), "", sources, sink));
  REQUIRE(sink.sorted().size() == 1);
  CHECK(sink.sorted()[0].kind == diag::Kind::unknown_site);
}

TEST_CASE("site: no message shows a line of the profile", "[unit][site]") {
  const Folder folder;
  source::SourceManager sources;
  diag::Sink sink;
  read_profile(folder.write("site.toml", "[site.a]\ntoken = \"hunter2\"\n[site.a.bind]\nother = [\"hunter2\"]\n"), "", sources, sink);
  CHECK(sink.num_errors() == 2);
  CHECK(diag::render_text(sink.sorted(), sources, {}).find("hunter2") == std::string::npos);
  CHECK(diag::render_json(sink.sorted(), sources).find("hunter2") == std::string::npos);
  const std::vector<diag::Diagnostic> sorted = sink.sorted();
  CHECK(diag::render_sarif({{&sorted, &sources}}, "0", {}).find("hunter2") == std::string::npos);
}

TEST_CASE("site: a profile that git tracks gives a warning", "[unit][site]") {
  const Folder folder;
  const std::string path = folder.write("conf/site.toml", two_sites);
  const std::vector<std::string> with = {"README.md", "conf/base.dtj", "conf/site.toml", "z"}, without = {"README.md", "conf/site.toml.in", "site.toml"};
  for (const char version : {'\2', '\4'}) {
    INFO(static_cast<int>(version));
    folder.write(".git/index", index_of(version, with));
    CHECK(is_tracked_by_git(path));
    folder.write(".git/index", index_of(version, without));
    CHECK_FALSE(is_tracked_by_git(path));
  }
  folder.write(".git/index", index_of('\2', with));
  source::SourceManager sources;
  diag::Sink sink;
  warn_of_tracked_profile(*read_profile(path, "", sources, sink), sink);
  REQUIRE(sink.sorted().size() == 1);
  CHECK(sink.sorted()[0].kind == diag::Kind::site_profile_tracked);
  folder.write(".git/index", "DIRC");
  CHECK_FALSE(is_tracked_by_git(path));
}

}  // namespace dtj::site
