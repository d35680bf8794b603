#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/source/source.hpp"

// The syntax tree: what was written, nothing decided. Owned by unique_ptr; every node carries its range.

namespace dtj::ast {

using source::Range;

struct Name {
  std::string text;
  Range range;
};

/// `a.b.c`
struct Path {
  std::vector<Name> parts;
  Range range;
  std::string to_string() const;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct TypeExpr;
using TypePtr = std::unique_ptr<TypeExpr>;
struct Block;
using BlockPtr = std::unique_ptr<Block>;

// ---- expressions ---------------------------------------------------------------------------------------------------

struct IntLit { std::int64_t value = 0; };
struct FloatLit { double value = 0; };
/// `30min`, `16GiB`, `524_288tok`: the unit's spelling is kept; the checker resolves it.
struct QuantityLit { double value = 0; std::string unit; };
struct StringLit { std::string value; };  ///< escapes decoded
struct BoolLit { bool value = false; };
struct NoneLit {};
struct PlaceholderRef { std::string name; };  ///< without the angle brackets
struct NameRef { std::string name; };
struct SelfRef {};
struct Field { ExprPtr base; Name name; };

struct Arg {
  std::optional<Name> name;
  ExprPtr value;
};
struct Call { ExprPtr callee; std::vector<Arg> args; };

/// One place between brackets: `...`, `i`, `a:b`, `:`.
struct Index {
  enum class Kind : std::uint8_t { ellipsis, single, slice } kind = Kind::single;
  ExprPtr single;       ///< for single (a `none` literal inserts a dim)
  ExprPtr begin, end;   ///< for slice; null when left out
  Range range;
};
struct Subscript { ExprPtr base; std::vector<Index> indices; };

enum class UnaryOp : std::uint8_t { neg, logical_not };
enum class BinaryOp : std::uint8_t {
  pow, mul, div, floor_div, mod, matmul, add, sub, range, eq, ne, lt, le, gt, ge, divides, logical_and, logical_or
};
std::string_view to_string(BinaryOp op);  ///< as written: "**", "div", "==", ...

struct Unary { UnaryOp op = UnaryOp::neg; ExprPtr operand; };
struct Binary { BinaryOp op = BinaryOp::add; ExprPtr lhs, rhs; Range op_range; };
/// `x |> f` (f may be a call, whose first argument x becomes)
struct Pipe { ExprPtr value, function; };
struct Cast { ExprPtr value; TypePtr type; };
struct If { ExprPtr condition; BlockPtr then_block; BlockPtr else_block; };  ///< `else if` is a block holding an If; else may be null
struct TupleLit { std::vector<ExprPtr> elements; };
struct ListLit { std::vector<ExprPtr> elements; };
struct RecordLit { std::vector<std::pair<Name, ExprPtr>> fields; };
/// Stands where a syntax error was reported; the checker stays silent about it.
struct ErrorExpr {};

struct Expr {
  using Node = std::variant<IntLit, FloatLit, QuantityLit, StringLit, BoolLit, NoneLit, PlaceholderRef, NameRef, SelfRef, Field, Call,
                            Subscript, Unary, Binary, Pipe, Cast, If, TupleLit, ListLit, RecordLit, ErrorExpr>;
  Node node;
  Range range;
};

// ---- types ---------------------------------------------------------------------------------------------------------

/// One entry of a tensor type's brackets: `..L` (a pack), or a size expression with optional mesh axes `C@tp`.
struct DimExpr {
  std::optional<Name> pack;
  ExprPtr size;
  std::vector<Name> axes;
  Range range;
};

/// `act[B, T, C]`, `f32[..S]`, `int`, `dim`, `slurm.partition`, `Gpt2Config`
struct NamedType {
  Path base;  ///< at least one part
  std::optional<std::vector<DimExpr>> dims;
  std::vector<Name> unreduced;  ///< `!(dp)`
};
struct TupleType { std::vector<TypePtr> elements; };
struct ListType { TypePtr element; };
struct OptionalType { TypePtr inner; };

struct TypeExpr {
  std::variant<NamedType, TupleType, ListType, OptionalType> node;
  Range range;
};

// ---- statements ----------------------------------------------------------------------------------------------------

struct Let { std::vector<Name> names; bool is_mut = false; TypePtr type; ExprPtr value; };  ///< several names: a tuple pattern
struct For { Name variable; ExprPtr sequence; BlockPtr body; };
struct Return { ExprPtr value; };
struct Check { ExprPtr condition; ExprPtr message; };
enum class AssignOp : std::uint8_t { set, add, sub, mul };
struct Assign { ExprPtr target; AssignOp op = AssignOp::set; ExprPtr value; };
struct ExprStmt { ExprPtr value; };

struct Stmt {
  std::variant<Let, For, Return, Check, Assign, ExprStmt> node;
  Range range;
};

/// The value of a block is `result`, if there is one.
struct Block {
  std::vector<Stmt> statements;
  ExprPtr result;
  Range range;
};

// ---- declarations --------------------------------------------------------------------------------------------------

struct Attr { Path name; std::vector<Arg> args; Range range; };
struct Param { Name name; TypePtr type; ExprPtr default_value; };

struct ConstDecl { Name name; TypePtr type; ExprPtr value; Range range; };

struct FnDecl {
  std::vector<Attr> attrs;
  Name name;
  std::vector<Param> params;
  TypePtr result_type;           ///< may be null
  std::vector<ExprPtr> where;
  BlockPtr body;                 ///< null: a primitive, provided by the compiler
  Range range;
};

struct StateDecl {
  enum class Kind : std::uint8_t { param, buffer, state } kind = Kind::param;
  std::vector<Attr> attrs;
  Name name;
  TypePtr type;
  ExprPtr when;   ///< may be null
  ExprPtr init;   ///< may be null
  Range range;
};

struct SubDecl {
  std::vector<Attr> attrs;
  Name name;
  std::optional<Name> index;  ///< `sub h[i in 0..n] = ...`
  ExprPtr sequence;
  ExprPtr when;
  ExprPtr value;
  Range range;
};

struct ModuleDecl {
  std::vector<Attr> attrs;
  Name name;
  std::vector<Param> params;
  std::vector<ExprPtr> where;
  std::vector<std::variant<StateDecl, SubDecl, ConstDecl, FnDecl>> items;
  Range range;
};

struct BindDecl { Name name; TypePtr type; ExprPtr default_value; ExprPtr where; std::optional<std::string> help; Range range; };
struct DimDecl { std::vector<Name> names; ExprPtr where; Range range; };
struct RecordDecl { Name name; std::vector<Param> fields; Range range; };
struct EnumDecl { Name name; std::vector<Name> values; Range range; };
struct TestDecl { std::string name; BlockPtr body; Range range; };

/// `a.b = value;`
struct Setting { Path key; ExprPtr value; Range range; };
/// `launch { ... }`, `data train { ... }`
struct Section { Name kind; std::optional<Name> label; std::vector<Setting> settings; std::vector<Section> sections; Range range; };

struct JobDecl {
  Name name;
  std::optional<Path> extends;
  std::vector<Setting> settings;
  std::vector<Section> sections;
  std::vector<ConstDecl> consts;
  std::vector<FnDecl> functions;
  Range range;
};

/// `import std.nn.{Linear, LayerNorm};`, `import std.nn;`, `import "other.dtj" as base;`
struct ImportDecl {
  std::optional<Path> path;
  std::vector<Name> selected;
  std::optional<std::string> file;
  Range file_range;
  std::optional<Name> alias;
  Range range;
};

using Decl = std::variant<BindDecl, ConstDecl, DimDecl, RecordDecl, EnumDecl, ModuleDecl, FnDecl, JobDecl, TestDecl>;

struct File {
  source::FileId id;
  std::int64_t edition = 1;
  std::vector<ImportDecl> imports;
  std::vector<Decl> decls;
};

/// The tree in a fixed indented form, for golden tests and `parse(print(x)) == parse(x)` checks: valid source text again.
std::string print(const File& file);

}  // namespace dtj::ast
