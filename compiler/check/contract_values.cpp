#include "compiler/check/contract_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/check/contract.hpp"
#include "compiler/check/job_draft.hpp"
#include "compiler/check/sections_read.hpp"
#include "compiler/check/units.hpp"

namespace dtj::check {
namespace {

using Assignment = std::map<std::string, std::int64_t>;

constexpr std::int64_t most_candidates = 2048;  // in all, so that a check stays quick
constexpr std::int64_t fewest_candidates = 8;
constexpr std::size_t most_listed = 16;

/// Why a candidate is excluded: the first report about it.
struct Exclusion {
  diag::Kind kind;
  source::Range range;
  std::string message;
  std::string arithmetic;  ///< "512 / (16 sample * 24 dp) = 1.333 steps of accumulation"
  std::string help;
  std::vector<Assignment> candidates;
};

/// Whether the value is at least that of the placeholder: it stands alone, or in sums and products of positive integers.
bool is_growing(const ast::Expr& expr, const std::string& name) {
  if (const auto* ref = std::get_if<ast::PlaceholderRef>(&expr.node)) return ref->name == name;
  const auto* binary = std::get_if<ast::Binary>(&expr.node);
  if (binary == nullptr || (binary->op != ast::BinaryOp::mul && binary->op != ast::BinaryOp::add)) return false;
  const auto is_positive = [](const ast::Expr& side) {
    const auto* integer = std::get_if<ast::IntLit>(&side.node);
    return integer != nullptr && integer->value > 0;
  };
  return (is_growing(*binary->lhs, name) && (is_positive(*binary->rhs) || is_growing(*binary->rhs, name))) ||
         (is_positive(*binary->lhs) && is_growing(*binary->rhs, name));
}

class Search {
 public:
  Search(const JobSections& sections, const Placeholders& placeholders, const ReadContext& context)
      : sections_(sections),
        launch_(sections.section("launch")),
        mesh_(sections.section("mesh")),
        data_(sections.data),
        placeholders_(placeholders),
        context_(context) {
    find_unknowns();
  }

  Assignment run() {
    if (unknowns_.empty() || unknowns_.size() > 3) return {};
    auto observer = context_.evaluator->observe({});  // a value that is tried is nobody's value
    const Assignment found = search();
    context_.evaluator->observe(std::move(observer));
    return found;
  }

 private:
  Assignment search() {
    const diag::Sink known = try_values({});
    for (const diag::Diagnostic& report : known.sorted()) known_.insert(key_of(report));
    set_limits();
    Assignment values;
    enumerate(0, values);
    context_.evaluator->rebind({});
    if (valid_.empty()) {
      report_none();
      return {};
    }
    note_valid();
    return valid_.front();
  }

  using Key = std::tuple<diag::Kind, std::uint32_t, std::uint32_t, std::uint32_t, std::string>;
  static Key key_of(const diag::Diagnostic& report) {
    return {report.kind, report.range.file.value, report.range.begin, report.range.end, report.message};
  }

  void find_unknowns() {
    const auto look = [&](const SectionValues& section) {
      for (const auto& [key, entry] : section.entries)
        for (const std::string& name : entry.placeholders) {
          const auto decl = placeholders_.declarations.find(name);
          const bool is_unknown = decl != placeholders_.declarations.end() && placeholders_.values.count(name) == 0;
          if (!is_unknown || !is_integer(name)) continue;
          if (std::find(unknowns_.begin(), unknowns_.end(), name) == unknowns_.end()) unknowns_.push_back(name);
        }
    };
    for (std::string_view name : {"launch", "mesh"}) look(sections_.section(name));
    for (const SectionValues& data : sections_.data) look(data);
    find_dependent(launch_);
    find_dependent(mesh_);
    for (SectionValues& data : data_) find_dependent(data);
  }

  void find_dependent(SectionValues& section) {
    for (auto& [key, entry] : section.entries) {
      const bool depends = std::any_of(entry.placeholders.begin(), entry.placeholders.end(), [&](const std::string& name) {
        return std::find(unknowns_.begin(), unknowns_.end(), name) != unknowns_.end();
      });
      if (depends) dependent_.push_back(&entry);
    }
  }

  bool is_integer(const std::string& name) const {
    return std::any_of(placeholders_.infos.begin(), placeholders_.infos.end(),
                       [&](const PlaceholderInfo& info) { return info.name == name && info.type == "int"; });
  }

  /// What the contract says with these values.
  diag::Sink try_values(const Assignment& values) {
    std::map<std::string, Value> bound;
    for (const auto& [name, number] : values) bound[name].data = number;
    context_.evaluator->rebind(std::move(bound));
    diag::Sink sink;
    diag::Sink* outer = context_.evaluator->exchange_sink(&sink);
    const ReadContext context{context_.evaluator, context_.scope, &sink};
    check_conditions_of(values, sink);
    for (Entry* entry : dependent_) read_again(*entry, sink);
    const LaunchDraft launch = draft_launch(launch_, sink);
    const auto mesh = check_mesh(launch, draft_mesh(mesh_, sink), sink);
    for (const SectionValues& section : data_) {
      DataDraft data = draft_data(section, context);
      check_batch(data, mesh, data.spec.name == "train", sink);
    }
    context_.evaluator->exchange_sink(outer);
    return sink;
  }

  void read_again(Entry& entry, diag::Sink& sink) {
    const ReadContext own{context_.evaluator, entry.scope, &sink};
    entry.value = read_entry(*entry.setting, *entry.key, own);
    entry.arguments = read_arguments(*entry.setting, *entry.key, own);
  }

  void check_conditions_of(const Assignment& values, diag::Sink& sink) {
    for (const auto& [name, number] : values) {
      const ast::BindDecl& decl = *placeholders_.declarations.at(name);
      if (!decl.where) continue;
      const Value holds = context_.evaluator->evaluate_condition(*decl.where, context_.scope);
      if (const bool* truth = holds.as<bool>(); truth != nullptr && !*truth)
        sink.report({diag::Kind::bad_binding, decl.where->range, fmt::format("the value of `<{}>` does not meet its condition", name)});
    }
  }

  /// A bound on each unknown that the contract proves, or how far is tried.
  void set_limits() {
    const std::int64_t each = unknowns_.size() == 1 ? most_candidates : unknowns_.size() == 2 ? 45 : 12;
    for (const std::string& name : unknowns_) {
      const auto bound = bound_of(name);
      // Some values above the bound are tried too, so that what excludes them is seen and said.
      limits_.push_back(std::min(std::max(bound.value_or(each), fewest_candidates), each));
      is_proved_ = is_proved_ && bound && *bound <= each;
    }
  }

  /// A product of positive integers that equals, or divides, a number is not greater than it.
  std::optional<std::int64_t> bound_of(const std::string& name) const {
    const SectionValues launch = sections_.section("launch"), mesh = sections_.section("mesh");
    const bool is_in_launch = grows_in(launch, {"nodes", "ranks_per_node", "gpus_per_node", "procs_per_gpu"}, name);
    const bool is_in_mesh = grows_in(mesh, {"dp"}, name);
    std::optional<std::int64_t> bound;
    const auto at_most = [&](std::int64_t limit) { bound = std::min(bound.value_or(limit), limit); };
    diag::Sink silent;
    const LaunchDraft launch_draft = draft_launch(launch, silent);
    const MeshDraft mesh_draft = draft_mesh(mesh, silent);
    if (is_in_launch && mesh_draft.dp.presence == Presence::known) at_most(mesh_draft.dp.value * mesh_draft.tp.value * mesh_draft.pp.value);
    if (is_in_mesh && launch_draft.world_size.is_known()) at_most(launch_draft.world_size.value);
    for (const SectionValues& data : sections_.data) {
      const auto global = read_quantity(data, "global_batch");
      if (global.presence != Presence::known) continue;
      if (is_in_launch || is_in_mesh || grows_in(data, {"micro_batch", "gradient_accumulation"}, name))
        at_most(static_cast<std::int64_t>(global.value.amount));
    }
    return bound;
  }

  static bool grows_in(const SectionValues& section, std::initializer_list<std::string_view> keys, const std::string& name) {
    return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
      const Entry* entry = section.find(key);
      return entry != nullptr && entry->setting->value && is_growing(*entry->setting->value, name);
    });
  }

  void enumerate(std::size_t index, Assignment& values) {
    if (index == unknowns_.size()) return judge(values);
    for (std::int64_t number = 1; number <= limits_[index]; ++number) {
      values[unknowns_[index]] = number;
      enumerate(index + 1, values);
    }
  }

  void judge(const Assignment& values) {
    const diag::Sink sink = try_values(values);
    for (const diag::Diagnostic& report : sink.sorted()) {
      if (diag::info(report.kind).severity != diag::Severity::error || known_.count(key_of(report)) != 0) continue;
      auto same = std::find_if(exclusions_.begin(), exclusions_.end(), [&](const Exclusion& e) {
        return e.kind == report.kind && e.range.file == report.range.file && e.range.begin == report.range.begin && e.range.end == report.range.end;
      });
      if (same == exclusions_.end()) {
        exclusions_.push_back({report.kind, report.range, report.message, report.range_label, report.helps.empty() ? "" : report.helps.front(), {}});
        same = std::prev(exclusions_.end());
      }
      same->candidates.push_back(values);
      return;
    }
    valid_.push_back(values);
  }

  // ---- what is said

  std::string names() const {
    if (unknowns_.size() == 1) return fmt::format("`<{}>`", unknowns_[0]);
    std::string text;
    for (const std::string& name : unknowns_) text += (text.empty() ? "`(<" : ", <") + name + ">";
    return text + ")`";
  }

  std::string spell_values(const Assignment& values) const {
    if (unknowns_.size() == 1) return spell(values.at(unknowns_[0]));
    std::string text;
    for (const std::string& name : unknowns_) text += (text.empty() ? "(" : ", ") + spell(values.at(name));
    return text + ")";
  }

  /// "1, 2, 4, 8", or "1, 2, 3, ... (120 in all)"
  std::string list(const std::vector<Assignment>& candidates, std::size_t most) const {
    std::string text;
    for (std::size_t i = 0; i < std::min(candidates.size(), most); ++i) text += (i == 0 ? "" : ", ") + spell_values(candidates[i]);
    return candidates.size() <= most ? text : fmt::format("{}, ... ({} in all)", text, spell(static_cast<std::int64_t>(candidates.size())));
  }

  std::string searched() const {
    std::string text;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) text += fmt::format("{}<{}> from 1 to {}", i == 0 ? "" : ", ", unknowns_[i], spell(limits_[i]));
    return text;
  }

  void explain(diag::Diagnostic& report) const {
    for (const Exclusion& exclusion : exclusions_) {
      const std::string example = exclusion.arithmetic.empty() ? "" : fmt::format(": {}", exclusion.arithmetic);
      report.label(exclusion.range, "excludes " + list(exclusion.candidates, 4));
      report.note(fmt::format("{} excludes {}: {}{}", diag::info(exclusion.kind).code, spell_values(exclusion.candidates.front()), exclusion.message, example));
    }
    if (!is_proved_) report.note("tried: " + searched());
  }

  source::Range declaration() const { return placeholders_.declarations.at(unknowns_[0])->name.range; }

  void note_valid() {
    const bool is_any = exclusions_.empty();
    auto& report = context_.sink->report({diag::Kind::contract_values, declaration(),
                                          is_any ? fmt::format("the launch contract holds for every {} that was tried", names())
                                                 : fmt::format("valid for {} in {{{}}}", names(), list(valid_, most_listed))});
    explain(report);
    report.note(fmt::format("the rest of the job is checked with {} = {}", names(), spell_values(valid_.front())));
  }

  void report_none() {
    auto& report = context_.sink->report({diag::Kind::unsatisfiable_contract, declaration(), fmt::format("no value of {} satisfies the launch contract", names())});
    explain(report);
    for (const Exclusion& exclusion : exclusions_)
      if (!exclusion.help.empty()) {
        report.help(fmt::format("with {} = {}: {}", names(), spell_values(exclusion.candidates.front()), exclusion.help));
        return;
      }
    report.help("change one of the settings that exclude values");
  }

  const JobSections& sections_;
  SectionValues launch_, mesh_;       ///< with the values that are tried
  std::vector<SectionValues> data_;
  std::vector<Entry*> dependent_;     ///< the settings among them that depend on the unknowns
  const Placeholders& placeholders_;
  ReadContext context_;
  std::vector<std::string> unknowns_;
  std::vector<std::int64_t> limits_;
  bool is_proved_ = true;
  std::set<Key> known_;  ///< what is wrong with any values
  std::vector<Assignment> valid_;
  std::vector<Exclusion> exclusions_;
};

}  // namespace

Assignment find_contract_values(const JobSections& sections, const Placeholders& placeholders, const ReadContext& context) {
  return Search(sections, placeholders, context).run();
}

}  // namespace dtj::check
