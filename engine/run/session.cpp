#include "engine/run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/hash.hpp"

namespace dtj::run {
namespace {

Status check_world(const Session& session) {
  const JobSpec& job = session.job();
  if (job.launch.world_size() != session.peers.world_size()) {
    return fail(ErrorCode::invalid_argument, fmt::format("the plan is for {} ranks, but {} were started",
                                                         job.launch.world_size(), session.peers.world_size()));
  }
  if (job.mesh.tp != 1 || job.mesh.pp != 1) {
    return fail(ErrorCode::unimplemented, "this build runs data-parallel plans only: mesh axes tp and pp must be 1");
  }
  return {};
}

Status compare_plans(Session& session) {
  std::vector<std::int64_t> hashes(static_cast<std::size_t>(session.peers.world_size()));
  hashes[session.peers.communicator().rank().value] = static_cast<std::int64_t>(session.plan.hash);
  DTJ_TRY(session.peers.communicator().all_gather(hashes.data(), 1, DType::i64));
  for (std::size_t rank = 1; rank < hashes.size(); ++rank) {
    if (hashes[rank] == hashes[0]) continue;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("rank {} has plan {}, but rank 0 has plan {}: all ranks need the same", rank,
                    to_hex(static_cast<std::uint64_t>(hashes[rank])), to_hex(static_cast<std::uint64_t>(hashes[0]))));
  }
  return {};
}

Status open_feed(DataFeed& feed, DataSpec spec, std::int64_t dp) {
  feed.spec = std::move(spec);
  DTJ_TRY_ASSIGN(feed.dataset, data::open_dataset(feed.spec));
  DTJ_TRY_ASSIGN(feed.sampler, data::Sampler::create(feed.spec, feed.dataset->num_samples(), dp));
  return {};
}

// Padded samples would weigh on the gradient, so training always drops what does not fill a batch.
DataSpec training_spec(const DataSpec& spec) {
  DataSpec training = spec;
  training.sampler.last_batch = LastBatch::drop;
  return training;
}

// Evaluation takes one micro batch per rank where the section states no sizes that fit the ranks.
DataSpec evaluation_spec(const DataSpec& spec, std::int64_t dp) {
  DataSpec evaluation = spec;
  if (spec.global_batch != spec.micro_batch * spec.gradient_accumulation * dp) {
    evaluation.gradient_accumulation = 1;
    evaluation.global_batch = spec.micro_batch * dp;
  }
  return evaluation;
}

Status open_data(Session& session) {
  const JobSpec& job = session.job();
  DTJ_TRY(open_feed(session.train, training_spec(job.train_data), job.mesh.dp));
  const data::Sampler& sampler = *session.train.sampler;
  session.step_size = {sampler.steps_per_epoch(), sampler.global_batch(), job.train_data.tokens_per_sample()};
  session.total_steps = to_steps(job.train.stop, session.step_size);
  if (session.options.max_steps) {
    session.total_steps =
        std::min(*session.options.max_steps, session.total_steps.value_or(*session.options.max_steps));
  }
  if (!job.eval || !job.eval_data) return {};
  DTJ_TRY(open_feed(session.eval, evaluation_spec(*job.eval_data, job.mesh.dp), job.mesh.dp));
  session.num_eval_steps = session.eval.sampler->steps_per_epoch();
  if (job.eval->batches) session.num_eval_steps = std::min(session.num_eval_steps, *job.eval->batches);
  return {};
}

Status open_outputs(Session& session) {
  if (!session.peers.is_first()) return {};
  if (session.job().checkpoint) {
    DTJ_TRY_ASSIGN(session.checkpoint_lock, checkpoint::prepare_folder(session.job().checkpoint->dir));
  }
  if (!session.options.metrics_path.empty()) {
    DTJ_TRY_ASSIGN(session.metrics, monitor::MetricsWriter::open(session.options.metrics_path));
  }
  return {};
}

Status connect_ports(Session& session, DataFeed& feed, const std::vector<plan::BufferId>& buffers) {
  if (buffers.size() != feed.spec.fields.size()) {
    return fail(ErrorCode::invalid_argument, fmt::format("the plan has {} batch ports, but data `{}` has {} fields",
                                                         buffers.size(), feed.spec.name, feed.spec.fields.size()));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const plan::Buffer& buffer = session.plan.buffers[buffers[i].value];
    const std::size_t size = data::sample_bytes(feed.spec.fields[i]) * static_cast<std::size_t>(feed.spec.micro_batch);
    if (static_cast<std::size_t>(buffer.size) < size) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("batch port `{}` of the plan has {} bytes, but field `{}` needs {}", buffer.name,
                              buffer.size, feed.spec.fields[i].name, size));
    }
    feed.ports.push_back(session.executor->data(buffers[i]));
  }
  return {};
}

Status connect(Session& session) {
  const plan::Ports& ports = session.plan.ports;
  const std::size_t num_metrics = session.job().metrics.size();
  if (ports.train_metrics.size() != num_metrics || (session.eval.dataset && ports.eval_metrics.size() != num_metrics)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the plan's metric ports do not match the {} metrics of its job", num_metrics));
  }
  DTJ_TRY(connect_ports(session, session.train, ports.train_batch));
  const std::int64_t rank = session.peers.communicator().rank().value;
  session.train.loader = data::Loader::create(*session.train.dataset, session.train.spec, *session.train.sampler,
                                              {rank, session.total_steps});
  if (!session.eval.dataset) return {};
  DTJ_TRY(connect_ports(session, session.eval, ports.eval_batch));
  session.eval.loader = data::Loader::create(*session.eval.dataset, session.eval.spec, *session.eval.sampler,
                                             {rank, session.num_eval_steps});
  return {};
}

}  // namespace

double seconds_since(Deadline start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status open_session(Session& session, device::Device& device, device::KernelLoader& loader) {
  session.enter("start");
  DTJ_TRY(session.peers.agree(check_world(session)));
  DTJ_TRY(session.peers.agree(compare_plans(session)));
  DTJ_TRY(session.peers.agree(open_outputs(session)));
  DTJ_TRY(session.peers.agree(open_data(session)));
  if (session.job().checkpoint)
    session.checkpoint_every = Intervals(session.job().checkpoint->every, session.step_size);
  // Collective itself, so it is not a step that one rank may skip.
  auto executor = Executor::create(session.plan, device, session.peers.communicator(), loader, session.journal);
  if (!executor) return tl::unexpected<Error>(std::move(executor.error()));
  session.executor = std::move(*executor);
  return session.peers.agree(connect(session));
}

Result<std::int64_t> feed_micro_batch(DataFeed& feed) {
  DTJ_TRY_ASSIGN(const data::MicroBatch* batch, feed.loader->next());
  for (std::size_t i = 0; i < feed.ports.size(); ++i) std::memcpy(feed.ports[i], batch->fields[i], batch->sizes[i]);
  return batch->num_valid;
}

}  // namespace dtj::run
