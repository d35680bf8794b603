#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/policy.hpp"

// What the checker accepts and this edition does not carry out.

namespace dtj::check {
namespace {

/// A word of a section that limits a run; `allowed` are those that do not.
struct WordLimit {
  std::string_view section, key;
  std::vector<std::string_view> allowed;
  std::string_view why;
  bool changes_plan;
};

const std::vector<WordLimit>& word_limits() {
  static const std::vector<WordLimit> limits = {
      {"launch", "method", {"local"}, "ranks are processes that `dtjc run` starts on this host", false},
      {"launch", "device", {"cpu", "auto"}, "this build has no GPU ranks (write `device = cpu` or `device = auto`)", false},
      {"launch", "transport", {"shm"}, "ranks share the memory of one host", false},
      {"precision", "compute", {"f32", "bf16"}, "kernels compute in f32 and bf16", true},
      {"precision", "params", {"f32"}, "parameters are stored in f32", true},
      {"precision", "attention_stats", {"f32"}, "statistics are kept in f32", true},
      {"parallel", "capture", {"none"}, "a step is a list of kernels that the CPU walks", false},
  };
  return limits;
}

class Finder {
 public:
  Finder(const JobSections& sections, diag::Sink& sink) : sections_(sections), sink_(sink) {}

  void add(source::Range range, std::string text, bool changes_plan) {
    sink_.report({diag::Kind::not_yet, range, fmt::format("{}, so this is checked and cannot run yet", text)});
    limits.push_back({range, std::move(text), changes_plan});
  }

  void words() {
    for (const WordLimit& limit : word_limits()) {
      const auto word = read_text(sections_.section(limit.section), limit.key);
      if (word.presence != Presence::known || std::find(limit.allowed.begin(), limit.allowed.end(), word.value) != limit.allowed.end()) continue;
      add(word.range, std::string(limit.why), limit.changes_plan);
    }
  }

  void flag(std::string_view section, std::string_view key, bool allowed, std::string_view why) {
    const auto stated = read_boolean(sections_.section(section), key);
    if (stated.presence == Presence::known && stated.value != allowed) add(stated.range, std::string(why), false);
  }

  void numbers() {
    const auto zero = read_integer(sections_.section("parallel"), "zero");
    if (zero.presence == Presence::known && zero.value > 0) add(zero.range, "every rank keeps the whole optimizer state", true);
    for (const SectionValues& data : sections_.data) {
      const auto workers = read_integer(data, "workers");
      if (workers.presence == Presence::known && workers.value > 1) add(workers.range, "one thread per rank loads the data", false);
    }
    const auto nodes = read_integer(sections_.section("launch"), "nodes");
    const auto method = read_text(sections_.section("launch"), "method");
    if (nodes.presence == Presence::known && nodes.value > 1 && method.value == "local") add(nodes.range, "`local` ranks are processes of one host", false);
    const auto port = read_integer(sections_.section("launch"), "port");
    if (port.presence == Presence::known) add(port.range, "ranks meet in the memory of one host", false);
  }

  void determinism() {
    for (const Entry* entry = sections_.top.find("determinism"); entry != nullptr; entry = nullptr)
      for (const Entry& scope : entry->arguments)
        if (const auto* word = scope.value.as<std::string>(); word != nullptr && *word == "world_size")
          add(scope.value.range, "gradients are summed over the ranks that there are", false);
  }

  /// A run resumes from its own checkpoints, or starts anew.
  void resume(const JobDraft& draft) {
    const auto absent = read_text(sections_.section("resume"), "if_absent");
    if (absent.presence == Presence::known && absent.value == "error") add(absent.range, "a run without a checkpoint starts from the beginning", false);
    const auto found = sections_.sections.find("resume");
    const Entry* from = found != sections_.sections.end() ? found->second.find("from") : nullptr;
    const auto* latest = from != nullptr ? from->value.as<std::shared_ptr<Record>>() : nullptr;
    const Value* dir = latest != nullptr && (*latest)->name == "latest" ? (*latest)->find("dir") : nullptr;
    if (dir == nullptr || !draft.checkpoint || draft.checkpoint->dir.presence != Presence::known) return;
    const auto* text = dir->as<std::string>();
    const auto* unbound = dir->as<Unbound>();
    const std::string path = text != nullptr ? *text : unbound != nullptr ? "<" + unbound->name + ">" : draft.checkpoint->dir.value;
    if (path != draft.checkpoint->dir.value) add(from->value.range, "a run resumes from the folder that it writes its checkpoints to", false);
  }

  std::vector<Limit> limits;

 private:
  const JobSections& sections_;
  diag::Sink& sink_;
};

}  // namespace

std::vector<Limit> find_limits(const JobSections& sections, const JobDraft& draft, diag::Sink& sink) {
  Finder finder(sections, sink);
  finder.words();
  finder.flag("checkpoint", "async", false, "checkpoints are written between two steps");
  finder.flag("checkpoint", "reshard_on_load", false, "a checkpoint is loaded by as many ranks as wrote it");
  finder.flag("parallel", "overlap", true, "gradients are always reduced beside the backward pass");
  finder.numbers();
  finder.determinism();
  finder.resume(draft);
  for (const DataDraft& data : draft.data)
    if (!data.window_range.is_none) finder.add(data.window_range, "a shuffle covers the whole set", false);
  return std::move(finder.limits);
}

}  // namespace dtj::check
