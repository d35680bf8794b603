#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "compiler/ir/graph.hpp"
#include "compiler/ir/text.hpp"

// graph "mlp" {
//   %0 = input(param, 0, "fc1.weight") : f32[256, 784]
//   %1 = reduce_sum(%0) {ints = [1]} : f32[256, 1]
//   %2 = fused(%1) {text = "elementwise"} : f32[256, 1] graph "r" {
//     ...
//   }
//   output(metric, 0, "loss") = %2
// }

namespace dtj::ir {
namespace {

constexpr std::string_view port_names[] = {"plain",  "param",         "state",         "gradient", "batch", "step",
                                           "metric", "learning_rate", "gradient_norm", "buffer",   "sample"};

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

/// Values are numbered as they appear, so that the text does not depend on when an input was added.
class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void print(const Graph& graph, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    const auto sink = std::back_inserter(out_);
    fmt::format_to(sink, "graph {} {{\n", quote(graph.name));
    for (const Input& input : graph.inputs())
      fmt::format_to(sink, "{}  {} = input({}, {}, {}) : {}\n", indent, define(input.value), to_string(input.port),
                     input.index, quote(input.name), to_string(graph.type(input.value)));
    for (const Node& node : graph.nodes()) print_node(graph, node, depth + 1);
    for (const Output& output : graph.outputs())
      fmt::format_to(sink, "{}  output({}, {}, {}) = {}\n", indent, to_string(output.port), output.index,
                     quote(output.name), use(output.value));
    fmt::format_to(sink, "{}}}\n", indent);
  }

 private:
  std::string define(ValueId value) {
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    numbers_[value] = number;
    return fmt::format("%{}", number);
  }
  std::string use(ValueId value) const { return fmt::format("%{}", numbers_.at(value)); }

  void print_node(const Graph& graph, const Node& node, int depth) {
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
    std::vector<std::string> operands, results, types;
    for (const ValueId operand : node.operands) operands.push_back(use(operand));
    for (const ValueId result : node.results) {
      results.push_back(define(result));
      types.push_back(to_string(graph.type(result)));
    }
    fmt::format_to(std::back_inserter(out_), "{} = {}({}){} : {}", fmt::join(results, ", "), to_string(node.op),
                   fmt::join(operands, ", "), attrs_text(node), fmt::join(types, ", "));
    if (node.region) {
      out_ += ' ';
      Printer(out_).print(*node.region, depth);
    } else {
      out_ += '\n';
    }
  }

  static std::string attrs_text(const Node& node) {
    std::vector<std::string> parts;
    const Attrs& attrs = node.attrs;
    if (!attrs.ints.empty()) parts.push_back(fmt::format("ints = [{}]", fmt::join(attrs.ints, ", ")));
    if (node.op == Op::constant || attrs.number != 0) parts.push_back(fmt::format("number = {}", attrs.number));
    if (!attrs.text.empty()) parts.push_back("text = " + quote(attrs.text));
    return parts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(parts, ", "));
  }

  std::string& out_;
  std::unordered_map<ValueId, std::uint32_t> numbers_;
};

}  // namespace

std::string to_string(const Type& type) {
  return fmt::format("{}{}", dtj::to_string(type.dtype), dtj::to_string(type.shape));
}

std::string_view to_string(Port port) {
  return port_names[static_cast<std::size_t>(port)];
}

std::optional<Port> parse_port(std::string_view name) {
  for (std::size_t i = 0; i < std::size(port_names); ++i)
    if (port_names[i] == name) return static_cast<Port>(i);
  return std::nullopt;
}

std::string print(const Graph& graph) {
  std::string out;
  Printer(out).print(graph, 0);
  return out;
}

}  // namespace dtj::ir
