#include "engine/data/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <gsl/assert>

namespace dtj::data {
namespace {

struct Slot {
  MicroBatch batch;
  std::vector<std::vector<std::byte>> memory;
  std::optional<Error> error;
};

class PrefetchingLoader final : public Loader {
 public:
  PrefetchingLoader(const Dataset& dataset, const DataSpec& spec, const Sampler& sampler, const LoaderOptions& options)
      : dataset_(dataset), spec_(spec), sampler_(sampler), rank_(options.rank), pointers_(spec.fields.size()) {
    if (options.num_steps) end_ = *options.num_steps * sampler.num_micro_batches();
    // One slot more than is read ahead: the caller holds it.
    slots_.resize(static_cast<std::size_t>(std::max<std::int64_t>(spec.prefetch, 1)) + 1);
    for (Slot& slot : slots_) {
      for (const FieldSpec& field : spec.fields) {
        auto& memory = slot.memory.emplace_back(sample_bytes(field) * static_cast<std::size_t>(spec.micro_batch));
        slot.batch.fields.push_back(memory.data());
        slot.batch.sizes.push_back(memory.size());
      }
    }
    thread_ = std::thread([this] { read_ahead(); });
  }

  ~PrefetchingLoader() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void seek(std::int64_t step) override {
    {
      const std::lock_guard lock(mutex_);
      ++generation_;
      base_ = step * sampler_.num_micro_batches();
      produced_ = taken_ = 0;
    }
    changed_.notify_all();
  }

  Result<const MicroBatch*> next() override {
    std::unique_lock lock(mutex_);
    Expects(!end_ || base_ + taken_ < *end_);
    ++taken_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return produced_ >= taken_; });
    const Slot& slot = slots_[static_cast<std::size_t>(taken_ - 1) % slots_.size()];
    if (slot.error) return tl::unexpected<Error>(*slot.error);
    return &slot.batch;
  }

 private:
  // The slot of the last taken micro batch belongs to the caller.
  bool can_produce() const {
    const std::int64_t released = std::max<std::int64_t>(taken_ - 1, 0);
    const bool has_slot = produced_ < released + static_cast<std::int64_t>(slots_.size());
    return has_slot && (!end_ || base_ + produced_ < *end_);
  }

  void read_ahead() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || can_produce(); });
      if (stopping_) return;
      const std::uint64_t generation = generation_;
      const std::int64_t micro = base_ + produced_;
      Slot& slot = slots_[static_cast<std::size_t>(produced_) % slots_.size()];
      lock.unlock();
      fill(slot, micro);
      lock.lock();
      // After a seek the micro batch is stale and its slot is written anew.
      if (generation != generation_) continue;
      ++produced_;
      changed_.notify_all();
    }
  }

  void fill(Slot& slot, std::int64_t micro) {
    slot.error.reset();
    slot.batch.num_valid = 0;
    const std::int64_t step = micro / sampler_.num_micro_batches();
    const std::int64_t epoch = step / sampler_.steps_per_epoch();
    const std::int64_t first =
        sampler_.position(step % sampler_.steps_per_epoch(), micro % sampler_.num_micro_batches(), rank_);
    for (std::int64_t i = 0; i < sampler_.micro_batch(); ++i) {
      const auto id = sampler_.sample(epoch, first + i);
      for (std::size_t f = 0; f < spec_.fields.size(); ++f) {
        const std::size_t bytes = slot.memory[f].size() / static_cast<std::size_t>(sampler_.micro_batch());
        pointers_[f] = slot.memory[f].data() + static_cast<std::size_t>(i) * bytes;
        // All bits set is -1 in every integer dtype.
        if (!id) std::memset(pointers_[f], spec_.fields[f].is_target ? 0xFF : 0, bytes);
      }
      if (!id) continue;
      ++slot.batch.num_valid;
      if (auto status = dataset_.read(*id, pointers_); !status) {
        slot.error = std::move(status.error());
        slot.error->context.push_back(fmt::format("data `{}`", spec_.name));
        return;
      }
    }
  }

  const Dataset& dataset_;
  const DataSpec spec_;
  const Sampler sampler_;
  const std::int64_t rank_;
  std::optional<std::int64_t> end_;  ///< micro batches
  std::vector<Slot> slots_;
  std::vector<std::byte*> pointers_;  ///< of the reading thread

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t generation_ = 0;
  std::int64_t base_ = 0;      ///< micro batch of the last seek
  std::int64_t produced_ = 0;  ///< micro batches read since then
  std::int64_t taken_ = 0;     ///< micro batches asked for since then
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Loader> Loader::create(const Dataset& dataset, const DataSpec& spec, const Sampler& sampler,
                                       const LoaderOptions& options) {
  return std::make_unique<PrefetchingLoader>(dataset, spec, sampler, options);
}

}  // namespace dtj::data
