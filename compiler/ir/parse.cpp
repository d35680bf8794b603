#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <unordered_map>

#include "compiler/ir/graph.hpp"
#include "compiler/ir/text.hpp"

// Reads the text of print.cpp, by recursive descent.

namespace dtj::ir {
namespace {

constexpr int max_depth = 16;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Graph> graph(int depth) {
    if (depth > max_depth) return wrong("regions are nested too deeply");
    Graph graph;
    std::unordered_map<std::int64_t, ValueId> values;
    DTJ_TRY(expect_word("graph"));
    DTJ_TRY_ASSIGN(graph.name, string());
    DTJ_TRY(expect('{'));
    while (!accept('}')) {
      if (peek() == '%') {
        DTJ_TRY(statement(graph, values, depth));
      } else {
        DTJ_TRY(output(graph, values));
      }
    }
    return graph;
  }

  Status end() {
    if (peek() != '\0') return wrong("text goes on after the graph");
    return {};
  }

 private:
  using Values = std::unordered_map<std::int64_t, ValueId>;

  struct PortName {
    Port port;
    std::uint32_t index;
    std::string name;
  };

  Status statement(Graph& graph, Values& values, int depth) {
    std::vector<std::int64_t> names;
    do {
      DTJ_TRY_ASSIGN(names.emplace_back(), value_name());
      if (values.count(names.back()) != 0) return wrong(fmt::format("%{} is defined twice", names.back()));
    } while (accept(','));
    DTJ_TRY(expect('='));
    DTJ_TRY_ASSIGN(const std::string_view op_name, word());
    if (op_name == "input") return input(graph, values, names);
    const std::optional<Op> op = parse_op(op_name);
    if (!op) return wrong(fmt::format("`{}` is not an op", op_name));
    return node(graph, values, names, *op, depth);
  }

  Status input(Graph& graph, Values& values, const std::vector<std::int64_t>& names) {
    if (names.size() != 1) return wrong("an input has one value");
    DTJ_TRY_ASSIGN(PortName port, port_name());
    DTJ_TRY(expect(':'));
    DTJ_TRY_ASSIGN(Type input_type, type());
    values[names[0]] = graph.add_input(std::move(input_type), port.port, port.index, std::move(port.name));
    return {};
  }

  Status node(Graph& graph, Values& values, const std::vector<std::int64_t>& names, Op op, int depth) {
    std::vector<ValueId> operands;
    DTJ_TRY(expect('('));
    while (!accept(')')) {
      if (!operands.empty()) DTJ_TRY(expect(','));
      DTJ_TRY_ASSIGN(operands.emplace_back(), use(values));
    }
    DTJ_TRY_ASSIGN(Attrs node_attrs, attrs());
    DTJ_TRY(expect(':'));
    std::vector<Type> types;
    const int type_line = line_;
    do {
      DTJ_TRY_ASSIGN(types.emplace_back(), type());
    } while (accept(','));
    if (types.size() != names.size())
      return wrong_at(type_line, fmt::format("{} values have {} types", names.size(), types.size()));
    std::shared_ptr<const Graph> region;
    if (op == Op::fused) {
      DTJ_TRY_ASSIGN(Graph inner, this->graph(depth + 1));
      region = std::make_shared<const Graph>(std::move(inner));
    }
    const NodeId id =
        graph.add_node(op, std::move(operands), std::move(types), std::move(node_attrs), {}, std::move(region));
    for (std::size_t i = 0; i < names.size(); ++i) values[names[i]] = graph.node(id).results[i];
    return {};
  }

  Status output(Graph& graph, const Values& values) {
    DTJ_TRY(expect_word("output"));
    DTJ_TRY_ASSIGN(PortName port, port_name());
    DTJ_TRY(expect('='));
    DTJ_TRY_ASSIGN(const ValueId value, use(values));
    graph.add_output(value, port.port, port.index, std::move(port.name));
    return {};
  }

  Result<Attrs> attrs() {
    Attrs attrs;
    if (!accept('{')) return attrs;
    do {
      DTJ_TRY_ASSIGN(const std::string_view key, word());
      DTJ_TRY(expect('='));
      if (key == "ints") {
        DTJ_TRY_ASSIGN(attrs.ints, ints());
      } else if (key == "number") {
        DTJ_TRY_ASSIGN(attrs.number, number<double>());
      } else if (key == "text") {
        DTJ_TRY_ASSIGN(attrs.text, string());
      } else {
        return wrong(fmt::format("`{}` is not an attribute", key));
      }
    } while (accept(','));
    DTJ_TRY(expect('}'));
    return attrs;
  }

  Result<PortName> port_name() {
    PortName out{};
    DTJ_TRY(expect('('));
    DTJ_TRY_ASSIGN(const std::string_view name, word());
    const std::optional<Port> port = parse_port(name);
    if (!port) return wrong(fmt::format("`{}` is not a port", name));
    out.port = *port;
    DTJ_TRY(expect(','));
    DTJ_TRY_ASSIGN(out.index, number<std::uint32_t>());
    DTJ_TRY(expect(','));
    DTJ_TRY_ASSIGN(out.name, string());
    DTJ_TRY(expect(')'));
    return out;
  }

  Result<Type> type() {
    Type out;
    DTJ_TRY_ASSIGN(const std::string_view name, word());
    const std::optional<DType> dtype = parse_dtype(name);
    if (!dtype) return wrong(fmt::format("`{}` is not a dtype", name));
    out.dtype = *dtype;
    DTJ_TRY_ASSIGN(out.shape, ints());
    return out;
  }

  Result<std::vector<std::int64_t>> ints() {
    std::vector<std::int64_t> out;
    DTJ_TRY(expect('['));
    while (!accept(']')) {
      if (!out.empty()) DTJ_TRY(expect(','));
      DTJ_TRY_ASSIGN(out.emplace_back(), number<std::int64_t>());
    }
    return out;
  }

  Result<ValueId> use(const Values& values) {
    DTJ_TRY_ASSIGN(const std::int64_t name, value_name());
    const auto found = values.find(name);
    if (found == values.end()) return wrong(fmt::format("%{} is not defined", name));
    return found->second;
  }

  Result<std::int64_t> value_name() {
    DTJ_TRY(expect('%'));
    return number<std::int64_t>();
  }

  template <class T>
  Result<T> number() {
    skip_space();
    T value{};
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) return wrong("a number is wanted");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  Result<std::string> string() {
    DTJ_TRY(expect('"'));
    std::string out;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c == '\\' && at_ + 1 < text_.size()) c = text_[++at_] == 'n' ? '\n' : text_[at_];
      out += c;
    }
    return wrong("a string has no end");
  }

  Result<std::string_view> word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == begin) return wrong("a word is wanted");
    return text_.substr(begin, at_ - begin);
  }

  Status expect_word(std::string_view wanted) {
    DTJ_TRY_ASSIGN(const std::string_view found, word());
    if (found != wanted) return wrong(fmt::format("`{}` is wanted, found `{}`", wanted, found));
    return {};
  }

  Status expect(char c) {
    if (!accept(c)) return wrong(fmt::format("`{}` is wanted", c));
    return {};
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void skip_space() {
    for (; at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0; ++at_)
      if (text_[at_] == '\n') ++line_;
  }

  tl::unexpected<Error> wrong(const std::string& message) const { return wrong_at(line_, message); }

  static tl::unexpected<Error> wrong_at(int line, const std::string& message) {
    return fail(ErrorCode::invalid_argument, fmt::format("line {}: {}", line, message));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

Result<Graph> parse(std::string_view text) {
  Reader reader(text);
  DTJ_TRY_ASSIGN(Graph graph, reader.graph(0));
  DTJ_TRY(reader.end());
  return graph;
}

}  // namespace dtj::ir
