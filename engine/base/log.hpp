#pragma once

#include <functional>
#include <string_view>

namespace dtj {

enum class LogLevel { debug, info, warning, error };

/// The host's sink for messages. May be called from several threads. The library itself prints nothing.
using Logger = std::function<void(LogLevel, std::string_view)>;

}  // namespace dtj
