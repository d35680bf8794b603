#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/checkpoint/import_weights.hpp"
#include "engine/run/initialise.hpp"
#include "engine/run/session.hpp"

namespace dtj::run {
namespace {

template <class Tensor>
std::vector<Tensor> persistent_tensors(Session& session) {
  std::vector<Tensor> tensors;
  for (const plan::TensorSpec& spec : session.plan.tensors) {
    const plan::Buffer& buffer = session.plan.buffers[spec.buffer.value];
    tensors.push_back({buffer.name, buffer.dtype, buffer.shape, session.executor->data(spec.buffer)});
  }
  return tensors;
}

void initialise_tensors(Session& session) {
  for (const plan::TensorSpec& spec : session.plan.tensors) {
    const plan::Buffer& buffer = session.plan.buffers[spec.buffer.value];
    initialise(spec.init, session.job().seed, buffer.name, buffer.dtype, session.executor->data(spec.buffer),
               num_elements(buffer.shape));
  }
}

// Position and bytes of the sample that the next step starts with. A sample that cannot be read says so when it is
// needed; here it only has no hash.
void describe_next_sample(const Session& session, checkpoint::TrainState& state) {
  const DataFeed& train = session.train;
  state.epoch = session.step / session.step_size.steps_per_epoch;
  state.position_in_epoch = session.step % session.step_size.steps_per_epoch * session.step_size.samples;
  state.sampler_seed = train.spec.sampler.seed;
  const auto sample = train.sampler->sample(state.epoch, state.position_in_epoch);
  state.next_sample_hash = sample ? data::hash_sample(*train.dataset, train.spec, *sample).value_or(0) : 0;
}

Status check_data(const Session& session, const checkpoint::TrainState& saved) {
  checkpoint::TrainState now;
  describe_next_sample(session, now);
  if (now.epoch == saved.epoch && now.position_in_epoch == saved.position_in_epoch &&
      now.sampler_seed == saved.sampler_seed && now.next_sample_hash == saved.next_sample_hash) {
    return {};
  }
  return fail(
      ErrorCode::invalid_argument,
      fmt::format(
          "data `{}` is not the data that the checkpoint was made with: the next sample (epoch {}, position {}) "
          "or the number of samples ({}) differs; take the old data, or start anew in another folder",
          session.train.spec.name, saved.epoch, saved.position_in_epoch, session.train.dataset->num_samples()));
}

// Rank 0's choice. Without resume, a folder that holds a run already is refused: mixing two runs would lose one.
Result<std::optional<checkpoint::Checkpoint>> choose(const Session& session) {
  const std::string& dir = session.job().checkpoint->dir;
  if (!session.peers.is_first()) return std::optional<checkpoint::Checkpoint>();
  auto found = checkpoint::find_newest(dir, session.callbacks.log);
  if (session.options.resume) return found;
  if (found && *found) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format(
            "`{}` holds a checkpoint of step {}, and this run is told not to resume: take another folder, or remove it",
            dir, (*found)->manifest.state.step));
  }
  return std::optional<checkpoint::Checkpoint>();
}

// The checkpoint that rank 0 chose, on every rank; none = start from the beginning.
Result<std::optional<checkpoint::Checkpoint>> find_together(Session& session) {
  auto mine = choose(session);
  DTJ_TRY(session.peers.agree(mine ? Status() : Status(tl::unexpect, mine.error())));
  std::array<std::int64_t, 3> choice{};  // is there one, step, hash of the manifest
  if (*mine) choice = {1, (*mine)->manifest.state.step, static_cast<std::int64_t>((*mine)->manifest_hash)};
  DTJ_TRY(session.peers.communicator().broadcast(choice.data(), 3, DType::i64, Rank{0}));
  if (choice[0] == 0) return std::optional<checkpoint::Checkpoint>();
  if (session.peers.is_first()) return mine;
  DTJ_TRY_ASSIGN(checkpoint::Checkpoint same, checkpoint::open_checkpoint(session.job().checkpoint->dir, choice[1],
                                                                          static_cast<std::uint64_t>(choice[2])));
  return std::optional(std::move(same));
}

Status restore(Session& session, const checkpoint::Checkpoint& found) {
  const auto tensors = persistent_tensors<checkpoint::TensorTarget>(session);
  DTJ_TRY(checkpoint::check_resumable(found, session.plan.hash, checkpoint::contract_of(session.job()), tensors));
  const checkpoint::TrainState& state = found.manifest.state;
  session.step = state.step;
  DTJ_TRY(check_data(session, state));
  DTJ_TRY(checkpoint::load(found, tensors));
  session.resumed_from = state.step;
  session.saved_step = state.step;
  session.earlier_seconds = state.train_seconds;
  session.last_metrics = state.metrics;
  session.last_learning_rate = state.learning_rate;
  return {};
}

Status read_weights(Session& session, const WeightsSpec& weights) {
  if (!session.peers.is_first()) return {};
  const auto tensors = persistent_tensors<checkpoint::TensorTarget>(session);
  DTJ_TRY_ASSIGN(const checkpoint::ImportedWeights imported, checkpoint::import_weights(weights, tensors));
  session.log(LogLevel::info, fmt::format("{} tensors loaded from `{}`", imported.num_tensors, weights.path));
  for (const std::string& param : imported.initialised)
    session.log(LogLevel::warning, fmt::format("`{}` has no `{}`, so it starts as the model states", weights.path, param));
  return {};
}

// Rank 0 reads, so that one copy of the file is enough and all ranks start from the same bits.
Status load_weights(Session& session, const WeightsSpec& weights) {
  DTJ_TRY(session.peers.agree(read_weights(session, weights)));
  if (session.peers.world_size() == 1) return {};
  for (const auto& tensor : persistent_tensors<checkpoint::TensorTarget>(session)) {
    const bool is_param = std::any_of(weights.sources.begin(), weights.sources.end(),
                                      [&](const WeightSource& source) { return source.param == tensor.name; });
    if (!is_param) continue;
    DTJ_TRY(session.peers.communicator().broadcast(tensor.data, num_elements(tensor.shape), tensor.dtype, Rank{0}));
  }
  return {};
}

Status write(Session& session, checkpoint::SavedCheckpoint& saved) {
  if (!session.peers.is_first()) return {};
  checkpoint::Manifest manifest;
  manifest.plan_hash = session.plan.hash;
  manifest.contract = checkpoint::contract_of(session.job());
  manifest.state.step = session.step;
  manifest.state.learning_rate = session.last_learning_rate;
  manifest.state.train_seconds = session.earlier_seconds + seconds_since(session.start);
  manifest.state.metrics = session.last_metrics;
  describe_next_sample(session, manifest.state);
  const CheckpointSpec& spec = *session.job().checkpoint;
  DTJ_TRY_ASSIGN(saved, checkpoint::save(spec.dir, spec.keep, std::move(manifest),
                                         persistent_tensors<checkpoint::TensorView>(session), session.callbacks.log));
  return {};
}

}  // namespace

Status start_or_resume(Session& session) {
  std::optional<checkpoint::Checkpoint> found;
  if (session.job().checkpoint) {
    auto together = find_together(session);
    if (!together) return tl::unexpected<Error>(std::move(together.error()));
    found = std::move(*together);
  }
  DTJ_TRY(session.peers.agree(found ? restore(session, *found) : Status()));
  if (!found) {
    initialise_tensors(session);
    return session.job().weights ? load_weights(session, *session.job().weights) : Status();
  }
  session.train.loader->seek(session.step);
  if (session.peers.is_first()) session.log(LogLevel::info, fmt::format("resumed from `{}`", found->path));
  if (!session.metrics) return {};
  const std::array<monitor::MetricsField, 2> record{{{"event", std::string_view("resume")}, {"step", session.step}}};
  return session.metrics->write(record);
}

Status save_checkpoint(Session& session) {
  session.enter("checkpoint");
  const auto start = Clock::now();
  checkpoint::SavedCheckpoint saved;
  DTJ_TRY(session.peers.agree(write(session, saved)));
  session.saved_step = session.step;
  session.last_save = Clock::now();
  if (session.peers.is_first() && session.callbacks.on_checkpoint) {
    session.callbacks.on_checkpoint({session.step, saved.path, seconds_since(start), saved.size});
  }
  return {};
}

}  // namespace dtj::run
