#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/support/idx_files.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

// Small jobs for whole runs of dtjc, and readers of what they leave behind.

namespace dtj::test {

struct MlpJob {
  int ranks = 1;
  int threads = 1;
  int global_batch = 16;
  int micro_batch = 0;  ///< 0: left out
  int steps = 40;
  int checkpoint_every = 10;
  double peak_lr = 5e-3;
  std::string compute = "f32";
  std::string extra_train;  ///< more settings of the train section
  bool with_eval = true;
  std::string objective = "{loss = cross_entropy(logits, batch.label), acc = accuracy(logits, batch.label)}";
};

inline std::string mlp_job(const MlpJob& job) {
  return fmt::format(R"(dtj 1;
import std.nn.{{Linear, relu, cross_entropy, accuracy, num_targets}};
import std.optim.{{AdamW, warmup_cosine}};
import std.data.{{idx_images}};
bind <data>: path.dir "images";
bind <out>: path.dir "checkpoints";
module Mlp(classes: int) {{
  sub fc1  = Linear(64, 24);
  sub head = Linear(24, classes);
  fn forward(x: act[B, 1, 8, 8]) -> act[B, classes] {{ x |> flatten(from = 1) |> fc1 |> relu |> head }}
}}
job tiny_mlp {{
  launch {{ method = local; nodes = 1; ranks_per_node = {ranks}; threads_per_rank = {threads}; device = cpu; collective_timeout = 20s; }}
  mesh {{ dp = {ranks}; }}
  seed = 11;
  precision {{ compute = {compute}; params = f32; reduce = f32; }}
  model = Mlp(classes = 4);
  data train {{
    source = idx_images(<data>, split = "train", classes = 4, height = 8, width = 8);
    transform = [to_f32(scale = 1.0 / 255.0), normalize(mean = 0.3, std = 0.3)];
    global_batch = {global_batch}sample;
    {micro}
    sampler = shuffle(seed = 3, drop_last = true);
  }}
  data test {{
    source = idx_images(<data>, split = "test", classes = 4, height = 8, width = 8);
    transform = [to_f32(scale = 1.0 / 255.0), normalize(mean = 0.3, std = 0.3)];
    global_batch = 48sample;
    sampler = sequential();
  }}
  fn objective(m, batch) {{
    let logits = m(batch.image);
    {objective}
  }}
  optimizer = AdamW(lr = warmup_cosine(peak = {lr}, warmup = 5, total = {steps}), weight_decay = 0.05);
  train {{ stop = {steps}step; grad_clip = norm(1.0); log_every = 1step; {extra_train} }}
  {eval}
  checkpoint {{ dir = <out>; every = {every}step; keep = 3; save = [params, optimizer, schedule, rng, sampler]; }}
}}
)",
                     fmt::arg("ranks", job.ranks), fmt::arg("threads", job.threads), fmt::arg("compute", job.compute),
                     fmt::arg("global_batch", job.global_batch),
                     fmt::arg("micro", job.micro_batch == 0 ? "" : fmt::format("micro_batch = {}sample;", job.micro_batch)),
                     fmt::arg("lr", fmt::format("{:e}", job.peak_lr)), fmt::arg("steps", job.steps),
                     fmt::arg("extra_train", job.extra_train), fmt::arg("objective", job.objective), fmt::arg("every", job.checkpoint_every),
                     fmt::arg("eval", job.with_eval ? fmt::format("eval {{ on = test; every = {}step; metrics = [\"loss\", \"acc\"]; "
                                                                  "goal = acc >= 0.9; }}",
                                                                  job.steps)
                                                    : ""));
}

/// A character model of the kind of examples/02_char_gpt.dtj, with tied weights.
struct GptJob {
  int ranks = 1;
  int global_batch = 8;
  int micro_batch = 0;  ///< 0: left out
  int steps = 40;
  int checkpoint_every = 10;
  std::string compute = "f32";
};

inline std::string gpt_job(const GptJob& job) {
  return fmt::format(R"(dtj 1;
import std.nn.{{Embedding, LayerNorm, Block, cross_entropy}};
import std.optim.{{AdamW, warmup_cosine}};
import std.data.{{text_chars}};
bind <data>: path.any "a text";
bind <out>: path.dir "checkpoints";
module Gpt(vocab: dim, layers: int, C: dim) {{
  sub wte = Embedding(vocab, C, init = normal(0.02));
  sub wpe = Embedding(16, C, init = normal(0.02));
  sub h[i in 0..layers] = Block(C, 2, bias = false, init = normal(0.02), residual_init = normal(0.01));
  sub lnf = LayerNorm(C, bias = false);
  fn forward(tokens: i32[B, T]) -> act[B, T, vocab] where T <= 16 {{
    mut x = wte(tokens) + wpe(iota(T));
    for block in h {{ x = block(x); }}
    einsum("btc,vc->btv", lnf(x), wte.weight)
  }}
}}
job tiny_gpt {{
  launch {{ method = local; nodes = 1; ranks_per_node = {ranks}; device = cpu; collective_timeout = 20s; }}
  mesh {{ dp = {ranks}; }}
  seed = 11;
  precision {{ compute = {compute}; params = f32; reduce = f32; }}
  model = Gpt(vocab = 128, layers = 2, C = 24);
  data train {{
    source = text_chars(<data>, split = "train", vocab = 128);
    seq = 16tok;
    global_batch = {global_batch}sample;
    {micro}
    sampler = shuffle(seed = 3, drop_last = true);
  }}
  fn objective(m, batch) {{ {{loss = cross_entropy(m(batch.tokens), batch.targets)}} }}
  optimizer = AdamW(lr = warmup_cosine(peak = 3e-3, warmup = 5, total = {steps}), weight_decay = 0.1);
  train {{ stop = {steps}step; grad_clip = norm(1.0); log_every = 1step; }}
  checkpoint {{ dir = <out>; every = {every}step; keep = 3; save = [params, optimizer, schedule, rng, sampler]; }}
}}
)",
                     fmt::arg("ranks", job.ranks), fmt::arg("compute", job.compute), fmt::arg("global_batch", job.global_batch),
                     fmt::arg("micro", job.micro_batch == 0 ? "" : fmt::format("micro_batch = {}sample;", job.micro_batch)),
                     fmt::arg("steps", job.steps), fmt::arg("every", job.checkpoint_every));
}

/// Words in an order that has something to learn and does not repeat soon.
inline std::string sample_text() {
  const char* words[] = {"the ", "rank ", "waits ", "for ", "a ", "bucket, ", "then ", "adds ", "its ", "shard.\n"};
  std::string text;
  std::uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    state = state * 1664525U + 1013904223U;
    text += words[(state >> 24) % std::size(words)];
  }
  return text;
}

/// A folder with data, a job file and an output folder.
struct Workspace {
  TempDir dir;
  std::string job_path;
  std::string data = dir.path().string();
  std::string out = dir.file("out");
  std::string metrics = dir.file("metrics.jsonl");
  int num_runs = 0;

  explicit Workspace(const GptJob& job) {
    data = dir.write("texts/text.txt", sample_text());
    job_path = dir.write("job.dtj", gpt_job(job));
  }

  explicit Workspace(const MlpJob& job, const IdxOptions& idx = {}) {
    write_idx(dir, "train", idx);
    IdxOptions test = idx;
    test.num_samples = 100;  // not a multiple of the batch: the last one is padded
    test.bad_label_at = -1;
    write_idx(dir, "t10k", test);
    job_path = dir.write("job.dtj", mlp_job(job));
  }

  std::vector<std::string> run_command(std::vector<std::string> more = {}) const {
    std::vector<std::string> argv = {DTJ_DTJC, "run", job_path, "--bind", "data=" + data, "--bind", "out=" + out,
                                     "--metrics", metrics};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }

  ProcessResult run(std::vector<std::string> more = {}) {
    return Process(run_command(std::move(more)), dir.file("run" + std::to_string(num_runs++))).finish();
  }
};

inline ProcessResult run_dtjc(const TempDir& dir, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), DTJ_DTJC);
  return Process(arguments, dir.file("dtjc")).finish();
}

/// 0 for a file that is not there.
inline std::uintmax_t size_of(const std::string& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  return absent ? 0 : size;
}

/// step -> the loss as it was written; a step that was repeated after a resume must show the same text again.
inline std::map<std::int64_t, std::string> read_losses(const std::string& path) {
  std::map<std::int64_t, std::string> losses;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded() || row.value("event", "") != "step") continue;
    losses[row.at("step").get<std::int64_t>()] = row.at("loss").dump();
  }
  return losses;
}

/// The bytes of all shards of the checkpoint of `step`.
inline std::string read_shards(const std::string& out, std::int64_t step) {
  std::string bytes;
  const std::filesystem::path folder = std::filesystem::path(out) / fmt::format("step-{:08}", step);
  if (!std::filesystem::exists(folder)) return bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(in), {});
  }
  return bytes;
}

}  // namespace dtj::test
