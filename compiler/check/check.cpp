#include "compiler/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/check/contract.hpp"
#include "compiler/check/contract_values.hpp"
#include "compiler/check/evaluator.hpp"
#include "compiler/check/import_files.hpp"
#include "compiler/check/inherit.hpp"
#include "compiler/check/job_draft.hpp"
#include "compiler/check/placeholders.hpp"
#include "compiler/check/policy.hpp"
#include "compiler/check/sections.hpp"

namespace dtj::check {
namespace {

const ast::JobDecl* find_job(const ast::File& file, const std::optional<std::string>& wanted, diag::Sink& sink) {
  std::vector<const ast::JobDecl*> jobs;
  std::vector<std::string> names;
  for (const ast::Decl& decl : file.decls)
    if (const auto* job = std::get_if<ast::JobDecl>(&decl)) {
      jobs.push_back(job);
      names.push_back(job->name.text);
    }
  if (wanted) {
    for (const ast::JobDecl* job : jobs)
      if (job->name.text == *wanted) return job;
    auto& report = sink.report({diag::Kind::unclear_job, source::Range{}, fmt::format("the file has no job `{}`", *wanted)});
    suggest(report, *wanted, names);
    return nullptr;
  }
  if (jobs.size() <= 1) return jobs.empty() ? nullptr : jobs.front();
  auto& report = sink.report({diag::Kind::unclear_job, jobs[1]->name.range, fmt::format("the file has {} jobs, and none is chosen", jobs.size())});
  for (const ast::JobDecl* job : jobs)
    if (job != jobs[1]) report.label(job->name.range, "another job");
  std::string list;
  for (const std::string& name : names) list += fmt::format("{}`--job {}`", list.empty() ? "" : " or ", name);
  report.help("choose one with " + list);
  return nullptr;
}

bool is_optimizer(const ModuleInstance& instance) {
  return instance.decl != nullptr && std::any_of(instance.decl->attrs.begin(), instance.decl->attrs.end(),
                                                 [](const ast::Attr& attr) { return attr.name.to_string() == "optimizer"; });
}

/// One job on its way to a CheckedJob.
class JobChecker {
 public:
  JobChecker(const MergedJob& job, const Placeholders& placeholders, Evaluator& evaluator, std::shared_ptr<Scope> scope, diag::Sink& sink)
      : merged_(job), job_(*job.job), placeholders_(placeholders), evaluator_(evaluator), scope_(std::move(scope)), sink_(sink) {}

  /// None: mistakes, or numbers that are unbound.
  std::optional<CheckedJob> run() {
    const ReadContext context{&evaluator_, scope_, &sink_};
    JobSections sections = read_sections(merged_, context);
    stand_ins_ = find_contract_values(sections, placeholders_, context);
    if (!stand_ins_.empty()) {
      std::map<std::string, Value> values;
      for (const auto& [name, number] : stand_ins_) values[name].data = number;
      evaluator_.rebind(std::move(values));
      sections = read_sections(merged_, context);
    }
    draft_ = draft_job(job_, sections, context);
    check_contract();
    check_policy(sections, context);
    evaluator_.set_precision(draft_.precision.spec);
    evaluator_.set_num_ranks(mesh_.dp);
    elaborate(sections);
    const StateKinds kinds{!checked_.buffers.empty(), read_text(sections.section("precision"), "loss_scaler").value != "none"};
    if (draft_.checkpoint) check_save(*draft_.checkpoint, kinds, sink_);
    check_signal(sections, draft_, state_bytes(), sink_);
    if (!sink_.has_errors()) note_limits(sections);
    if (!is_complete_ || sink_.has_errors()) return std::nullopt;
    fill_spec();
    return std::move(checked_);
  }

  /// The unbound integers that have a stand-in.
  const std::map<std::string, std::int64_t>& stand_ins() const { return stand_ins_; }

 private:
  void check_policy(const JobSections& sections, const ReadContext& context) {
    check_hosts(sections, draft_, sink_);
    const Stated<MeshSpec> mesh{mesh_, {}, is_mesh_known_ ? Presence::known : Presence::unknown};
    check_reduction(sections, mesh, sink_);
    check_set_sizes(sections, train_, eval_, sink_);
    const double scale = check_rate_rule(merged_, sections, mesh, train_, context);
    evaluator_.set_rate(scale, is_train_batch_known_ ? std::optional(train_->spec) : std::nullopt);
  }

  /// What cannot run yet is of interest once the job is right.
  void note_limits(const JobSections& sections) {
    for (Limit& limit : find_limits(sections, draft_, sink_)) {
      checked_.has_plan = checked_.has_plan && !limit.changes_plan;
      checked_.limits.push_back(std::move(limit.text));
    }
  }

  /// Of what a checkpoint holds: parameters and optimizer state in f32.
  std::optional<double> state_bytes() const {
    if (checked_.params.empty()) return std::nullopt;
    double elements = 0;
    for (const ParamInfo& param : checked_.params) elements += static_cast<double>(num_elements(param.type.shape));
    for (const StateInfo& state : checked_.states) elements += static_cast<double>(num_elements(state.type.shape));
    return elements * 4;
  }

  void require(bool condition) { is_complete_ = is_complete_ && condition; }

  void check_contract() {
    const auto mesh = check_mesh(draft_.launch, draft_.mesh, sink_);
    train_ = find_train_data();
    eval_ = find_eval_data(draft_, sink_);
    for (DataDraft& data : draft_.data) {
      const bool is_batch_known = check_batch(data, mesh, &data == train_ || &data != eval_, sink_);
      if (&data == train_) is_train_batch_known_ = is_batch_known;
      if (&data == train_ || &data == eval_) require(is_batch_known && data.has_source && data.seq.is_known() && data.sampler.is_known());
    }
    if (train_ != nullptr) check_sampler(*train_, sink_);
    if (train_ != nullptr) check_token_intervals(draft_, *train_, sink_);
    check_world_size();
    if (eval_ != nullptr && eval_ != train_ && eval_->random_transform)
      sink_.report({diag::Kind::wrong_transform, *eval_->random_transform, "an evaluation does not change its images at random"})
          .help("leave it out here");
    check_intervals(draft_, is_train_batch_known_ ? train_ : nullptr, sink_);
    mesh_ = mesh.value;
    is_mesh_known_ = mesh.is_known();
    require(mesh.is_known() && draft_.launch.world_size.is_known() && draft_.seed.is_known() && draft_.train.stop.is_known());
    require(train_ != nullptr && draft_.precision.compute.is_known());
    if (draft_.checkpoint) require(draft_.checkpoint->every.is_known() && draft_.checkpoint->dir.is_known());
  }

  void check_world_size() {
    constexpr std::int64_t most = 1 << 20;  // what a plan can count
    const auto& world_size = draft_.launch.world_size;
    if (!world_size.is_known() || world_size.value <= most) return;
    sink_.report({diag::Kind::out_of_range, draft_.launch.world_range, fmt::format("the world size must be at most {}, found {}", spell(most), spell(world_size.value))})
        .under(draft_.launch.world_arithmetic);
  }

  DataDraft* find_train_data() {
    for (DataDraft& data : draft_.data)
      if (data.spec.name == "train") return &data;
    // Reported: its name is missing, or the word `data` is misspelt.
    const bool is_reported = std::any_of(merged_.sections.begin(), merged_.sections.end(), [](const MergedSection& merged) {
      const ast::Section& s = merged.front();
      return s.kind.text == "data" ? !s.label : s.label && s.label->text == "train";
    });
    if (is_reported) return nullptr;
    auto& report = sink_.report({diag::Kind::missing_key, job_.name.range, fmt::format("job `{}` needs a section `data train`", job_.name.text)});
    if (draft_.data.size() == 1) report.label(draft_.data.front().label_range, "the training data is the section named `train`");
    report.help(fmt::format("for example `{}`", find_section_schema("data")->example));
    return nullptr;
  }

  const ast::FnDecl* find_objective() {
    if (merged_.objective != nullptr) return merged_.objective;
    sink_.report({diag::Kind::missing_key, job_.name.range, fmt::format("job `{}` needs a function `objective`", job_.name.text)})
        .help("for example `fn objective(m, batch) { {loss = cross_entropy(m(batch.image), batch.label)} }`");
    return nullptr;
  }

  /// The instance that a setting makes; poison after a report.
  Value evaluate_instance(const JobSections& sections, std::string_view key, bool wants_optimizer) {
    const Entry* entry = sections.top.find(key);
    const ast::Expr* expr = entry != nullptr ? entry->setting->value.get() : nullptr;
    if (expr == nullptr) return Value{};
    Value value = evaluator_.evaluate(*expr, entry->scope);
    if (value.is_poison() || value.is_unbound()) return Value{};
    const auto* instance = value.as<std::shared_ptr<ModuleInstance>>();
    if (instance != nullptr && is_optimizer(**instance) == wants_optimizer) return value;
    const std::string found = instance != nullptr ? fmt::format("the module `{}`", (*instance)->decl->name.text) : describe(value);
    auto& report = sink_.report({diag::Kind::wrong_type, expr->range,
                                 fmt::format("`{}` takes {}, found {}", key, wants_optimizer ? "an optimizer" : "a model", found)});
    if (wants_optimizer)
      report.help("an optimizer is an instance of a module marked `@optimizer`, for example `AdamW(lr = constant_lr(1e-3))`");
    else
      report.help("a model is an instance of a module, for example `model = Mlp(classes = 10);`");
    return Value{};
  }

  void elaborate(const JobSections& sections) {
    const ast::FnDecl* objective = find_objective();
    const Value model = evaluate_instance(sections, "model", false);
    const bool has_model = !model.is_poison();
    require(objective != nullptr && has_model);
    if (has_model) settle_params();
    if (has_model) checked_.buffers = evaluator_.buffers();
    if (objective != nullptr && has_model && train_ != nullptr) trace_data(*objective, model);

    const Value optimizer = evaluate_instance(sections, "optimizer", true);
    require(!optimizer.is_poison());
    check_schedule_end(optimizer, draft_, is_train_batch_known_ ? train_ : nullptr, sink_);
    if (!has_model || optimizer.is_poison()) return;
    const ClipPolicy clip{draft_.train.grad_clip_norm, draft_.train.grad_clip_value};
    checked_.update = evaluator_.trace_update(optimizer, clip, checked_.spec.weight_metric(), checked_.states);
  }

  void settle_params() {
    evaluator_.freeze(find_frozen(draft_.train, evaluator_.params(), sink_));
    checked_.params = evaluator_.params();
    require(draft_.train.freeze.has_value());
    if (!draft_.weights) return;
    require(draft_.weights->is_known);
    if (!draft_.weights->is_known) return;
    const auto is_library = [&](source::Range range) { return evaluator_.is_library(range); };
    std::vector<ParamInfo> tensors = checked_.params;
    for (const BufferInfo& buffer : evaluator_.buffers()) tensors.push_back({buffer.name, buffer.type, buffer.init, buffer.range});
    checked_.spec.weights = resolve_weights(*draft_.weights, tensors, is_library, sink_);
  }

  /// A mean over fewer targets in one micro batch than in another is not the mean over the global batch.
  void check_evenness(const Trace& objective, const DataDraft& data) {
    const std::int64_t parts = mesh_.dp * data.spec.gradient_accumulation;
    if (!objective.uneven_mean || checked_.spec.weight_metric() || parts <= 1) return;
    sink_.report({diag::Kind::uneven_mean, *objective.uneven_mean, "this mean leaves targets out, and every micro batch may leave out another number"})
        .note(fmt::format("the {} micro batches of a step weigh the same, so the result depends on how the batch is split", parts))
        .help("give the objective's record the field `weight = num_targets(...)` with the same `ignore`");
  }

  bool can_trace(const DataDraft& data) const { return data.has_source && data.seq.is_known(); }

  void trace_data(const ast::FnDecl& objective, const Value& model) {
    auto& metrics = checked_.spec.metrics;
    if (can_trace(*train_))
      checked_.train_objective = evaluator_.trace_objective(objective, model, train_->spec.fields, train_->spec.micro_batch, true, merged_.objective_scope, metrics);
    if (draft_.eval && !metrics.empty()) check_metrics(*draft_.eval, metrics, sink_);
    check_evenness(checked_.train_objective, *train_);
    // A mistake of the objective itself has been said once by now.
    if (eval_ == nullptr || !can_trace(*eval_) || metrics.empty()) return;
    std::vector<std::string> eval_metrics;
    checked_.eval_objective = evaluator_.trace_objective(objective, model, eval_->spec.fields, eval_->spec.micro_batch, false, merged_.objective_scope, eval_metrics);
  }

  void fill_eval() {
    JobSpec& spec = checked_.spec;
    spec.eval_data = eval_->spec;
    EvalSpec eval;
    eval.data = eval_->spec.name;
    eval.every = draft_.eval->every.value;
    eval.batches = draft_.eval->batches;
    eval.metrics = draft_.eval->metrics.is_stated() ? draft_.eval->metrics.value : spec.metrics;
    if (draft_.eval->goal) eval.goal = draft_.eval->goal->spec;
    spec.eval = std::move(eval);
  }

  void fill_spec() {
    JobSpec& spec = checked_.spec;
    spec.name = draft_.name;
    spec.seed = static_cast<std::uint64_t>(draft_.seed.value);
    spec.launch = draft_.launch.spec;
    spec.mesh = mesh_;
    spec.precision = draft_.precision.spec;
    spec.train_data = train_->spec;
    spec.train_data.transform.seed = spec.seed;
    spec.train = {draft_.train.stop.value, draft_.train.grad_clip_norm, draft_.train.grad_clip_value, draft_.train.log_every.value};
    if (draft_.eval && eval_ != nullptr) fill_eval();
    if (draft_.checkpoint)
      spec.checkpoint = CheckpointSpec{draft_.checkpoint->dir.value, draft_.checkpoint->every.value, draft_.checkpoint->keep, draft_.checkpoint->on_signal.value};
  }

  const MergedJob& merged_;
  const ast::JobDecl& job_;
  const Placeholders& placeholders_;
  Evaluator& evaluator_;
  std::shared_ptr<Scope> scope_;
  diag::Sink& sink_;
  JobDraft draft_;
  DataDraft* train_ = nullptr;
  DataDraft* eval_ = nullptr;
  bool is_train_batch_known_ = false;
  bool is_complete_ = true;
  bool is_mesh_known_ = false;
  std::map<std::string, std::int64_t> stand_ins_;  ///< for unbound integers of the contract
  MeshSpec mesh_;
  CheckedJob checked_;
};

/// A file with its imports, declared: what the check of a job starts from.
class Unit {
 public:
  Unit(const ast::File& file, source::SourceManager& sources, const CheckOptions& options, diag::Sink& sink)
      : file_(file), sink_(sink), imports_(file, sources, options.import_folders, sink),
        placeholders_(bind_placeholders(files(), options, sink)), evaluator_(sources, sink, placeholders_.values, &imports_) {
    evaluator_.observe(options.on_value);
    scope_ = evaluator_.declare(file);
    used_ = evaluator_.used_placeholders();
    for (const ast::File* each : files()) {
      const auto scope = evaluator_.scope_of(*each);
      if (scope == nullptr) continue;
      check_conditions(*each, placeholders_, evaluator_, scope, sink);
      evaluator_.check_modules(*each, scope);
    }
    evaluator_.used_placeholders() = used_;
  }

  std::optional<CheckedJob> check_job(const ast::JobDecl& job) {
    const std::vector<JobInFile> line = find_line(job, file_, imports_, sink_);
    if (line.back().job->extends) return std::nullopt;  // what the base would say is not known
    std::vector<JobLevel> levels;
    for (const JobInFile& each : line) levels.push_back({each.job, evaluator_.scope_of(*each.file)});
    const auto scopes = evaluator_.declare_jobs(levels);
    const MergedJob merged = merge_jobs(line, scopes);
    JobChecker checker(merged, placeholders_, evaluator_, scopes.front(), sink_);
    auto checked = checker.run();
    for (const auto& [name, number] : checker.stand_ins()) stand_ins_.insert(name);
    return checked;
  }

  /// Those that have a value, and those that the job uses: the others need none.
  std::vector<PlaceholderInfo> needed_placeholders(bool has_job) const {
    std::vector<PlaceholderInfo> needed;
    for (const PlaceholderInfo& info : placeholders_.infos)
      if (info.value || is_needed(info, has_job)) needed.push_back(info);
    return needed;
  }

  /// An unbound number may stand anywhere in an expression, so a job with one that has no stand-in is not elaborated.
  bool has_unknown_number() const {
    return std::any_of(placeholders_.infos.begin(), placeholders_.infos.end(), [&](const PlaceholderInfo& info) {
      const bool is_number = info.type == "int" || info.type == "float" || info.type == "port";
      return is_number && !info.value && is_needed(info, true) && stand_ins_.count(info.name) == 0;
    });
  }

  void note_unbound_placeholders(bool has_job) {
    for (const PlaceholderInfo& info : placeholders_.infos) {
      const auto value = placeholders_.values.find(info.name);
      const bool is_poison = value != placeholders_.values.end() && value->second.is_poison();
      if (!info.value && !is_poison && is_needed(info, has_job)) note_unbound(*placeholders_.declarations.at(info.name), sink_);
    }
  }

 private:
  std::vector<const ast::File*> files() const {
    std::vector<const ast::File*> all{&file_};
    for (const auto& each : imports_.files()) all.push_back(each.get());
    return all;
  }

  /// A library says all that it declares; a job needs what it uses, be it inherited or its own.
  bool is_needed(const PlaceholderInfo& info, bool has_job) const {
    if (!has_job) return info.range.file == file_.id;
    return evaluator_.used_placeholders().count(info.name) != 0;
  }

  const ast::File& file_;
  diag::Sink& sink_;
  ImportFiles imports_;
  Placeholders placeholders_;
  Evaluator evaluator_;
  std::shared_ptr<Scope> scope_;
  std::set<std::string> used_;
  std::set<std::string> stand_ins_;
};

}  // namespace

std::optional<CheckedJob> check(const ast::File& file, source::SourceManager& sources, const CheckOptions& options, diag::Sink& sink,
                                std::vector<PlaceholderInfo>* placeholders) {
  Unit unit(file, sources, options, sink);
  const ast::JobDecl* job = find_job(file, options.job, sink);
  auto checked = job != nullptr ? unit.check_job(*job) : std::nullopt;
  unit.note_unbound_placeholders(job != nullptr);
  auto needed = unit.needed_placeholders(job != nullptr);
  if (placeholders != nullptr) *placeholders = needed;
  if (!checked || unit.has_unknown_number()) return std::nullopt;
  checked->placeholders = std::move(needed);
  return checked;
}

}  // namespace dtj::check
