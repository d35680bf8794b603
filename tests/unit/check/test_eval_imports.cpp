#include <unistd.h>
#include <cstdio>
#include <filesystem>

#include "tests/unit/check/eval_support.hpp"

namespace dtj::check::testing {
namespace {

namespace fs = std::filesystem;

/// A folder of files that goes away.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("dtj_imports_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << "dtj 1;\n" << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

Strings errors_of_file(const std::string& path) {
  source::SourceManager sources;
  diag::Sink sink;
  Evaluator evaluator(sources, sink, {});
  const auto id = sources.load(path);
  REQUIRE(id.has_value());
  const auto file = parse::parse(sources.file(*id), sink);
  evaluator.declare(*file);
  Strings result;
  for (const auto& diagnostic : sink.sorted()) result.push_back(brief(diagnostic, sources));
  return result;
}

TEST_CASE("imports: single names, whole modules and aliases", "[unit][check]") {
  Program program(R"(
import std.nn.{Linear};
import std.optim;
import std.init as fill;
const a = Linear(3, 4);
const b = optim.pi;
const c = fill.zeros();
)");
  INFO(program.all_errors());
  CHECK(program.errors().empty());
  CHECK(program.value("a").as<std::shared_ptr<ModuleInstance>>() != nullptr);
  CHECK(program.shown("b") == "3.141592653589793");
  CHECK(program.value("c").as<InitValue>() != nullptr);
}

TEST_CASE("imports: the whole standard library is well formed", "[unit][check]") {
  Program program("import std.nn; import std.optim; import std.init; import std.data;");
  INFO(program.all_errors());
  CHECK(program.errors().empty());
}

TEST_CASE("imports: an unknown module or name is suggested", "[unit][check]") {
  Program module("import std.optin.{AdamW};\nconst x = AdamW;");
  CHECK(module.errors() == Strings{"E401 `optin`: the standard library has no module `optin`"});
  CHECK(module.first_help() == "did you mean `std.optim`?");
  Program name("import std.nn.{Liner};\nconst x = Liner(3, 4);");
  CHECK(name.errors() == Strings{"E401 `Liner`: `std.nn` has no `Liner`"});
  CHECK(name.first_help() == "did you mean `Linear`?");
  CHECK(Program("import torch.nn;").errors() == Strings{"E401 `torch.nn`: there is no module `torch.nn`"});
}

TEST_CASE("imports: a file beside the job", "[unit][check]") {
  Folder folder;
  folder.write("sizes.dtj", "const width = 64;");
  CHECK(errors_of_file(folder.write("job.dtj", "import \"sizes.dtj\" as sizes; const x = sizes.width / 2;")).empty());
  CHECK(errors_of_file(folder.write("wrong.dtj", "import \"sizes.dtj\" as sizes; const x = sizes.wdith;")) ==
        Strings{"E401 `wdith`: the import `sizes` has no `wdith`"});
}

TEST_CASE("imports: a missing file and a circle of files", "[unit][check]") {
  Folder folder;
  const auto missing = errors_of_file(folder.write("job.dtj", "import \"nowhere.dtj\" as x;"));
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].rfind("E001 `\"nowhere.dtj\"`", 0) == 0);
  folder.write("b.dtj", "import \"a.dtj\" as a;");
  const auto circle = errors_of_file(folder.write("a.dtj", "import \"b.dtj\" as b;"));
  REQUIRE(circle.size() == 1);
  CHECK(circle[0].rfind("E421 `\"a.dtj\"`", 0) == 0);
}

}  // namespace
}  // namespace dtj::check::testing
