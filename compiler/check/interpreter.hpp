#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/dims.hpp"
#include "compiler/check/evaluator.hpp"
#include "compiler/check/import_files.hpp"
#include "compiler/check/trace.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

// The inside of the evaluator: one walk over the tree that computes values and records tensor operations.
// Each group of members has its own file.

namespace dtj::check {

using ScopePtr = std::shared_ptr<Scope>;

struct Argument {
  std::optional<ast::Name> name;
  Value value;
};

/// A call in progress.
struct Frame {
  std::string callee;
  source::Range call;
  std::optional<Value> returned;  ///< set by `return`: the rest of the body is skipped
};

/// The trace being recorded.
struct Recording {
  Trace trace;
  std::map<std::uint32_t, TensorRef> params;  ///< inputs made for parameters
  std::map<std::uint32_t, Value> buffers;     ///< the value of each module buffer that was used, as it is now
  std::optional<TensorRef> sample;            ///< the input, once something asked for it
  std::int64_t micro_batch = 0;               ///< 0: not an objective
  std::uint32_t num_random = 0;
  bool training = false;
  bool is_symbolic = false;  ///< some dims are not numbers: the trace is thrown away
};

/// How a value is compared with a written type.
struct Fit {
  ScopePtr scope;             ///< where names of dims are sought and bound
  std::string subject;        ///< "argument `x` of `Linear.forward`"
  source::Range declaration;  ///< the written type or parameter
  bool binds = true;          ///< unknown names of dims take the value's dims
  struct Pending {
    const ast::DimExpr* pattern;
    Dim actual;
    std::size_t position;
    Value value;
    std::string subject;
    source::Range declaration;
    const ast::TypeExpr* type;
  };
  std::vector<Pending> pending = {};  ///< sizes that are expressions: checked when every name is bound
  std::map<std::string, std::string> bound_by = {};  ///< name of a dim -> what gave it its value
};

class Interpreter {
 public:
  /// Without `imports` the files are read when `declare` comes to them.
  Interpreter(source::SourceManager& sources, diag::Sink& sink, std::map<std::string, Value> bound,
              const ImportFiles* imports = nullptr);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  source::SourceManager& sources;
  diag::Sink* sink;
  PrecisionSpec precision;
  std::vector<ParamInfo> params;
  std::vector<BufferInfo> buffers;
  std::int64_t num_ranks = 1;  ///< that share a batch
  std::set<std::string> used_placeholders;
  double lr_scale = 1;          ///< what the learning rate is multiplied by
  /// The batch by which a schedule's samples and tokens become steps.
  std::optional<DataSpec> schedule_batch;
  bool allows_secrets = false;  ///< in conditions, whose values go nowhere
  std::function<void(source::Range, const Value&)> on_value;  ///< may be empty

  // ---- reports (interpreter.cpp)
  /// A mistake inside the standard library is reported where the job called it.
  diag::Diagnostic& report(diag::Kind kind, source::Range range, std::string message);
  /// The text of a range of a source file.
  std::string text_of(source::Range range) const;
  bool is_library(source::Range range) const;
  void suggest(diag::Diagnostic& diagnostic, const std::string& name, const std::vector<std::string>& candidates) const;

  // ---- declarations (declare.cpp, imports.cpp)
  ScopePtr declare(const ast::File& file);
  ScopePtr declare_job(const ast::JobDecl& job, const ScopePtr& scope);
  /// A job and those that it extends, the most derived first: one scope each. A name means the most derived
  /// declaration everywhere, so a base's settings see what an heir puts in the place of its constants.
  std::vector<ScopePtr> declare_jobs(const std::vector<JobLevel>& levels);
  /// Gives unbound placeholders these values instead of the last ones; constants that depend on them are evaluated anew.
  void rebind(std::map<std::string, Value> values);
  /// The scope of a declared file.
  ScopePtr scope_of(const ast::File& file) const;
  ScopePtr library(const std::string& module, source::Range range);
  std::optional<Value> find(const std::string& name, const ScopePtr& scope);
  /// Only in this scope, not in its parents.
  std::optional<Value> find_here(const std::string& name, const ScopePtr& scope);
  Value look_up(const std::string& name, source::Range range, const ScopePtr& scope);

  // ---- expressions (evaluate.cpp, access.cpp, operators.cpp)
  Value evaluate(const ast::Expr& expr, const ScopePtr& scope);
  Value run_block(const ast::Block& block, const ScopePtr& parent);
  Value field(const Value& base, const ast::Name& name);
  Value subscript(const Value& base, const ast::Subscript& subscript, const ScopePtr& scope, source::Range range);
  Value unary(ast::UnaryOp op, const Value& operand, source::Range range);
  Value binary(ast::BinaryOp op, const Value& lhs, const Value& rhs, source::Range range);
  Value cast(const Value& value, const ast::TypeExpr& type, const ScopePtr& scope, source::Range range);

  // ---- calls (call.cpp)
  Value call(const Value& callee, std::vector<Argument> args, source::Range range);
  Value call_function(const Function& function, std::vector<Argument> args, source::Range range,
                      const ScopePtr& overlay = nullptr);
  Value call_method(const std::shared_ptr<ModuleInstance>& instance, const std::string& name,
                    std::vector<Argument> args, source::Range range);
  /// Puts the values of `params` into `into`, defaults included. False: something is missing or wrong (reported).
  bool match_arguments(const std::vector<ast::Param>& params, std::vector<Argument>& args, const std::string& callee,
                       source::Range declaration, source::Range range, const ScopePtr& into);
  bool check_where(const std::vector<ast::ExprPtr>& clauses, const ScopePtr& scope, const std::string& subject,
                   source::Range range);
  bool enter(const std::string& callee, source::Range range);
  void leave();

  // ---- types (types.cpp, signature.cpp)
  /// Checks the value against the type, converts numbers, binds names of dims. False: reported.
  bool fit(Value& value, const ast::TypeExpr& type, Fit& fit);
  bool fit_pending(Fit& fit);
  /// `steps`: an integer, or a quantity of steps, samples or tokens, which becomes one.
  bool fit_steps(Value& value, const Fit& fit);
  bool fit_tensor(Value& value, const ast::TypeExpr& type, const ast::NamedType& named, Fit& fit);
  bool fit_named(Value& value, const ast::TypeExpr& type, const ast::NamedType& named, Fit& fit);
  std::optional<DType> dtype_of(const ast::NamedType& type) const;
  /// The dims written in a type whose names are all known. None: reported, or a placeholder is in the way.
  std::optional<Dims> dims_of(const std::vector<ast::DimExpr>& patterns, const ScopePtr& scope);

  // ---- modules (instantiate.cpp)
  Value instantiate(const ModuleType& type, std::vector<Argument> args, source::Range range);
  Value make_record(const RecordType& type, std::vector<Argument> args, source::Range range);

  // ---- the trace (record.cpp)
  bool is_recording() const { return recording_ != nullptr; }
  Recording& recording() { return *recording_; }
  Value emit(TracedTensor op, DType dtype, Dims dims, source::Range range, bool adopts = false);
  Value emit_constant(double number, DType dtype, source::Range range);
  Value emit_cast(const Value& value, DType dtype, source::Range range);
  Value emit_input(InputKind kind, std::uint32_t index, DType dtype, Dims dims, bool adopts, source::Range range);
  /// An element-wise op on two operands, at least one of them a tensor; the other may be a number.
  Value emit_binary(TraceOp op, const Value& lhs, const Value& rhs, source::Range range);
  Value emit_unary(TraceOp op, const Value& operand, source::Range range);
  /// Brings operands (tensors and numbers, at least one a tensor) to one dtype. False: reported.
  bool unify_dtypes(std::vector<Value>& operands, const std::string& op, source::Range range);
  /// The common shape, to the right. None: reported.
  std::optional<Dims> broadcast(const std::vector<Value>& operands, const std::string& op, source::Range range);
  Value use_param(const ParamSlot& slot, source::Range range);
  /// The tensor that a parameter or a buffer is in the trace; other values stay as they are.
  Value use_slot(const Value& value, source::Range range);

  // ---- buffers of modules (buffers.cpp)
  Value use_buffer(const BufferSlot& slot, source::Range range);
  /// `target = value` in a function of the module that owns the buffer.
  void assign_buffer(const BufferSlot& slot, const ast::Assign& assign, Value value, source::Range range);
  /// Adds what the buffers are now to the outputs of the trace.
  void output_buffers();
  TensorRef ref(const Value& value) const;

  bool check_result_dims(const ast::FnDecl& decl, const ScopePtr& scope);
  /// Takes `a divides b` for true while a module is checked on its own.
  void assume(const ast::Expr& condition, const ScopePtr& scope);
  bool is_assumed_to_divide(const Dim& divisor, const Dim& dividend) const;
  void report_unproved(const Dim& dividend, const Dim& divisor, source::Range range);
  void check_metric_name(const std::string& name, source::Range range);
  /// Remembers a call whose mean leaves targets out: Trace::uneven_mean.
  void note_uneven_mean(const Scope& arguments, source::Range range);
  Trace trace_objective(const ast::FnDecl& objective, const Value& model, const std::vector<FieldSpec>& fields,
                        std::int64_t micro_batch, bool training, const ScopePtr& scope,
                        std::vector<std::string>& metrics);
  Trace trace_update(const Value& optimizer, const ClipPolicy& clip, std::optional<std::uint32_t> weight_metric,
                     std::vector<StateInfo>& states);
  /// Calls `update` of the optimizer with its states in `state_scope`.
  Value call_update(const std::shared_ptr<ModuleInstance>& optimizer, std::vector<Argument> args,
                    const ScopePtr& state_scope, source::Range range);

  // ---- modules on their own (symbolic.cpp)
  void check_modules(const ast::File& file, const ScopePtr& scope);

 private:
  friend class SymbolicCheck;
  friend class UpdateTrace;

  Value evaluate_node(const ast::Expr& expr, const ScopePtr& scope);
  Value evaluate_call(const ast::Call& node, const ScopePtr& scope, source::Range range);
  Value evaluate_pipe(const ast::Pipe& node, const ScopePtr& scope, source::Range range);
  Value evaluate_if(const ast::If& node, const ScopePtr& scope, source::Range range);
  Value evaluate_logic(const ast::Binary& node, const ScopePtr& scope, source::Range range);
  Value evaluate_placeholder(const std::string& name, source::Range range);
  std::vector<Argument> evaluate_args(const std::vector<ast::Arg>& args, const ScopePtr& scope);
  void run_statement(const ast::Stmt& statement, const ScopePtr& scope);
  void run_let(const ast::Let& let, const ScopePtr& scope, source::Range range);
  void run_for(const ast::For& loop, const ScopePtr& scope);
  void run_check(const ast::Check& check, const ScopePtr& scope, source::Range range);
  void run_assign(const ast::Assign& assign, const ScopePtr& scope, source::Range range);
  std::optional<std::vector<Value>> elements_of(const Value& sequence, const std::string& user);
  Value subscript_list(const Value& base, const ast::Subscript& node, const ScopePtr& scope, source::Range range);
  Value subscript_tensor(const Value& base, const ast::Subscript& node, const ScopePtr& scope, source::Range range);
  Value cast_number(const Value& value, const ast::TypeExpr& type, const ScopePtr& scope, source::Range range);

  bool is_valid_function(const ast::FnDecl& decl);
  void define(const ScopePtr& scope, const ast::Name& name, Value value);
  bool claim(const ScopePtr& scope, const ast::Name& name);
  void declare_names(const ast::File& file, const ScopePtr& scope);
  void run_import(const ast::ImportDecl& import, const ast::File& file, const ScopePtr& scope);
  ScopePtr import_file(const ast::ImportDecl& import, const ast::File& file);
  void import_selected(const ast::ImportDecl& import, const std::string& from, const std::vector<ast::Name>& names,
                       const ScopePtr& library, const ScopePtr& scope);
  ScopePtr prelude();
  Value force(std::string name, const ScopePtr& scope);  ///< by value: the key it may come from is erased
  void check_attrs(const std::vector<ast::Attr>& attrs);

  void instantiate_items(const std::shared_ptr<ModuleInstance>& instance);
  void instantiate_param(const ast::StateDecl& decl, const std::shared_ptr<ModuleInstance>& instance);
  void instantiate_buffer(const ast::StateDecl& decl, const std::shared_ptr<ModuleInstance>& instance);
  std::optional<BufferSlot> find_buffer(const ast::Expr& target, const ScopePtr& scope);
  /// Whether `value` can take the place of `old`, which is "the state" or "the buffer" `target`. False: reported.
  bool fits_place(const std::string& what, const TensorValue& old, const Value& value, source::Range range);
  void instantiate_sub(const ast::SubDecl& decl, const std::shared_ptr<ModuleInstance>& instance);
  std::optional<InitSpec> evaluate_init(const ast::StateDecl& decl, const Dims& dims, const ScopePtr& scope);
  std::optional<bool> evaluate_when(const ast::ExprPtr& when, const ScopePtr& scope);
  bool fit_dim(const ast::DimExpr& pattern, const Dim& actual, std::size_t position, const Value& value,
               const ast::TypeExpr& type, Fit& fit);
  bool fit_dtype(Value& value, DType want, const ast::NamedType& named, const Fit& fit);
  bool report_shape(const Value& value, const ast::TypeExpr& type, const Fit& fit, const std::string& what,
                    const std::string& help = "");

  std::map<std::string, Value> bound_;
  std::map<std::string, const ast::BindDecl*> binds_;
  std::vector<std::unique_ptr<ast::File>> files_;
  std::vector<ScopePtr> scopes_;
  std::map<std::string, ScopePtr> libraries_;
  std::map<std::string, Value> rebound_;
  const ImportFiles* imports_;
  std::unique_ptr<ImportFiles> own_imports_;
  std::map<const ast::File*, ScopePtr> file_scopes_;
  std::vector<Frame> frames_;
  std::unique_ptr<Recording> recording_;
  std::string path_;  ///< of the module being made
  std::uint64_t fuel_ = 0;
  std::uint32_t depth_ = 0;
  bool is_exhausted_ = false;
  bool is_symbolic_ = false;  ///< checking a module on its own
  std::vector<std::pair<Dim, Dim>> assumed_;  ///< the first divides the second, in the module that is checked
  std::set<std::pair<source::FileId, std::uint32_t>> unproved_;  ///< where it was said
};

/// The integer as a Dim, if it is one.
std::optional<Dim> as_dim(const Value& value);
Value make_int(const Dim& dim, source::Range range);
/// Integers and fractions.
std::optional<double> as_number(const Value& value);
bool is_number(const Value& value);  ///< also one that is not known yet
const TensorValue* as_tensor(const Value& value);

}  // namespace dtj::check
