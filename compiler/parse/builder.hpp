#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/token_list.hpp"
#include "grammar/DtjParser.h"

namespace dtj::parse {

using grammar::DtjParser;

/// Makes the tree from ANTLR's contexts. After a syntax error any child of a context may be missing: an expression
/// becomes an ErrorExpr, a type a NamedType without a name, and a declaration without a name is left out.
class Builder {
 public:
  Builder(const source::SourceFile& file, diag::Sink& sink) : file_(file), sink_(sink) {}

  std::unique_ptr<ast::File> build(DtjParser::FileContext* ctx);

 private:
  // build_decl.cpp
  void build_import(DtjParser::ImportDeclContext* ctx, ast::File& file);
  void build_top(DtjParser::TopDeclContext* ctx, ast::File& file);
  std::optional<ast::BindDecl> build_bind(DtjParser::BindDeclContext* ctx);
  std::optional<ast::ConstDecl> build_const(DtjParser::ConstDeclContext* ctx);
  std::optional<ast::RecordDecl> build_record_decl(DtjParser::RecordDeclContext* ctx);
  std::optional<ast::EnumDecl> build_enum(DtjParser::EnumDeclContext* ctx);
  std::optional<ast::ModuleDecl> build_module(DtjParser::ModuleDeclContext* ctx, std::vector<ast::Attr> attrs);
  void build_module_item(DtjParser::ModuleItemContext* ctx, ast::ModuleDecl& module);
  std::optional<ast::StateDecl> build_state(DtjParser::StateDeclContext* ctx);
  std::optional<ast::SubDecl> build_sub(DtjParser::SubDeclContext* ctx);
  std::optional<ast::FnDecl> build_fn(DtjParser::FnDeclContext* ctx, std::vector<ast::Attr> attrs);
  std::vector<ast::Attr> build_attrs(const std::vector<DtjParser::AttrContext*>& attrs);
  std::vector<ast::Param> build_params(DtjParser::ParamsContext* ctx);
  std::vector<ast::ExprPtr> build_where(DtjParser::WhereContext* ctx);
  std::optional<ast::JobDecl> build_job(DtjParser::JobDeclContext* ctx);
  std::optional<ast::Section> build_section(DtjParser::SectionContext* ctx);
  std::optional<ast::Setting> build_setting(DtjParser::SettingContext* ctx);

  // build_stmt.cpp
  ast::BlockPtr build_block(DtjParser::BlockContext* ctx);
  std::optional<ast::Stmt> build_stmt(DtjParser::StmtContext* ctx);
  std::optional<ast::Stmt> build_loop(DtjParser::LoopContext* ctx);
  void report_missing_semicolon(const ast::Stmt& stmt);
  ast::TypePtr build_type(DtjParser::TypeContext* ctx);
  ast::TypePtr build_simple_type(DtjParser::SimpleTypeContext* ctx);
  std::optional<ast::DimExpr> build_dim(DtjParser::DimContext* ctx);

  // build_expr.cpp
  ast::ExprPtr build_expr(DtjParser::ExprContext* ctx);
  /// Null for null.
  ast::ExprPtr build_optional(DtjParser::ExprContext* ctx) { return ctx == nullptr ? nullptr : build_expr(ctx); }
  ast::ExprPtr build_operation(DtjParser::OperationContext* ctx);
  ast::ExprPtr build_binary(DtjParser::OperationContext* ctx);
  ast::ExprPtr build_primary(DtjParser::PrimaryContext* ctx);
  ast::ExprPtr build_literal(DtjParser::LiteralContext* ctx);
  ast::ExprPtr build_if(DtjParser::IfExprContext* ctx);
  ast::ExprPtr build_tuple(DtjParser::TupleContext* ctx);
  ast::ExprPtr build_record(DtjParser::RecordContext* ctx);
  std::vector<ast::Arg> build_args(DtjParser::ArgsContext* ctx);
  std::optional<ast::Index> build_index(DtjParser::IndexContext* ctx);
  ast::ExprPtr make(ast::Expr::Node node, source::Range range) const;

  // shared
  source::Range range(const antlr4::ParserRuleContext* ctx) const;
  source::Range range(antlr4::tree::TerminalNode* node) const;
  std::string_view text(antlr4::tree::TerminalNode* node) const { return text_of(*node->getSymbol(), file_); }
  std::optional<ast::Name> build_name(DtjParser::NameContext* ctx) const;
  std::vector<ast::Name> build_names(const std::vector<DtjParser::NameContext*>& names) const;
  ast::Path build_path(DtjParser::PathContext* ctx) const;
  std::optional<std::string> build_string(antlr4::tree::TerminalNode* node);
  /// The name of a placeholder; one that was mended loses its capitals and hyphens.
  std::string placeholder_name(antlr4::tree::TerminalNode* node) const;

  const source::SourceFile& file_;
  diag::Sink& sink_;
};

/// A node that is there and was written.
bool is_written(antlr4::tree::TerminalNode* node);

}  // namespace dtj::parse
