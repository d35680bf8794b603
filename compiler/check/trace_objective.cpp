#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// The job's objective as a trace: the model and one micro-batch in, the metrics out.

namespace dtj::check {

namespace {

Dims to_dims(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// The engine writes these itself, next to the metrics.
constexpr std::array<std::string_view, 7> reported_names = {"event",         "epoch",       "goal_met", "gradient_norm",
                                                            "learning_rate", "num_samples", "step"};

bool is_reported_by_engine(std::string_view name) {
  return std::find(reported_names.begin(), reported_names.end(), name) != reported_names.end() ||
         name.ends_with("_per_second") || name.starts_with("seconds_");
}

}  // namespace

void Interpreter::check_metric_name(const std::string& name, source::Range range) {
  if (!is_reported_by_engine(name)) return;
  report(diag::Kind::reserved_metric, range,
         fmt::format("the metric `{}` has the name of a number that every run reports", name))
      .help(fmt::format("call it `my_{}`, for example", name));
}

Trace Interpreter::trace_objective(const ast::FnDecl& objective, const Value& model,
                                   const std::vector<FieldSpec>& fields, std::int64_t micro_batch, bool training,
                                   const ScopePtr& scope, std::vector<std::string>& metrics) {
  metrics.clear();
  recording_ = std::make_unique<Recording>();
  recording_->training = training;
  recording_->micro_batch = micro_batch;
  recording_->trace.name = training ? "objective" : "eval_objective";
  for (std::size_t i = 0; i < params.size(); ++i) {
    emit_input(InputKind::param, static_cast<std::uint32_t>(i), params[i].type.dtype, to_dims(params[i].type.shape),
               true, params[i].range);
  }
  auto batch = std::make_shared<Record>();
  batch->name = "batch";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Dims dims = to_dims(fields[i].sample_shape);
    dims.insert(dims.begin(), Dim(micro_batch));
    batch->fields.emplace_back(fields[i].name,
                               emit_input(InputKind::batch, static_cast<std::uint32_t>(i), fields[i].dtype, dims,
                                          is_float(fields[i].dtype), objective.name.range));
  }
  const source::Range range = objective.name.range;
  Value result;
  if (objective.params.size() != 2) {
    report(diag::Kind::wrong_argument, range,
           fmt::format("the objective takes the model and the batch, found {} parameters", objective.params.size()))
        .help(fmt::format("write `fn {}(m, batch) {{ ... }}`", objective.name.text));
  } else if (!model.is_poison() && !model.is_unbound()) {
    std::vector<Argument> args{{std::nullopt, model}, {std::nullopt, {batch, range}}};
    result = call_function(Function{&objective, nullptr, scope, ""}, std::move(args), {});
  }
  const auto* record = result.as<std::shared_ptr<Record>>();
  const source::Range at = result.range.is_none ? range : result.range;
  if (!record && !result.is_poison() && !result.is_unbound()) {
    report(diag::Kind::wrong_type, at,
           fmt::format("the objective must give a record of metrics, found {}", describe(result)))
        .help("write `{loss = ...}`");
  } else if (record && ((*record)->fields.empty() || (*record)->fields[0].first != "loss")) {
    report(diag::Kind::wrong_type, at, "the first field of the objective's record must be `loss`")
        .help("write `{loss = ..., ...}`");
  }
  for (std::size_t i = 0; record && i < (*record)->fields.size(); ++i) {
    auto& [name, value] = (*record)->fields[i];
    metrics.push_back(name);
    if (training) check_metric_name(name, value.range);
    if (value.is_poison() || value.is_unbound()) continue;
    if (is_number(value)) value = emit_constant(as_number(value).value_or(0), DType::f32, value.range);
    const auto* tensor = as_tensor(value);
    if (!tensor || !tensor->dims.empty() || !is_float(tensor->dtype)) {
      auto& diagnostic =
          report(tensor && is_float(tensor->dtype) ? diag::Kind::shape_mismatch : diag::Kind::wrong_type, value.range,
                 fmt::format("the metric `{}` must be a scalar f32[], found {}", name, describe(value)));
      if (tensor && !tensor->dims.empty()) diagnostic.help("reduce it with `mean(...)` or `sum(...)`");
      continue;
    }
    Value metric = emit_cast(value, DType::f32, value.range);
    recording_->trace.outputs.push_back({ref(metric), OutputKind::metric, static_cast<std::uint32_t>(i)});
  }
  output_buffers();
  Trace trace = std::move(recording_->trace);
  recording_.reset();
  return trace;
}

}  // namespace dtj::check
