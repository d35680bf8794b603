#include "compiler/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/check/contract.hpp"
#include "compiler/check/evaluator.hpp"
#include "compiler/check/import_files.hpp"
#include "compiler/check/inherit.hpp"
#include "compiler/check/job_draft.hpp"
#include "compiler/check/placeholders.hpp"
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
  JobChecker(const MergedJob& job, Evaluator& evaluator, std::shared_ptr<Scope> scope, diag::Sink& sink)
      : merged_(job), job_(*job.job), evaluator_(evaluator), scope_(std::move(scope)), sink_(sink) {}

  /// None: mistakes, or numbers that are unbound.
  std::optional<CheckedJob> run() {
    const ReadContext context{&evaluator_, scope_, &sink_};
    const JobSections sections = read_sections(merged_, context);
    draft_ = draft_job(job_, sections, context);
    check_contract();
    evaluator_.set_precision(draft_.precision.spec);
    evaluator_.set_num_ranks(mesh_.dp);
    elaborate(sections);
    if (!is_complete_ || sink_.has_errors()) return std::nullopt;
    fill_spec();
    return std::move(checked_);
  }

 private:
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
    if (eval_ != nullptr && eval_ != train_ && eval_->random_transform)
      sink_.report({diag::Kind::wrong_transform, *eval_->random_transform, "an evaluation does not change its images at random"})
          .help("leave it out here");
    check_intervals(draft_, is_train_batch_known_ ? train_ : nullptr, sink_);
    if (draft_.checkpoint) check_save(*draft_.checkpoint, sink_);
    mesh_ = mesh.value;
    require(mesh.is_known() && draft_.launch.world_size.is_known() && draft_.seed.is_known() && draft_.train.stop.is_known());
    require(train_ != nullptr && draft_.precision.compute.is_known());
    if (draft_.checkpoint) require(draft_.checkpoint->every.is_known() && draft_.checkpoint->dir.is_known());
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
    if (draft_.checkpoint && !checked_.buffers.empty()) check_save_of_buffers(*draft_.checkpoint, sink_);
    if (objective != nullptr && has_model && train_ != nullptr) trace_data(*objective, model);

    const Value optimizer = evaluate_instance(sections, "optimizer", true);
    require(!optimizer.is_poison());
    if (has_model && !optimizer.is_poison())
      checked_.update = evaluator_.trace_update(optimizer, {draft_.train.grad_clip_norm, draft_.train.grad_clip_value}, checked_.states);
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

  bool can_trace(const DataDraft& data) const { return data.has_source && data.seq.is_known(); }

  void trace_data(const ast::FnDecl& objective, const Value& model) {
    auto& metrics = checked_.spec.metrics;
    if (can_trace(*train_))
      checked_.train_objective = evaluator_.trace_objective(objective, model, train_->spec.fields, train_->spec.micro_batch, true, merged_.objective_scope, metrics);
    if (draft_.eval && !metrics.empty()) check_metrics(*draft_.eval, metrics, sink_);
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
    spec.train = {draft_.train.stop.value, draft_.train.grad_clip_norm, draft_.train.grad_clip_value, draft_.train.log_every};
    if (draft_.eval && eval_ != nullptr) fill_eval();
    if (draft_.checkpoint)
      spec.checkpoint = CheckpointSpec{draft_.checkpoint->dir.value, draft_.checkpoint->every.value, draft_.checkpoint->keep, draft_.checkpoint->on_signal.value};
  }

  const MergedJob& merged_;
  const ast::JobDecl& job_;
  Evaluator& evaluator_;
  std::shared_ptr<Scope> scope_;
  diag::Sink& sink_;
  JobDraft draft_;
  DataDraft* train_ = nullptr;
  DataDraft* eval_ = nullptr;
  bool is_train_batch_known_ = false;
  bool is_complete_ = true;
  MeshSpec mesh_;
  CheckedJob checked_;
};

/// An unbound number may stand anywhere in an expression, so a job with one is checked but not elaborated.
bool has_unbound_number(const std::vector<PlaceholderInfo>& placeholders) {
  return std::any_of(placeholders.begin(), placeholders.end(), [](const PlaceholderInfo& info) {
    return !info.value && (info.type == "int" || info.type == "float" || info.type == "port");
  });
}

/// A file with its imports, declared: what the check of a job starts from.
class Unit {
 public:
  Unit(const ast::File& file, source::SourceManager& sources, const CheckOptions& options, diag::Sink& sink)
      : file_(file), sink_(sink), imports_(file, sources, options.import_folders, sink),
        placeholders_(bind_placeholders(files(), options, sink)), evaluator_(sources, sink, placeholders_.values, &imports_) {
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
    JobChecker checker(merged, evaluator_, scopes.front(), sink_);
    return checker.run();
  }

  /// Those that have a value, and those that the job uses: the others need none.
  std::vector<PlaceholderInfo> needed_placeholders(bool has_job) const {
    std::vector<PlaceholderInfo> needed;
    for (const PlaceholderInfo& info : placeholders_.infos)
      if (info.value || is_needed(info, has_job)) needed.push_back(info);
    return needed;
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
  if (!checked || has_unbound_number(needed)) return std::nullopt;
  checked->placeholders = std::move(needed);
  return checked;
}

}  // namespace dtj::check
