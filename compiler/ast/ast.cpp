#include "compiler/ast/ast.hpp"

#include <gsl/gsl>

namespace dtj::ast {

std::string Path::to_string() const {
  std::string text;
  for (const Name& part : parts) {
    if (!text.empty()) text += '.';
    text += part.text;
  }
  return text;
}

std::string_view to_string(BinaryOp op) {
  switch (op) {
    case BinaryOp::pow: return "**";
    case BinaryOp::mul: return "*";
    case BinaryOp::div: return "/";
    case BinaryOp::floor_div: return "div";
    case BinaryOp::mod: return "%";
    case BinaryOp::matmul: return "@";
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::range: return "..";
    case BinaryOp::eq: return "==";
    case BinaryOp::ne: return "!=";
    case BinaryOp::lt: return "<";
    case BinaryOp::le: return "<=";
    case BinaryOp::gt: return ">";
    case BinaryOp::ge: return ">=";
    case BinaryOp::divides: return "divides";
    case BinaryOp::logical_and: return "and";
    case BinaryOp::logical_or: return "or";
  }
  Ensures(false);
  return "";
}

}  // namespace dtj::ast
