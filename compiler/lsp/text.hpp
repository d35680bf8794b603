#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/source/source.hpp"

// Between bytes of a file and the protocol's positions: lines from 0, columns in UTF-16 units from 0.

namespace dtj::lsp {

using Json = nlohmann::json;

Json position_of(const source::SourceFile& file, std::uint32_t offset);
Json range_of(source::Range range, const source::SourceFile& file);
/// A position past the end of a line or of the file is moved to it.
std::uint32_t offset_of(const source::SourceFile& file, std::int64_t line, std::int64_t character);

/// The path of a `file:` URI, its escapes decoded; any other URI is kept as it is.
std::string path_of(const std::string& uri);
std::string uri_of(const std::string& path);

}  // namespace dtj::lsp
