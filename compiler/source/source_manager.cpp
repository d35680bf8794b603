#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <gsl/gsl>
#include <system_error>

#include "compiler/source/source.hpp"
#include "compiler/source/utf8.hpp"

namespace dtj::source {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{16} << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

tl::unexpected<Error> fail_from_errno(int error, const std::string& path) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::not_found
                         : error == EACCES || error == EPERM ? ErrorCode::invalid_argument
                                                             : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot read `{}`: {}", path, std::generic_category().message(error)));
}

Result<std::string> read_text(const std::string& path) {
  // A directory opens like a file, and only the first read says what it is.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorCode::invalid_argument, fmt::format("cannot read `{}`: it is a directory", path));
  }
  const FileHandle file(std::fopen(path.c_str(), "rb"));
  if (!file) return fail_from_errno(errno, path);
  std::string text;
  char block[1 << 16];
  while (const std::size_t num_bytes = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, num_bytes);
    if (text.size() > max_file_bytes) {
      return fail(ErrorCode::invalid_argument, fmt::format("cannot read `{}`: it is larger than 16 MiB", path));
    }
  }
  if (std::ferror(file.get())) return fail_from_errno(errno, path);
  return text;
}

}  // namespace

Result<FileId> SourceManager::load(const std::string& path, Privacy privacy) {
  DTJ_TRY_ASSIGN(std::string text, read_text(path));
  if (text.compare(0, byte_order_mark.size(), byte_order_mark) == 0) text.erase(0, byte_order_mark.size());
  if (const auto bad = find_ill_formed_utf8(text)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot read `{}`: it is not UTF-8 text (byte {} of the file)", path, *bad));
  }
  if (text.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_argument, fmt::format("cannot read `{}`: it holds binary data", path));
  }
  return add(path, std::move(text), privacy);
}

FileId SourceManager::add(std::string name, std::string text, Privacy privacy) {
  const FileId id{gsl::narrow<std::uint32_t>(files_.size())};
  files_.push_back(std::make_unique<SourceFile>(id, std::move(name), std::move(text), privacy));
  return id;
}

const SourceFile& SourceManager::file(FileId id) const {
  Expects(id.value < files_.size());
  return *files_[id.value];
}

}  // namespace dtj::source
