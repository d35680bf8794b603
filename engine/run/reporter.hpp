#pragma once

#include "engine/run/session.hpp"

namespace dtj::run {

/// Seconds of one or several steps, by what they went to.
struct StepTime {
  double data = 0, compute = 0, communication = 0, total = 0;
  std::int64_t num_steps = 0;

  StepTime& operator+=(const StepTime& other);
};

/// Turns finished steps into reports, log lines and records.
class Reporter {
 public:
  explicit Reporter(Session& session);

  /// Once per step. Errors: those of the metrics file.
  Status report(const StepTime& time, double gradient_norm);

 private:
  StepReport make_report(const StepTime& time, double gradient_norm) const;
  bool is_log_step() const;
  Status write_record(const StepReport& report);

  Session& session_;
  Intervals log_every_;
  StepTime since_log_;
  Deadline last_log_;
};

}  // namespace dtj::run
