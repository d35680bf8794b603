#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/dims.hpp"
#include "compiler/check/trace.hpp"
#include "engine/base/job_spec.hpp"

// Compile-time values of the language.

namespace dtj::check {

struct Value;
struct Scope;

/// What a unit measures. Quantities of different kinds never mix.
enum class UnitKind : std::uint8_t { time, bytes, tok, step, epoch, sample, percent, bandwidth };
std::string_view to_string(UnitKind kind);

/// In the base unit of its kind: seconds, bytes, tok, step, epoch, sample, 1 (= 100 %), bytes per second.
struct Quantity {
  double amount = 0;
  UnitKind kind = UnitKind::step;
};

/// Something was wrong and has been reported: stay silent about everything made from it.
struct Poison {};
struct None {};

/// A placeholder without a value. Integers go on symbolically in issue order; here any arithmetic on it is unbound again.
struct Unbound {
  std::string name;
};

/// A secret placeholder, which no message, plan or trace may hold. It compares with text, and nothing else.
struct Secret {
  std::string name;
  std::optional<std::string> text;  ///< none = unbound
};

struct List { std::vector<Value> elements; };
struct Tuple { std::vector<Value> elements; };

/// An instance of a `record` declaration (idx_images, shuffle, norm, user records), fields in declaration order with
/// defaults filled in. Objective results are records without a declaration (name empty).
struct Record {
  std::string name;
  std::vector<std::pair<std::string, Value>> fields;
  const Value* find(std::string_view field) const;
};

struct EnumValue { std::string enum_name, value; };

/// `init_constant | init_uniform | init_normal`; with fan_in_scaled the numbers are multiplied by 1/sqrt(fan_in) when the
/// parameter's shape is known (fan_in = product of all dims but the first).
struct InitValue {
  InitSpec spec;
  bool fan_in_scaled = false;
};

/// A tensor of the trace being built. Its dims are numbers but in the check of a module on its own.
struct TensorValue {
  TensorRef ref = 0;
  DType dtype = DType::f32;
  Dims dims;
  bool adopts = false;  ///< a parameter (role `par`) or a field of the batch: adopts the other operand's dtype
};

/// A parameter of the model outside of a trace; a use inside one becomes a TensorValue.
struct ParamSlot {
  std::uint32_t index = 0;
  DType dtype = DType::f32;
  Dims dims;
};

/// A buffer of the model outside of a trace; a use inside one becomes its value at that place.
struct BufferSlot {
  std::uint32_t index = 0;
  DType dtype = DType::f32;
  Dims dims;
};

struct ModuleInstance;
/// A user or library function, or a primitive of the compiler (decl has no body).
struct Function {
  const ast::FnDecl* decl = nullptr;
  std::shared_ptr<ModuleInstance> self;  ///< for functions of a module
  std::shared_ptr<Scope> scope;          ///< where it was declared
  std::string primitive;                 ///< name of the primitive, if it is one
};

/// The declarations `module X` and `record X`, which calls turn into instances.
struct ModuleType { const ast::ModuleDecl* decl = nullptr; std::shared_ptr<Scope> scope; };
struct RecordType { const ast::RecordDecl* decl = nullptr; std::shared_ptr<Scope> scope; };
struct EnumType { const ast::EnumDecl* decl = nullptr; };
/// `import std.nn;`: the names of another file, reached as `nn.Linear`.
struct Namespace { std::string name; std::shared_ptr<Scope> scope; };

struct IntRange { std::int64_t begin = 0, end = 0; };

struct Value {
  using Data = std::variant<Poison, None, bool, std::int64_t, double, std::string, Quantity, Unbound, Secret, IntRange,
                            std::shared_ptr<List>, std::shared_ptr<Tuple>, std::shared_ptr<Record>, EnumValue, InitValue, TensorValue,
                            std::shared_ptr<ModuleInstance>, std::shared_ptr<Function>, ModuleType, RecordType, EnumType, Namespace, ParamSlot, BufferSlot, Dim>;
  // A Dim stands for an integer that is not a number yet; a number is always an int64.
  Data data = Poison{};
  source::Range range;  ///< the expression that gave it

  bool is_poison() const { return std::holds_alternative<Poison>(data); }
  bool is_unbound() const { return std::holds_alternative<Unbound>(data); }
  template <class T> const T* as() const { return std::get_if<T>(&data); }
};

/// "an integer", "a duration", "a list", "a tensor f32[2, 3]": for messages.
std::string describe(const Value& value);

/// The value as source text where it is short ("3", "\"tanh\"", "0.5"), else as `describe` puts it.
std::string show(const Value& value);
/// "f32[2, 64]"
std::string to_string(DType dtype, const Dims& dims);

/// A constant that has been evaluated, and the placeholders that its value depends on.
struct ForcedConst {
  const ast::ConstDecl* decl = nullptr;
  std::set<std::string> placeholders;
};

/// Names in force. Lookup goes outwards.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::map<std::string, Value> names;
  std::map<std::string, const ast::ConstDecl*> lazy;  ///< constants that nobody has asked for yet
  std::map<std::string, ForcedConst> forced;          ///< those that depend on placeholders
  std::set<std::string> in_progress;                  ///< constants being evaluated
  std::map<std::string, std::weak_ptr<Scope>> elsewhere;  ///< names of a job that another job of its line declares
  std::set<std::string> mutables;                     ///< names that `=` may change
  std::map<std::string, source::Range> declared;      ///< where a name was declared
  std::weak_ptr<ModuleInstance> instance;             ///< the members of this instance: its functions are names too

  const Value* find(std::string_view name) const;
  std::vector<std::string> all_names() const;  ///< for suggestions
};

/// Names are sought in `scope`: first the arguments and constants, in its parent the parameters and sub-modules.
struct ModuleInstance {
  const ast::ModuleDecl* decl = nullptr;
  std::string path;  ///< "h.0.attn"; "" for the root
  std::shared_ptr<Scope> scope;
  std::shared_ptr<Scope> members;
  std::vector<std::uint32_t> params;  ///< own parameters: indices into the elaboration's ParamInfo list
};

}  // namespace dtj::check
