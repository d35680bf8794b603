#include "compiler/check/sections.hpp"

namespace dtj::check {
namespace {

using enum KeyType;
using K = KeySchema;

// What a plan can count: engine/plan/verify_job.cpp.
constexpr double max_ranks = 1 << 20;
constexpr double max_batch = 1 << 24;

const std::vector<UnitKind> progress_units = {UnitKind::step, UnitKind::epoch, UnitKind::sample, UnitKind::tok};
const std::vector<UnitKind> batch_units = {UnitKind::sample, UnitKind::tok};

SectionSchema launch_schema() {
  return {.name = "launch",
          .example = "launch { method = local; nodes = 1; ranks_per_node = 2; }",
          .is_required = true,
          .keys = {
              K{.name = "method", .type = word, .example = "local", .fallback = std::string_view("local"),
                .words = {"local", "slurm", "mpi", "torchrun"},
                .arguments = {
                    K{.name = "partition", .type = text, .example = "<partition>", .of_word = "slurm"},
                    K{.name = "account", .type = text, .example = "<account>", .of_word = "slurm"},
                    K{.name = "qos", .type = text, .example = "<qos>", .of_word = "slurm"},
                    K{.name = "requeue", .type = boolean, .example = "true", .of_word = "slurm"},
                    K{.name = "signal_before", .type = quantity, .example = "5min", .units = {UnitKind::time}, .of_word = "slurm"},
                }},
              K{.name = "nodes", .type = integer, .example = "1", .fallback = std::int64_t{1}, .minimum = 1, .maximum = max_ranks},
              K{.name = "ranks_per_node", .type = integer, .example = "2", .minimum = 1, .maximum = max_ranks},
              K{.name = "gpus_per_node", .type = integer, .example = "8", .minimum = 1, .maximum = max_ranks, .belongs_to_method = true},
              K{.name = "procs_per_gpu", .type = integer, .example = "1", .fallback = std::int64_t{1}, .minimum = 1, .maximum = max_ranks,
                .belongs_to_method = true},
              K{.name = "threads_per_rank", .type = integer, .example = "1", .fallback = std::int64_t{1}, .minimum = 1, .maximum = 1 << 16},
              K{.name = "device", .type = word, .example = "cpu", .fallback = std::string_view("cpu"),
                .words = {"cpu", "cuda", "auto"},
                .arguments = {K{.name = "min_sm", .type = integer, .example = "80", .of_word = "cuda", .minimum = 50}}},
              K{.name = "bind_cores", .type = boolean, .example = "true", .fallback = true},
              K{.name = "walltime", .type = quantity, .example = "4h", .units = {UnitKind::time}, .minimum = 1, .belongs_to_method = true},
              K{.name = "cores_per_node", .type = integer, .example = "32", .minimum = 1, .maximum = 1 << 16, .belongs_to_method = true},
              K{.name = "transport", .type = word, .example = "nccl", .words = {"shm", "gloo", "nccl"}, .belongs_to_method = true},
              K{.name = "port", .type = integer, .example = "29_500", .minimum = 1, .maximum = 65535, .belongs_to_method = true},
              K{.name = "collective_timeout", .type = quantity, .example = "60s", .fallback = Quantity{60, UnitKind::time},
                .units = {UnitKind::time}, .minimum = 0.001},
          }};
}

SectionSchema mesh_schema() {
  return {.name = "mesh",
          .example = "mesh { dp = 2; }",
          .keys = {
              K{.name = "dp", .type = integer, .example = "2", .minimum = 1, .maximum = max_ranks},
              K{.name = "tp", .type = integer, .example = "1", .fallback = std::int64_t{1}, .minimum = 1, .maximum = max_ranks},
              K{.name = "pp", .type = integer, .example = "1", .fallback = std::int64_t{1}, .minimum = 1, .maximum = max_ranks},
          }};
}

SectionSchema precision_schema() {
  const std::vector<std::string_view> dtypes = {"f32", "bf16", "f16"};
  SectionSchema schema{.name = "precision", .example = "precision { compute = bf16; params = f32; reduce = f32; }", .keys = {}};
  for (std::string_view role : {"compute", "params", "reduce", "optimizer", "master"})
    schema.keys.push_back(K{.name = role, .type = word, .example = "f32", .fallback = std::string_view("f32"), .words = dtypes});
  schema.keys.push_back(K{.name = "attention_stats", .type = word, .example = "f32", .fallback = std::string_view("f32"), .words = dtypes});
  schema.keys.push_back(K{.name = "loss_scaler", .type = word, .example = "dynamic", .fallback = std::string_view("none"),
                          .words = {"none", "dynamic", "static"},
                          .arguments = {K{.name = "init", .type = number, .example = "65536.0", .minimum = 1},
                                        K{.name = "growth_every", .type = count, .example = "2_000step", .units = {UnitKind::step}, .of_word = "dynamic"}}});
  return schema;
}

SectionSchema data_schema() {
  return {.name = "data",
          .example = "data train { source = idx_images(<data_dir>); global_batch = 128sample; sampler = shuffle(seed = 1); }",
          .has_label = true,
          .keys = {
              K{.name = "source", .type = value, .example = "idx_images(<data_dir>, split = \"train\")", .is_required = true, .is_path = true},
              K{.name = "transform", .type = value, .example = "[to_f32(scale = 1.0 / 255.0)]"},
              K{.name = "seq", .type = quantity, .example = "64tok", .units = {UnitKind::tok}, .minimum = 1, .maximum = 1 << 30},
              K{.name = "global_batch", .type = count, .example = "128sample", .is_required = true, .units = batch_units, .minimum = 1},
              K{.name = "micro_batch", .type = count, .example = "16sample", .units = batch_units, .minimum = 1},
              K{.name = "gradient_accumulation", .type = integer, .example = "1", .minimum = 1, .maximum = max_batch},
              K{.name = "sampler", .type = written, .example = "shuffle(seed = 1)", .is_required = true},
              K{.name = "samples", .type = count, .example = "60_000sample", .units = batch_units, .minimum = 1},
              K{.name = "workers", .type = integer, .example = "1", .fallback = std::int64_t{0}, .minimum = 0, .maximum = 1 << 16},
              K{.name = "prefetch", .type = integer, .example = "2", .fallback = std::int64_t{2}, .minimum = 0, .maximum = 1 << 16},
          }};
}

SectionSchema train_schema() {
  return {.name = "train",
          .example = "train { stop = 10epoch; }",
          .is_required = true,
          .keys = {
              K{.name = "stop", .type = quantity, .example = "2_000step", .is_required = true, .units = progress_units, .minimum = 0},
              K{.name = "grad_clip", .type = value, .example = "norm(1.0)"},
              K{.name = "lr_scaling", .type = word, .example = "linear(base = 256sample)", .fallback = std::string_view("none"),
                .words = {"none", "linear", "sqrt"},
                .arguments = {K{.name = "base", .type = count, .example = "256sample", .units = batch_units, .of_word = "linear", .minimum = 1},
                              K{.name = "base", .type = count, .example = "256sample", .units = batch_units, .of_word = "sqrt", .minimum = 1}}},
              K{.name = "freeze", .type = value, .example = "[\"wte.*\"]"},
              K{.name = "log_every", .type = quantity, .example = "50step", .fallback = Quantity{10, UnitKind::step},
                .units = {UnitKind::step, UnitKind::epoch, UnitKind::sample, UnitKind::tok, UnitKind::time}},
          }};
}

SectionSchema eval_schema() {
  return {.name = "eval",
          .example = "eval { on = valid; every = 1epoch; }",
          .keys = {
              K{.name = "on", .type = word, .example = "valid", .is_required = true},
              K{.name = "every", .type = quantity, .example = "1epoch", .fallback = Quantity{1, UnitKind::epoch}, .units = progress_units},
              K{.name = "batches", .type = integer, .example = "40", .minimum = 1, .maximum = 1 << 30},
              K{.name = "metrics", .type = words, .example = "[\"loss\"]"},
              K{.name = "goal", .type = written, .example = "acc >= 0.88"},
          }};
}

SectionSchema checkpoint_schema() {
  return {.name = "checkpoint",
          .example = "checkpoint { dir = <out>; every = 1epoch; }",
          .keys = {
              K{.name = "dir", .type = text, .example = "<out>", .is_required = true, .is_path = true},
              K{.name = "every", .type = value, .example = "500step", .is_required = true},
              K{.name = "keep", .type = integer, .example = "2", .fallback = std::int64_t{2}, .minimum = 1, .maximum = 1 << 20},
              K{.name = "on_signal", .type = boolean, .example = "true", .fallback = true},
              K{.name = "save", .type = words, .example = "[params, optimizer, schedule, rng, sampler]",
                .words = {"params", "buffers", "optimizer", "schedule", "rng", "sampler", "scaler"}},
              K{.name = "resume", .type = word, .example = "exact", .fallback = std::string_view("exact"), .words = {"exact", "approximate"}},
              K{.name = "format", .type = word, .example = "safetensors", .fallback = std::string_view("safetensors"), .words = {"safetensors"},
                .arguments = {K{.name = "shard_max", .type = quantity, .example = "4GiB", .units = {UnitKind::bytes}}}},
              K{.name = "save_time", .type = quantity, .example = "2min", .units = {UnitKind::time}},
              K{.name = "write_bandwidth", .type = quantity, .example = "1GBps", .units = {UnitKind::bandwidth}},
              K{.name = "reshard_on_load", .type = boolean, .example = "true", .fallback = false},
              K{.name = "async", .type = boolean, .example = "false", .fallback = false},
          }};
}

SectionSchema init_schema() {
  return {.name = "init",
          .example = "init { from = safetensors(<weights>); }",
          .keys = {
              K{.name = "from", .type = value, .example = "safetensors(<weights>)", .is_required = true, .is_path = true},
              K{.name = "missing", .type = word, .example = "error", .fallback = std::string_view("error"), .words = {"error", "initialise"}},
              K{.name = "unexpected", .type = value, .example = "[\"h.{i}.attn.bias\"]"},
          }};
}

SectionSchema parallel_schema() {
  return {.name = "parallel",
          .example = "parallel { zero = 0; }",
          .keys = {
              K{.name = "zero", .type = integer, .example = "0", .fallback = std::int64_t{0}, .minimum = 0, .maximum = 3},
              K{.name = "reduce", .type = word, .example = "step", .fallback = std::string_view("step"), .words = {"step", "micro_batch"}},
              K{.name = "overlap", .type = boolean, .example = "true", .fallback = true},
              K{.name = "bucket", .type = word, .example = "auto", .fallback = std::string_view("auto"), .words = {"auto"},
                .arguments = {K{.name = "min", .type = quantity, .example = "4MiB", .units = {UnitKind::bytes}},
                              K{.name = "max", .type = quantity, .example = "64MiB", .units = {UnitKind::bytes}}}},
              K{.name = "capture", .type = word, .example = "none", .fallback = std::string_view("none"), .words = {"none", "cuda_graph"}},
          }};
}

SectionSchema budget_schema() {
  return {.name = "budget",
          .example = "budget { memory = 70GiB; step_time = 400ms; }",
          .keys = {
              K{.name = "memory", .type = quantity, .example = "70GiB", .units = {UnitKind::bytes}},
              K{.name = "step_time", .type = quantity, .example = "400ms", .units = {UnitKind::time}},
          }};
}

SectionSchema resume_schema() {
  return {.name = "resume",
          .example = "resume { from = latest(<out>); if_absent = init; }",
          .keys = {
              K{.name = "from", .type = value, .example = "latest(<out>)", .is_required = true, .is_path = true},
              K{.name = "if_absent", .type = word, .example = "init", .fallback = std::string_view("init"), .words = {"init", "error"}},
          }};
}

}  // namespace

const std::vector<SectionSchema>& section_schemas() {
  static const std::vector<SectionSchema> schemas = {launch_schema(), mesh_schema(),  precision_schema(),  data_schema(),
                                                     train_schema(),  eval_schema(), checkpoint_schema(), init_schema(),
                                                     parallel_schema(), budget_schema(), resume_schema()};
  return schemas;
}

const SectionSchema& job_schema() {
  static const SectionSchema schema{
      .name = "job",
      .example = "job NAME { ... }",
      .keys = {
          K{.name = "model", .type = written, .example = "Mlp(classes = 10)", .is_required = true},
          K{.name = "optimizer", .type = written, .example = "AdamW(lr = constant_lr(1e-3))", .is_required = true},
          K{.name = "determinism", .type = word, .example = "bitwise(scope = run)", .words = {"bitwise"},
            .arguments = {K{.name = "scope", .type = word, .example = "run", .words = {"run", "threads", "world_size"}}}},
          K{.name = "seed", .type = integer, .example = "1234", .fallback = std::int64_t{0}, .minimum = 0},
      }};
  return schema;
}

const SectionSchema* find_section_schema(std::string_view name) {
  for (const SectionSchema& schema : section_schemas())
    if (schema.name == name) return &schema;
  return nullptr;
}

const KeySchema* SectionSchema::find(std::string_view key) const {
  for (const KeySchema& row : keys)
    if (row.name == key) return &row;
  return nullptr;
}

}  // namespace dtj::check
