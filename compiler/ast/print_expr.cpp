#include <fmt/format.h>

#include <cmath>

#include "compiler/ast/printer.hpp"

// Expressions, types and statements.

namespace dtj::ast {
namespace {

Strength strength_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::pow: return Strength::pow;
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::floor_div:
    case BinaryOp::mod:
    case BinaryOp::matmul: return Strength::mul;
    case BinaryOp::add:
    case BinaryOp::sub: return Strength::add;
    case BinaryOp::range: return Strength::range;
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::divides: return Strength::compare;
    case BinaryOp::logical_and: return Strength::logical_and;
    case BinaryOp::logical_or: return Strength::logical_or;
  }
  return Strength::any;
}

Strength one_tighter(Strength strength) { return static_cast<Strength>(static_cast<std::uint8_t>(strength) + 1); }

Strength strength_of(const Expr& expr) {
  if (const auto* binary = std::get_if<Binary>(&expr.node)) return strength_of(binary->op);
  if (const auto* unary = std::get_if<Unary>(&expr.node)) {
    return unary->op == UnaryOp::neg ? Strength::unary : Strength::logical_not;
  }
  if (std::holds_alternative<Pipe>(expr.node) || std::holds_alternative<Cast>(expr.node)) return Strength::pipe;
  if (std::holds_alternative<If>(expr.node)) return Strength::any;
  const bool is_postfix = std::holds_alternative<Field>(expr.node) || std::holds_alternative<Call>(expr.node) ||
                          std::holds_alternative<Subscript>(expr.node);
  return is_postfix ? Strength::postfix : Strength::primary;
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '\n': quoted += "\\n"; break;
      case '\t': quoted += "\\t"; break;
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      default: quoted += c;
    }
  }
  return quoted + '"';
}

/// Shortest text that reads back as the same number.
std::string spell_float(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string spell_quantity(const QuantityLit& quantity) {
  std::string number = fmt::format("{}", quantity.value);
  // `0xA` is an integer, but `0.0xA` is zero of a unit that begins with x.
  if (quantity.unit.front() == 'x' && number.find_first_of(".e") == std::string::npos) number += ".0";
  return number + quantity.unit;
}

/// `a @ b` in the brackets of a type would read as mesh axes.
bool holds_bare_matmul(const Expr& expr) {
  const auto* binary = std::get_if<Binary>(&expr.node);
  if (binary == nullptr) return false;
  return binary->op == BinaryOp::matmul || holds_bare_matmul(*binary->lhs) || holds_bare_matmul(*binary->rhs);
}

}  // namespace

struct Printer::ExprVisitor {
  Printer& p;

  void operator()(const IntLit& node) const { p.out += fmt::format("{}", node.value); }
  void operator()(const FloatLit& node) const { p.out += spell_float(node.value); }
  void operator()(const QuantityLit& node) const { p.out += spell_quantity(node); }
  void operator()(const StringLit& node) const { p.out += quote(node.value); }
  void operator()(const BoolLit& node) const { p.out += node.value ? "true" : "false"; }
  void operator()(const NoneLit&) const { p.out += "none"; }
  void operator()(const PlaceholderRef& node) const { p.out += fmt::format("<{}>", node.name); }
  void operator()(const NameRef& node) const { p.out += node.name; }
  void operator()(const SelfRef&) const { p.out += "self"; }
  void operator()(const Field& node) const {
    p.print(*node.base, Strength::postfix);
    p.out += "." + node.name.text;
  }
  void operator()(const Call& node) const {
    p.print(*node.callee, Strength::postfix);
    p.print_args(node.args);
  }
  void operator()(const Subscript& node) const {
    p.print(*node.base, Strength::postfix);
    p.out += '[';
    for (std::size_t i = 0; i < node.indices.size(); ++i) {
      if (i != 0) p.out += ", ";
      p.print(node.indices[i]);
    }
    p.out += ']';
  }
  void operator()(const Unary& node) const {
    const bool is_neg = node.op == UnaryOp::neg;
    p.out += is_neg ? "-" : "not ";
    p.print(*node.operand, is_neg ? Strength::unary : Strength::logical_not);
  }
  void operator()(const Binary& node) const {
    const Strength strength = strength_of(node.op);
    const bool is_lhs_tighter = node.op == BinaryOp::pow || strength == Strength::compare;
    const bool is_rhs_tighter = node.op != BinaryOp::pow;
    p.print(*node.lhs, is_lhs_tighter ? one_tighter(strength) : strength);
    p.out += node.op == BinaryOp::range ? std::string("..") : fmt::format(" {} ", to_string(node.op));
    p.print(*node.rhs, is_rhs_tighter ? one_tighter(strength) : strength);
  }
  void operator()(const Pipe& node) const {
    p.print(*node.value, Strength::pipe);
    p.out += " |> ";
    p.print(*node.function, one_tighter(Strength::pipe));
  }
  void operator()(const Cast& node) const {
    p.print(*node.value, Strength::pipe);
    p.out += " as ";
    p.print(*node.type);
  }
  void operator()(const If& node) const { p.print_if(node); }
  void operator()(const TupleLit& node) const {
    p.out += '(';
    p.print_list(node.elements);
    p.out += node.elements.size() == 1 ? ",)" : ")";
  }
  void operator()(const ListLit& node) const {
    p.out += '[';
    p.print_list(node.elements);
    p.out += ']';
  }
  void operator()(const RecordLit& node) const { p.print_record(node); }
  void operator()(const ErrorExpr&) const { p.out += "<error>"; }
};

void Printer::print(const Expr& expr, Strength least) {
  const bool needs_brackets = strength_of(expr) < least;
  if (needs_brackets) out += '(';
  std::visit(ExprVisitor{*this}, expr.node);
  if (needs_brackets) out += ')';
}

void Printer::print_list(const std::vector<ExprPtr>& elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i != 0) out += ", ";
    print(*elements[i]);
  }
}

void Printer::print_record(const RecordLit& record) {
  out += '{';
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    if (i != 0) out += ", ";
    out += record.fields[i].first.text + " = ";
    print(*record.fields[i].second);
  }
  out += '}';
}

void Printer::print_args(const std::vector<Arg>& args) {
  out += '(';
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i != 0) out += ", ";
    if (args[i].name) out += args[i].name->text + " = ";
    print(*args[i].value);
  }
  out += ')';
}

void Printer::print(const Index& index) {
  switch (index.kind) {
    case Index::Kind::ellipsis: out += "..."; return;
    case Index::Kind::single: print(*index.single); return;
    case Index::Kind::slice:
      if (index.begin) print(*index.begin);
      out += ':';
      if (index.end) print(*index.end);
      return;
  }
}

void Printer::print_if(const If& node) {
  out += "if ";
  print(*node.condition);
  out += ' ';
  print(*node.then_block);
  if (!node.else_block) return;
  out += " else ";
  const Block& block = *node.else_block;
  const auto* chained = block.statements.empty() && block.result ? std::get_if<If>(&block.result->node) : nullptr;
  if (chained != nullptr) {
    print_if(*chained);
  } else {
    print(block);
  }
}

struct Printer::TypeVisitor {
  Printer& p;

  void operator()(const NamedType& node) const {
    p.out += node.base.to_string();
    if (node.dims) {
      p.out += '[';
      for (std::size_t i = 0; i < node.dims->size(); ++i) {
        if (i != 0) p.out += ", ";
        p.print((*node.dims)[i]);
      }
      p.out += ']';
    }
    if (node.unreduced.empty()) return;
    for (std::size_t i = 0; i < node.unreduced.size(); ++i) p.out += (i == 0 ? "!(" : ", ") + node.unreduced[i].text;
    p.out += ')';
  }
  void operator()(const TupleType& node) const {
    p.out += '(';
    for (std::size_t i = 0; i < node.elements.size(); ++i) {
      if (i != 0) p.out += ", ";
      p.print(*node.elements[i]);
    }
    p.out += ')';
  }
  void operator()(const ListType& node) const {
    p.out += '[';
    p.print(*node.element);
    p.out += ']';
  }
  void operator()(const OptionalType& node) const {
    p.print(*node.inner);
    p.out += '?';
  }
};

void Printer::print(const TypeExpr& type) { std::visit(TypeVisitor{*this}, type.node); }

void Printer::print(const DimExpr& dim) {
  if (dim.pack) {
    out += ".." + dim.pack->text;
    return;
  }
  if (holds_bare_matmul(*dim.size)) {
    out += '(';
    print(*dim.size);
    out += ')';
  } else {
    print(*dim.size, dim.axes.empty() ? Strength::any : Strength::mul);
  }
  for (std::size_t i = 0; i < dim.axes.size(); ++i) out += (i == 0 ? "@" : "*") + dim.axes[i].text;
}

struct Printer::StmtVisitor {
  Printer& p;

  void operator()(const Let& node) const {
    p.out += node.is_mut ? "mut " : "let ";
    if (node.names.size() > 1) p.out += '(';
    for (std::size_t i = 0; i < node.names.size(); ++i) p.out += (i == 0 ? "" : ", ") + node.names[i].text;
    if (node.names.size() > 1) p.out += ')';
    if (node.type) {
      p.out += ": ";
      p.print(*node.type);
    }
    p.out += " = ";
    p.print(*node.value);
    p.out += ';';
  }
  void operator()(const For& node) const {
    p.out += "for " + node.variable.text + " in ";
    p.print(*node.sequence);
    p.out += ' ';
    p.print(*node.body);
  }
  void operator()(const Return& node) const {
    p.out += "return ";
    p.print(*node.value);
    p.out += ';';
  }
  void operator()(const Check& node) const {
    p.out += "check ";
    p.print(*node.condition);
    if (node.message) {
      p.out += ", ";
      p.print(*node.message);
    }
    p.out += ';';
  }
  void operator()(const Assign& node) const {
    p.print(*node.target);
    switch (node.op) {
      case AssignOp::set: p.out += " = "; break;
      case AssignOp::add: p.out += " += "; break;
      case AssignOp::sub: p.out += " -= "; break;
      case AssignOp::mul: p.out += " *= "; break;
    }
    p.print(*node.value);
    p.out += ';';
  }
  void operator()(const ExprStmt& node) const {
    p.print(*node.value);
    p.out += ';';
  }
};

void Printer::print(const Stmt& stmt) { std::visit(StmtVisitor{*this}, stmt.node); }

void Printer::print(const Block& block) {
  if (block.statements.empty() && !block.result) {
    out += "{}";
    return;
  }
  out += "{\n";
  indent();
  for (const Stmt& stmt : block.statements) {
    line_start();
    print(stmt);
    out += '\n';
  }
  if (block.result) {
    line_start();
    print(*block.result);
    out += '\n';
  }
  dedent();
  line_start();
  out += '}';
}

}  // namespace dtj::ast
