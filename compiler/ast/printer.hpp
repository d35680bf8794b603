#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/ast.hpp"

namespace dtj::ast {

/// Binding strength of the operators, loosest first, as in the grammar.
enum class Strength : std::uint8_t {
  any,
  pipe,  // and casts
  logical_or,
  logical_and,
  logical_not,
  compare,
  range,
  add,
  mul,
  unary,
  pow,
  postfix,
  primary
};

/// Appends source text to `out`, two spaces a level.
class Printer {
 public:
  std::string out;

  void line_start() { out.append(2 * depth_, ' '); }
  void indent() { ++depth_; }
  void dedent() { --depth_; }

  /// With brackets where `expr` binds looser than `least`.
  void print(const Expr& expr, Strength least = Strength::any);
  void print(const TypeExpr& type);
  void print(const Block& block);
  void print_args(const std::vector<Arg>& args);

 private:
  void print(const Stmt& stmt);
  void print(const DimExpr& dim);
  void print(const Index& index);
  void print_if(const If& node);
  void print_record(const RecordLit& record);
  void print_list(const std::vector<ExprPtr>& elements);

  struct ExprVisitor;
  struct TypeVisitor;
  struct StmtVisitor;
  std::size_t depth_ = 0;
};

}  // namespace dtj::ast
