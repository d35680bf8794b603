#pragma once

#include <string>

#include <fmt/format.h>

// Small jobs in the language. Their data is never read: tests fill the batches.

namespace dtj::test {

struct JobSettings {
  int ranks = 1;
  int accumulation = 1;
  std::string compute = "f32";
};

inline std::string settings_text(const JobSettings& s) {
  return fmt::format(R"(
  launch {{ method = local; nodes = 1; ranks_per_node = {0}; device = cpu; }}
  mesh {{ dp = {0}; }}
  seed = 1;
  precision {{ compute = {1}; params = f32; reduce = f32; }}
  train {{ stop = 10step; grad_clip = norm(1.0); }}
)",
                     s.ranks, s.compute);
}

/// Two layers on 4 x 4 images.
inline std::string mlp_job(const JobSettings& s) {
  return R"(dtj 1;
import std.nn.{Linear, relu, cross_entropy, accuracy};
import std.optim.{SGD, constant_lr};
import std.data.{idx_images};

module Mlp(classes: int) {
  sub fc   = Linear(16, 24);
  sub head = Linear(24, classes);
  fn forward(x: act[B, 1, 4, 4]) -> act[B, classes] { x |> flatten(from = 1) |> fc |> relu |> head }
}

job mlp {)" +
         settings_text(s) +
         fmt::format(R"(
  model = Mlp(classes = 5);
  data train {{
    source = idx_images("unused", classes = 5, height = 4, width = 4);
    global_batch = {0}sample; gradient_accumulation = {1};
    sampler = shuffle(seed = 1, drop_last = true);
  }}
  data test {{
    source = idx_images("unused", split = "test", classes = 5, height = 4, width = 4);
    global_batch = {2}sample; sampler = sequential();
  }}
  fn objective(m, batch) {{
    let logits = m(batch.image);
    {{loss = cross_entropy(logits, batch.label), acc = accuracy(logits, batch.label)}}
  }}
  optimizer = SGD(lr = constant_lr(0.1), momentum = 0.9, weight_decay = 0.01, nesterov = true);
  eval {{ on = test; every = 1epoch; metrics = ["loss", "acc"]; }}
}}
)",
                     6 * s.ranks * s.accumulation, s.accumulation, 7 * s.ranks);
}

/// One transformer block with tied embeddings.
inline std::string gpt_job(const JobSettings& s) {
  return R"(dtj 1;
import std.nn.{Embedding, LayerNorm, Block, cross_entropy};
import std.optim.{AdamW, warmup_cosine};
import std.data.{text_chars};

module Gpt(vocab: dim, ctx: dim, layers: int, heads: int, C: dim) {
  sub wte = Embedding(vocab, C, init = normal(0.02));
  sub wpe = Embedding(ctx, C, init = normal(0.02));
  sub h[i in 0..layers] = Block(C, heads, approx = "tanh");
  sub lnf = LayerNorm(C);
  fn forward(tokens: i32[B, T]) -> act[B, T, vocab] where T <= ctx {
    mut x = wte(tokens) + wpe(iota(T));
    for block in h { x = block(x); }
    einsum("btc,vc->btv", lnf(x), wte.weight)
  }
}

job gpt {)" +
         settings_text(s) +
         fmt::format(R"(
  model = Gpt(vocab = 19, ctx = 8, layers = 2, heads = 2, C = 12);
  data train {{
    source = text_chars("unused", vocab = 19);
    seq = 7tok;
    global_batch = {0}sample; gradient_accumulation = {1};
    sampler = shuffle(seed = 1);
  }}
  fn objective(m, batch) {{ {{loss = cross_entropy(m(batch.tokens), batch.targets)}} }}
  optimizer = AdamW(lr = warmup_cosine(peak = 1e-2, warmup = 3, total = 10), betas = (0.9, 0.99), weight_decay = 0.1);
}}
)",
                     3 * s.ranks * s.accumulation, s.accumulation);
}

}  // namespace dtj::test
