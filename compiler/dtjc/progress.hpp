#pragma once

#include <chrono>
#include <string>

#include "dtj/dtj.hpp"

namespace dtjc {

/// Shows a run on stderr: one line per log step, and on a terminal a bar below them.
class Progress {
 public:
  explicit Progress(std::string job_name);

  void on_step(const dtj::StepInfo& info);
  void on_log(const dtj::StepInfo& info);
  void on_eval(const dtj::EvalInfo& info);
  void on_checkpoint(std::int64_t step, const std::string& path);
  void message(std::string_view text);
  /// Removes the bar.
  void finish();

  /// Callbacks that call the methods above; `this` must outlive them.
  dtj::RunCallbacks callbacks();

 private:
  void print_line(const std::string& text);
  void draw(const dtj::StepInfo& info);

  std::string job_name_;
  bool is_terminal_ = false;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_draw_;
  std::int64_t first_step_ = -1;
};

}  // namespace dtjc
