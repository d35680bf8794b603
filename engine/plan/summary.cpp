#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/hash.hpp"
#include "engine/plan/print.hpp"

namespace dtj::plan {
namespace {

struct StepCounts {
  std::int64_t kernels = 0, gemms = 0, collectives = 0, other = 0;
};

struct Summary {
  std::int64_t parameters = 0;
  std::int64_t parameter_tensors = 0;
  /// Activations and scratch share bytes over time: their entry is the peak of the transient arena.
  std::vector<std::pair<std::string, std::int64_t>> bytes_by_class;
  std::int64_t total_bytes = 0;
  std::int64_t collective_bytes = 0;
  std::vector<const Program*> programs;
};

std::int64_t bytes_of(const Collective& collective) {
  return collective.count * static_cast<std::int64_t>(size_of(collective.dtype));
}

StepCounts count_steps(const Program& program) {
  StepCounts counts;
  for (const Step& step : program.steps) {
    if (std::holds_alternative<KernelStep>(step.what)) {
      ++counts.kernels;
    } else if (std::holds_alternative<GemmStep>(step.what)) {
      ++counts.gemms;
    } else if (std::holds_alternative<CollectiveStartStep>(step.what)) {
      ++counts.collectives;
    } else if (!std::holds_alternative<CollectiveWaitStep>(step.what)) {
      ++counts.other;
    }
  }
  return counts;
}

Summary summarise(const ExecutionPlan& plan) {
  Summary summary;
  std::map<BufferClass, std::int64_t> sums;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.arena != Arena::transient) sums[buffer.cls] += buffer.size;
  }
  for (const TensorSpec& tensor : plan.tensors) {
    const Buffer& buffer = plan.buffers.at(tensor.buffer.value);
    if (buffer.cls != BufferClass::param) continue;
    summary.parameters += num_elements(buffer.shape);
    ++summary.parameter_tensors;
  }
  for (const auto& [cls, bytes] : sums) summary.bytes_by_class.emplace_back(to_string(cls), bytes);
  summary.bytes_by_class.emplace_back("transient", plan.arena_bytes[static_cast<int>(Arena::transient)]);
  for (const std::int64_t bytes : plan.arena_bytes) summary.total_bytes += bytes;
  for (const Collective& collective : plan.collectives) summary.collective_bytes += bytes_of(collective);
  for (const Program* program :
       {&plan.micro_only, &plan.micro_first, &plan.micro_middle, &plan.micro_last, &plan.update, &plan.evaluate}) {
    if (!program->steps.empty()) summary.programs.push_back(program);
  }
  return summary;
}

std::string bytes_text(std::int64_t bytes) {
  return to_string(Bytes{bytes});
}

}  // namespace

std::string summary_text(const ExecutionPlan& plan) {
  const Summary summary = summarise(plan);
  const JobSpec& job = plan.job;
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "job {}, plan {}\n", job.name, to_hex(plan.hash));
  fmt::format_to(out, "world size     {} = {} nodes x {} ranks, {} threads per rank, mesh dp {} x tp {} x pp {}\n",
                 job.launch.world_size(), job.launch.nodes, job.launch.ranks_per_node, job.launch.threads_per_rank,
                 job.mesh.dp, job.mesh.tp, job.mesh.pp);
  fmt::format_to(out, "global batch   {} samples = micro batch {} x accumulation {} x dp {}\n",
                 job.train_data.global_batch, job.train_data.micro_batch, job.train_data.gradient_accumulation,
                 job.mesh.dp);
  fmt::format_to(out, "precision      compute {}, params {}, reduce {}, optimizer {}\n",
                 to_string(job.precision.compute), to_string(job.precision.params), to_string(job.precision.reduce),
                 to_string(job.precision.optimizer));
  fmt::format_to(out, "parameters     {} in {} tensors\n", summary.parameters, summary.parameter_tensors);
  fmt::format_to(out, "bytes per rank\n");
  for (const auto& [name, bytes] : summary.bytes_by_class) {
    fmt::format_to(out, "  {:<14} {:>14}  {}\n", name, bytes, bytes_text(bytes));
  }
  fmt::format_to(out, "  {:<14} {:>14}  {}\n", "all arenas", summary.total_bytes, bytes_text(summary.total_bytes));
  fmt::format_to(out, "arenas\n");
  for (int arena = 0; arena < num_arenas; ++arena) {
    fmt::format_to(out, "  {:<14} {:>14}  {}\n", to_string(static_cast<Arena>(arena)), plan.arena_bytes[arena],
                   bytes_text(plan.arena_bytes[arena]));
  }
  fmt::format_to(out, "collectives per step: {}, {}\n", plan.collectives.size(), bytes_text(summary.collective_bytes));
  for (const Collective& collective : plan.collectives) {
    fmt::format_to(out, "  all_reduce_sum over {}: {} x {} = {}  {}\n", collective.axis, collective.count,
                   to_string(collective.dtype), bytes_text(bytes_of(collective)), collective.name);
  }
  fmt::format_to(out, "programs\n");
  for (const Program* program : summary.programs) {
    const StepCounts counts = count_steps(*program);
    fmt::format_to(out, "  {:<14} {} steps: {} kernels, {} gemms, {} collectives, {} other; transient peak {}\n",
                   program->name, program->steps.size(), counts.kernels, counts.gemms, counts.collectives, counts.other,
                   bytes_text(program->transient_bytes));
  }
  return text;
}

std::string summary_json(const ExecutionPlan& plan) {
  using Json = nlohmann::ordered_json;
  const Summary summary = summarise(plan);
  const JobSpec& job = plan.job;
  Json root;
  root["format_version"] = plan.format_version;
  root["job"] = job.name;
  root["hash"] = to_hex(plan.hash);
  root["target"] = plan.target;
  root["world_size"] = job.launch.world_size();
  root["nodes"] = job.launch.nodes;
  root["ranks_per_node"] = job.launch.ranks_per_node;
  root["threads_per_rank"] = job.launch.threads_per_rank;
  root["mesh"] = {{"dp", job.mesh.dp}, {"tp", job.mesh.tp}, {"pp", job.mesh.pp}};
  root["global_batch"] = job.train_data.global_batch;
  root["micro_batch"] = job.train_data.micro_batch;
  root["gradient_accumulation"] = job.train_data.gradient_accumulation;
  root["parameters"] = summary.parameters;
  root["parameter_tensors"] = summary.parameter_tensors;
  Json& by_class = root["bytes_per_rank"] = Json::object();
  for (const auto& [name, bytes] : summary.bytes_by_class) by_class[name] = bytes;
  by_class["total"] = summary.total_bytes;
  Json& arenas = root["arenas"] = Json::object();
  for (int arena = 0; arena < num_arenas; ++arena) {
    arenas[std::string(to_string(static_cast<Arena>(arena)))] = plan.arena_bytes[arena];
  }
  Json& collectives = root["collectives"] = Json::array();
  for (const Collective& collective : plan.collectives) {
    collectives.push_back({{"op", "all_reduce_sum"},
                           {"axis", collective.axis},
                           {"dtype", to_string(collective.dtype)},
                           {"count", collective.count},
                           {"bytes", bytes_of(collective)},
                           {"name", collective.name}});
  }
  Json& programs = root["programs"] = Json::array();
  for (const Program* program : summary.programs) {
    const StepCounts counts = count_steps(*program);
    programs.push_back({{"name", program->name},
                        {"steps", program->steps.size()},
                        {"kernels", counts.kernels},
                        {"gemms", counts.gemms},
                        {"collectives", counts.collectives},
                        {"transient_bytes", program->transient_bytes}});
  }
  // Names come from job files and may hold bytes that are not UTF-8; replacing them keeps this free of exceptions.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dtj::plan
