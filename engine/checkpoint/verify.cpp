#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/hash.hpp"
#include "engine/checkpoint/checkpoint.hpp"
#include "engine/checkpoint/file.hpp"
#include "engine/checkpoint/folder.hpp"
#include "engine/checkpoint/safetensors.hpp"

namespace dtj::checkpoint {
namespace {

std::string describe(DType dtype, const Shape& shape) {
  return fmt::format("{}{}", to_string(dtype), to_string(shape));
}

Result<Checkpoint> read_manifest(const std::string& path) {
  const std::string file = join(path, manifest_name);
  DTJ_TRY_ASSIGN(const std::string text, read_text(file));
  auto manifest = parse_manifest(text);
  if (!manifest) {
    return fail(manifest.error().code, fmt::format("`{}` is damaged: {}", file, manifest.error().message));
  }
  if (std::filesystem::path(path).filename() != step_name(manifest->state.step)) {
    return fail(ErrorCode::data_loss, fmt::format("`{}` is damaged: it is of step {}", file, manifest->state.step));
  }
  return Checkpoint{path, hash64(text), std::move(*manifest)};
}

Status compare_tensor(const File& file, const std::string& shard_path, const TensorEntry& tensor,
                      const SafetensorsEntry& entry) {
  if (tensor.dtype != entry.dtype || tensor.shape != entry.shape) {
    return fail(ErrorCode::data_loss,
                fmt::format("tensor `{}` is {} in `{}`, but {} in the manifest", tensor.name,
                            describe(entry.dtype, entry.shape), shard_path, describe(tensor.dtype, tensor.shape)));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(entry.size));
  DTJ_TRY(file.read_at(entry.offset, bytes.data(), bytes.size()));
  if (hash64(bytes.data(), bytes.size()) != tensor.checksum) {
    return fail(ErrorCode::data_loss,
                fmt::format("`{}` is damaged: the checksum of tensor `{}` is wrong", shard_path, tensor.name));
  }
  return {};
}

Status verify_shard(const Checkpoint& checkpoint, std::size_t index) {
  const ShardEntry& shard = checkpoint.manifest.shards[index];
  const std::string path = join(checkpoint.path, shard.file);
  DTJ_TRY_ASSIGN(const SafetensorsHeader header, read_safetensors_header(path));
  if (header.file_size != shard.size) {
    return fail(ErrorCode::data_loss,
                fmt::format("`{}` has {} bytes, but {} in the manifest", path, header.file_size, shard.size));
  }
  DTJ_TRY_ASSIGN(const File file, File::open(path));
  std::size_t num_tensors = 0;
  for (const TensorEntry& tensor : checkpoint.manifest.tensors) {
    if (tensor.shard != index) continue;
    ++num_tensors;
    const auto entry = header.tensors.find(tensor.name);
    if (entry == header.tensors.end()) {
      return fail(ErrorCode::data_loss, fmt::format("tensor `{}` is missing in `{}`", tensor.name, path));
    }
    DTJ_TRY(compare_tensor(file, path, tensor, entry->second));
  }
  if (num_tensors != header.tensors.size()) {
    return fail(ErrorCode::data_loss, fmt::format("`{}` holds tensors that the manifest does not name", path));
  }
  return {};
}

std::string compare_tensor_lists(const Manifest& manifest, gsl::span<const TensorTarget> tensors) {
  std::map<std::string, const TensorEntry*> saved;
  for (const TensorEntry& tensor : manifest.tensors) saved[tensor.name] = &tensor;
  std::vector<std::string> differences;
  for (const TensorTarget& tensor : tensors) {
    const auto found = saved.find(tensor.name);
    if (found == saved.end()) {
      differences.push_back(fmt::format("tensor `{}` is missing in the checkpoint", tensor.name));
      continue;
    }
    if (found->second->dtype != tensor.dtype || found->second->shape != tensor.shape) {
      differences.push_back(fmt::format("tensor `{}` is {} in the checkpoint and {} in the job", tensor.name,
                                        describe(found->second->dtype, found->second->shape),
                                        describe(tensor.dtype, tensor.shape)));
    }
    saved.erase(found);
  }
  for (const auto& [name, entry] : saved) differences.push_back(fmt::format("the job has no tensor `{}`", name));
  constexpr std::size_t most = 5;
  const std::size_t left_out = differences.size() > most ? differences.size() - most : 0;
  differences.resize(differences.size() - left_out);
  return fmt::format("{}{}", fmt::join(differences, "; "), left_out == 0 ? "" : fmt::format("; and {} more", left_out));
}

std::string compare_contracts(const Contract& saved, const Contract& wanted) {
  std::vector<std::string> differences;
  const auto compare = [&](std::string_view what, const auto& a, const auto& b) {
    if (a != b) differences.push_back(fmt::format("{} is {} in the checkpoint and {} in the job", what, a, b));
  };
  compare("job", saved.job, wanted.job);
  compare("world size", saved.world_size, wanted.world_size);
  compare("mesh axis dp", saved.mesh.dp, wanted.mesh.dp);
  compare("mesh axis tp", saved.mesh.tp, wanted.mesh.tp);
  compare("mesh axis pp", saved.mesh.pp, wanted.mesh.pp);
  compare("global batch", saved.global_batch, wanted.global_batch);
  compare("micro batch", saved.micro_batch, wanted.micro_batch);
  compare("gradient accumulation", saved.gradient_accumulation, wanted.gradient_accumulation);
  compare("compute dtype", to_string(saved.precision.compute), to_string(wanted.precision.compute));
  compare("params dtype", to_string(saved.precision.params), to_string(wanted.precision.params));
  compare("reduce dtype", to_string(saved.precision.reduce), to_string(wanted.precision.reduce));
  compare("optimizer dtype", to_string(saved.precision.optimizer), to_string(wanted.precision.optimizer));
  compare("seed", saved.seed, wanted.seed);
  return fmt::format("{}", fmt::join(differences, "; "));
}

tl::unexpected<Error> fail_not_resumable(const Checkpoint& checkpoint, const std::string& why) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("checkpoint `{}` does not belong to this job: {}", checkpoint.path, why));
}

}  // namespace

Result<Checkpoint> read_verified(const std::string& path) {
  DTJ_TRY_ASSIGN(Checkpoint checkpoint, read_manifest(path));
  for (std::size_t i = 0; i < checkpoint.manifest.shards.size(); ++i) {
    DTJ_TRY(verify_shard(checkpoint, i));
  }
  return checkpoint;
}

Result<Checkpoint> open_checkpoint(const std::string& dir, std::int64_t step, std::uint64_t manifest_hash) {
  DTJ_TRY_ASSIGN(Checkpoint checkpoint, read_manifest(join(dir, step_name(step))));
  if (checkpoint.manifest_hash != manifest_hash) {
    return fail(ErrorCode::data_loss,
                fmt::format("the manifest of `{}` is not the one that rank 0 reads", checkpoint.path));
  }
  return checkpoint;
}

Status check_resumable(const Checkpoint& checkpoint, std::uint64_t plan_hash, const Contract& contract,
                       gsl::span<const TensorTarget> tensors) {
  const std::string contracts = compare_contracts(checkpoint.manifest.contract, contract);
  const std::string lists = compare_tensor_lists(checkpoint.manifest, tensors);
  if (!contracts.empty() || !lists.empty()) {
    return fail_not_resumable(checkpoint, contracts + (contracts.empty() || lists.empty() ? "" : "; ") + lists);
  }
  if (checkpoint.manifest.plan_hash != plan_hash) {
    return fail_not_resumable(
        checkpoint, fmt::format("its plan is {}, and the plan here is {}; contract and tensors agree, so the model's "
                                "computation, the optimizer, the data section or the compiler changed",
                                to_hex(checkpoint.manifest.plan_hash), to_hex(plan_hash)));
  }
  return {};
}

Status load(const Checkpoint& checkpoint, gsl::span<const TensorTarget> tensors) {
  const std::string differences = compare_tensor_lists(checkpoint.manifest, tensors);
  if (!differences.empty()) return fail_not_resumable(checkpoint, differences);
  std::map<std::string, const TensorTarget*> targets;
  for (const TensorTarget& tensor : tensors) targets[tensor.name] = &tensor;
  for (std::size_t i = 0; i < checkpoint.manifest.shards.size(); ++i) {
    const std::string path = join(checkpoint.path, checkpoint.manifest.shards[i].file);
    DTJ_TRY_ASSIGN(const SafetensorsHeader header, read_safetensors_header(path));
    DTJ_TRY_ASSIGN(const File file, File::open(path));
    for (const TensorEntry& tensor : checkpoint.manifest.tensors) {
      if (tensor.shard != i) continue;
      const TensorTarget& target = *targets.at(tensor.name);
      const auto entry = header.tensors.find(tensor.name);
      if (entry == header.tensors.end() || static_cast<std::size_t>(entry->second.size) != target.size()) {
        return fail(ErrorCode::data_loss,
                    fmt::format("tensor `{}` is missing or has another size in `{}`", tensor.name, path));
      }
      DTJ_TRY(file.read_at(entry->second.offset, target.data, target.size()));
      if (hash64(target.data, target.size()) != tensor.checksum) {
        return fail(ErrorCode::data_loss,
                    fmt::format("`{}` is damaged: the checksum of tensor `{}` is wrong", path, tensor.name));
      }
    }
  }
  return {};
}

}  // namespace dtj::checkpoint
