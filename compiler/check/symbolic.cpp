#include <algorithm>

#include <fmt/format.h>

#include "compiler/check/interpreter.hpp"

// A module is checked on its own, with symbols for its sizes, so that a mistake is found before a job uses it. What
// cannot be decided for symbols is left to the job.

namespace dtj::check {

namespace {

const ast::NamedType* tensor_type(const ast::TypePtr& type) {
  const auto* named = type ? std::get_if<ast::NamedType>(&type->node) : nullptr;
  return named && named->dims ? named : nullptr;
}

}  // namespace

class SymbolicCheck {
 public:
  SymbolicCheck(Interpreter& in, ScopePtr scope) : in_(in), scope_(std::move(scope)) {}

  void check(const ast::ModuleDecl& decl) {
    auto args = symbolic_args(decl);
    if (!args) return;
    const std::size_t num_params = in_.params.size();
    in_.path_.clear();
    in_.is_symbolic_ = true;
    in_.assumed_.clear();
    // Other parameters of the model are out of sight, so that names cannot clash with them.
    std::vector<ParamInfo> hidden = std::move(in_.params);
    std::vector<BufferInfo> hidden_buffers = std::move(in_.buffers);
    in_.params.clear();
    in_.buffers.clear();
    Value value = in_.instantiate(ModuleType{&decl, scope_}, std::move(*args), {});
    if (const auto* instance = value.as<std::shared_ptr<ModuleInstance>>()) {
      for (const auto& item : decl.items) {
        const auto* function = std::get_if<ast::FnDecl>(&item);
        if (!function || !function->body) continue;
        check_function(Function{function, *instance, (*instance)->scope, ""}, *instance);
      }
    }
    in_.params = std::move(hidden);
    in_.params.resize(num_params);
    in_.buffers = std::move(hidden_buffers);
    in_.is_symbolic_ = false;
  }

  void check(const ast::FnDecl& decl) {
    if (!decl.body) return;
    in_.is_symbolic_ = true;
    in_.assumed_.clear();
    check_function(Function{&decl, nullptr, scope_, ""}, nullptr);
    in_.is_symbolic_ = false;
  }

 private:
  /// One symbol or stand-in for every parameter without a default. None: this parameter has no stand-in.
  std::optional<std::vector<Argument>> symbolic_args(const ast::ModuleDecl& decl) {
    std::vector<Argument> args;
    for (const auto& param : decl.params) {
      const auto* named = param.type ? std::get_if<ast::NamedType>(&param.type->node) : nullptr;
      const std::string type = named && named->base.parts.size() == 1 && !named->dims ? named->base.parts[0].text : "";
      Value value{Poison{}, param.name.range};
      if (type == "dim")
        value.data = Dim::symbol(param.name.text, true);
      else if (param.default_value)
        continue;
      else if (type == "int")
        value.data = Dim::symbol(param.name.text, false);
      else if (type == "f64" || type == "f32" || type == "Schedule")
        value.data = Unbound{};
      else if (type == "Init")
        value.data = InitValue{};
      else
        return std::nullopt;
      args.push_back({param.name, std::move(value)});
    }
    equate(decl, args);
    return args;
  }

  /// `where H == W`: the two symbols are one.
  static void equate(const ast::ModuleDecl& decl, std::vector<Argument>& args) {
    auto find = [&](const ast::ExprPtr& expr) -> Value* {
      const auto* name = std::get_if<ast::NameRef>(&expr->node);
      for (auto& arg : args) {
        if (name && arg.name->text == name->name) return &arg.value;
      }
      return nullptr;
    };
    for (const auto& clause : decl.where) {
      const auto* binary = std::get_if<ast::Binary>(&clause->node);
      if (!binary || binary->op != ast::BinaryOp::eq) continue;
      Value* left = find(binary->lhs);
      Value* right = find(binary->rhs);
      if (left && right) left->data = right->data;
    }
  }

  /// A pack may be of any length: only a mistake at every length is one.
  void check_function(const Function& function, const std::shared_ptr<ModuleInstance>& instance) {
    const bool has_pack =
        std::any_of(function.decl->params.begin(), function.decl->params.end(), [](const ast::Param& param) {
          const auto* type = tensor_type(param.type);
          return type && std::any_of(type->dims->begin(), type->dims->end(),
                                     [](const ast::DimExpr& dim) { return dim.pack.has_value(); });
        });
    diag::Sink* sink = in_.sink;
    std::vector<diag::Sink> reports;
    for (int length : has_pack ? std::vector<int>{2, 1, 3, 0} : std::vector<int>{0}) {
      reports.emplace_back();
      in_.sink = &reports.back();
      const bool was_checked = call_once(function, instance, length);
      in_.sink = sink;
      if (!was_checked || !reports.back().has_errors()) return;
    }
    for (auto& diagnostic : reports.front().sorted()) sink->report(std::move(diagnostic));
  }

  /// False: some parameter has no stand-in.
  bool call_once(const Function& function, const std::shared_ptr<ModuleInstance>& instance, int pack_length) {
    in_.recording_ = std::make_unique<Recording>();
    in_.recording_->is_symbolic = true;
    in_.recording_->training = true;
    auto names = std::make_shared<Scope>();
    names->parent = function.scope;
    bool good = true;
    std::vector<Argument> args;
    for (const auto& param : function.decl->params) {
      if (param.default_value) continue;
      auto value = stand_in(param, names, pack_length);
      good = good && value.has_value();
      if (good) args.push_back({param.name, std::move(*value)});
    }
    ScopePtr overlay = instance ? state_scope(instance, names, function.scope) : nullptr;
    if (good) in_.call_function(function, std::move(args), {}, overlay);
    in_.recording_.reset();
    return good;
  }

  std::optional<Value> stand_in(const ast::Param& param, const ScopePtr& names, int pack_length) {
    const auto* type = tensor_type(param.type);
    if (!type) {
      const auto* named = param.type ? std::get_if<ast::NamedType>(&param.type->node) : nullptr;
      const std::string name = named && named->base.parts.size() == 1 ? named->base.parts[0].text : "";
      if (name == "int" || name == "dim" || name == "steps") return Value{Dim::symbol(param.name.text, name == "dim"), param.name.range};
      if (name == "f64" || name == "f32") return Value{Unbound{}, param.name.range};
      return std::nullopt;
    }
    auto dtype = in_.dtype_of(*type);
    if (!dtype) return std::nullopt;
    for (const auto& pattern : *type->dims) {
      const auto* name = pattern.size ? std::get_if<ast::NameRef>(&pattern.size->node) : nullptr;
      if (pattern.pack && !in_.find(".." + pattern.pack->text, names)) {
        auto list = std::make_shared<List>();
        for (int i = 0; i < pack_length; ++i) {
          list->elements.push_back({Dim::symbol(pattern.pack->text + "." + std::to_string(i), true), pattern.range});
        }
        names->names[".." + pattern.pack->text] = {list, pattern.range};
      } else if (name) {
        auto known = in_.find(name->name, names);
        if (!known || !is_number(*known)) names->names[name->name] = {Dim::symbol(name->name, true), pattern.range};
      }
    }
    auto dims = in_.dims_of(*type->dims, names);
    if (!dims) return std::nullopt;
    TracedTensor op;
    op.op = TraceOp::input;
    Value value = in_.emit(std::move(op), *dtype, *dims, param.name.range);
    if (value.is_poison()) return std::nullopt;
    return value;
  }

  /// The states of an optimizer, for its `update`.
  ScopePtr state_scope(const std::shared_ptr<ModuleInstance>& instance, const ScopePtr& names, const ScopePtr& parent) {
    auto scope = std::make_shared<Scope>();
    scope->parent = parent;
    scope->instance = instance;
    for (const auto& item : instance->decl->items) {
      const auto* state = std::get_if<ast::StateDecl>(&item);
      if (!state || state->kind != ast::StateDecl::Kind::state) continue;
      const auto* type = tensor_type(state->type);
      const auto dtype = type ? in_.dtype_of(*type) : std::nullopt;
      auto dims = dtype ? in_.dims_of(*type->dims, names) : std::nullopt;
      scope->mutables.insert(state->name.text);
      scope->names[state->name.text] = {};
      if (!dims) continue;
      TracedTensor op;
      op.op = TraceOp::input;
      scope->names[state->name.text] = in_.emit(std::move(op), *dtype, *dims, state->name.range);
    }
    return scope;
  }

  Interpreter& in_;
  ScopePtr scope_;
};

void Interpreter::check_modules(const ast::File& file, const ScopePtr& scope) {
  SymbolicCheck check(*this, scope);
  for (const auto& decl : file.decls) {
    if (const auto* module = std::get_if<ast::ModuleDecl>(&decl)) check.check(*module);
    if (const auto* function = std::get_if<ast::FnDecl>(&decl)) check.check(*function);
  }
}

}  // namespace dtj::check
