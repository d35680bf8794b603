#include "engine/run/executor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <gsl/assert>

#include "engine/plan/verify.hpp"
#include "engine/run/executor_steps.hpp"

namespace dtj::run {
namespace {

using Range = std::function<void(std::int64_t, std::int64_t)>;

class PlanExecutor final : public Executor {
 public:
  PlanExecutor(const plan::ExecutionPlan& plan, device::Device& device, comm::Communicator& communicator,
               monitor::Journal* journal)
      : plan_(plan),
        device_(device),
        communicator_(communicator),
        journal_(journal),
        in_flight_(plan.collectives.size()) {}

  Status set_up(device::KernelLoader& loader) {
    DTJ_TRY(allocate_arenas());
    DTJ_TRY_ASSIGN(const auto functions, loader.load(plan_));
    if (functions.size() != plan_.kernels.size()) {
      return fail(ErrorCode::internal,
                  fmt::format("{} functions for {} kernels", functions.size(), plan_.kernels.size()));
    }
    for (std::size_t i = 0; i < plan_.constants.size(); ++i) {
      const std::string& bytes = plan_.constants[i];
      std::memcpy(data(plan_.constant_buffers[i]), bytes.data(), bytes.size());
    }
    std::byte* gradients = arenas_[static_cast<std::size_t>(plan::Arena::gradient)].data();
    const auto programs = programs_of_plan();
    for (std::size_t i = 0; i < programs.size(); ++i) {
      resolved_[i] = resolve_steps(plan_, *programs[i], buffers_, functions, gradients);
    }
    return {};
  }

  Status run(const plan::Program& program) override {
    const auto programs = programs_of_plan();
    const auto found = std::find(programs.begin(), programs.end(), &program);
    if (found == programs.end()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("program `{}` is not of this executor's plan", program.name));
    }
    std::vector<ResolvedStep>& steps = resolved_[static_cast<std::size_t>(found - programs.begin())];
    const double waited_before = time_.communication;
    const auto start = Clock::now();
    auto status = walk(program, steps);
    time_.compute += seconds_since(start) - (time_.communication - waited_before);
    return status;
  }

  std::byte* data(plan::BufferId buffer) override {
    Expects(buffer.value < buffers_.size());
    return buffers_[buffer.value];
  }

  TimeSplit take_time_split() override { return std::exchange(time_, {}); }

  std::vector<Bytes> allocated() const override {
    std::vector<Bytes> sizes;
    for (const device::Memory& arena : arenas_) sizes.push_back({static_cast<std::int64_t>(arena.size())});
    return sizes;
  }

  // One overload per kind of step.
  Status operator()(KernelCall& call) {
    const auto body = [&call](std::int64_t begin, std::int64_t end) {
      call.function(call.args.data(), call.extent, begin, end);
    };
    device_.parallel_for(call.work_items, call.grain, Range(std::ref(body)));
    return {};
  }
  Status operator()(const GemmCall& call) {
    return device_.gemm(*call.step, call.a_dtype, call.c_dtype, call.a, call.b, call.c);
  }
  Status operator()(BuiltinCall& call) { return run_builtin(call, device_); }
  Status operator()(const CopyCall& call) {
    if (call.from != call.to) std::memmove(call.to, call.from, call.bytes);
    return {};
  }
  Status operator()(const ZeroCall& call) {
    std::memset(call.to, 0, call.bytes);
    return {};
  }
  Status operator()(const StartCall& call) {
    const plan::Collective& collective = *call.collective;
    const std::uint64_t sequence = ++sequence_;
    if (journal_ != nullptr) journal_->set_collective(sequence, collective.name, false);
    const auto start = Clock::now();
    auto ticket = communicator_.all_reduce_start(call.data, collective.count, collective.dtype);
    time_.communication += seconds_since(start);
    if (!ticket) return fail_with(std::move(ticket.error()), fmt::format("collective `{}`", collective.name));
    in_flight_[call.index] = {*ticket, sequence};
    return {};
  }
  Status operator()(const WaitCall& call) {
    const InFlight& flight = in_flight_[call.index];
    if (journal_ != nullptr) journal_->set_collective(flight.sequence, call.collective->name, true);
    const auto start = Clock::now();
    auto status = communicator_.wait(flight.ticket);
    time_.communication += seconds_since(start);
    if (!status) return fail_with(std::move(status.error()), fmt::format("collective `{}`", call.collective->name));
    if (journal_ != nullptr) journal_->set_collective(flight.sequence, call.collective->name, false);
    return {};
  }

 private:
  struct InFlight {
    comm::Ticket ticket;
    std::uint64_t sequence = 0;
  };

  static double seconds_since(Deadline start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

  std::array<const plan::Program*, 6> programs_of_plan() const {
    return {&plan_.micro_only, &plan_.micro_first, &plan_.micro_middle,
            &plan_.micro_last, &plan_.update,      &plan_.evaluate};
  }

  Status allocate_arenas() {
    for (int i = 0; i < plan::num_arenas; ++i) {
      const Bytes size{plan_.arena_bytes[i]};
      const auto arena = static_cast<plan::Arena>(i);
      auto memory = arena == plan::Arena::gradient ? communicator_.allocate(size) : device_.allocate(size);
      if (!memory) return fail_with(std::move(memory.error()), fmt::format("{} arena", plan::to_string(arena)));
      arenas_[static_cast<std::size_t>(i)] = std::move(*memory);
    }
    for (const plan::Buffer& buffer : plan_.buffers) {
      buffers_.push_back(arenas_[static_cast<std::size_t>(buffer.arena)].data() + buffer.offset);
    }
    return {};
  }

  Status walk(const plan::Program& program, std::vector<ResolvedStep>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const plan::Step& step = *steps[i].step;
      if (journal_ != nullptr) journal_->set_plan_step(static_cast<std::uint32_t>(i), step.label);
      auto status = std::visit(*this, steps[i].call);
      if (!status) return fail_with(std::move(status.error()), locate(program, i, step));
    }
    return {};
  }

  static std::string locate(const plan::Program& program, std::size_t index, const plan::Step& step) {
    std::string where = fmt::format("program `{}` step {} `{}`", program.name, index, step.label);
    if (!step.source.file.empty()) where += fmt::format(" at {}:{}", step.source.file, step.source.line);
    return where;
  }

  const plan::ExecutionPlan& plan_;
  device::Device& device_;
  comm::Communicator& communicator_;
  monitor::Journal* journal_;
  std::array<device::Memory, plan::num_arenas> arenas_;
  std::vector<std::byte*> buffers_;
  std::array<std::vector<ResolvedStep>, 6> resolved_;
  std::vector<InFlight> in_flight_;
  std::uint64_t sequence_ = 0;
  TimeSplit time_;
};

}  // namespace

Result<std::unique_ptr<Executor>> Executor::create(const plan::ExecutionPlan& plan, device::Device& device,
                                                   comm::Communicator& communicator, device::KernelLoader& loader,
                                                   monitor::Journal* journal) {
  DTJ_TRY(plan::verify(plan));
  auto executor = std::make_unique<PlanExecutor>(plan, device, communicator, journal);
  DTJ_TRY(executor->set_up(loader));
  return std::unique_ptr<Executor>(std::move(executor));
}

}  // namespace dtj::run
