#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include "compiler/site/site.hpp"

// Which files a repository tracks, from its index alone (gitformat-index): no process is started.

namespace dtj::site {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entry_header_bytes = 62;  // ten 32-bit fields, a 20-byte id, 16 bits of flags
constexpr std::size_t largest_index = std::size_t{64} << 20;

std::optional<std::string> read_bytes(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size > largest_index) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The folder of the index: `.git`, or the one that a file `.git` of a worktree names.
std::optional<fs::path> git_folder(const fs::path& root) {
  std::error_code error;
  const fs::path git = root / ".git";
  if (fs::is_directory(git, error)) return git;
  if (!fs::is_regular_file(git, error)) return std::nullopt;
  const auto text = read_bytes(git);
  const std::string mark = "gitdir: ";
  if (!text || text->rfind(mark, 0) != 0) return std::nullopt;
  const fs::path named = text->substr(mark.size(), text->find('\n') - mark.size());
  return named.is_absolute() ? named : root / named;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at, std::size_t num_bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < num_bytes; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Version 4: how many bytes of the name before are dropped, as a number of 7-bit digits.
std::optional<std::size_t> read_strip(const std::string& bytes, std::size_t& at) {
  std::size_t value = 0;
  for (bool is_first = true; at < bytes.size(); is_first = false) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value = ((is_first ? 0 : value + 1) << 7) | (byte & 0x7Fu);
    if ((byte & 0x80u) == 0) return value;
  }
  return std::nullopt;
}

bool index_holds(const std::string& bytes, const std::string& wanted) {
  if (bytes.size() < 12 || bytes.compare(0, 4, "DIRC") != 0) return false;
  const std::uint32_t version = big_endian(bytes, 4, 4);
  const std::uint32_t num_entries = big_endian(bytes, 8, 4);
  std::string name;
  std::size_t at = 12;
  for (std::uint32_t i = 0; i < num_entries; ++i) {
    const std::size_t begin = at;
    if (begin + entry_header_bytes > bytes.size()) return false;
    const bool is_extended = version >= 3 && (big_endian(bytes, begin + 60, 2) & 0x4000u) != 0;
    at += entry_header_bytes + (is_extended ? 2 : 0);
    if (version == 4) {
      const auto strip = read_strip(bytes, at);
      if (!strip || *strip > name.size()) return false;
      name.resize(name.size() - *strip);
    } else {
      name.clear();
    }
    const std::size_t end = bytes.find('\0', at);
    if (end == std::string::npos) return false;
    name += bytes.substr(at, end - at);
    if (name == wanted) return true;
    at = version == 4 ? end + 1 : begin + (end - begin + 8) / 8 * 8;  // 1 to 8 bytes fill up to a multiple of 8
  }
  return false;
}

}  // namespace

bool is_tracked_by_git(const std::string& path) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) return false;
  for (fs::path root = file.parent_path();; root = root.parent_path()) {
    if (const auto folder = git_folder(root)) {
      const auto bytes = read_bytes(*folder / "index");
      return bytes && index_holds(*bytes, file.lexically_relative(root).generic_string());
    }
    if (root == root.root_path()) return false;
  }
}

}  // namespace dtj::site
