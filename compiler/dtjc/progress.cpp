#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

namespace dtjc {

namespace {

constexpr int bar_width = 24;
constexpr auto redraw_interval = std::chrono::milliseconds(100);

/// 41234 -> "41,234"
std::string with_commas(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

/// Not a number has a sign, which tells nothing.
std::string metric_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4f}", value); }

std::string metrics_text(const std::map<std::string, double>& metrics) {
  // The loss first, the others by name.
  std::string text;
  if (const auto loss = metrics.find("loss"); loss != metrics.end()) text += fmt::format("  loss {}", metric_text(loss->second));
  for (const auto& [name, value] : metrics) {
    if (name != "loss") text += fmt::format("  {} {}", name, metric_text(value));
  }
  return text;
}

std::string time_split(const dtj::StepInfo& info) {
  const double total = info.seconds_data + info.seconds_compute + info.seconds_communication + info.seconds_other;
  if (total <= 0) return {};
  const auto percent = [total](double seconds) { return 100.0 * seconds / total; };
  return fmt::format("  [compute {:.0f}% comm {:.0f}% data {:.0f}% other {:.0f}%]", percent(info.seconds_compute),
                     percent(info.seconds_communication), percent(info.seconds_data), percent(info.seconds_other));
}

std::string rate_text(const dtj::StepInfo& info) {
  if (info.tokens_per_second > 0) return with_commas(info.tokens_per_second) + " tok/s";
  return with_commas(info.samples_per_second) + " samples/s";
}

}  // namespace

Progress::Progress(std::string job_name)
    : job_name_(std::move(job_name)),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_draw_(start_) {}

void Progress::print_line(const std::string& text) {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

void Progress::draw(const dtj::StepInfo& info) {
  const double share = info.total_steps > 0 ? double(info.step) / double(info.total_steps) : 0.0;
  const int filled = std::clamp(int(share * bar_width), 0, bar_width);
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const auto done = double(info.step - first_step_);
  std::string left;
  if (done > 0) {
    const auto seconds = std::int64_t(elapsed / done * double(info.total_steps - info.step));
    left = fmt::format("  {}:{:02} left", seconds / 60, seconds % 60);
  }
  const auto loss = info.metrics.find("loss");
  fmt::print(stderr, "\r\033[K{} [{}{}] {:3.0f}%  step {}/{}{}{}", job_name_, std::string(std::size_t(filled), '='),
             std::string(std::size_t(bar_width - filled), ' '), 100 * share, info.step, info.total_steps,
             loss == info.metrics.end() ? "" : fmt::format("  loss {:.4f}", loss->second), left);
  std::fflush(stderr);
  bar_shown_ = true;
}

void Progress::on_step(const dtj::StepInfo& info) {
  if (first_step_ < 0) {
    first_step_ = info.step;
    start_ = std::chrono::steady_clock::now();
  }
  if (!is_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_draw_ < redraw_interval && info.step != info.total_steps) return;
  last_draw_ = now;
  draw(info);
}

void Progress::on_log(const dtj::StepInfo& info) {
  print_line(fmt::format("step {:>6}/{}  epoch {:.2f}{}  grad {:.3f}  lr {:.3e}  {}{}", info.step, info.total_steps, info.epoch,
                         metrics_text(info.metrics), info.gradient_norm, info.learning_rate, rate_text(info), time_split(info)));
}

void Progress::on_eval(const dtj::EvalInfo& info) {
  print_line(fmt::format("eval at step {}{}  ({} samples){}", info.step, metrics_text(info.metrics), info.num_samples,
                         info.goal_met ? "  goal met" : ""));
}

void Progress::on_checkpoint(std::int64_t step, const std::string& path) {
  print_line(fmt::format("checkpoint of step {} in {}", step, path));
}

void Progress::message(std::string_view text) { print_line(std::string(text)); }

void Progress::finish() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
  std::fflush(stderr);
}

dtj::RunCallbacks Progress::callbacks() {
  dtj::RunCallbacks callbacks;
  callbacks.on_step = [this](const dtj::StepInfo& info) { on_step(info); };
  callbacks.on_log = [this](const dtj::StepInfo& info) { on_log(info); };
  callbacks.on_eval = [this](const dtj::EvalInfo& info) { on_eval(info); };
  callbacks.on_checkpoint = [this](std::int64_t step, const std::string& path) { on_checkpoint(step, path); };
  callbacks.on_message = [this](dtj::MessageLevel level, std::string_view text) {
    if (level == dtj::MessageLevel::debug) return;
    const char* prefix = level == dtj::MessageLevel::error ? "error: " : level == dtj::MessageLevel::warning ? "warning: " : "";
    message(prefix + std::string(text));
  };
  return callbacks;
}

}  // namespace dtjc
