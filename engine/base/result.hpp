#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

#include "engine/base/error.hpp"

namespace dtj {

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

/// `return fail(ErrorCode::not_found, "...")` from any function that returns a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message), {}});
}

/// Passes an error on, adding where it happened ("rank 1", "tensor h.0.weight", ...).
inline tl::unexpected<Error> fail_with(Error error, std::string context) {
  error.context.push_back(std::move(context));
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace dtj

// Returns the error of a Status expression to the caller.
#define DTJ_TRY(expr)                                                          \
  do {                                                                         \
    if (auto dtj_try_status = (expr); !dtj_try_status)                         \
      return tl::unexpected<::dtj::Error>(std::move(dtj_try_status.error()));  \
  } while (false)

#define DTJ_CONCAT_INNER(a, b) a##b
#define DTJ_CONCAT(a, b) DTJ_CONCAT_INNER(a, b)

// `DTJ_TRY_ASSIGN(auto x, f())` binds the value or returns the error to the caller.
#define DTJ_TRY_ASSIGN(decl, expr) DTJ_TRY_ASSIGN_IMPL(decl, expr, DTJ_CONCAT(dtj_try_value_, __LINE__))
#define DTJ_TRY_ASSIGN_IMPL(decl, expr, tmp)                                   \
  auto tmp = (expr);                                                           \
  if (!tmp) return tl::unexpected<::dtj::Error>(std::move(tmp.error()));       \
  decl = std::move(*tmp)
