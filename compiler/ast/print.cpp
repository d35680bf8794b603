#include <fmt/format.h>

#include "compiler/ast/printer.hpp"

// Files and declarations.

namespace dtj::ast {
namespace {

class DeclPrinter {
 public:
  std::string print(const File& file) {
    p_.out += fmt::format("dtj {};\n", file.edition);
    for (const ImportDecl& import : file.imports) print(import);
    for (const Decl& decl : file.decls) {
      p_.out += '\n';
      std::visit([this](const auto& node) { print(node); }, decl);
    }
    return std::move(p_.out);
  }

 private:
  void print(const ImportDecl& node) {
    p_.out += "import ";
    if (node.path) p_.out += node.path->to_string();
    if (node.file) p_.print(Expr{StringLit{*node.file}, {}});
    for (std::size_t i = 0; i < node.selected.size(); ++i) {
      p_.out += (i == 0 ? ".{" : ", ") + node.selected[i].text;
    }
    if (!node.selected.empty()) p_.out += '}';
    if (node.alias) p_.out += " as " + node.alias->text;
    p_.out += ";\n";
  }

  void print(const BindDecl& node) {
    begin("bind <" + node.name.text + ">: ");
    p_.print(*node.type);
    optional(" = ", node.default_value);
    optional(" where ", node.where);
    if (node.help) {
      p_.out += ' ';
      p_.print(Expr{StringLit{*node.help}, {}});
    }
    end();
  }

  void print(const ConstDecl& node) {
    begin("const " + node.name.text);
    if (node.type) {
      p_.out += ": ";
      p_.print(*node.type);
    }
    optional(" = ", node.value);
    end();
  }

  void print(const DimDecl& node) {
    begin("dim ");
    names(node.names);
    optional(" where ", node.where);
    end();
  }

  void print(const RecordDecl& node) {
    begin("record " + node.name.text);
    open();
    for (const Param& field : node.fields) {
      begin(field.name.text);
      if (field.type) {
        p_.out += ": ";
        p_.print(*field.type);
      }
      optional(" = ", field.default_value);
      end();
    }
    close();
  }

  void print(const EnumDecl& node) {
    begin("enum " + node.name.text + " { ");
    names(node.values);
    p_.out += " }\n";
  }

  void print(const ModuleDecl& node) {
    attributes(node.attrs);
    begin("module " + node.name.text);
    parameters(node.params);
    conditions(node.where);
    open();
    for (const auto& item : node.items) std::visit([this](const auto& inner) { print(inner); }, item);
    close();
  }

  void print(const StateDecl& node) {
    attributes(node.attrs);
    switch (node.kind) {
      case StateDecl::Kind::param: begin("param "); break;
      case StateDecl::Kind::buffer: begin("buffer "); break;
      case StateDecl::Kind::state: begin("state "); break;
    }
    p_.out += node.name.text + ": ";
    p_.print(*node.type);
    optional(" when ", node.when);
    optional(" = ", node.init);
    end();
  }

  void print(const SubDecl& node) {
    attributes(node.attrs);
    begin("sub " + node.name.text);
    if (node.index) {
      p_.out += "[" + node.index->text + " in ";
      p_.print(*node.sequence);
      p_.out += ']';
    }
    optional(" when ", node.when);
    optional(" = ", node.value);
    end();
  }

  void print(const FnDecl& node) {
    attributes(node.attrs);
    begin("fn " + node.name.text);
    parameters(node.params, true);
    if (node.result_type) {
      p_.out += " -> ";
      p_.print(*node.result_type);
    }
    conditions(node.where);
    if (!node.body) return end();
    p_.out += ' ';
    p_.print(*node.body);
    p_.out += '\n';
  }

  void print(const TestDecl& node) {
    begin("test ");
    p_.print(Expr{StringLit{node.name}, {}});
    p_.out += ' ';
    p_.print(*node.body);
    p_.out += '\n';
  }

  void print(const JobDecl& node) {
    begin("job " + node.name.text);
    if (node.extends) p_.out += " extends " + node.extends->to_string();
    open();
    for (const ConstDecl& inner : node.consts) print(inner);
    for (const Setting& inner : node.settings) print(inner);
    for (const Section& inner : node.sections) print(inner);
    for (const FnDecl& inner : node.functions) print(inner);
    close();
  }

  void print(const Setting& node) {
    begin(node.key.to_string());
    optional(" = ", node.value);
    end();
  }

  void print(const Section& node) {
    begin(node.kind.text);
    if (node.label) p_.out += " " + node.label->text;
    open();
    for (const Setting& inner : node.settings) print(inner);
    for (const Section& inner : node.sections) print(inner);
    close();
  }

  void begin(const std::string& text) {
    p_.line_start();
    p_.out += text;
  }
  void end() { p_.out += ";\n"; }
  void open() {
    p_.out += " {\n";
    p_.indent();
  }
  void close() {
    p_.dedent();
    begin("}\n");
  }
  void optional(std::string_view before, const ExprPtr& expr) {
    if (!expr) return;
    p_.out += before;
    p_.print(*expr);
  }
  void names(const std::vector<Name>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) p_.out += (i == 0 ? "" : ", ") + list[i].text;
  }
  void conditions(const std::vector<ExprPtr>& where) {
    for (std::size_t i = 0; i < where.size(); ++i) optional(i == 0 ? " where " : ", ", where[i]);
  }
  void attributes(const std::vector<Attr>& attrs) {
    for (const Attr& attr : attrs) {
      begin("@" + attr.name.to_string());
      if (!attr.args.empty()) p_.print_args(attr.args);
      p_.out += '\n';
    }
  }
  void parameters(const std::vector<Param>& params, bool always = false) {
    if (params.empty() && !always) return;
    p_.out += '(';
    for (std::size_t i = 0; i < params.size(); ++i) {
      p_.out += (i == 0 ? "" : ", ") + params[i].name.text;
      if (params[i].type) {
        p_.out += ": ";
        p_.print(*params[i].type);
      }
      optional(" = ", params[i].default_value);
    }
    p_.out += ')';
  }

  Printer p_;
};

}  // namespace

std::string print(const File& file) { return DeclPrinter().print(file); }

}  // namespace dtj::ast
