#include "engine/checkpoint/manifest.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/base/hash.hpp"

namespace dtj::checkpoint {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view format_name = "dtj.checkpoint";

// Thrown and caught in this file only, as the JSON library throws too.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// JSON numbers are doubles to many readers, so 64-bit values are text.
std::uint64_t parse_hex(const ordered_json& value) {
  const auto text = value.get<std::string>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size())
    throw Malformed(fmt::format("`{}` is not a hash", text));
  return number;
}

DType parse_dtype_or_throw(const ordered_json& value) {
  const auto name = value.get<std::string>();
  const auto dtype = parse_dtype(name);
  if (!dtype) throw Malformed(fmt::format("`{}` is not a dtype", name));
  return *dtype;
}

ordered_json contract_json(const Contract& contract) {
  return {{"world_size", contract.world_size},
          {"mesh", {{"dp", contract.mesh.dp}, {"tp", contract.mesh.tp}, {"pp", contract.mesh.pp}}},
          {"global_batch", contract.global_batch},
          {"micro_batch", contract.micro_batch},
          {"gradient_accumulation", contract.gradient_accumulation},
          {"precision",
           {{"compute", to_string(contract.precision.compute)},
            {"params", to_string(contract.precision.params)},
            {"reduce", to_string(contract.precision.reduce)},
            {"optimizer", to_string(contract.precision.optimizer)}}}};
}

Contract parse_contract(const ordered_json& root) {
  const ordered_json& value = root.at("contract");
  const ordered_json& mesh = value.at("mesh");
  const ordered_json& precision = value.at("precision");
  Contract contract;
  contract.job = root.at("job").get<std::string>();
  contract.world_size = value.at("world_size").get<std::int64_t>();
  contract.mesh = {mesh.at("dp").get<std::int64_t>(), mesh.at("tp").get<std::int64_t>(),
                   mesh.at("pp").get<std::int64_t>()};
  contract.global_batch = value.at("global_batch").get<std::int64_t>();
  contract.micro_batch = value.at("micro_batch").get<std::int64_t>();
  contract.gradient_accumulation = value.at("gradient_accumulation").get<std::int64_t>();
  contract.precision = {parse_dtype_or_throw(precision.at("compute")), parse_dtype_or_throw(precision.at("params")),
                        parse_dtype_or_throw(precision.at("reduce")), parse_dtype_or_throw(precision.at("optimizer"))};
  contract.seed = parse_hex(root.at("rng").at("seed"));
  return contract;
}

TrainState parse_state(const ordered_json& root) {
  const ordered_json& data = root.at("data");
  TrainState state;
  state.step = root.at("step").get<std::int64_t>();
  state.epoch = data.at("epoch").get<std::int64_t>();
  state.position_in_epoch = data.at("next_sample").get<std::int64_t>();
  state.next_sample_hash = parse_hex(data.at("next_sample_hash"));
  state.sampler_seed = parse_hex(data.at("sampler_seed"));
  state.learning_rate = root.at("schedule").at("learning_rate").get<double>();
  state.train_seconds = root.at("train_seconds").get<double>();
  state.metrics = root.at("metrics").get<std::map<std::string, double>>();
  if (state.step < 0 || root.at("schedule").at("step").get<std::int64_t>() != state.step) {
    throw Malformed("its step numbers disagree");
  }
  return state;
}

TensorEntry parse_tensor(const ordered_json& value, std::size_t num_shards) {
  TensorEntry tensor;
  tensor.name = value.at("name").get<std::string>();
  tensor.shard = value.at("shard").get<std::size_t>();
  tensor.dtype = parse_dtype_or_throw(value.at("dtype"));
  tensor.shape = value.at("shape").get<Shape>();
  tensor.checksum = parse_hex(value.at("xxh3"));
  if (tensor.shard >= num_shards)
    throw Malformed(fmt::format("tensor `{}` is in a shard that it does not list", tensor.name));
  return tensor;
}

ShardEntry parse_shard(const ordered_json& value) {
  ShardEntry shard{value.at("file").get<std::string>(), value.at("size").get<std::int64_t>()};
  if (shard.file.empty() || shard.file.find('/') != std::string::npos) {
    throw Malformed(fmt::format("`{}` is not a file name", shard.file));
  }
  return shard;
}

}  // namespace

Contract contract_of(const JobSpec& job) {
  const DataSpec& data = job.train_data;
  return {job.name,         job.launch.world_size(),    job.mesh,      data.global_batch,
          data.micro_batch, data.gradient_accumulation, job.precision, job.seed};
}

std::string to_json(const Manifest& manifest) {
  const TrainState& state = manifest.state;
  ordered_json metrics = ordered_json::object();
  for (const auto& [name, value] : state.metrics) {
    if (std::isfinite(value)) metrics[name] = value;  // JSON has no other numbers
  }
  ordered_json shards = ordered_json::array();
  for (const ShardEntry& shard : manifest.shards) shards.push_back({{"file", shard.file}, {"size", shard.size}});
  ordered_json tensors = ordered_json::array();
  for (const TensorEntry& tensor : manifest.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"shard", tensor.shard},
                       {"dtype", to_string(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"xxh3", to_hex(tensor.checksum)}});
  }
  const ordered_json root = {
      {"format", format_name},
      {"version", manifest_format_version},
      {"job", manifest.contract.job},
      {"step", state.step},
      {"plan_hash", to_hex(manifest.plan_hash)},
      {"contract", contract_json(manifest.contract)},
      {"data",
       {{"epoch", state.epoch},
        {"next_sample", state.position_in_epoch},
        {"next_sample_hash", to_hex(state.next_sample_hash)},
        {"sampler_seed", to_hex(state.sampler_seed)}}},
      {"rng", {{"seed", to_hex(manifest.contract.seed)}}},
      {"schedule",
       {{"step", state.step}, {"learning_rate", std::isfinite(state.learning_rate) ? state.learning_rate : 0.0}}},
      {"metrics", metrics},
      {"train_seconds", state.train_seconds},
      {"shards", shards},
      {"tensors", tensors},
  };
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
  try {
    const ordered_json root = ordered_json::parse(text);
    if (root.at("format").get<std::string>() != format_name) throw Malformed("it is of another format");
    if (const auto version = root.at("version").get<std::int64_t>(); version != manifest_format_version) {
      throw Malformed(
          fmt::format("it has format version {}, and this build reads version {}", version, manifest_format_version));
    }
    Manifest manifest;
    manifest.plan_hash = parse_hex(root.at("plan_hash"));
    manifest.contract = parse_contract(root);
    manifest.state = parse_state(root);
    for (const ordered_json& shard : root.at("shards")) manifest.shards.push_back(parse_shard(shard));
    for (const ordered_json& tensor : root.at("tensors")) {
      manifest.tensors.push_back(parse_tensor(tensor, manifest.shards.size()));
    }
    return manifest;
  } catch (const ordered_json::exception& error) {
    return fail(ErrorCode::data_loss, error.what());
  } catch (const Malformed& error) {
    return fail(ErrorCode::data_loss, error.what());
  }
}

}  // namespace dtj::checkpoint
