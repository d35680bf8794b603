#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/jobs.hpp"
#include "tests/support/catch.hpp"

using namespace dtj::test;

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

ProcessResult run_shell(const TempDir& dir, const std::string& script) {
  return Process({"bash", "-c", script, "bash", DTJ_DTJC}, dir.file("shell")).finish();
}

}  // namespace

TEST_CASE("explain: a code, all codes, and no such code", "[e2e]") {
  TempDir dir;
  const auto one = run_dtjc(dir, {"explain", "e101"});
  CHECK(one.exit_code == 0);
  CHECK(one.out.find("error[E101]") != std::string::npos);
  CHECK(one.out.find("This fails:") != std::string::npos);
  CHECK(one.out.find("mesh { dp = 3; }") != std::string::npos);
  const auto all = run_dtjc(dir, {"explain"});
  CHECK(all.exit_code == 0);
  CHECK(all.out.find("E101  ") != std::string::npos);
  const auto none = run_dtjc(dir, {"explain", "E999"});
  CHECK(none.exit_code == 64);
  CHECK(none.err.find("`E999`") != std::string::npos);
}

TEST_CASE("check --fix: mends what needs no judgement and keeps the file's mode", "[e2e]") {
  TempDir dir;
  const std::string path = dir.write("job.dtj", "const width = 30 min;\nconst name = 'x';\nconst other = widht;\nconst t = 3steps\n");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const auto result = run_dtjc(dir, {"check", "--fix", path});
  CHECK(result.exit_code == 1);  // `widht` is a guess, and left
  CHECK(result.err.find("fixes") != std::string::npos);
  CHECK(read(path) == "dtj 1;\nconst width = 30min;\nconst name = \"x\";\nconst other = widht;\nconst t = 3step;\n");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
  const std::string mended = read(path);
  run_dtjc(dir, {"check", "--fix", path});
  CHECK(read(path) == mended);
}

TEST_CASE("check: JSON in rustc's shape, and one SARIF document for all files", "[e2e]") {
  TempDir dir;
  const std::string a = dir.write("a.dtj", "dtj 1;\nconst t = 3steps;\n");
  const std::string b = dir.write("b.dtj", "dtj 1;\nconst t = widht;\n");
  const auto json_result = run_dtjc(dir, {"check", "--format", "json", a});
  const auto object = nlohmann::json::parse(json_result.out);
  CHECK(object["code"]["code"] == "E302");
  CHECK(object["spans"][0]["file_name"] == a);
  const auto sarif = run_dtjc(dir, {"check", "--format", "sarif", a, b});
  CHECK(sarif.exit_code == 1);
  const auto document = nlohmann::json::parse(sarif.out);
  CHECK(document["runs"][0]["results"].size() == 2);
  const auto missing = nlohmann::json::parse(run_dtjc(dir, {"check", "--format", "sarif", "absent.dtj"}).out);
  CHECK(missing["runs"][0]["results"][0]["ruleId"] == "E001");
}

TEST_CASE("fmt: in place, --check, --diff, stdin", "[e2e]") {
  TempDir dir;
  const std::string path = dir.write("job.dtj", "dtj 1;\nconst a=1; // one\n");
  const std::string pretty = "dtj 1;\nconst a = 1;  // one\n";
  CHECK(run_dtjc(dir, {"fmt", "--check", path}).exit_code == 1);
  const auto diff = run_dtjc(dir, {"fmt", "--diff", path});
  CHECK(diff.exit_code == 1);
  CHECK(diff.out.find("-const a=1; // one\n+const a = 1;  // one\n") != std::string::npos);
  CHECK(read(path) == "dtj 1;\nconst a=1; // one\n");
  CHECK(run_dtjc(dir, {"fmt", path}).exit_code == 0);
  CHECK(read(path) == pretty);
  CHECK(run_dtjc(dir, {"fmt", "--check", path}).exit_code == 0);
  CHECK(run_dtjc(dir, {"fmt", "--diff", path}).out.empty());

  const auto piped = run_shell(dir, "printf 'dtj 1;\\nconst a=1;' | \"$1\" fmt -");
  CHECK(piped.exit_code == 0);
  CHECK(piped.out == "dtj 1;\nconst a = 1;\n");

  const std::string broken = dir.write("broken.dtj", "dtj 1;\nconst a = ;\n");
  const auto refused = run_dtjc(dir, {"fmt", broken});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("E002") != std::string::npos);
  CHECK(read(broken) == "dtj 1;\nconst a = ;\n");
  CHECK(run_dtjc(dir, {"fmt", "absent.dtj"}).exit_code == 4);
}

TEST_CASE("fmt: the examples are formatted", "[e2e]") {
  TempDir dir;
  for (const auto& entry : std::filesystem::directory_iterator(DTJ_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".dtj") continue;
    const auto result = run_dtjc(dir, {"fmt", "--diff", entry.path().string()});
    INFO(entry.path().string() << "\n" << result.out << result.err);
    CHECK(result.exit_code == 0);
  }
}

TEST_CASE("schema: describes the sections as the checker has them", "[e2e]") {
  TempDir dir;
  const auto result = run_dtjc(dir, {"schema"});
  CHECK(result.exit_code == 0);
  const auto schema = nlohmann::json::parse(result.out);
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  const auto& launch = schema["properties"]["launch"];
  CHECK(launch["additionalProperties"] == false);
  CHECK(launch["properties"]["nodes"]["anyOf"][0]["type"] == "integer");
  CHECK(launch["properties"]["nodes"]["anyOf"][0]["minimum"] == 1);
  CHECK(launch["properties"]["nodes"]["default"] == 1);
  CHECK(schema["properties"]["data"]["additionalProperties"]["properties"].contains("global_batch"));
  CHECK(schema["properties"]["train"]["required"] == nlohmann::json::array({"stop"}));
  const auto required = schema["required"].get<std::vector<std::string>>();
  CHECK(std::find(required.begin(), required.end(), "launch") != required.end());
}

TEST_CASE("completion: the bash script is sound and completes", "[e2e]") {
  TempDir dir;
  const auto completes = [&](const std::string& words, int current) {
    return run_shell(dir, "eval \"$(\"$1\" completion bash)\"; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                              std::to_string(current) + "; _dtjc; echo \"${COMPREPLY[*]}\"")
        .out;
  };
  CHECK(completes("dtjc ch", 1) == "check\n");
  CHECK(completes("dtjc check --f", 2).find("--format") != std::string::npos);
  CHECK(completes("dtjc check --format s", 3) == "sarif\n");
  CHECK(completes("dtjc explain E10", 2).find("E101") != std::string::npos);
  CHECK(completes("dtjc completion z", 2) == "zsh\n");
  for (const char* shell : {"zsh", "fish"}) {
    const auto result = run_dtjc(dir, {"completion", shell});
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("sarif") != std::string::npos);
    CHECK(result.out.find("explain") != std::string::npos);
  }
  CHECK(run_dtjc(dir, {"completion", "tcsh"}).exit_code == 64);
}
