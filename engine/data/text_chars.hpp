#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/data.hpp"

namespace dtj::data {

/// SourceKind::text_chars. Fields: tokens, targets, both i32[seq]; targets are tokens shifted by one.
Result<std::unique_ptr<Dataset>> open_text_chars(const DataSpec& spec);

/// Appends the code points of strict UTF-8 text. A code point must be below `vocab`, if that is not 0.
/// Errors: invalid_argument with file, line, byte offset and what to do.
Status decode_utf8(std::string_view text, const std::string& path, std::int64_t vocab, std::vector<std::int32_t>& out);

}  // namespace dtj::data
