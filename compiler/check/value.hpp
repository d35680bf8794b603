#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ast/ast.hpp"
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

/// A tensor of the trace being built. Dims are numbers by then.
struct TensorValue {
  TensorRef ref = 0;
  TensorType type;
  bool is_param = false;  ///< role `par`: adopts the other operand's dtype
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

struct IntRange { std::int64_t begin = 0, end = 0; };

struct Value {
  using Data = std::variant<Poison, None, bool, std::int64_t, double, std::string, Quantity, Unbound, IntRange,
                            std::shared_ptr<List>, std::shared_ptr<Tuple>, std::shared_ptr<Record>, EnumValue, InitValue, TensorValue,
                            std::shared_ptr<ModuleInstance>, std::shared_ptr<Function>, ModuleType, RecordType>;
  Data data = Poison{};
  source::Range range;  ///< the expression that gave it

  bool is_poison() const { return std::holds_alternative<Poison>(data); }
  bool is_unbound() const { return std::holds_alternative<Unbound>(data); }
  template <class T> const T* as() const { return std::get_if<T>(&data); }
};

/// "an integer", "a duration", "a list", "a tensor f32[2, 3]": for messages.
std::string describe(const Value& value);

/// Names in force. Lookup goes outwards.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::map<std::string, Value> names;
  const Value* find(std::string_view name) const;
  std::vector<std::string> all_names() const;  ///< for suggestions
};

struct ModuleInstance {
  const ast::ModuleDecl* decl = nullptr;
  std::string path;  ///< "h.0.attn"; "" for the root
  std::shared_ptr<Scope> scope;  ///< params, consts, subs, dims
  std::vector<std::uint32_t> params;  ///< own parameters: indices into the elaboration's ParamInfo list
};

}  // namespace dtj::check
