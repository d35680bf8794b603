#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.hpp"
#include "engine/base/result.hpp"

namespace dtj::source {

using FileId = Id<struct FileTag>;

/// Bytes [begin, end) of one file. A default-made Range points nowhere (`file` is not meaningful when `is_none`).
struct Range {
  FileId file;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool is_none = true;

  static Range of(FileId file, std::uint32_t begin, std::uint32_t end) { return Range{file, begin, end, false}; }
};

/// From the start of `a` to the end of `b`.
Range join(Range a, Range b);
/// Whether some of `inner` lies outside of `outer`.
bool is_outside(Range inner, Range outer);

/// 1-based; the column counts bytes.
struct Position {
  std::int32_t line = 1;
  std::int32_t column = 1;
};

/// Whether messages may show the lines of a file, or only point at them.
enum class Privacy : std::uint8_t { open, secret };

/// One text with its line index.
class SourceFile {
 public:
  SourceFile(FileId id, std::string name, std::string text, Privacy privacy = Privacy::open);

  FileId id() const { return id_; }
  /// The path as the user wrote it, or "std/nn.dtj" for an embedded file.
  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  Privacy privacy() const { return privacy_; }
  Position position(std::uint32_t offset) const;
  std::int32_t num_lines() const;
  /// Without its line end.
  std::string_view line(std::int32_t number) const;
  std::string_view slice(Range range) const;

 private:
  FileId id_;
  std::string name_;
  std::string text_;
  Privacy privacy_;
  std::vector<std::uint32_t> line_starts_;
};

/// All files of one compilation. References stay valid while the manager lives.
class SourceManager {
 public:
  /// Errors: not_found; invalid_argument (a directory, no permission, not UTF-8 text, over 16 MiB); unavailable (I/O).
  Result<FileId> load(const std::string& path, Privacy privacy = Privacy::open);
  FileId add(std::string name, std::string text, Privacy privacy = Privacy::open);
  const SourceFile& file(FileId id) const;
  std::size_t num_files() const { return files_.size(); }

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
};

/// The standard library, embedded at build time: "nn" -> text of stdlib/nn.dtj.
std::optional<std::string_view> find_stdlib(std::string_view module);
std::vector<std::string_view> stdlib_modules();

}  // namespace dtj::source
