#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/communicator.hpp"

namespace dtj::test {

/// One implementation of Communicator with a number of ranks.
struct CommKind {
  enum class Transport { self, local, shm };
  Transport transport = Transport::self;
  std::int64_t world_size = 1;

  std::string name() const;
};

/// Every combination that the suite holds for.
std::vector<CommKind> all_comm_kinds();
/// Those with peers.
std::vector<CommKind> comm_kinds_with_peers();

/// Collects what went wrong on one rank: ranks are threads or forked processes, where assertions of the test framework
/// do not work.
class RankReport {
 public:
  void check(bool holds, const std::string& what) {
    if (!holds && text_.size() < 2000) text_ += what + "; ";
  }
  void check(const Status& status, const std::string& what) {
    check(status.has_value(), what + ": " + (status ? "" : status.error().to_string()));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using RankBody = std::function<void(comm::Communicator&, RankReport&)>;

/// Runs the body on all ranks at once. Per rank: what went wrong ("" = nothing), or none when the rank was killed.
std::vector<std::optional<std::string>> run_ranks(const CommKind& kind, Duration timeout, const RankBody& body);

/// run_ranks, and every rank must report nothing.
void expect_on_all_ranks(const CommKind& kind, const RankBody& body, Duration timeout = std::chrono::seconds(20));

/// A segment name that no other test uses.
std::string fresh_segment_name();
/// Names under /dev/shm that the tests of this process made.
std::vector<std::string> leaked_segments();

}  // namespace dtj::test
