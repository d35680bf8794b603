#include <gsl/gsl>

#include "compiler/parse/builder.hpp"
#include "grammar/DtjLexer.h"

namespace dtj::parse {

using grammar::DtjLexer;
using source::Range;

// ---- blocks and statements -----------------------------------------------------------------------------------------

void Builder::report_missing_semicolon(const ast::Stmt& stmt) {
  const Range gap = Range::of(file_.id(), stmt.range.end, stmt.range.end);
  sink_.report({diag::Kind::syntax_error, gap, "expected `;` after this statement"}).fix(gap, ";");
}

ast::BlockPtr Builder::build_block(DtjParser::BlockContext* ctx) {
  auto block = std::make_unique<ast::Block>();
  if (ctx == nullptr) return block;
  block->range = range(ctx);
  // The last statement, while no `;` has followed it.
  std::optional<ast::Stmt> open;
  for (antlr4::tree::ParseTree* child : ctx->children) {
    auto* terminal = dynamic_cast<antlr4::tree::TerminalNode*>(child);
    const bool is_semicolon = terminal != nullptr && terminal->getSymbol()->getType() == DtjLexer::SEMI;
    if (is_semicolon && open) {
      block->statements.push_back(std::move(*open));
      open.reset();
    }
    if (auto* loop = dynamic_cast<DtjParser::LoopContext*>(child)) {
      if (auto stmt = build_loop(loop)) block->statements.push_back(std::move(*stmt));
    }
    if (auto* stmt = dynamic_cast<DtjParser::StmtContext*>(child)) open = build_stmt(stmt);
  }
  if (!open) return block;
  if (auto* expr = std::get_if<ast::ExprStmt>(&open->node)) {
    block->result = std::move(expr->value);
  } else {
    // After a syntax error the statement may not be whole, and the error has been reported.
    if (ctx->exception == nullptr && is_written(ctx->RBRACE())) report_missing_semicolon(*open);
    block->statements.push_back(std::move(*open));
  }
  return block;
}

std::optional<ast::Stmt> Builder::build_loop(DtjParser::LoopContext* ctx) {
  auto name = build_name(ctx->name());
  if (!name) return std::nullopt;
  return ast::Stmt{ast::For{std::move(*name), build_expr(ctx->expr()), build_block(ctx->block())}, range(ctx)};
}

std::optional<ast::Stmt> Builder::build_stmt(DtjParser::StmtContext* ctx) {
  const Range here = range(ctx);
  if (ctx->LET() != nullptr || ctx->MUT() != nullptr) {
    ast::Let let;
    let.is_mut = ctx->MUT() != nullptr;
    if (ctx->pattern() != nullptr) let.names = build_names(ctx->pattern()->name());
    if (auto name = build_name(ctx->name())) let.names.push_back(std::move(*name));
    if (let.names.empty()) return std::nullopt;
    if (ctx->type() != nullptr) let.type = build_type(ctx->type());
    let.value = build_expr(ctx->expr(0));
    return ast::Stmt{std::move(let), here};
  }
  if (ctx->RETURN() != nullptr) return ast::Stmt{ast::Return{build_expr(ctx->expr(0))}, here};
  if (ctx->CHECK() != nullptr) {
    return ast::Stmt{ast::Check{build_expr(ctx->expr(0)), build_optional(ctx->expr(1))}, here};
  }
  if (ctx->assignOp() == nullptr) return ast::Stmt{ast::ExprStmt{build_expr(ctx->expr(0))}, here};
  ast::Assign assign;
  assign.target = build_expr(ctx->expr(0));
  assign.value = build_expr(ctx->expr(1));
  switch (ctx->assignOp()->start->getType()) {
    case DtjLexer::PLUS_ASSIGN: assign.op = ast::AssignOp::add; break;
    case DtjLexer::MINUS_ASSIGN: assign.op = ast::AssignOp::sub; break;
    case DtjLexer::TIMES_ASSIGN: assign.op = ast::AssignOp::mul; break;
    default: assign.op = ast::AssignOp::set;
  }
  return ast::Stmt{std::move(assign), here};
}

// ---- types ---------------------------------------------------------------------------------------------------------

ast::TypePtr Builder::build_type(DtjParser::TypeContext* ctx) {
  ast::TypePtr type = build_simple_type(ctx == nullptr ? nullptr : ctx->simpleType());
  if (ctx == nullptr) return type;
  for (antlr4::tree::TerminalNode* mark : ctx->QUEST()) {
    const Range whole = source::join(type->range, range(mark));
    auto optional = std::make_unique<ast::TypeExpr>();
    optional->node = ast::OptionalType{std::move(type)};
    optional->range = whole;
    type = std::move(optional);
  }
  return type;
}

ast::TypePtr Builder::build_simple_type(DtjParser::SimpleTypeContext* ctx) {
  auto type = std::make_unique<ast::TypeExpr>();
  type->range = range(ctx);
  // A type that is not there is reported; whatever stands in its place suits `any`.
  type->node = ast::NamedType{{{ast::Name{"any", type->range}}, type->range}, {}, {}};
  if (ctx == nullptr) return type;
  if (ctx->path() != nullptr) {
    ast::NamedType named;
    named.base = build_path(ctx->path());
    if (named.base.parts.empty()) return type;
    if (ctx->dims() != nullptr) {
      named.dims.emplace();
      for (DtjParser::DimContext* dim : ctx->dims()->dim()) {
        if (auto built = build_dim(dim)) named.dims->push_back(std::move(*built));
      }
    }
    if (ctx->unreduced() != nullptr) named.unreduced = build_names(ctx->unreduced()->name());
    type->node = std::move(named);
  } else if (ctx->LPAREN() != nullptr) {
    ast::TupleType tuple;
    for (DtjParser::TypeContext* element : ctx->type()) tuple.elements.push_back(build_type(element));
    type->node = std::move(tuple);
  } else if (ctx->LBRACK() != nullptr) {
    type->node = ast::ListType{build_type(ctx->type(0))};
  }
  return type;
}

namespace {

/// `size @ axis * axis` reads as products: the context of `size`, and the axes from left to right.
struct AxesSplit {
  DtjParser::OperationContext* size = nullptr;
  std::vector<DtjParser::NameContext*> axes;
};

DtjParser::NameContext* as_name(DtjParser::OperationContext* ctx) {
  return ctx != nullptr && ctx->primary() != nullptr ? ctx->primary()->name() : nullptr;
}

std::optional<AxesSplit> split_axes(DtjParser::OperationContext* ctx) {
  AxesSplit split;
  while (ctx != nullptr && ctx->op != nullptr && ctx->operation().size() == 2) {
    const std::size_t op = ctx->op->getType();
    DtjParser::NameContext* axis = as_name(ctx->operation(1));
    if (axis == nullptr || (op != DtjLexer::STAR && op != DtjLexer::AT)) return std::nullopt;
    split.axes.insert(split.axes.begin(), axis);
    ctx = ctx->operation(0);
    if (op == DtjLexer::AT) {
      split.size = ctx;
      return split;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ast::DimExpr> Builder::build_dim(DtjParser::DimContext* ctx) {
  ast::DimExpr dim;
  dim.range = range(ctx);
  if (ctx->RANGE() != nullptr) {
    dim.pack = build_name(ctx->name());
    return dim.pack ? std::optional<ast::DimExpr>(std::move(dim)) : std::nullopt;
  }
  const bool is_plain = ctx->expr() != nullptr && ctx->expr()->exprStep().empty();
  const auto split = is_plain ? split_axes(ctx->expr()->operation()) : std::nullopt;
  if (split) {
    dim.size = build_operation(split->size);
    dim.axes = build_names(split->axes);
  } else {
    dim.size = build_expr(ctx->expr());
  }
  return dim;
}

}  // namespace dtj::parse
