#include "engine/checkpoint/import_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "engine/base/name_pattern.hpp"
#include "engine/base/nearest.hpp"
#include "engine/checkpoint/file.hpp"
#include "engine/checkpoint/safetensors.hpp"

namespace dtj::checkpoint {
namespace {

/// A tensor of the file and the parameter that it fills.
struct Match {
  const SafetensorsEntry* entry;
  const TensorTarget* target;
  bool transpose;
};

class Matcher {
 public:
  Matcher(const WeightsSpec& spec, const SafetensorsHeader& header, gsl::span<const TensorTarget> targets)
      : spec_(spec), header_(header) {
    for (const TensorTarget& target : targets) targets_[target.name] = &target;
    for (const WeightSource& source : spec.sources) expected_.insert(source.tensor);
  }

  Status run(std::vector<Match>& matches, std::vector<std::string>& initialised) {
    for (const WeightSource& source : spec_.sources) {
      const auto target = targets_.find(source.param);
      if (target == targets_.end())
        return fail(ErrorCode::internal, fmt::format("the plan has no tensor `{}` to fill", source.param));
      const auto entry = header_.tensors.find(source.tensor);
      if (entry == header_.tensors.end()) {
        report_missing(source, initialised);
      } else if (suits(source, entry->second, *target->second)) {
        matches.push_back({&entry->second, target->second, source.transpose});
      }
    }
    DTJ_TRY(find_unexpected());
    return problems_.empty() ? Status() : fail(ErrorCode::invalid_argument, describe());
  }

 private:
  void report_missing(const WeightSource& source, std::vector<std::string>& initialised) {
    if (spec_.missing == MissingWeights::initialise) return initialised.push_back(source.param);
    std::vector<std::string> unused;
    for (const auto& [name, entry] : header_.tensors)
      if (expected_.count(name) == 0) unused.push_back(name);
    const auto near = nearest(source.tensor, unused);
    const std::string whose = source.param == source.tensor ? "" : fmt::format(" for `{}`", source.param);
    problems_.push_back(fmt::format("there is no `{}`{}{}", source.tensor, whose,
                                    near ? fmt::format("; did you mean `{}`?", *near) : ""));
  }

  bool suits(const WeightSource& source, const SafetensorsEntry& entry, const TensorTarget& target) {
    Shape shape = entry.shape;
    const bool is_matrix = shape.size() == 2;
    if (source.transpose) std::reverse(shape.begin(), shape.end());
    if (!is_float(entry.dtype)) {
      problems_.push_back(fmt::format("`{}` is {}, and parameters are floats", source.tensor, to_string(entry.dtype)));
      return false;
    }
    if (shape == target.shape) return true;
    std::reverse(shape.begin(), shape.end());
    const bool fits_reversed = is_matrix && shape == target.shape;
    const char* help = !fits_reversed ? ""
                       : source.transpose ? ": leave `transpose = true` out of its rule"
                                          : ": its rule needs `transpose = true`";
    problems_.push_back(fmt::format("`{}` is {}, and `{}` of the model is {}{}", source.tensor, spell(entry.shape),
                                    source.param, spell(target.shape), help));
    return false;
  }

  Status find_unexpected() {
    std::vector<NamePattern> allowed;
    for (const std::string& text : spec_.unexpected) {
      DTJ_TRY_ASSIGN(auto pattern, NamePattern::parse(text));
      allowed.push_back(std::move(pattern));
    }
    std::vector<std::string> absent;
    for (const std::string& name : expected_)
      if (header_.tensors.count(name) == 0) absent.push_back(name);
    for (const auto& [name, entry] : header_.tensors) {
      const bool is_known = expected_.count(name) == 1 ||
                            std::any_of(allowed.begin(), allowed.end(), [&](const auto& p) { return p.matches(name); });
      if (is_known) continue;
      const auto near = nearest(name, absent);
      problems_.push_back(fmt::format("`{}` belongs to no parameter{}", name,
                                      near ? fmt::format("; the model looks for `{}`", *near)
                                           : ": map it, or allow it with `unexpected`"));
    }
    return {};
  }

  std::string describe() const {
    constexpr std::size_t max_lines = 8;
    std::string text = fmt::format("`{}` does not fit the model", spec_.path);
    for (std::size_t i = 0; i < std::min(problems_.size(), max_lines); ++i) text += "\n  " + problems_[i];
    if (problems_.size() > max_lines) text += fmt::format("\n  and {} more", problems_.size() - max_lines);
    return text;
  }

  static std::string spell(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

  const WeightsSpec& spec_;
  const SafetensorsHeader& header_;
  std::map<std::string, const TensorTarget*> targets_;
  std::set<std::string> expected_;
  std::vector<std::string> problems_;
};

template <class T>
T read_as(const std::byte* data, std::size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof value, sizeof value);
  return value;
}

template <class T>
void write_as(std::byte* data, std::size_t i, T value) {
  std::memcpy(data + i * sizeof value, &value, sizeof value);
}

double read_float(DType dtype, const std::byte* data, std::size_t i) {
  if (dtype == DType::f64) return read_as<double>(data, i);
  if (dtype == DType::bf16) return bf16_to_f32(read_as<std::uint16_t>(data, i));
  if (dtype == DType::f16) return f16_to_f32(read_as<std::uint16_t>(data, i));
  return read_as<float>(data, i);
}

void write_float(DType dtype, std::byte* data, std::size_t i, double value) {
  if (dtype == DType::f64) return write_as(data, i, value);
  const auto single = static_cast<float>(value);
  if (dtype == DType::bf16) return write_as(data, i, f32_to_bf16(single));
  if (dtype == DType::f16) return write_as(data, i, f32_to_f16(single));
  write_as(data, i, single);
}

/// Row-major to row-major; the bits stay when neither layout nor dtype differ. Without a transpose there is one row.
void convert(const Match& match, const std::vector<std::byte>& data) {
  const TensorTarget& target = *match.target;
  const bool transposes = match.transpose && target.shape.size() == 2;
  if (!transposes && match.entry->dtype == target.dtype) {
    std::memcpy(target.data, data.data(), target.size());
    return;
  }
  const auto count = static_cast<std::size_t>(num_elements(target.shape));
  const auto columns = transposes ? static_cast<std::size_t>(target.shape[1]) : count;
  const std::size_t rows = columns == 0 ? 0 : count / columns;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      write_float(target.dtype, target.data, r * columns + c, read_float(match.entry->dtype, data.data(), c * rows + r));
}

}  // namespace

Result<ImportedWeights> import_weights(const WeightsSpec& spec, gsl::span<const TensorTarget> targets) {
  DTJ_TRY_ASSIGN(const SafetensorsHeader header, read_safetensors_header(spec.path));
  ImportedWeights imported;
  std::vector<Match> matches;
  DTJ_TRY(Matcher(spec, header, targets).run(matches, imported.initialised));
  DTJ_TRY_ASSIGN(const File file, File::open(spec.path));
  std::vector<std::byte> data;
  for (const Match& match : matches) {
    data.resize(static_cast<std::size_t>(match.entry->size));
    DTJ_TRY(file.read_at(match.entry->offset, data.data(), data.size()));
    convert(match, data);
  }
  imported.num_tensors = static_cast<std::int64_t>(matches.size());
  return imported;
}

}  // namespace dtj::checkpoint
