#include "engine/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dtj {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::aborted:
      return "aborted";
    case ErrorCode::data_loss:
      return "data_loss";
    case ErrorCode::unimplemented:
      return "unimplemented";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string Error::to_string() const {
  if (context.empty()) return message;
  return fmt::format("{} ({})", message, fmt::join(context, ", "));
}

}  // namespace dtj
