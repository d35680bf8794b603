#include "engine/plan/serialize.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/base/hash.hpp"
#include "engine/plan/fields.hpp"
#include "engine/plan/verify.hpp"

namespace dtj::plan {
namespace {

static_assert(std::endian::native == std::endian::little, "the file form is little-endian");

constexpr std::string_view magic = "DTJPLAN1";

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t length;
  std::uint64_t checksum;
};
static_assert(sizeof(Header) == 32);

/// Appends fields to a string; in hash mode leaves out what decides no number.
class Writer {
 public:
  explicit Writer(bool is_hash) : is_hash_(is_hash) {}

  template <class T>
  void unhashed(const T& value) {
    if (!is_hash_) field(value);
  }

  template <class T>
  void field(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      raw(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      raw(static_cast<std::uint8_t>(value ? 1 : 0));
    } else if constexpr (std::is_arithmetic_v<T>) {
      raw(value);
    } else {
      fields(*this, value);
    }
  }
  void field(const std::string& value) {
    raw(static_cast<std::uint64_t>(value.size()));
    out_.append(value);
  }
  template <class Tag>
  void field(const Id<Tag>& value) {
    raw(value.value);
  }
  template <class T>
  void field(const std::vector<T>& values) {
    raw(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) field(value);
  }
  template <class T>
  void field(const std::optional<T>& value) {
    field(value.has_value());
    if (value) field(*value);
  }
  template <class... T>
  void field(const std::variant<T...>& value) {
    raw(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& alternative) { field(alternative); }, value);
  }

  std::string take() { return std::move(out_); }

 private:
  template <class T>
  void raw(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
  }

  bool is_hash_;
  std::string out_;
};

/// Reads fields back. After the first bad byte every read gives zeros, so that the walk ends quickly.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void unhashed(T& value) {
    field(value);
  }

  template <class T>
  void field(T& value) {
    if constexpr (std::is_enum_v<T>) {
      const auto raw_value = raw<std::uint8_t>();
      if (raw_value > static_cast<std::uint8_t>(last_of<T>)) return give_up("a value outside its kind");
      value = static_cast<T>(raw_value);
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto raw_value = raw<std::uint8_t>();
      if (raw_value > 1) return give_up("a flag that is neither 0 nor 1");
      value = raw_value == 1;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = raw<T>();
    } else {
      fields(*this, value);
    }
  }
  void field(std::string& value) {
    const std::uint64_t size = count();
    value.assign(bytes_.substr(position_, size));
    position_ += size;
  }
  template <class Tag>
  void field(Id<Tag>& value) {
    value.value = raw<std::uint32_t>();
  }
  template <class T>
  void field(std::vector<T>& values) {
    // The vector grows as elements are really read: a false count costs no memory.
    const std::uint64_t size = count();
    values.clear();
    for (std::uint64_t i = 0; i < size && error_.empty(); ++i) field(values.emplace_back());
  }
  template <class T>
  void field(std::optional<T>& value) {
    bool has_value = false;
    field(has_value);
    if (has_value) {
      field(value.emplace());
    } else {
      value.reset();
    }
  }
  template <class... T>
  void field(std::variant<T...>& value) {
    read_alternative(value, raw<std::uint8_t>(), std::index_sequence_for<T...>{});
  }

  const std::string& error() const { return error_; }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  template <class T>
  T raw() {
    T value{};
    if (!error_.empty()) return value;
    if (bytes_.size() - position_ < sizeof(T)) {
      give_up("the end of the file");
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  /// Every element takes at least one byte, so no honest count exceeds what is left.
  std::uint64_t count() {
    const auto size = raw<std::uint64_t>();
    if (size <= bytes_.size() - position_) return size;
    give_up("a count larger than the file");
    return 0;
  }

  template <class Variant, std::size_t... I>
  void read_alternative(Variant& value, std::size_t index, std::index_sequence<I...>) {
    const bool is_known = ((index == I && (field(value.template emplace<I>()), true)) || ...);
    if (!is_known) give_up("an unknown kind of step");
  }

  void give_up(std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{} at byte {}", what, position_);
  }

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::string error_;
};

Result<std::string> read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
    return fail(code, fmt::format("cannot open the plan `{}`: {}", path, std::strerror(errno)));
  }
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return fail(ErrorCode::unavailable, fmt::format("cannot read the plan `{}`", path));
  return bytes;
}

}  // namespace

std::uint64_t compute_hash(const ExecutionPlan& plan) {
  Writer writer(true);
  writer.field(plan);
  return hash64(writer.take());
}

std::string seal(std::string_view content) {
  Header header{};
  std::memcpy(header.magic, magic.data(), sizeof(header.magic));
  header.version = plan_format_version;
  header.length = content.size();
  header.checksum = hash64(content);
  std::string out(sizeof(Header), '\0');
  std::memcpy(out.data(), &header, sizeof(Header));
  out.append(content);
  return out;
}

std::string save(const ExecutionPlan& plan) {
  Writer writer(false);
  fields(writer, plan);
  std::string content = writer.take();
  // `hash` is the last field; what is written is always the true one.
  const std::uint64_t hash = compute_hash(plan);
  std::memcpy(content.data() + content.size() - sizeof(hash), &hash, sizeof(hash));
  return seal(content);
}

Result<ExecutionPlan> load(std::string_view bytes) {
  Header header{};
  if (bytes.size() < sizeof(Header)) return fail(ErrorCode::data_loss, "the plan is shorter than its header");
  std::memcpy(&header, bytes.data(), sizeof(Header));
  if (std::string_view(header.magic, sizeof(header.magic)) != magic) {
    return fail(ErrorCode::data_loss, "not a plan: the first bytes are not `DTJPLAN1`");
  }
  if (header.version != static_cast<std::uint32_t>(plan_format_version)) {
    return fail(ErrorCode::unimplemented, fmt::format("the plan has format version {}, this build reads version {}",
                                                      header.version, plan_format_version));
  }
  if (header.reserved != 0) return fail(ErrorCode::data_loss, "the plan's header is damaged");
  const std::string_view content = bytes.substr(sizeof(Header));
  if (header.length != content.size()) {
    return fail(ErrorCode::data_loss,
                fmt::format("the plan is truncated: {} of {} bytes", content.size(), header.length));
  }
  if (header.checksum != hash64(content)) return fail(ErrorCode::data_loss, "the plan's checksum does not match");

  ExecutionPlan plan;
  Reader reader(content);
  fields(reader, plan);
  if (!reader.error().empty()) {
    return fail(ErrorCode::data_loss, fmt::format("the plan is damaged: {}", reader.error()));
  }
  if (!reader.at_end()) return fail(ErrorCode::data_loss, "the plan is damaged: bytes after its end");
  DTJ_TRY(verify(plan));
  if (plan.hash != compute_hash(plan)) return fail(ErrorCode::data_loss, "the plan's hash does not match its content");
  return plan;
}

namespace {

Status fail_write(const std::string& path, const std::string& reason) {
  return fail(ErrorCode::unavailable, fmt::format("cannot write the plan `{}`: {}", path, reason));
}

/// The error number; 0: written.
int write_whole(const std::string& bytes, const std::string& path) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? 0 : (errno != 0 ? errno : EIO);
}

}  // namespace

Status save_file(const ExecutionPlan& plan, const std::string& path) {
  // A link is followed, so that it goes on pointing to the plan; a device or a pipe must not be replaced by a file.
  std::error_code error;
  const auto followed = std::filesystem::weakly_canonical(path, error);
  const std::string target = error ? path : followed.string();
  const auto type = std::filesystem::status(target, error).type();
  if (type == std::filesystem::file_type::directory) return fail_write(path, "it is a folder");
  if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found)
    return fail_write(path, "it is no regular file");
  const std::string temporary = fmt::format("{}.{}.tmp", target, ::getpid());
  int reason = write_whole(save(plan), temporary);
  if (reason == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) reason = errno;
  if (reason == 0) return {};
  std::remove(temporary.c_str());
  return fail_write(path, std::strerror(reason));
}

Result<ExecutionPlan> load_file(const std::string& path) {
  DTJ_TRY_ASSIGN(const std::string bytes, read_whole(path));
  auto plan = load(bytes);
  if (!plan) return fail_with(std::move(plan.error()), fmt::format("plan `{}`", path));
  return plan;
}

}  // namespace dtj::plan
