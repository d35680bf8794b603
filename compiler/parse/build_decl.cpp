#include <gsl/gsl>

#include "compiler/parse/builder.hpp"
#include "grammar/DtjLexer.h"

namespace dtj::parse {

using grammar::DtjLexer;
using source::Range;

namespace {

template <class To, class From>
void append(To& to, std::optional<From> from) {
  if (from) to.push_back(std::move(*from));
}

}  // namespace

std::unique_ptr<ast::File> Builder::build(DtjParser::FileContext* ctx) {
  auto file = std::make_unique<ast::File>();
  file->id = file_.id();
  if (ctx == nullptr) return file;
  const DtjParser::TopDeclContext* first_decl = nullptr;
  for (antlr4::tree::ParseTree* child : ctx->children) {
    if (auto* import = dynamic_cast<DtjParser::ImportDeclContext*>(child)) {
      if (first_decl != nullptr) {
        sink_.report({diag::Kind::syntax_error, range(import), "an import stands before all declarations"})
            .label(range_of(*first_decl->start, file_.id()), "the first declaration");
      }
      build_import(import, *file);
    }
    if (auto* decl = dynamic_cast<DtjParser::TopDeclContext*>(child)) {
      if (first_decl == nullptr) first_decl = decl;
      build_top(decl, *file);
    }
  }
  return file;
}

void Builder::build_import(DtjParser::ImportDeclContext* ctx, ast::File& file) {
  ast::ImportDecl import;
  import.range = range(ctx);
  if (ctx->path() != nullptr) {
    import.path = build_path(ctx->path());
    if (import.path->parts.empty()) return;
    if (ctx->importSel() != nullptr) import.selected = build_names(ctx->importSel()->name());
  } else {
    import.file = build_string(ctx->STRING());
    import.file_range = range(ctx->STRING());
    if (!import.file) return;
  }
  import.alias = build_name(ctx->name());
  file.imports.push_back(std::move(import));
}

void Builder::build_top(DtjParser::TopDeclContext* ctx, ast::File& file) {
  auto& decls = file.decls;
  if (ctx->bindDecl() != nullptr) return append(decls, build_bind(ctx->bindDecl()));
  if (ctx->constDecl() != nullptr) return append(decls, build_const(ctx->constDecl()));
  if (ctx->recordDecl() != nullptr) return append(decls, build_record_decl(ctx->recordDecl()));
  if (ctx->enumDecl() != nullptr) return append(decls, build_enum(ctx->enumDecl()));
  if (ctx->moduleDecl() != nullptr) return append(decls, build_module(ctx->moduleDecl(), build_attrs(ctx->attr())));
  if (ctx->fnDecl() != nullptr) return append(decls, build_fn(ctx->fnDecl(), build_attrs(ctx->attr())));
  if (ctx->jobDecl() != nullptr) return append(decls, build_job(ctx->jobDecl()));
  if (auto* dim = ctx->dimDecl()) {
    ast::DimDecl node{build_names(dim->name()), build_optional(dim->expr()), range(dim)};
    if (!node.names.empty()) decls.emplace_back(std::move(node));
  } else if (auto* test = ctx->testDecl()) {
    if (auto name = build_string(test->STRING())) {
      decls.emplace_back(ast::TestDecl{std::move(*name), build_block(test->block()), range(test)});
    }
  }
}

std::optional<ast::BindDecl> Builder::build_bind(DtjParser::BindDeclContext* ctx) {
  if (!is_written(ctx->PLACEHOLDER())) return std::nullopt;
  ast::BindDecl node;
  node.name = {placeholder_name(ctx->PLACEHOLDER()), range(ctx->PLACEHOLDER())};
  node.type = build_type(ctx->type());
  for (DtjParser::ExprContext* expr : ctx->expr()) {
    const bool is_where = ctx->WHERE() != nullptr &&
                          ctx->WHERE()->getSymbol()->getTokenIndex() < expr->start->getTokenIndex();
    (is_where ? node.where : node.default_value) = build_expr(expr);
  }
  node.help = build_string(ctx->STRING());
  node.range = range(ctx);
  return node;
}

std::optional<ast::ConstDecl> Builder::build_const(DtjParser::ConstDeclContext* ctx) {
  auto name = build_name(ctx->name());
  if (!name) return std::nullopt;
  ast::ConstDecl node;
  node.name = std::move(*name);
  if (ctx->type() != nullptr) node.type = build_type(ctx->type());
  node.value = build_expr(ctx->expr());
  node.range = range(ctx);
  return node;
}

std::optional<ast::RecordDecl> Builder::build_record_decl(DtjParser::RecordDeclContext* ctx) {
  auto name = build_name(ctx->name());
  if (!name) return std::nullopt;
  ast::RecordDecl node{std::move(*name), {}, range(ctx)};
  for (DtjParser::RecordFieldContext* field : ctx->recordField()) {
    if (auto field_name = build_name(field->name())) {
      node.fields.push_back({std::move(*field_name), build_type(field->type()), build_optional(field->expr())});
    }
  }
  return node;
}

std::optional<ast::EnumDecl> Builder::build_enum(DtjParser::EnumDeclContext* ctx) {
  const auto names = ctx->name();
  if (names.empty()) return std::nullopt;
  auto name = build_name(names.front());
  if (!name) return std::nullopt;
  return ast::EnumDecl{std::move(*name), build_names({names.begin() + 1, names.end()}), range(ctx)};
}

std::vector<ast::Attr> Builder::build_attrs(const std::vector<DtjParser::AttrContext*>& attrs) {
  std::vector<ast::Attr> result;
  for (DtjParser::AttrContext* attr : attrs) {
    ast::Attr node;
    node.name = build_path(attr->path());
    if (attr->args() != nullptr) node.args = build_args(attr->args());
    node.range = range(attr);
    if (!node.name.parts.empty()) result.push_back(std::move(node));
  }
  return result;
}

std::vector<ast::Param> Builder::build_params(DtjParser::ParamsContext* ctx) {
  std::vector<ast::Param> params;
  if (ctx == nullptr) return params;
  for (DtjParser::ParamContext* param : ctx->param()) {
    auto name = build_name(param->name());
    if (!name) continue;
    ast::TypePtr type = param->type() == nullptr ? nullptr : build_type(param->type());
    params.push_back({std::move(*name), std::move(type), build_optional(param->expr())});
  }
  return params;
}

std::vector<ast::ExprPtr> Builder::build_where(DtjParser::WhereContext* ctx) {
  std::vector<ast::ExprPtr> conditions;
  if (ctx == nullptr) return conditions;
  for (DtjParser::ExprContext* expr : ctx->expr()) conditions.push_back(build_expr(expr));
  return conditions;
}

std::optional<ast::ModuleDecl> Builder::build_module(DtjParser::ModuleDeclContext* ctx, std::vector<ast::Attr> attrs) {
  auto name = build_name(ctx->name());
  if (!name) return std::nullopt;
  ast::ModuleDecl node;
  node.attrs = std::move(attrs);
  node.name = std::move(*name);
  node.params = build_params(ctx->params());
  node.where = build_where(ctx->where());
  for (DtjParser::ModuleItemContext* item : ctx->moduleItem()) build_module_item(item, node);
  node.range = range(ctx);
  return node;
}

void Builder::build_module_item(DtjParser::ModuleItemContext* ctx, ast::ModuleDecl& module) {
  if (ctx->constDecl() != nullptr) return append(module.items, build_const(ctx->constDecl()));
  auto attrs = build_attrs(ctx->attr());
  if (ctx->fnDecl() != nullptr) return append(module.items, build_fn(ctx->fnDecl(), std::move(attrs)));
  if (ctx->stateDecl() != nullptr) {
    auto state = build_state(ctx->stateDecl());
    if (state) state->attrs = std::move(attrs);
    return append(module.items, std::move(state));
  }
  if (ctx->subDecl() != nullptr) {
    auto sub = build_sub(ctx->subDecl());
    if (sub) sub->attrs = std::move(attrs);
    append(module.items, std::move(sub));
  }
}

std::optional<ast::StateDecl> Builder::build_state(DtjParser::StateDeclContext* ctx) {
  auto name = build_name(ctx->name());
  if (!name || ctx->kind == nullptr) return std::nullopt;
  ast::StateDecl node;
  node.name = std::move(*name);
  if (ctx->kind->getType() == DtjLexer::BUFFER) node.kind = ast::StateDecl::Kind::buffer;
  if (ctx->kind->getType() == DtjLexer::STATE) node.kind = ast::StateDecl::Kind::state;
  node.type = build_type(ctx->type());
  for (DtjParser::ExprContext* expr : ctx->expr()) {
    const bool is_init = ctx->ASSIGN() != nullptr &&
                         ctx->ASSIGN()->getSymbol()->getTokenIndex() < expr->start->getTokenIndex();
    (is_init ? node.init : node.when) = build_expr(expr);
  }
  node.range = range(ctx);
  return node;
}

std::optional<ast::SubDecl> Builder::build_sub(DtjParser::SubDeclContext* ctx) {
  const auto names = ctx->name();
  auto name = names.empty() ? std::nullopt : build_name(names.front());
  if (!name) return std::nullopt;
  ast::SubDecl node;
  node.name = std::move(*name);
  node.value = make(ast::ErrorExpr{}, range(ctx));
  if (ctx->IN() != nullptr && names.size() > 1) node.index = build_name(names[1]);
  for (DtjParser::ExprContext* expr : ctx->expr()) {
    const std::size_t at = expr->start->getTokenIndex();
    const auto follows = [at](antlr4::tree::TerminalNode* node_before) {
      return node_before != nullptr && node_before->getSymbol()->getTokenIndex() < at;
    };
    ast::ExprPtr& place = follows(ctx->ASSIGN()) ? node.value : follows(ctx->WHEN()) ? node.when : node.sequence;
    place = build_expr(expr);
  }
  if (!node.index || !node.sequence) {
    node.index.reset();
    node.sequence.reset();
  }
  node.range = range(ctx);
  return node;
}

std::optional<ast::FnDecl> Builder::build_fn(DtjParser::FnDeclContext* ctx, std::vector<ast::Attr> attrs) {
  auto name = build_name(ctx->name());
  if (!name) return std::nullopt;
  ast::FnDecl node;
  node.attrs = std::move(attrs);
  node.name = std::move(*name);
  node.params = build_params(ctx->params());
  if (ctx->type() != nullptr) node.result_type = build_type(ctx->type());
  node.where = build_where(ctx->where());
  if (!is_written(ctx->SEMI())) node.body = build_block(ctx->block());
  node.range = range(ctx);
  return node;
}

std::optional<ast::JobDecl> Builder::build_job(DtjParser::JobDeclContext* ctx) {
  auto name = build_name(ctx->name());
  if (!name) return std::nullopt;
  ast::JobDecl node;
  node.name = std::move(*name);
  if (ctx->path() != nullptr) node.extends = build_path(ctx->path());
  for (DtjParser::JobItemContext* item : ctx->jobItem()) {
    if (item->constDecl() != nullptr) append(node.consts, build_const(item->constDecl()));
    if (item->fnDecl() != nullptr) append(node.functions, build_fn(item->fnDecl(), build_attrs(item->attr())));
    if (item->setting() != nullptr) append(node.settings, build_setting(item->setting()));
    if (item->section() != nullptr) append(node.sections, build_section(item->section()));
  }
  node.range = range(ctx);
  return node;
}

std::optional<ast::Section> Builder::build_section(DtjParser::SectionContext* ctx) {
  const auto names = ctx->name();
  auto kind = names.empty() ? std::nullopt : build_name(names.front());
  if (!kind) return std::nullopt;
  ast::Section node;
  node.kind = std::move(*kind);
  if (names.size() > 1) node.label = build_name(names[1]);
  for (DtjParser::SectionItemContext* item : ctx->sectionItem()) {
    if (item->setting() != nullptr) append(node.settings, build_setting(item->setting()));
    if (item->section() != nullptr) append(node.sections, build_section(item->section()));
  }
  node.range = range(ctx);
  return node;
}

std::optional<ast::Setting> Builder::build_setting(DtjParser::SettingContext* ctx) {
  ast::Setting node;
  node.key = build_path(ctx->path());
  if (node.key.parts.empty()) return std::nullopt;
  node.value = build_expr(ctx->expr());
  node.range = range(ctx);
  return node;
}

}  // namespace dtj::parse
