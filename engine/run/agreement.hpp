#pragma once

#include <string_view>

#include "engine/base/result.hpp"
#include "engine/comm/communicator.hpp"

namespace dtj::run {

/// Keeps the ranks in one mind about what failed.
class Peers {
 public:
  explicit Peers(comm::Communicator& communicator) : comm_(communicator) {}

  comm::Communicator& communicator() const { return comm_; }
  bool is_first() const { return comm_.rank().value == 0; }
  std::int64_t world_size() const { return comm_.world_size(); }

  /// Collective. Ok when `mine` is ok on every rank; else this rank's own error, or that of the
  /// lowest rank that has one.
  Status agree(const Status& mine);

  /// Stops the other ranks because of an error of this one, unless they have it too.
  void abort_unless_agreed(const Error& error);

 private:
  comm::Communicator& comm_;
  bool agreed_on_failure_ = false;
};

}  // namespace dtj::run
