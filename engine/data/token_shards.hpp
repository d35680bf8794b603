#pragma once

#include <memory>

#include "engine/data/data.hpp"

namespace dtj::data {

/// SourceKind::token_shards: files of little-endian u16 tokens, without header or with llm.c's (256 words of 32 bits:
/// 20240520, version 1, number of tokens). Windows do not cross files. Fields: tokens, targets, both i32[seq].
Result<std::unique_ptr<Dataset>> open_token_shards(const DataSpec& spec);

}  // namespace dtj::data
