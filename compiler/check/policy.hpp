#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/inherit.hpp"
#include "compiler/check/job_draft.hpp"
#include "compiler/check/sections.hpp"

// The contract's other half: hosts, signals, the learning rate, sizes of data sets, and what cannot run yet. Every check
// is silent about values that are unknown.

namespace dtj::check {

/// Threads against cores, and ports (contract_hosts.cpp).
void check_hosts(const JobSections& sections, const JobDraft& draft, diag::Sink& sink);

/// The signal before the walltime leaves time for a checkpoint of `state_bytes`; it comes after the start. A job with a
/// walltime writes checkpoints.
void check_signal(const JobSections& sections, const JobDraft& draft, std::optional<double> state_bytes, diag::Sink& sink);

/// Gradients are reduced once per step; ZeRO has replicas to shard over.
void check_reduction(const JobSections& sections, const Stated<MeshSpec>& mesh, diag::Sink& sink);

/// The training set holds a global batch; an evaluation takes every sample (contract_rate.cpp).
void check_set_sizes(const JobSections& sections, const DataDraft* train, const DataDraft* eval, diag::Sink& sink);

/// A batch that follows the number of ranks, or that an heir changes under an inherited optimizer, needs a rule of the
/// learning rate. What the rate is multiplied by.
double check_rate_rule(const MergedJob& job, const JobSections& sections, const Stated<MeshSpec>& mesh, const DataDraft* train,
                       const ReadContext& context);

/// A schedule that ends at another step than the training.
void check_schedule_end(const Value& optimizer, const JobDraft& draft, const DataDraft* train, diag::Sink& sink);

/// A right setting that this edition does not carry out.
struct Limit {
  source::Range range;
  std::string text;          ///< "`device = cuda`: kernels are made for CPUs"
  bool changes_plan = false;  ///< the plan of this edition would be wrong about memory or numbers
};

/// All of them, each noted (N903) at its setting (contract_limits.cpp).
std::vector<Limit> find_limits(const JobSections& sections, const JobDraft& draft, diag::Sink& sink);

}  // namespace dtj::check
