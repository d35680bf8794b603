#include "engine/data/idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "engine/data/files.hpp"

namespace dtj::data {
namespace {

struct CloseGz {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzHandle = std::unique_ptr<gzFile_s, CloseGz>;

Result<std::string> find_file(const std::string& folder, const std::string& name) {
  for (const std::string& spelling : {name, name + ".gz"}) {
    const std::string path = (std::filesystem::path(folder) / spelling).string();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return fail(ErrorCode::not_found, fmt::format("neither `{0}` nor `{0}.gz` is in folder `{1}`{2}", name, folder,
                                                is_folder(folder) ? "" : ", which does not exist"));
}

// Appends up to `count` bytes; the size tells how many there were. zlib hands files without its magic through
// unchanged.
Status read_bytes(gzFile file, const std::string& path, std::int64_t count, std::vector<std::uint8_t>& out) {
  // Grows with what is really there: a damaged header must not make us ask for terabytes.
  constexpr std::int64_t chunk = 1 << 20;
  while (count > 0) {
    const std::size_t start = out.size();
    const auto wanted = static_cast<unsigned>(std::min(count, chunk));
    out.resize(start + wanted);
    const int got = gzread(file, out.data() + start, wanted);
    if (got < 0) {
      int code = 0;
      const char* reason = gzerror(file, &code);
      return fail(ErrorCode::data_loss,
                  fmt::format("`{}` is damaged: {}", path, code == Z_ERRNO ? std::strerror(errno) : reason));
    }
    out.resize(start + static_cast<std::size_t>(got));
    if (got == 0) break;
    count -= got;
  }
  return {};
}

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

tl::unexpected<Error> fail_truncated(const std::string& path, std::int64_t expected, std::size_t found) {
  return fail(ErrorCode::data_loss,
              fmt::format("`{}` is truncated: expected {} bytes, found {}", path, expected, found));
}

}  // namespace

Result<IdxFile> read_idx(const std::string& folder, const std::string& name, std::int64_t num_dims) {
  DTJ_TRY_ASSIGN(const std::string path, find_file(folder, name));
  const GzHandle file(gzopen(path.c_str(), "rb"));
  if (!file) {
    return fail(ErrorCode::unavailable, fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  }
  gzbuffer(file.get(), 1 << 18);

  const std::int64_t header_size = 4 + 4 * num_dims;
  std::vector<std::uint8_t> header;
  DTJ_TRY(read_bytes(file.get(), path, header_size, header));
  const std::uint32_t expected_magic = 0x0800u + static_cast<std::uint32_t>(num_dims);
  if (header.size() >= 4 && big_endian(header.data()) != expected_magic) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format(
            "`{}` is not an IDX file of unsigned bytes with {} dims: its magic number is {:#010x}, not {:#010x}", path,
            num_dims, big_endian(header.data()), expected_magic));
  }
  if (header.size() < static_cast<std::size_t>(header_size)) return fail_truncated(path, header_size, header.size());

  IdxFile idx;
  idx.path = path;
  std::int64_t size = 1;
  for (std::int64_t d = 0; d < num_dims; ++d) {
    const std::int64_t dim = big_endian(header.data() + 4 + 4 * d);
    idx.dims.push_back(dim);
    if (__builtin_mul_overflow(size, dim, &size)) {
      return fail(ErrorCode::data_loss, fmt::format("`{}` states an impossible size {}", path, to_string(idx.dims)));
    }
  }
  DTJ_TRY(read_bytes(file.get(), path, size, idx.values));
  if (idx.values.size() < static_cast<std::size_t>(size)) {
    return fail_truncated(path, header_size + size, static_cast<std::size_t>(header_size) + idx.values.size());
  }
  // Reading on finds bytes too many, and lets zlib compare the checksum at the end of the stream.
  std::vector<std::uint8_t> rest;
  DTJ_TRY(read_bytes(file.get(), path, 1, rest));
  if (!rest.empty()) {
    return fail(ErrorCode::data_loss,
                fmt::format("`{}` has more than the {} bytes that its header states", path, header_size + size));
  }
  return idx;
}

}  // namespace dtj::data
