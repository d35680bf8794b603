#include "engine/data/data.hpp"

#include <fmt/format.h>

#include <vector>

#include "engine/base/hash.hpp"
#include "engine/data/fields.hpp"
#include "engine/data/idx_images.hpp"
#include "engine/data/text_chars.hpp"
#include "engine/data/token_shards.hpp"

namespace dtj::data {
namespace {

Result<std::unique_ptr<Dataset>> open_source(const DataSpec& spec) {
  switch (spec.source.kind) {
    case SourceKind::idx_images:
      return open_idx_images(spec);
    case SourceKind::text_chars:
      return open_text_chars(spec);
    case SourceKind::token_shards:
      return open_token_shards(spec);
  }
  return fail(ErrorCode::internal, "unknown kind of data source");
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_dataset(const DataSpec& spec) {
  auto dataset = open_source(spec);
  if (!dataset) return fail_with(std::move(dataset.error()), fmt::format("data `{}`", spec.name));
  return dataset;
}

std::size_t sample_bytes(const FieldSpec& field) {
  return size_of(field.dtype) * static_cast<std::size_t>(num_elements(field.sample_shape));
}

Result<FieldSlots> find_fields(const DataSpec& spec, const OfferedField& first, const OfferedField& second) {
  FieldSlots slots;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const FieldSpec& field = spec.fields[i];
    const OfferedField* offered = field.name == first.name ? &first : field.name == second.name ? &second : nullptr;
    if (offered == nullptr) {
      return fail(ErrorCode::invalid_argument, fmt::format("the data source has no field `{}`: it has `{}` and `{}`",
                                                           field.name, first.name, second.name));
    }
    if (field.dtype != offered->dtype || num_elements(field.sample_shape) != offered->num_elements) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("field `{}` is stated as {}{}, but the data source gives {} values of {} per sample",
                              field.name, to_string(field.dtype), to_string(field.sample_shape), offered->num_elements,
                              to_string(offered->dtype)));
    }
    (offered == &first ? slots.first : slots.second) = i;
  }
  return slots;
}

Result<std::uint64_t> hash_sample(const Dataset& dataset, const DataSpec& spec, SampleId id) {
  std::vector<std::vector<std::byte>> values;
  std::vector<std::byte*> pointers;
  for (const FieldSpec& field : spec.fields) pointers.push_back(values.emplace_back(sample_bytes(field)).data());
  DTJ_TRY(dataset.read(id, pointers));
  std::uint64_t hash = static_cast<std::uint64_t>(dataset.num_samples());
  for (const auto& value : values) hash = hash64(value.data(), value.size(), hash);
  return hash;
}

}  // namespace dtj::data
