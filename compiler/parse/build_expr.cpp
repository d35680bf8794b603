#include <cctype>
#include <gsl/gsl>

#include "compiler/parse/builder.hpp"
#include "compiler/parse/literals.hpp"
#include "compiler/parse/mend.hpp"
#include "grammar/DtjLexer.h"

namespace dtj::parse {

using ast::BinaryOp;
using ast::ExprPtr;
using grammar::DtjLexer;
using source::Range;

namespace {

bool is_comparison(std::size_t type) {
  return (type >= DtjLexer::EQ && type <= DtjLexer::GT) || type == DtjLexer::DIVIDES;
}

std::optional<BinaryOp> binary_op(std::size_t type) {
  switch (type) {
    case DtjLexer::POW: return BinaryOp::pow;
    case DtjLexer::STAR: return BinaryOp::mul;
    case DtjLexer::SLASH: return BinaryOp::div;
    case DtjLexer::DIV: return BinaryOp::floor_div;
    case DtjLexer::PERCENT: return BinaryOp::mod;
    case DtjLexer::AT: return BinaryOp::matmul;
    case DtjLexer::PLUS: return BinaryOp::add;
    case DtjLexer::MINUS: return BinaryOp::sub;
    case DtjLexer::RANGE: return BinaryOp::range;
    case DtjLexer::EQ: return BinaryOp::eq;
    case DtjLexer::NE: return BinaryOp::ne;
    case DtjLexer::LT: return BinaryOp::lt;
    case DtjLexer::LE: return BinaryOp::le;
    case DtjLexer::GT: return BinaryOp::gt;
    case DtjLexer::GE: return BinaryOp::ge;
    case DtjLexer::DIVIDES: return BinaryOp::divides;
    case DtjLexer::AND:
    case DtjLexer::AND_AND: return BinaryOp::logical_and;
    case DtjLexer::OR:
    case DtjLexer::OR_OR: return BinaryOp::logical_or;
    default: return std::nullopt;
  }
}

}  // namespace

bool is_written(antlr4::tree::TerminalNode* node) { return node != nullptr && !is_made_up(*node->getSymbol()); }

Range Builder::range(const antlr4::ParserRuleContext* ctx) const {
  if (ctx == nullptr || ctx->start == nullptr) return {};
  const Range start = range_of(*ctx->start, file_.id());
  if (ctx->stop == nullptr || start.is_none) return start;
  const Range stop = range_of(*ctx->stop, file_.id());
  // A context that matched nothing stops before it starts.
  return stop.is_none || stop.end < start.begin ? Range::of(start.file, start.begin, start.begin)
                                                : source::join(start, stop);
}

Range Builder::range(antlr4::tree::TerminalNode* node) const {
  return node == nullptr ? Range{} : range_of(*node->getSymbol(), file_.id());
}

ExprPtr Builder::make(ast::Expr::Node node, Range range) const {
  auto expr = std::make_unique<ast::Expr>();
  expr->node = std::move(node);
  expr->range = range;
  return expr;
}

std::optional<ast::Name> Builder::build_name(DtjParser::NameContext* ctx) const {
  if (ctx == nullptr || ctx->children.empty()) return std::nullopt;
  auto* node = dynamic_cast<antlr4::tree::TerminalNode*>(ctx->children.front());
  if (!is_written(node) || ctx->exception != nullptr) return std::nullopt;
  return ast::Name{std::string(text(node)), range(node)};
}

std::vector<ast::Name> Builder::build_names(const std::vector<DtjParser::NameContext*>& names) const {
  std::vector<ast::Name> result;
  for (DtjParser::NameContext* ctx : names) {
    if (auto name = build_name(ctx)) result.push_back(std::move(*name));
  }
  return result;
}

ast::Path Builder::build_path(DtjParser::PathContext* ctx) const {
  ast::Path path;
  if (ctx == nullptr) return path;
  path.parts = build_names(ctx->name());
  path.range = range(ctx);
  return path;
}

std::optional<std::string> Builder::build_string(antlr4::tree::TerminalNode* node) {
  if (!is_written(node)) return std::nullopt;
  return decode_string(text(node), range(node), sink_);
}

std::string Builder::placeholder_name(antlr4::tree::TerminalNode* node) const {
  std::string name(text(node));
  Expects(name.size() > 2);
  name = name.substr(1, name.size() - 2);
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

ExprPtr Builder::build_expr(DtjParser::ExprContext* ctx) {
  if (ctx == nullptr || ctx->operation() == nullptr) return make(ast::ErrorExpr{}, range(ctx));
  ExprPtr value = build_operation(ctx->operation());
  for (DtjParser::ExprStepContext* step : ctx->exprStep()) {
    const Range whole = source::join(value->range, range(step));
    if (step->AS() != nullptr) {
      value = make(ast::Cast{std::move(value), build_type(step->type())}, whole);
    } else {
      value = make(ast::Pipe{std::move(value), build_operation(step->operation())}, whole);
    }
  }
  return value;
}

ExprPtr Builder::build_operation(DtjParser::OperationContext* ctx) {
  if (ctx == nullptr) return make(ast::ErrorExpr{}, {});
  if (ctx->primary() != nullptr) return build_primary(ctx->primary());
  const std::size_t num_operands = ctx->operation().size();
  if (num_operands == 0) return make(ast::ErrorExpr{}, range(ctx));
  if (ctx->args() != nullptr) {
    ExprPtr callee = build_operation(ctx->operation(0));
    return make(ast::Call{std::move(callee), build_args(ctx->args())}, range(ctx));
  }
  if (ctx->op == nullptr) return build_operation(ctx->operation(0));
  const std::size_t op = ctx->op->getType();
  if (op == DtjLexer::DOT) {
    ExprPtr base = build_operation(ctx->operation(0));
    auto name = build_name(ctx->name());
    if (!name) return make(ast::ErrorExpr{}, range(ctx));
    return make(ast::Field{std::move(base), std::move(*name)}, range(ctx));
  }
  if (op == DtjLexer::LBRACK) {
    ast::Subscript subscript{build_operation(ctx->operation(0)), {}};
    for (DtjParser::IndexContext* index : ctx->index()) {
      if (auto built = build_index(index)) subscript.indices.push_back(std::move(*built));
    }
    return make(std::move(subscript), range(ctx));
  }
  const bool is_prefix = ctx->start == ctx->op;
  if (!is_prefix) return build_binary(ctx);
  const auto unary = op == DtjLexer::MINUS ? ast::UnaryOp::neg : ast::UnaryOp::logical_not;
  return make(ast::Unary{unary, build_operation(ctx->operation(0))}, range(ctx));
}

ExprPtr Builder::build_binary(DtjParser::OperationContext* ctx) {
  const std::size_t type = ctx->op->getType();
  const auto op = binary_op(type);
  if (!op || ctx->operation().size() != 2) return make(ast::ErrorExpr{}, range(ctx));
  DtjParser::OperationContext* left = ctx->operation(0);
  const Range op_range = range_of(*ctx->op, file_.id());
  const bool is_chained = is_comparison(type) && left->op != nullptr && left->operation().size() == 2 &&
                          is_comparison(left->op->getType());
  if (is_chained) {
    sink_.report({diag::Kind::syntax_error, op_range, "comparisons do not chain"})
        .label(range_of(*left->op, file_.id()), "the first comparison")
        .help("write `a < b and b < c`");
    return make(ast::ErrorExpr{}, range(ctx));
  }
  ExprPtr lhs = build_operation(left);
  ExprPtr rhs = build_operation(ctx->operation(1));
  return make(ast::Binary{*op, std::move(lhs), std::move(rhs), op_range}, range(ctx));
}

ExprPtr Builder::build_primary(DtjParser::PrimaryContext* ctx) {
  const Range here = range(ctx);
  if (ctx->literal() != nullptr) return build_literal(ctx->literal());
  if (is_written(ctx->PLACEHOLDER())) return make(ast::PlaceholderRef{placeholder_name(ctx->PLACEHOLDER())}, here);
  if (ctx->name() != nullptr) {
    auto name = build_name(ctx->name());
    if (!name) return make(ast::ErrorExpr{}, here);
    return make(ast::NameRef{std::move(name->text)}, here);
  }
  if (ctx->SELF() != nullptr) return make(ast::SelfRef{}, here);
  if (ctx->ifExpr() != nullptr) return build_if(ctx->ifExpr());
  if (ctx->tuple() != nullptr) return build_tuple(ctx->tuple());
  if (ctx->list() != nullptr) {
    ast::ListLit list;
    for (DtjParser::ExprContext* element : ctx->list()->expr()) list.elements.push_back(build_expr(element));
    return make(std::move(list), here);
  }
  if (ctx->record() != nullptr) return build_record(ctx->record());
  return make(ast::ErrorExpr{}, here);
}

ExprPtr Builder::build_literal(DtjParser::LiteralContext* ctx) {
  const Range here = range(ctx);
  if (is_written(ctx->INT())) return make(decode_int(text(ctx->INT()), here, sink_), here);
  if (is_written(ctx->FLOAT())) return make(decode_float(text(ctx->FLOAT()), here, sink_), here);
  if (is_written(ctx->QUANTITY())) {
    return make(decode_quantity(join_quantity(text(ctx->QUANTITY())), here, sink_), here);
  }
  if (is_written(ctx->STRING())) return make(ast::StringLit{decode_string(text(ctx->STRING()), here, sink_)}, here);
  if (ctx->TRUE() != nullptr) return make(ast::BoolLit{true}, here);
  if (ctx->FALSE() != nullptr) return make(ast::BoolLit{false}, here);
  if (ctx->NONE() != nullptr) return make(ast::NoneLit{}, here);
  return make(ast::ErrorExpr{}, here);
}

ExprPtr Builder::build_if(DtjParser::IfExprContext* ctx) {
  ast::If node;
  node.condition = build_expr(ctx->expr());
  node.then_block = build_block(ctx->block(0));
  if (ctx->ifExpr() != nullptr) {
    node.else_block = std::make_unique<ast::Block>();
    node.else_block->result = build_if(ctx->ifExpr());
    node.else_block->range = node.else_block->result->range;
  } else if (ctx->ELSE() != nullptr) {
    node.else_block = build_block(ctx->block(1));
  }
  return make(std::move(node), range(ctx));
}

ExprPtr Builder::build_tuple(DtjParser::TupleContext* ctx) {
  const auto elements = ctx->expr();
  if (elements.size() == 1 && ctx->COMMA().empty()) return build_expr(elements.front());
  ast::TupleLit tuple;
  for (DtjParser::ExprContext* element : elements) tuple.elements.push_back(build_expr(element));
  return make(std::move(tuple), range(ctx));
}

ExprPtr Builder::build_record(DtjParser::RecordContext* ctx) {
  ast::RecordLit record;
  for (DtjParser::RecordEntryContext* entry : ctx->recordEntry()) {
    if (auto name = build_name(entry->name())) record.fields.emplace_back(std::move(*name), build_expr(entry->expr()));
  }
  return make(std::move(record), range(ctx));
}

std::vector<ast::Arg> Builder::build_args(DtjParser::ArgsContext* ctx) {
  std::vector<ast::Arg> args;
  for (DtjParser::ArgContext* arg : ctx->arg()) args.push_back({build_name(arg->name()), build_expr(arg->expr())});
  return args;
}

std::optional<ast::Index> Builder::build_index(DtjParser::IndexContext* ctx) {
  ast::Index index;
  index.range = range(ctx);
  const auto exprs = ctx->expr();
  if (ctx->DOTS() != nullptr) {
    index.kind = ast::Index::Kind::ellipsis;
  } else if (ctx->COLON() != nullptr) {
    index.kind = ast::Index::Kind::slice;
    for (DtjParser::ExprContext* expr : exprs) {
      const bool is_before = expr->start->getTokenIndex() < ctx->COLON()->getSymbol()->getTokenIndex();
      (is_before ? index.begin : index.end) = build_expr(expr);
    }
  } else if (!exprs.empty()) {
    index.single = build_expr(exprs.front());
  } else {
    return std::nullopt;
  }
  return index;
}

}  // namespace dtj::parse
