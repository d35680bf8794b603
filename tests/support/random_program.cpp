#include "tests/support/random_program.hpp"

#include <random>
#include <vector>

namespace dtj::test {
namespace {

/// Follows DtjParser.g4 rule by rule.
class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  std::string file() {
    std::string text = "dtj 1;\n";
    for (std::size_t i = pick(3); i > 0; --i) text += import_decl() + space();
    for (std::size_t i = 1 + pick(6); i > 0; --i) text += declaration() + space();
    return text;
  }

 private:
  std::size_t pick(std::size_t bound) { return random_() % bound; }
  bool maybe() { return pick(3) == 0; }
  std::string space() { return pick(3) == 0 ? "\n\n" : pick(4) == 0 ? " " : "\n"; }

  std::string one_of(std::initializer_list<const char*> words) { return *(words.begin() + pick(words.size())); }
  template <class Make>
  std::string list(std::size_t least, std::size_t most, const char* separator, Make make) {
    std::string text;
    const std::size_t count = least + pick(most - least + 1);
    for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? separator : "") + make();
    return text;
  }

  std::string name() { return one_of({"a", "b", "c_1", "Linear", "x", "where", "when", "test", "state", "dim", "sub", "weight_decay", "param"}); }
  std::string path() { return list(1, 3, ".", [this] { return name(); }); }
  std::string string() { return one_of({"\"\"", "\"text\"", "\"b t (h d) -> b h t d\"", "\"a \\\" // b\"", "\"/* x */\""}); }

  std::string literal() {
    if (pick(5) == 0) return string();
    return one_of({"0", "1", "524_288", "0xff", "1.5", "1e-3", "2.0e10", "30min", "16GiB", "2.5%", "64tok", "true", "false", "none"});
  }

  std::string primary(int depth) {
    switch (depth <= 0 ? pick(3) : pick(11)) {
      case 0: return literal();
      case 1: return name();
      case 2: return one_of({"<data>", "self", "x"});
      case 3: return "(" + expr(depth - 1) + ")";
      case 4: return "(" + expr(depth - 1) + ",)";
      case 5: return "(" + list(2, 3, ", ", [&] { return expr(depth - 1); }) + ")";
      case 6: return "[" + list(0, 4, ", ", [&] { return expr(depth - 1); }) + "]";
      case 7: return "{" + list(0, 3, ", ", [&] { return name() + " = " + expr(depth - 1); }) + "}";
      case 8: return "if " + simple(depth - 1) + " " + block(depth - 1) + (maybe() ? "" : " else " + block(depth - 1));
      default: return name();
    }
  }

  /// Stands before a `{`: no bare record or block may be in the way.
  std::string simple(int depth) { return name() + one_of({" == ", " < ", " and ", " divides "}) + "(" + expr(depth) + ")"; }

  std::string argument(int depth) { return (maybe() ? name() + " = " : std::string()) + expr(depth); }
  std::string arguments(int depth) { return "(" + list(0, 4, ", ", [&] { return argument(depth - 1); }) + ")"; }

  std::string index(int depth) {
    switch (pick(6)) {
      case 0: return "...";
      case 1: return ":";
      case 2: return expr(depth - 1) + ":";
      case 3: return ":" + expr(depth - 1);
      case 4: return expr(depth - 1) + ":" + expr(depth - 1);
      default: return expr(depth - 1);
    }
  }

  std::string operation(int depth) {
    if (depth <= 0) return primary(0);
    switch (pick(10)) {
      case 0: return name() + "." + name();
      case 1: return name() + arguments(depth);
      case 2: return name() + "[" + list(1, 3, ", ", [&] { return index(depth); }) + "]";
      case 3: return "-" + primary(depth - 1);
      case 4: return one_of({"!", "not "}) + primary(depth - 1);
      case 5: return "(" + expr(depth - 1) + ")" + one_of({" ** ", " * ", " / ", " div ", " % ", " @ "}) + primary(depth - 1);
      case 6: return primary(depth - 1) + one_of({" + ", " - ", "+", "-"}) + primary(depth - 1);
      case 7: return name() + ".." + primary(0);
      case 8: return name() + one_of({" == ", " != ", " <= ", " >= ", " < ", " > "}) + primary(depth - 1);
      default: return primary(depth);
    }
  }

  std::string expr(int depth) {
    std::string text = operation(depth);
    if (pick(6) == 0) text += " as " + type(1);
    if (pick(5) == 0) text += " |> " + name() + (maybe() ? arguments(depth - 1) : "");
    return text;
  }

  std::string type(int depth) {
    std::string text;
    switch (depth <= 0 ? 0 : pick(5)) {
      case 0: text = path(); break;
      case 1: text = "(" + list(2, 3, ", ", [&] { return type(depth - 1); }) + ")"; break;
      case 2: text = "[" + type(depth - 1) + "]"; break;
      default: text = path() + "[" + list(0, 3, ", ", [this] { return dim(); }) + "]" + (pick(5) == 0 ? "!(dp)" : ""); break;
    }
    return text + (pick(6) == 0 ? "?" : "");
  }
  std::string dim() {
    switch (pick(5)) {
      case 0: return ".." + name();
      case 1: return name() + "@" + name();
      case 2: return "4 * " + name();
      default: return name();
    }
  }

  std::string statement(int depth) {
    switch (pick(6)) {
      case 0: return "let " + name() + (maybe() ? ": " + type(1) : "") + " = " + expr(depth);
      case 1: return "let (" + list(2, 3, ", ", [this] { return name(); }) + ") = " + expr(depth);
      case 2: return "mut " + name() + " = " + expr(depth);
      case 3: return "return " + expr(depth);
      case 4: return "check " + name() + " > 0" + (maybe() ? ", " + string() : "");
      default: return name() + one_of({" = ", " += ", " -= ", " *= "}) + expr(depth);
    }
  }
  std::string block(int depth) {
    std::string text = "{" + one_of({" ", "\n"});
    for (std::size_t i = pick(3); i > 0; --i) {
      if (pick(4) == 0 && depth > 0) {
        text += "for " + name() + " in " + name() + " " + block(depth - 1) + space();
      } else {
        text += statement(depth) + ";" + space();
      }
    }
    return text + (maybe() ? "" : expr(depth)) + one_of({" ", "\n"}) + "}";
  }

  std::string parameter() { return name() + (maybe() ? "" : ": " + type(2)) + (maybe() ? " = " + expr(1) : ""); }
  std::string parameters() { return "(" + list(0, 4, ", ", [this] { return parameter(); }) + ")"; }
  std::string where() { return pick(4) == 0 ? " where " + list(1, 2, ", ", [this] { return name() + " > 0"; }) : std::string(); }
  std::string attribute() { return "@" + path() + (maybe() ? arguments(1) : "") + space(); }
  std::string attributes() { return list(0, 2, "", [this] { return pick(2) == 0 ? attribute() : std::string(); }); }

  std::string function() {
    return "fn " + name() + parameters() + (maybe() ? "" : " -> " + type(2)) + where() + (pick(6) == 0 ? ";" : " " + block(2));
  }
  std::string constant() { return "const " + name() + (maybe() ? ": " + type(1) : "") + " = " + expr(3) + ";"; }

  std::string member() {
    switch (pick(5)) {
      case 0: return constant();
      case 1:
        return attributes() + one_of({"param ", "buffer ", "state "}) + name() + ": " + type(2) +
               (maybe() ? " when " + name() + " > 0" : "") + (maybe() ? " = " + expr(2) : "") + ";";
      case 2:
      case 3:
        return attributes() + "sub " + name() + (maybe() ? "[i in 0.." + name() + "]" : "") +
               (maybe() ? " when " + name() : "") + " = " + expr(2) + ";";
      default: return attributes() + function();
    }
  }

  std::string setting() { return path() + " = " + expr(2) + ";"; }
  std::string section(int depth) {
    std::string text = name() + (maybe() ? " " + name() : "") + " {" + one_of({" ", "\n"});
    for (std::size_t i = pick(4); i > 0; --i) text += (depth > 0 && pick(4) == 0 ? section(depth - 1) : setting()) + one_of({" ", "\n"});
    return text + "}";
  }
  std::string job_item() {
    switch (pick(5)) {
      case 0: return constant();
      case 1: return attributes() + function();
      case 2: return setting();
      default: return section(1);
    }
  }

  std::string import_decl() {
    switch (pick(3)) {
      case 0: return "import " + path() + ".{" + list(1, 4, ", ", [this] { return name(); }) + "};";
      case 1: return "import " + string() + " as " + name() + ";";
      default: return "import " + path() + ";";
    }
  }
  std::string declaration() {
    switch (pick(10)) {
      case 0: return "bind <data>: " + path() + (maybe() ? " = " + expr(1) : "") + (maybe() ? " where <data> > 0" : "") + (maybe() ? " " + string() : "") + ";";
      case 1: return constant();
      case 2: return "dim " + list(1, 3, ", ", [this] { return name(); }) + ";";
      case 3: return "record " + name() + " {" + space() + list(0, 3, "", [this] { return name() + ": " + type(2) + (maybe() ? " = " + expr(1) : "") + ";" + space(); }) + "}";
      case 4: return "enum " + name() + " { " + list(1, 3, ", ", [this] { return name(); }) + " }";
      case 5:
      case 6:
        return attributes() + "module " + name() + (maybe() ? "" : parameters()) + where() + " {" + space() +
               list(0, 5, "", [this] { return member() + space(); }) + "}";
      case 7: return attributes() + function();
      case 8: return "test " + string() + " " + block(2);
      default:
        return "job " + name() + (maybe() ? " extends " + path() : "") + " {" + space() + list(0, 6, "", [this] { return job_item() + space(); }) + "}";
    }
  }

  std::minstd_rand random_;
};

}  // namespace

std::string random_program(std::uint32_t seed) { return Generator(seed * 7919u).file(); }

}  // namespace dtj::test
