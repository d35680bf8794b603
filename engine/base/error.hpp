#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtj {

/// What went wrong, named by what the caller can do next.
enum class ErrorCode {
  invalid_argument,   ///< the caller's input is wrong: change it
  not_found,          ///< a file, tensor or peer does not exist
  out_of_memory,      ///< host, device or disk space ran out
  deadline_exceeded,  ///< a wait ended at its deadline
  unavailable,        ///< the environment does not offer it now: retry
  aborted,            ///< a peer failed: restart from the last checkpoint
  data_loss,          ///< a file is damaged
  unimplemented,      ///< this build or machine lacks it
  cancelled,          ///< the host asked to stop
  internal,           ///< our own bug
};

std::string_view to_string(ErrorCode code);

/// A failure of the outside world. `context` grows on the way up: innermost first.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::vector<std::string> context;

  /// "message (context, context)"
  std::string to_string() const;
};

}  // namespace dtj
