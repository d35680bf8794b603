#include "compiler/lsp/symbols.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "compiler/check/builtins/primitives.hpp"
#include "compiler/parse/parse.hpp"

namespace dtj::lsp {
namespace {

using source::Range;

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// Walks a file with the scopes of the language.
class Resolver {
 public:
  Resolver(SymbolTable& table, source::SourceManager& sources) : table_(table), sources_(sources) {}

  void run(const ast::File& file) {
    push({});
    for (const std::string_view name : check::primitive_names()) declare_silently({SymbolKind::primitive, std::string(name), {}, {}, {}, {}});
    for (const std::size_t symbol : std::vector<std::size_t>(library("prelude"))) know(symbol);
    if (!library_files_.empty()) {
      const ast::File& prelude = *library_files_.front();
      for (const ast::ImportDecl& import : prelude.imports) import_names(import, false);
    }
    push({});
    for (const ast::ImportDecl& import : file.imports) import_names(import, true);
    for (const ast::Decl& decl : file.decls) std::visit([this](const auto& node) { declare_top(node); }, decl);
    for (const ast::Decl& decl : file.decls) std::visit([this](const auto& node) { walk(node); }, decl);
  }

 private:
  // ---- scopes
  void push(Range range) {
    names_.emplace_back();
    table_.scopes.push_back({range, {}});
    open_.push_back(table_.scopes.size() - 1);
  }
  void pop() {
    names_.pop_back();
    open_.pop_back();
  }
  std::size_t declare_silently(Symbol symbol) {
    const std::size_t index = table_.symbols.size();
    names_.back()[symbol.name] = index;
    table_.symbols.push_back(std::move(symbol));
    table_.scopes[open_.back()].symbols.push_back(index);
    return index;
  }
  std::size_t declare(SymbolKind kind, const ast::Name& name, Range whole, Range value = {}, std::vector<std::string> parameters = {}) {
    const std::size_t index = declare_silently({kind, name.text, name.range, whole, value, std::move(parameters)});
    table_.uses.push_back({name.range, index, {}, true});
    return index;
  }
  std::optional<std::size_t> look_up(const std::string& name) const {
    for (auto scope = names_.rbegin(); scope != names_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    return std::nullopt;
  }
  void use(const ast::Name& name, std::size_t symbol, Range result = {}) { table_.uses.push_back({name.range, symbol, result, false}); }

  /// A name that is declared elsewhere.
  void know(std::size_t symbol) {
    names_.back()[table_.symbols[symbol].name] = symbol;
    table_.scopes[open_.back()].symbols.push_back(symbol);
  }

  // ---- libraries
  static std::vector<std::string> names_of(const std::vector<ast::Param>& params) {
    std::vector<std::string> names;
    for (const ast::Param& param : params) names.push_back(param.name.text);
    return names;
  }

  const std::vector<std::size_t>& library(const std::string& module) {
    const auto known = std::find_if(table_.libraries.begin(), table_.libraries.end(), [&](const auto& row) { return row.first == module; });
    if (known != table_.libraries.end()) return known->second;
    std::vector<std::size_t> found;
    if (const auto text = source::find_stdlib(module)) {
      diag::Sink nothing;
      const source::FileId id = sources_.add("std/" + module + ".dtj", std::string(*text));
      library_files_.push_back(parse::parse(sources_.file(id), nothing));
      for (const ast::Decl& decl : library_files_.back()->decls) {
        if (auto symbol = describe(decl)) {
          found.push_back(table_.symbols.size());
          table_.symbols.push_back(std::move(*symbol));
        }
      }
    }
    table_.libraries.emplace_back(module, std::move(found));
    return table_.libraries.back().second;
  }

  static std::optional<Symbol> describe(const ast::Decl& decl) {
    using Result = std::optional<Symbol>;
    const auto symbol = [](SymbolKind kind, const auto& node, std::vector<std::string> parameters = {}) -> Result {
      return Symbol{kind, node.name.text, node.name.range, node.range, {}, std::move(parameters)};
    };
    return std::visit(Overloaded{[&](const ast::ModuleDecl& node) { return symbol(SymbolKind::module, node, names_of(node.params)); },
                                 [&](const ast::FnDecl& node) { return symbol(SymbolKind::function, node, names_of(node.params)); },
                                 [&](const ast::RecordDecl& node) { return symbol(SymbolKind::record, node, names_of(node.fields)); },
                                 [&](const ast::EnumDecl& node) { return symbol(SymbolKind::enumeration, node); },
                                 [&](const ast::ConstDecl& node) { return symbol(SymbolKind::constant, node); },
                                 [](const auto&) { return Result(); }},
                      decl);
  }

  void import_names(const ast::ImportDecl& import, bool is_own) {
    if (!import.path || import.path->parts.size() != 2 || import.path->parts.front().text != "std") return;
    const ast::Name& module = import.path->parts.back();
    const std::vector<std::size_t> members = library(module.text);
    for (const ast::Name& name : import.selected) {
      const auto found = std::find_if(members.begin(), members.end(), [&](std::size_t i) { return table_.symbols[i].name == name.text; });
      if (found == members.end()) continue;
      know(*found);
      if (is_own) use(name, *found);
    }
    if (!import.selected.empty() || !is_own) return;
    const ast::Name& as = import.alias ? *import.alias : module;
    const std::size_t symbol = declare(SymbolKind::library, as, import.range);
    namespaces_[symbol] = module.text;
  }

  // ---- declarations
  void declare_top(const ast::BindDecl& node) {
    Symbol symbol{SymbolKind::placeholder, "<" + node.name.text + ">", node.name.range, node.range, node.default_value ? node.default_value->range : Range{}, {}};
    const std::size_t index = declare_silently(std::move(symbol));
    table_.uses.push_back({node.name.range, index, {}, true});
  }
  void declare_top(const ast::ConstDecl& node) { declare(SymbolKind::constant, node.name, node.range, node.value ? node.value->range : Range{}); }
  void declare_top(const ast::DimDecl& node) {
    for (const ast::Name& name : node.names) declare(SymbolKind::dim, name, node.range);
  }
  void declare_top(const ast::RecordDecl& node) {
    reserve(declare(SymbolKind::record, node.name, node.range, {}, names_of(node.fields)), node.fields);
  }
  void declare_top(const ast::EnumDecl& node) { declare(SymbolKind::enumeration, node.name, node.range); }
  void declare_top(const ast::ModuleDecl& node) {
    reserve(declare(SymbolKind::module, node.name, node.range, {}, names_of(node.params)), node.params);
  }
  void declare_top(const ast::FnDecl& node) {
    reserve(declare(SymbolKind::function, node.name, node.range, {}, names_of(node.params)), node.params);
  }
  void declare_top(const ast::JobDecl& node) { declare(SymbolKind::job, node.name, node.range); }
  void declare_top(const ast::TestDecl&) {}

  void walk(const ast::BindDecl& node) {
    walk(node.default_value);
    walk(node.where);
  }
  void walk(const ast::ConstDecl& node) {
    walk(node.type);
    walk(node.value);
  }
  void walk(const ast::DimDecl& node) { walk(node.where); }
  void walk(const ast::RecordDecl& node) {
    for (const ast::Param& field : node.fields) {
      walk(field.type);
      walk(field.default_value);
    }
  }
  void walk(const ast::EnumDecl&) {}
  void walk(const ast::TestDecl& node) { walk(node.body); }

  /// Parameters have their symbols before anything is walked: a call may name them above their declaration.
  void reserve(std::size_t owner, const std::vector<ast::Param>& params) {
    for (const ast::Param& param : params) {
      const Range whole = param.type ? source::join(param.name.range, param.type->range) : param.name.range;
      fields_[owner][param.name.text] = table_.symbols.size();
      table_.uses.push_back({param.name.range, table_.symbols.size(), {}, true});
      table_.symbols.push_back({SymbolKind::parameter, param.name.text, param.name.range, whole, {}, {}});
    }
  }

  void declare_parameters(const std::vector<ast::Param>& params, std::optional<std::size_t> owner) {
    for (const ast::Param& param : params) {
      walk_parameter_type(param.type);
      walk(param.default_value);
      if (owner) know(fields_[*owner][param.name.text]);
    }
  }

  void walk(const ast::ModuleDecl& node) {
    const auto owner = look_up(node.name.text);
    attributes(node.attrs);
    push(node.range);
    declare_parameters(node.params, owner);
    for (const auto& where : node.where) walk(where);
    std::map<std::string, std::size_t> members;
    for (const auto& item : node.items) {
      std::visit([&](const auto& inner) { members[inner.name.text] = declare_member(inner); }, item);
    }
    selves_.push_back(std::move(members));
    for (const auto& item : node.items) std::visit([this](const auto& inner) { walk(inner); }, item);
    selves_.pop_back();
    pop();
  }
  std::size_t declare_member(const ast::StateDecl& node) { return declare(SymbolKind::member, node.name, node.range); }
  std::size_t declare_member(const ast::SubDecl& node) { return declare(SymbolKind::member, node.name, node.range, node.value ? node.value->range : Range{}); }
  std::size_t declare_member(const ast::ConstDecl& node) { return declare(SymbolKind::constant, node.name, node.range, node.value ? node.value->range : Range{}); }
  std::size_t declare_member(const ast::FnDecl& node) {
    const std::size_t index = declare(SymbolKind::function, node.name, node.range, {}, names_of(node.params));
    reserve(index, node.params);
    return index;
  }

  void walk(const ast::StateDecl& node) {
    attributes(node.attrs);
    walk(node.type);
    walk(node.when);
    walk(node.init);
  }
  void walk(const ast::SubDecl& node) {
    attributes(node.attrs);
    walk(node.sequence);
    walk(node.when);
    push(node.range);
    if (node.index) declare(SymbolKind::variable, *node.index, node.index->range);
    walk(node.value);
    pop();
  }
  void walk(const ast::FnDecl& node) {
    const auto owner = look_up(node.name.text);
    attributes(node.attrs);
    push(node.range);
    declare_parameters(node.params, owner);
    walk_parameter_type(node.result_type);
    for (const auto& where : node.where) walk(where);
    walk(node.body);
    pop();
  }
  void attributes(const std::vector<ast::Attr>& attrs) {
    for (const ast::Attr& attr : attrs) walk_arguments(attr.args, std::nullopt);
  }

  void walk(const ast::JobDecl& node) {
    push(node.range);
    for (const ast::ConstDecl& inner : node.consts) declare_top(inner);
    for (const ast::FnDecl& inner : node.functions) declare_top(inner);
    std::map<std::string, std::size_t> data;
    for (const ast::Section& section : node.sections) {
      if (section.kind.text != "data" || !section.label) continue;
      const std::size_t index = table_.symbols.size();
      table_.symbols.push_back({SymbolKind::data, section.label->text, section.label->range, section.range, {}, {}});
      table_.uses.push_back({section.label->range, index, {}, true});
      data[section.label->text] = index;
    }
    for (const ast::ConstDecl& inner : node.consts) walk(inner);
    for (const ast::Setting& inner : node.settings) walk(inner.value);
    for (const ast::Section& inner : node.sections) walk_section(inner, data);
    for (const ast::FnDecl& inner : node.functions) walk(inner);
    pop();
  }
  void walk_section(const ast::Section& section, const std::map<std::string, std::size_t>& data) {
    for (const ast::Setting& setting : section.settings) {
      const auto* name = setting.value ? std::get_if<ast::NameRef>(&setting.value->node) : nullptr;
      const auto target = name != nullptr && setting.key.to_string() == "on" ? data.find(name->name) : data.end();
      if (target != data.end()) {
        use({name->name, setting.value->range}, target->second);
      } else {
        walk(setting.value);
      }
    }
    for (const ast::Section& inner : section.sections) walk_section(inner, data);
  }

  // ---- types
  void walk(const ast::TypePtr& type) {
    if (type) walk_type(*type, false);
  }
  /// A name of a dim that nothing declares is declared by the first type of a signature that has it.
  void walk_parameter_type(const ast::TypePtr& type) {
    if (type) walk_type(*type, true);
  }
  void walk_type(const ast::TypeExpr& type, bool declares) {
    std::visit(Overloaded{[&](const ast::NamedType& node) { walk_named(node, declares); },
                          [&](const ast::TupleType& node) {
                            for (const auto& element : node.elements) walk_type(*element, declares);
                          },
                          [&](const ast::ListType& node) { walk_type(*node.element, declares); },
                          [&](const ast::OptionalType& node) { walk_type(*node.inner, declares); }},
               type.node);
  }
  void walk_named(const ast::NamedType& node, bool declares) {
    if (node.base.parts.size() == 1) {
      if (const auto symbol = look_up(node.base.parts.front().text)) use(node.base.parts.front(), *symbol);
    }
    if (!node.dims) return;
    for (const ast::DimExpr& dim : *node.dims) {
      if (dim.pack) name_dim(*dim.pack, declares);
      const auto* name = dim.size ? std::get_if<ast::NameRef>(&dim.size->node) : nullptr;
      if (name != nullptr) {
        name_dim({name->name, dim.size->range}, declares);
      } else {
        walk(dim.size);
      }
    }
  }
  void name_dim(const ast::Name& name, bool declares) {
    if (const auto symbol = look_up(name.text)) {
      use(name, *symbol);
    } else if (declares) {
      declare(SymbolKind::dim, name, name.range);
    }
  }

  // ---- statements
  void walk(const ast::BlockPtr& block) {
    if (!block) return;
    push(block->range);
    for (const ast::Stmt& statement : block->statements) std::visit([&](const auto& node) { walk_statement(node, statement.range); }, statement.node);
    walk(block->result);
    pop();
  }
  void walk_statement(const ast::Let& node, Range whole) {
    walk(node.type);
    walk(node.value);
    const Range value = node.names.size() == 1 && node.value ? node.value->range : Range{};
    for (const ast::Name& name : node.names) declare(SymbolKind::variable, name, whole, value);
  }
  void walk_statement(const ast::For& node, Range) {
    walk(node.sequence);
    push(node.body ? node.body->range : Range{});
    declare(SymbolKind::variable, node.variable, node.variable.range);
    walk(node.body);
    pop();
  }
  void walk_statement(const ast::Return& node, Range) { walk(node.value); }
  void walk_statement(const ast::Check& node, Range) {
    walk(node.condition);
    walk(node.message);
  }
  void walk_statement(const ast::Assign& node, Range) {
    walk(node.target);
    walk(node.value);
  }
  void walk_statement(const ast::ExprStmt& node, Range) { walk(node.value); }

  // ---- expressions
  void walk(const ast::ExprPtr& expr) {
    if (expr) walk_expr(*expr, {});
  }
  void walk_arguments(const std::vector<ast::Arg>& args, std::optional<std::size_t> callee) {
    for (const ast::Arg& arg : args) {
      if (arg.name && callee) {
        const auto known = fields_.find(*callee);
        if (known != fields_.end()) {
          if (const auto field = known->second.find(arg.name->text); field != known->second.end()) use(*arg.name, field->second);
        }
      }
      walk(arg.value);
    }
  }
  std::optional<std::size_t> symbol_of(const ast::Expr& expr) const {
    if (const auto* name = std::get_if<ast::NameRef>(&expr.node)) return look_up(name->name);
    return std::nullopt;
  }
  void walk_field(const ast::Field& node, Range result) {
    if (std::holds_alternative<ast::SelfRef>(node.base->node) && !selves_.empty()) {
      const auto member = selves_.back().find(node.name.text);
      if (member != selves_.back().end()) use(node.name, member->second, result);
      return;
    }
    walk(node.base);
    const auto base = symbol_of(*node.base);
    const auto module = base ? namespaces_.find(*base) : namespaces_.end();
    if (module == namespaces_.end()) return;
    for (const std::size_t member : library(module->second)) {
      if (table_.symbols[member].name == node.name.text) use(node.name, member, result);
    }
  }
  /// `result`: of the call or pipe whose function this expression is.
  void walk_expr(const ast::Expr& expr, Range result) {
    std::visit(Overloaded{[&](const ast::PlaceholderRef& node) {
                            if (const auto symbol = look_up("<" + node.name + ">")) use({node.name, expr.range}, *symbol);
                          },
                          [&](const ast::NameRef& node) {
                            if (const auto symbol = look_up(node.name)) use({node.name, expr.range}, *symbol, result);
                          },
                          [&](const ast::Field& node) { walk_field(node, result); },
                          [&](const ast::Call& node) {
                            walk_expr(*node.callee, result.is_none ? expr.range : result);
                            walk_arguments(node.args, symbol_of(*node.callee));
                          },
                          [&](const ast::Subscript& node) {
                            walk(node.base);
                            for (const ast::Index& index : node.indices) {
                              walk(index.single);
                              walk(index.begin);
                              walk(index.end);
                            }
                          },
                          [&](const ast::Unary& node) { walk(node.operand); },
                          [&](const ast::Binary& node) {
                            walk(node.lhs);
                            walk(node.rhs);
                          },
                          [&](const ast::Pipe& node) {
                            walk(node.value);
                            if (node.function) walk_expr(*node.function, expr.range);
                          },
                          [&](const ast::Cast& node) {
                            walk(node.value);
                            walk(node.type);
                          },
                          [&](const ast::If& node) {
                            walk(node.condition);
                            walk(node.then_block);
                            walk(node.else_block);
                          },
                          [&](const ast::TupleLit& node) {
                            for (const auto& element : node.elements) walk(element);
                          },
                          [&](const ast::ListLit& node) {
                            for (const auto& element : node.elements) walk(element);
                          },
                          [&](const ast::RecordLit& node) {
                            for (const auto& [name, value] : node.fields) walk(value);
                          },
                          [](const auto&) {}},
               expr.node);
  }

  SymbolTable& table_;
  source::SourceManager& sources_;
  std::vector<std::map<std::string, std::size_t>> names_;
  std::vector<std::size_t> open_;                              ///< scopes of the table, one per entry of names_
  std::vector<std::map<std::string, std::size_t>> selves_;     ///< members of the modules around
  std::map<std::size_t, std::string> namespaces_;              ///< symbol of `import std.nn;` -> "nn"
  std::map<std::size_t, std::map<std::string, std::size_t>> fields_;  ///< parameters of what can be called
  std::vector<std::unique_ptr<ast::File>> library_files_;
};

}  // namespace

const Use* SymbolTable::find(std::uint32_t offset) const {
  const Use* best = nullptr;
  for (const Use& use : uses) {
    if (use.range.is_none || use.range.file.value != 0 || offset < use.range.begin || offset > use.range.end) continue;
    const bool is_narrower = best == nullptr || use.range.end - use.range.begin < best->range.end - best->range.begin;
    if (is_narrower) best = &use;
  }
  return best;
}

std::vector<const Symbol*> SymbolTable::visible(std::uint32_t offset) const {
  std::vector<const Symbol*> found;
  std::set<std::string_view> seen;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    const bool is_inside = scope->range.is_none || (offset >= scope->range.begin && offset <= scope->range.end);
    if (!is_inside) continue;
    for (const std::size_t index : scope->symbols) {
      if (seen.insert(symbols[index].name).second) found.push_back(&symbols[index]);
    }
  }
  return found;
}

std::vector<const Symbol*> SymbolTable::members_of(std::string_view library) const {
  std::vector<const Symbol*> members;
  for (const auto& [module, list] : libraries) {
    if (module != library) continue;
    for (const std::size_t index : list) members.push_back(&symbols[index]);
  }
  return members;
}

SymbolTable resolve(const ast::File& file, source::SourceManager& sources) {
  SymbolTable table;
  Resolver(table, sources).run(file);
  return table;
}

}  // namespace dtj::lsp
