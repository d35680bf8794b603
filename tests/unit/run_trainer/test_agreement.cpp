#include <thread>

#include "engine/run/agreement.hpp"
#include "tests/support/contains.hpp"

using namespace dtj;
using namespace dtj::test;

namespace {

std::vector<Status> agree(const std::vector<Status>& mine) {
  auto group = comm::make_local_communicators(std::int64_t(mine.size()), std::chrono::seconds(10));
  REQUIRE(group);
  std::vector<Status> results(mine.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < mine.size(); ++rank) {
    threads.emplace_back([&, rank] {
      run::Peers peers(*(*group)[rank]);
      results[rank] = peers.agree(mine[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace

TEST_CASE("agree: ok when all ranks are ok", "[unit][run]") {
  for (const Status& status : agree({{}, {}, {}})) CHECK(status);
}

TEST_CASE("agree: the others take over the error of the lowest failed rank", "[unit][run]") {
  const std::string long_text(5000, 'x');
  const auto results = agree({{}, fail(ErrorCode::data_loss, "file a"), fail(ErrorCode::not_found, long_text)});
  REQUIRE_FALSE(results[0]);
  CHECK(results[0].error().code == ErrorCode::data_loss);
  CHECK(results[0].error().to_string() == "file a (rank 1)");
  CHECK(results[1].error().message == "file a");
  CHECK(results[2].error().message == long_text);
}
