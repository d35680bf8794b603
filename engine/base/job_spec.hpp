#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.hpp"
#include "engine/base/shape.hpp"
#include "engine/base/units.hpp"

// The job as plain data: what the checker proves and the engine obeys. Everything here is concrete; nothing refers
// to the syntax tree. The plan carries one JobSpec.

namespace dtj {

enum class LaunchMethod : std::uint8_t { local, slurm, mpi, torchrun };
enum class DeviceKind : std::uint8_t { cpu, cuda, automatic };

/// The launch contract. world_size = nodes * ranks_per_node = product of the mesh axes.
struct LaunchSpec {
  LaunchMethod method = LaunchMethod::local;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t threads_per_rank = 1;
  DeviceKind device = DeviceKind::cpu;
  bool bind_cores = true;
  std::optional<double> walltime_seconds;
  /// Deadline of every collective and of the start-up rendezvous.
  double collective_timeout_seconds = 60;

  std::int64_t world_size() const { return nodes * ranks_per_node; }
};

struct MeshSpec {
  std::int64_t dp = 1;
  std::int64_t tp = 1;
  std::int64_t pp = 1;
};

/// Which dtype each role is bound to.
struct PrecisionSpec {
  DType compute = DType::f32;    ///< act
  DType params = DType::f32;     ///< par: storage of parameters
  DType reduce = DType::f32;     ///< red: gradient reduction
  DType optimizer = DType::f32;  ///< opt
};

enum class SourceKind : std::uint8_t { idx_images, text_chars, token_shards };

/// Where samples come from.
///  idx_images:   `path` = folder with {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]; `split` = "train" | "test";
///                fields image: f32[1, H, W] (or the declared sample shape), label: i32[]
///  text_chars:   `path` = a text file or a folder of text files (sorted by name); token = code point < `vocab`;
///                first `train_fraction` = "train", rest = "valid"; fields tokens, targets: i32[seq]
///  token_shards: `path` = folder, `pattern` = glob; raw u16 tokens, nanoGPT (no header) or llm.c (256-word header);
///                fields tokens, targets: i32[seq]
struct SourceSpec {
  SourceKind kind = SourceKind::idx_images;
  std::string path;
  std::string split = "train";
  std::string pattern = "*.bin";
  double train_fraction = 0.9;
  std::int64_t vocab = 0;        ///< tokens must be below it; 0 = not checked
  std::int64_t num_classes = 0;  ///< labels must be below it; 0 = not checked
  std::int64_t height = 28;
  std::int64_t width = 28;
};

/// x -> (x * scale - mean) / std, applied to u8 pixels by the loader. Before that, a training image may be put into a
/// border of `crop_pad` zero pixels and cut out again at a random place, and mirrored left to right with the probability
/// `flip`: functions of (seed, epoch, sample).
struct PixelTransform {
  double scale = 1.0 / 255.0;
  double mean = 0.0;
  double std = 1.0;
  std::int64_t crop_pad = 0;
  double flip = 0.0;
  std::uint64_t seed = 0;
};

enum class SamplerKind : std::uint8_t { shuffle, sequential };
enum class LastBatch : std::uint8_t { drop, pad };  ///< pad = repeat-and-mask, evaluation only

struct SamplerSpec {
  SamplerKind kind = SamplerKind::sequential;
  std::uint64_t seed = 0;
  LastBatch last_batch = LastBatch::drop;
};

/// One input field of the objective, without the leading batch dim.
struct FieldSpec {
  std::string name;
  DType dtype = DType::f32;
  Shape sample_shape;
  /// A class or token to predict: -1 in the padded samples of an evaluation batch, which every mean leaves out.
  bool is_target = false;
};

/// One `data NAME { }` section. global_batch = micro_batch * gradient_accumulation * dp, all in samples.
struct DataSpec {
  std::string name;
  SourceSpec source;
  PixelTransform transform;
  SamplerSpec sampler;
  std::int64_t seq = 0;  ///< tokens per sample; 0 for images
  std::int64_t global_batch = 1;
  std::int64_t micro_batch = 1;
  std::int64_t gradient_accumulation = 1;
  std::int64_t prefetch = 2;
  std::vector<FieldSpec> fields;  ///< in the order of the plan's inputs

  /// 1 for images, `seq` for text.
  std::int64_t tokens_per_sample() const { return seq == 0 ? 1 : seq; }
};

struct TrainSpec {
  Progress stop;
  std::optional<double> grad_clip_norm;   ///< of all gradients together
  std::optional<double> grad_clip_value;  ///< every element of a gradient stays in [-x, x]
  Progress log_every{10, ProgressUnit::step};
};

enum class Comparison : std::uint8_t { less_equal, greater_equal };

struct GoalSpec {
  std::string metric;
  Comparison comparison = Comparison::greater_equal;
  double value = 0;
};

struct EvalSpec {
  std::string data;  ///< name of the data section
  Progress every{1, ProgressUnit::epoch};
  std::optional<std::int64_t> batches;  ///< none = the whole set
  std::vector<std::string> metrics;
  std::optional<GoalSpec> goal;
};

struct CheckpointSpec {
  std::string dir;
  std::vector<Progress> every;  ///< whichever comes first
  std::int64_t keep = 2;
  bool on_signal = true;
};

/// Filled element by element from PhiloxStream(job seed, hash64(parameter name)) at the global element index.
enum class InitKind : std::uint8_t { constant, uniform, normal };

struct InitSpec {
  InitKind kind = InitKind::constant;
  double a = 0;  ///< constant: the value; uniform: low;  normal: mean
  double b = 0;  ///<                      uniform: high; normal: standard deviation
};

/// The tensor of a file that a parameter starts as.
struct WeightSource {
  std::string param;
  std::string tensor;
  bool transpose = false;  ///< a matrix is stored the other way round
};

enum class MissingWeights : std::uint8_t { error, initialise };

/// What a fresh run starts from; a resumed one has its checkpoint.
struct WeightsSpec {
  std::string path;  ///< a safetensors file
  std::vector<WeightSource> sources;  ///< one per parameter and module buffer
  MissingWeights missing = MissingWeights::error;
  std::vector<std::string> unexpected;  ///< patterns of tensors that the file may hold besides
};

struct JobSpec {
  std::string name;
  std::uint64_t seed = 0;
  LaunchSpec launch;
  MeshSpec mesh;
  PrecisionSpec precision;
  DataSpec train_data;
  std::optional<DataSpec> eval_data;
  TrainSpec train;
  std::optional<EvalSpec> eval;
  std::optional<CheckpointSpec> checkpoint;
  std::optional<WeightsSpec> weights;
  std::vector<std::string> metrics;  ///< fields of the objective's result; the first is "loss"

  /// The metric "weight", if the objective gives one: every other metric, and the loss, is then a mean of micro batches in
  /// the proportion of their weights. Without it all micro batches weigh the same.
  std::optional<std::uint32_t> weight_metric() const;
};

}  // namespace dtj
