#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"
#include "compiler/check/param_groups.hpp"

// One optimizer step as a trace: gradient norm, clipping, the learning rate, then `update` for every parameter that is
// not frozen.

namespace dtj::check {

namespace {

const ast::FnDecl* find_function(const ast::ModuleDecl& decl, const std::string& name) {
  for (const auto& item : decl.items) {
    const auto* function = std::get_if<ast::FnDecl>(&item);
    if (function && function->name.text == name && function->body) return function;
  }
  return nullptr;
}

bool is_optimizer(const ast::ModuleDecl& decl) {
  return std::any_of(decl.attrs.begin(), decl.attrs.end(),
                     [](const ast::Attr& attr) { return attr.name.to_string() == "optimizer"; });
}

}  // namespace

class UpdateTrace {
 public:
  UpdateTrace(Interpreter& in, std::shared_ptr<ModuleInstance> optimizer, source::Range range,
              std::vector<StateInfo>& states)
      : in_(in), optimizer_(std::move(optimizer)), range_(range), states_(states) {}

  void record(const ClipPolicy& clip, std::optional<std::uint32_t> weight_metric) {
    const std::string& name = optimizer_->decl->name.text;
    update_ = find_function(*optimizer_->decl, "update");
    if (!is_optimizer(*optimizer_->decl) || !update_) {
      in_.report(diag::Kind::wrong_type, range_, fmt::format("`{}` is not an optimizer", name))
          .label(optimizer_->decl->name.range,
                 "an optimizer is marked `@optimizer` and has `fn update(p, g, step, lr)`");
      return;
    }
    if (update_->params.size() != 4) {
      in_.report(diag::Kind::wrong_argument, update_->name.range,
                 fmt::format("`{}.update` takes {} arguments", name, update_->params.size()))
          .note("`update` of an optimizer takes the parameter, its gradient, the step and the learning rate");
      return;
    }
    if (!find_optimizers() || !declare_states()) return;
    make_inputs();
    if (weight_metric) divide_by_weight(*weight_metric);
    Value norm = record_norm();
    if (norm.is_poison()) return;
    if (clip.norm) clip_by_norm(norm, *clip.norm);
    if (clip.value) clip_by_value(*clip.value);
    Value rate = record_scaled_rate(*optimizer_);
    if (rate.is_poison()) return;
    update_all(rate);
    output(in_.emit_cast(rate, DType::f32, range_), OutputKind::learning_rate, 0);
    output(norm, OutputKind::gradient_norm, 0);
  }

 private:
  static Dims to_dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

  void output(const Value& value, OutputKind kind, std::uint32_t index) {
    if (!value.is_poison()) in_.recording().trace.outputs.push_back({in_.ref(value), kind, index});
  }

  bool find_optimizers() {
    ParamGroups groups(in_, optimizer_);
    if (!groups.read(in_.params)) return false;
    for (const auto& param : in_.params) {
      auto found = groups.find(param.name);
      if (!found) return false;
      optimizers_.push_back(std::move(*found));
    }
    return true;
  }

  /// The states that each parameter has: their dims may use the names that `update` binds for the parameter.
  bool declare_states() {
    first_state_.clear();
    for (std::size_t p = 0; p < in_.params.size(); ++p) {
      first_state_.push_back(states_.size());
      if (in_.params[p].is_frozen) continue;
      auto scope = std::make_shared<Scope>();
      scope->parent = optimizers_[p].instance->scope;
      const ast::Param& param = update_->params[0];
      if (param.type) {
        // Binds the names only: the tensor itself is no part of the trace.
        Value probe{TensorValue{0, in_.params[p].type.dtype, to_dims(in_.params[p].type.shape), true}, range_};
        if (const auto* named = std::get_if<ast::NamedType>(&param.type->node); named) {
          if (auto dtype = in_.dtype_of(*named)) std::get<TensorValue>(probe.data).dtype = *dtype;
        }
        Fit fit{scope, fmt::format("the parameter `{}`", in_.params[p].name), param.type->range, true};
        if (!in_.fit(probe, *param.type, fit) || !in_.fit_pending(fit)) return false;
      }
      for (const auto& item : optimizer_->decl->items) {
        const auto* state = std::get_if<ast::StateDecl>(&item);
        if (state && state->kind == ast::StateDecl::Kind::state &&
            !declare_state(*state, static_cast<std::uint32_t>(p), scope))
          return false;
      }
    }
    first_state_.push_back(states_.size());
    return true;
  }

  bool declare_state(const ast::StateDecl& decl, std::uint32_t param, const ScopePtr& scope) {
    auto is_present = in_.evaluate_when(decl.when, scope);
    if (!is_present) return false;
    if (!*is_present) return true;
    const auto* named = std::get_if<ast::NamedType>(&decl.type->node);
    const auto dtype = named ? in_.dtype_of(*named) : std::nullopt;
    if (!named || !named->dims || dtype != DType::f32) {
      in_.report(diag::Kind::wrong_type, decl.type->range,
                 fmt::format("the state `{}` must be an f32 tensor such as `f32[..S]`", decl.name.text));
      return false;
    }
    auto dims = in_.dims_of(*named->dims, scope);
    if (!dims) return false;
    auto init = in_.evaluate_init(decl, *dims, scope);
    if (!init) return false;
    Shape shape;
    for (const Dim& dim : *dims) shape.push_back(dim.number().value_or(0));
    states_.push_back({decl.name.text + "/" + in_.params[param].name, param, {DType::f32, shape}, *init});
    names_.push_back(decl.name.text);
    return true;
  }

  void make_inputs() {
    auto index = [](std::size_t i) { return static_cast<std::uint32_t>(i); };
    values_.resize(in_.params.size());
    gradients_.resize(in_.params.size());
    for (std::size_t p = 0; p < in_.params.size(); ++p) {
      const TensorType& type = in_.params[p].type;
      if (in_.params[p].is_frozen) continue;
      trained_.push_back(p);
      values_[p] = in_.emit_input(InputKind::param, index(p), type.dtype, to_dims(type.shape), true, in_.params[p].range);
    }
    for (std::size_t s = 0; s < states_.size(); ++s) {
      state_values_.push_back(
          in_.emit_input(InputKind::state, index(s), DType::f32, to_dims(states_[s].type.shape), false, range_));
    }
    for (const std::size_t p : trained_) {
      gradients_[p] = in_.emit_input(InputKind::gradient, index(p), DType::f32, to_dims(in_.params[p].type.shape), false,
                                     in_.params[p].range);
    }
    step_ = in_.emit_input(InputKind::step, 0, DType::f64, {}, false, range_);
  }

  /// What arrives is the sum over the micro batches of weight * gradient. No weight at all: no gradient either.
  void divide_by_weight(std::uint32_t metric) {
    const Value weight = in_.emit_input(InputKind::weight, metric, DType::f32, {}, false, range_);
    const Value divisor = in_.emit_binary(TraceOp::maximum, weight, {1e-30, range_}, range_);
    for (const std::size_t p : trained_) gradients_[p] = in_.emit_binary(TraceOp::div, gradients_[p], divisor, range_);
  }

  /// sqrt of the sum of squares over all gradients.
  Value record_norm() {
    Value total;
    for (const std::size_t p : trained_) {
      const Value& gradient = gradients_[p];
      if (gradient.is_poison()) return {};
      Value square = in_.emit_binary(TraceOp::mul, gradient, gradient, range_);
      TracedTensor op;
      op.op = TraceOp::sum;
      op.operands = {in_.ref(square)};
      for (std::size_t i = 0; i < as_tensor(gradient)->dims.size(); ++i)
        op.ints.push_back(static_cast<std::int64_t>(i));
      Value sum = in_.emit(std::move(op), DType::f32, {}, range_);
      total = total.is_poison() ? sum : in_.emit_binary(TraceOp::add, total, sum, range_);
    }
    if (total.is_poison()) total = in_.emit_constant(0, DType::f32, range_);
    return in_.emit_unary(TraceOp::sqrt, total, range_);
  }

  /// g *= min(1, limit / (norm + 1e-6))
  void clip_by_norm(const Value& norm, double limit) {
    Value padded = in_.emit_binary(TraceOp::add, norm, {1e-6, range_}, range_);
    Value ratio = in_.emit_binary(TraceOp::div, {limit, range_}, padded, range_);
    Value scale = in_.emit_binary(TraceOp::minimum, ratio, {1.0, range_}, range_);
    for (const std::size_t p : trained_) gradients_[p] = in_.emit_binary(TraceOp::mul, gradients_[p], scale, range_);
  }

  void clip_by_value(double limit) {
    for (const std::size_t p : trained_) {
      const Value below = in_.emit_binary(TraceOp::minimum, gradients_[p], {limit, range_}, range_);
      gradients_[p] = in_.emit_binary(TraceOp::maximum, below, {-limit, range_}, range_);
    }
  }

  Value record_rate(const ModuleInstance& optimizer) {
    auto lr = in_.find_here("lr", optimizer.scope);
    if (!lr) {
      in_.report(diag::Kind::wrong_argument, range_,
                 fmt::format("the optimizer `{}` has no parameter `lr`", optimizer_->decl->name.text));
      return {};
    }
    if (auto number = as_number(*lr); number && !(*number >= 0)) {
      in_.report(diag::Kind::out_of_range, lr->range.is_none ? range_ : lr->range,
                 fmt::format("a learning rate is not negative, found {}", *number))
          .help("for example `lr = 1e-3`");
      return {};
    }
    if (auto number = as_number(*lr)) return in_.emit_constant(*number, DType::f64, range_);
    const auto* schedule = lr->as<std::shared_ptr<ModuleInstance>>();
    if (!schedule) {
      in_.report(diag::Kind::wrong_type, range_,
                 fmt::format("`lr` must be a number or a schedule, found {}", describe(*lr)));
      return {};
    }
    Value rate = in_.call_method(*schedule, "forward", {{std::nullopt, step_}}, lr->range.is_none ? range_ : lr->range);
    const auto* tensor = as_tensor(rate);
    if (tensor && tensor->dtype == DType::f64 && tensor->dims.empty()) return rate;
    if (is_number(rate)) return in_.emit_constant(as_number(rate).value_or(0), DType::f64, range_);
    if (!rate.is_poison()) {
      in_.report(diag::Kind::wrong_type, lr->range,
                 fmt::format("a schedule must give f64[], found {}", describe(rate)));
    }
    return {};
  }

  /// The rate of an optimizer after the job's scaling rule.
  Value record_scaled_rate(const ModuleInstance& optimizer) {
    Value rate = record_rate(optimizer);
    if (in_.lr_scale != 1 && !rate.is_poison()) rate = in_.emit_binary(TraceOp::mul, rate, {in_.lr_scale, range_}, range_);
    return rate;
  }

  /// The learning rate of one parameter; `common` is that of all parameters that no group names.
  Value rate_of(const ParamOptimizer& optimizer, const Value& common) {
    auto [place, is_new] = rates_.try_emplace({optimizer.instance.get(), optimizer.lr_scale}, common);
    if (!is_new) return place->second;
    Value& rate = place->second;
    if (optimizer.instance != optimizer_) rate = record_scaled_rate(*optimizer.instance);
    if (optimizer.lr_scale != 1 && !rate.is_poison())
      rate = in_.emit_binary(TraceOp::mul, rate, {optimizer.lr_scale, range_}, range_);
    return rate;
  }

  void update_all(const Value& common_rate) {
    for (const std::size_t p : trained_) {
      const auto& optimizer = optimizers_[p].instance;
      const Value rate = rate_of(optimizers_[p], common_rate);
      if (rate.is_poison()) return;
      auto scope = std::make_shared<Scope>();
      scope->parent = optimizer->scope;
      scope->instance = optimizer;
      for (std::size_t s = first_state_[p]; s < first_state_[p + 1]; ++s) {
        scope->names[names_[s]] = state_values_[s];
        scope->mutables.insert(names_[s]);
      }
      std::vector<Argument> args;
      for (const Value& value : {values_[p], gradients_[p], step_, rate}) args.push_back({std::nullopt, value});
      Value updated = in_.call_update(optimizer, std::move(args), scope, range_);
      if (updated.is_poison()) return;
      const auto& type = in_.params[p].type;
      const auto* tensor = as_tensor(updated);
      if (!tensor || tensor->dims != to_dims(type.shape) || !is_float(tensor->dtype)) {
        in_.report(diag::Kind::shape_mismatch, updated.range,
                   fmt::format("`update` must give the new parameter {}, found {}",
                               to_string(type.dtype, to_dims(type.shape)), describe(updated)));
        return;
      }
      output(in_.emit_cast(updated, type.dtype, range_), OutputKind::param, static_cast<std::uint32_t>(p));
      for (std::size_t s = first_state_[p]; s < first_state_[p + 1]; ++s) {
        state_outputs_.emplace_back(scope->names[names_[s]], static_cast<std::uint32_t>(s));
      }
    }
    for (const auto& [value, index] : state_outputs_) output(value, OutputKind::state, index);
  }

  Interpreter& in_;
  std::shared_ptr<ModuleInstance> optimizer_;
  source::Range range_;
  std::vector<StateInfo>& states_;
  const ast::FnDecl* update_ = nullptr;
  std::vector<ParamOptimizer> optimizers_;  ///< of each parameter
  std::map<std::pair<const ModuleInstance*, double>, Value> rates_;
  std::vector<std::size_t> trained_;      ///< the parameters that are not frozen
  std::vector<std::size_t> first_state_;  ///< of each parameter, and the end
  std::vector<std::string> names_;        ///< of each state, as the optimizer writes it
  std::vector<Value> values_, state_values_, gradients_;
  std::vector<std::pair<Value, std::uint32_t>> state_outputs_;
  Value step_;
};

Value Interpreter::call_update(const std::shared_ptr<ModuleInstance>& optimizer, std::vector<Argument> args,
                               const ScopePtr& state_scope, source::Range range) {
  auto method = find_here("update", optimizer->members);
  const auto* function = method ? method->as<std::shared_ptr<Function>>() : nullptr;
  if (!function) return {};
  return call_function(**function, std::move(args), range, state_scope);
}

Trace Interpreter::trace_update(const Value& optimizer, const ClipPolicy& clip,
                                std::optional<std::uint32_t> weight_metric, std::vector<StateInfo>& states) {
  states.clear();
  recording_ = std::make_unique<Recording>();
  recording_->trace.name = "update";
  recording_->training = true;
  if (const auto* instance = optimizer.as<std::shared_ptr<ModuleInstance>>()) {
    UpdateTrace(*this, *instance, optimizer.range, states).record(clip, weight_metric);
  } else if (!optimizer.is_poison() && !optimizer.is_unbound()) {
    report(diag::Kind::wrong_type, optimizer.range,
           fmt::format("`optimizer` must be an optimizer, found {}", describe(optimizer)))
        .help("for example `AdamW(lr = 1e-3)` of `std.optim`");
  }
  Trace trace = std::move(recording_->trace);
  recording_.reset();
  return trace;
}

}  // namespace dtj::check
