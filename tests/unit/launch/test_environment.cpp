#include <cstdlib>

#include "engine/launch/cores.hpp"
#include "engine/launch/launch.hpp"
#include "engine/launch/process.hpp"
#include "tests/support/contains.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

// Variables that are gone again with the object.
class Variables {
 public:
  explicit Variables(const std::vector<std::string>& assignments) {
    for (const std::string& assignment : assignments) {
      const auto at = assignment.find('=');
      names_.push_back(assignment.substr(0, at));
      setenv(names_.back().c_str(), assignment.c_str() + at + 1, 1);
    }
  }
  ~Variables() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

const launch::RankEnvironment sample{1, 4, 1, "/tmp/plan file", "/dtj-12", "/tmp/run", {2, 3}};

}  // namespace

TEST_CASE("rank environment: none without DTJ_RANK", "[unit][launch]") {
  const auto environment = launch::read_rank_environment();
  REQUIRE(environment);
  CHECK_FALSE(environment->has_value());
}

TEST_CASE("rank environment: what the launcher writes is read back", "[unit][launch]") {
  for (const std::vector<int>& cores : {std::vector<int>{2, 3}, std::vector<int>{}}) {
    launch::RankEnvironment written = sample;
    written.cores = cores;
    const Variables variables(launch::rank_variables(written));
    const auto read = launch::read_rank_environment();
    REQUIRE((read && *read));
    CHECK((*read)->rank == 1);
    CHECK((*read)->world_size == 4);
    CHECK((*read)->local_rank == 1);
    CHECK((*read)->plan_path == "/tmp/plan file");
    CHECK((*read)->shm_segment == "/dtj-12");
    CHECK((*read)->run_dir == "/tmp/run");
    CHECK((*read)->cores == cores);
  }
}

TEST_CASE("rank environment: incomplete and malformed ones are errors", "[unit][launch]") {
  const auto error = [](std::vector<std::string> assignments) {
    const Variables variables(assignments);
    const auto read = launch::read_rank_environment();
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::invalid_argument);
    return read.error().message;
  };
  auto variables = launch::rank_variables(sample);
  CHECK_THAT(error({variables[0]}), contains("no DTJ_WORLD_SIZE"));
  variables[0] = "DTJ_RANK=4";
  CHECK_THAT(error(variables), contains("DTJ_RANK=4") && contains("DTJ_WORLD_SIZE=4"));
  variables[0] = "DTJ_RANK=-1";
  CHECK_THAT(error(variables), contains("DTJ_RANK=`-1`"));
  variables[0] = "DTJ_RANK=1";
  variables[6] = "DTJ_CORES=1,x";
  CHECK_THAT(error(variables), contains("DTJ_CORES=`x`"));
}

TEST_CASE("divide_cores: neighbouring cores per rank, or none when they do not suffice", "[unit][launch]") {
  using Sets = std::vector<std::vector<int>>;
  CHECK(launch::divide_cores({0, 1, 4, 5, 9}, 2, 2) == Sets{{0, 1}, {4, 5}});
  CHECK(launch::divide_cores({3, 7}, 2, 1) == Sets{{3}, {7}});
  CHECK(launch::divide_cores({0, 1, 2}, 2, 2).empty());
  CHECK_FALSE(launch::allowed_cores().empty());
}
