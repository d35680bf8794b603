#include <utility>

#include "compiler/lint/option_tables.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// `key = value`, `key: value`, `"key": "value"`: configurations, environments, keyword arguments, scheduler output.

namespace dtj::lint {

namespace {

bool is_key_char(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '/'; }

struct Pair {
  std::string_view key;
  std::string_view rest;  ///< from the value to the end of the line
  bool is_colon = false;
  bool is_spaced = false;  ///< `key : value`
};

/// The key in front of the separator at `at`.
std::string_view key_before(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '*')) --end;
  if (end > 0 && is_quote(text[end - 1])) --end;
  while (end > 0 && (text[end - 1] == ']' || text[end - 1] == ')') ) --end;
  if (end > 0 && is_quote(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_key_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool looks_like_code(std::string_view value) {
  value = value.substr(0, 120);
  for (const auto head : {"args.", "self.", "cfg.", "config.", "os.", "opt.", "opts.", "params.", "env.", "hydra.", "this.", "ctx.", "str", "Optional", "int", "None", "lambda", "sys.", "var.", "local."}) {
    if (starts_with(value, head)) return true;
  }
  const auto bracket = find_any(value, "([");
  return bracket != std::string_view::npos && value[bracket] == '(' && bracket > 0 && value.find(')') == bracket + 1;
}

/// Where a bare value ends. `a,b` goes on unless the next piece is a pair of its own.
std::size_t end_of_bare(std::string_view rest, bool is_list_kind) {
  std::size_t at = 0;
  int depth = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (c == '[') ++depth;
    if (c == ']' && depth-- == 0) break;
    if (is_space(c) || is_quote(c) || c == ';' || c == ')' || c == '}' || c == '|' || c == '&' || c == '<' || c == '>' || c == '\\') break;
    if (c == '{' && at > 0 && rest[at - 1] == '$') {
      const auto close = rest.find('}', at);
      if (close == std::string_view::npos) break;
      at = close;
      continue;
    }
    if (c == '(' ) break;
    if (c != ',' || depth > 0) continue;
    const auto next = find_any(rest, ",= \t\":;", at + 1);
    const bool ends_here = at + 1 == rest.size() || is_space(rest[at + 1]) || is_quote(rest[at + 1]);
    if (!is_list_kind || ends_here || (next != std::string_view::npos && (rest[next] == '=' || rest[next] == ':'))) break;
  }
  return at;
}

bool is_list_kind(Kind kind) { return kind == Kind::node || kind == Kind::partition || kind == Kind::account || kind == Kind::qos || kind == Kind::username; }

/// Keys such as `server` or `url` hold a host only when the value looks like one.
bool needs_host_shape(std::string_view key, std::string_view value) {
  const std::string low = lower(key);
  for (const auto word : {"server", "address", "addr", "endpoint", "registry", "proxy", "gateway", "coordinator", "broker", "url", "uri", "target", "remote", "mirror", "worker", "workers", "machine"}) {
    if (!ends_with(low, word)) continue;
    if (ends_with(low, "master_addr") || ends_with(low, "proxyjump") || ends_with(low, "masteraddr")) return false;
    const std::string_view host = value.substr(0, value.find(':'));
    return !is_domain(host) && !is_node_like(host);
  }
  return false;
}

class KeyReader {
 public:
  KeyReader(Scan& scan, const Line& line, bool has_elements) : scan_(scan), text_(line.text), has_elements_(has_elements) {}

  void read() {
    if (has_elements_) read_elements();
    named_before_ = std::exchange(scan_.named, {});
    for (std::size_t at = find_any(text_, "=:"); at != std::string_view::npos; at = find_any(text_, "=:", at + 1)) {
      const char c = text_[at];
      const char next = at + 1 < text_.size() ? text_[at + 1] : ' ';
      if (c == ':' && (next == ':' || next == '/' || (at > 0 && text_[at - 1] == ':'))) continue;
      if (c == ':' && (next == '-' || next == '?' || next == '=')) continue;  // ${X:-y}, :=
      const bool is_plus = at > 0 && text_[at - 1] == '+' && scan_.flavour != Flavour::code;  // qos+=x of sacctmgr
      if (at > 0 && !is_plus && contains_any(text_.substr(at - 1, 1), "=<>!+~")) continue;
      const std::string_view key = key_before(text_, is_plus ? at - 1 : at);
      if (key.empty() || (c == '=' && starts_with(key, "--"))) continue;
      std::string_view rest = text_.substr(at + 1);
      if (!rest.empty() && (rest.front() == '=' || rest.front() == '>')) rest = rest.substr(1);
      pair({key, trim_front(rest, " \t"), c == ':', !rest.empty() && is_space(rest.front())});
    }
  }

 private:
  /// `<host>x</host>`
  void read_elements() {
    for (std::size_t at = text_.find('<'); at != std::string_view::npos; at = text_.find('<', at + 1)) {
      std::size_t end = at + 1;
      while (end < text_.size() && is_key_char(text_[end]) && text_[end] != '/') ++end;
      if (end == at + 1 || end >= text_.size() || text_[end] != '>') continue;
      const auto close = text_.find("</", end);
      const std::string_view value = close == std::string_view::npos ? std::string_view() : trim(text_.substr(end + 1, close - end - 1));
      const auto what = meaning_of_key(text_.substr(at + 1, end - at - 1));
      if (value.empty() || contains_any(value, " <>\"") || !what || (what->needs_scheduler && !scan_.knows_scheduler)) continue;
      one({text_.substr(at + 1, end - at - 1), value, false, false}, what->kind, value);
    }
  }

  /// `-p: x`, `--qos: y` of a configuration that lists options.
  std::optional<KeyMeaning> option_meaning(std::string_view key) const {
    const Family family = scan_.main_family == Family::none ? Family::slurm : scan_.main_family;
    const std::string_view name = trim_front(key, "-");
    const auto kind = name.size() == 1 ? short_option(family, name.front()) : long_option(family, name, true);
    return kind ? std::optional(KeyMeaning{*kind, true}) : std::nullopt;
  }

  bool is_scheduler_section() const {
    if (text_.find("queue") != std::string_view::npos || text_.find("walltime") != std::string_view::npos) return true;
    const std::string low = lower(scan_.section);
    for (const auto word : {"pbs", "slurm", "lsf", "scheduler", "cobalt", "jobqueue", "sge", "batch"}) {
      if (low.find(word) != std::string::npos) return true;
    }
    return false;
  }

  std::optional<KeyMeaning> meaning(const Pair& pair) {
    if (pair.is_colon && pair.key.size() > 1 && pair.key.front() == '-') return option_meaning(pair.key);
    if (equals_ignoring_case(pair.key, "project") && is_scheduler_section()) return KeyMeaning{Kind::account, true};
    if (equals_ignoring_case(pair.key, "value") && named_.empty() && !named_before_.empty()) return meaning_of_key(named_before_);
    if (equals_ignoring_case(pair.key, "default") && !named_.empty()) return meaning_of_key(named_);
    if (equals_ignoring_case(pair.key, "name") || equals_ignoring_case(pair.key, "value") || equals_ignoring_case(pair.key, "id")) {
      if (equals_ignoring_case(pair.key, "value") && !named_.empty()) return meaning_of_key(named_);
      if (!parent_.empty()) return meaning_of_key(parent_);
      if (!scan_.section.empty() && pair.rest.size() < 80) {
        const auto of_section = meaning_of_key(scan_.section);
        if (of_section && (of_section->kind == Kind::reservation || of_section->kind == Kind::partition || of_section->kind == Kind::account || of_section->kind == Kind::qos || of_section->kind == Kind::hostname)) return of_section;
      }
      return std::nullopt;
    }
    return meaning_of_key(pair.key);
  }

  void pair(const Pair& pair) {
    if (equals_ignoring_case(pair.key, "name")) {
      const std::string_view value = trim(pair.rest, " \t\"'");
      named_ = value.substr(0, find_any(value, " ,\"'}\t"));
      scan_.named = std::string(named_);
    }
    if (pair.key == "default") {
      const bool is_option = text_.find("add_argument") != std::string_view::npos || text_.find("option(") != std::string_view::npos;
      const auto dashes = text_.find("--");
      if (is_option && dashes != std::string_view::npos) named_ = text_.substr(dashes + 2, find_any(text_, " \"'=,", dashes + 2) - dashes - 2);
    }
    const auto what = meaning(pair);
    const std::string_view bare = trim(pair.rest);
    if (bare.empty() || bare == "[" || bare.front() == '{' || bare == "|" || bare == ">" || bare.front() == '#') {
      if (bare.empty() || bare == "[" || bare.front() == '#') open_list(pair, what);
      parent_ = bare.empty() ? std::string_view() : pair.key;
      if (bare.empty()) scan_.section = std::string(pair.key);
      return;
    }
    if (!what) return;
    if (what->needs_scheduler && !scan_.knows_scheduler) return;
    if (what->kind == Kind::hostname && ends_with(pair.key, "system") && text_.find("select") == std::string_view::npos) return;
    if (ends_with(pair.key, "machine") && !has_digit(bare)) return;
    report(pair, what->kind);
  }

  void open_list(const Pair& pair, const std::optional<KeyMeaning>& what) {
    if (!what || (what->needs_scheduler && !scan_.knows_scheduler)) return;
    scan_.list_key = std::string(pair.key);
    scan_.list_indent = text_.size() - trim_front(text_, " \t").size();
  }

  bool is_inside_string(std::string_view key) const {
    const std::string_view head = head_before(text_, key);
    const auto singles = std::count(head.begin(), head.end(), '\''), doubles = std::count(head.begin(), head.end(), '"');
    return singles % 2 == 1 || doubles % 2 == 1;
  }

  void report(const Pair& pair, Kind kind) {
    const std::string_view rest = pair.rest;
    const char first = rest.front();
    const bool is_command = starts_with(rest, "(") && (rest.find("$(") != std::string_view::npos || rest.find('`') != std::string_view::npos);
    if (is_command) return;
    if (first == '[' && kind != Kind::port) return each_element(pair, kind, rest.substr(1, rest.find(']') == std::string_view::npos ? rest.npos : rest.rfind(']') - 1), ",");
    if (first == '(' && rest.find(')') != std::string_view::npos && kind != Kind::job_id) return each_element(pair, kind, rest.substr(1, rest.find(')') - 1), " ,+");
    if (first == '"' || first == '\'' || first == '`') {
      const auto close = rest.find(first, 1);
      return quoted(pair, kind, rest.substr(1, close == std::string_view::npos ? close : close - 1));
    }
    const bool is_password = kind == Kind::credential && scan_.flavour != Flavour::code;
    const std::string_view raw = rest.substr(0, is_password ? std::min(rest.size(), find_any(rest, " \t\r\"'`,")) : end_of_bare(rest, is_list_kind(kind)));
    if (raw.empty() || looks_like_code(rest)) return;
    if (scan_.flavour == Flavour::code && kind != Kind::port && !is_inside_string(pair.key)) return;
    if (kind == Kind::credential && (rest.size() > raw.size() && (rest[raw.size()] == '(' || rest[raw.size()] == '['))) return;
    const std::string_view behind = rest.substr(raw.size());
    if (pair.is_colon && !behind.empty() && behind.front() == '=') return;
    if (pair.is_colon && raw.find('=') != std::string_view::npos) return;
    if (pair.is_colon && !ends_cleanly(rest.substr(raw.size()), raw)) return;
    one(pair, kind, raw);
  }

  /// `Account: what you pay with` is prose; a value stands alone or looks like a name.
  bool ends_cleanly(std::string_view tail, std::string_view raw) const {
    const std::string_view after_value = trim_front(tail, " \t\r");
    if (after_value.empty() || contains_any(after_value.substr(0, 1), "#,};|)]\"'`<\\")) return true;
    if (tail.size() > 1 && tail[0] == ' ' && tail[1] == ' ') return true;
    return has_digit(raw) || contains_any(raw, "_@") || (raw.find('-') != std::string_view::npos && scan_.flavour != Flavour::markdown);
  }

  void quoted(const Pair& pair, Kind kind, std::string_view inner) {
    if (inner.empty()) return;
    const std::string_view text = trim(inner);
    if (text.find(' ') == std::string_view::npos || starts_with(text, "${")) return one(pair, kind, inner);
    if (kind != Kind::node) return;
    each_element(pair, kind, inner, " ,");
  }

  void each_element(const Pair& pair, Kind kind, std::string_view list, std::string_view separators) {
    for_each_piece(list, separators, [&](std::string_view piece) {
      piece = trim(piece, " \t\"'");
      piece = piece.substr(0, piece.find(' '));
      if (!piece.empty() && piece.find('=') == std::string_view::npos) one(pair, kind, piece);
    });
  }

  void one(const Pair& pair, Kind kind, std::string_view raw) {
    if (kind == Kind::node || kind == Kind::hostname) return host(pair, kind, raw);
    if (kind == Kind::username && raw.find('@') != std::string_view::npos) return scan_.endpoint(Kind::node, raw);
    if (kind == Kind::credential) return secret(pair, raw);
    if (kind == Kind::account && is_number(raw) && raw.size() < 4) return;
    if (kind == Kind::job_id && ends_with(lower(pair.key), "dependency")) {
      for_each_piece(raw, ":,?", [&](std::string_view piece) { scan_.value(Kind::job_id, piece); });
      return;
    }
    scan_.value(kind, raw);
  }

  void host(const Pair& pair, Kind kind, std::string_view raw) {
    if (is_number(raw) || raw.find('/') == 0) return;
    if (needs_host_shape(pair.key, raw)) return;
    const bool is_filter = starts_with(lower(pair.key), "exclude") || starts_with(lower(pair.key), "include");
    if (is_filter && (!is_node_like(raw) || raw.find('.') != std::string_view::npos || !scan_.knows_scheduler)) return;
    if (ends_with(pair.key, "Sid")) {
      scan_.safe(rest_after(raw, raw.substr(0, raw.find(':'))), 95);
      return scan_.endpoint(Kind::node, raw.substr(0, raw.find(':')));
    }
    if (raw.find('+') != std::string_view::npos || (raw.find('/') != std::string_view::npos && raw.find("://") == std::string_view::npos)) {
      for_each_piece(raw, "+", [&](std::string_view piece) { scan_.endpoint(Kind::node, piece.substr(0, find_any(piece, "/:"))); });
      return;
    }
    if (starts_with(lower(pair.key), "nodes") && raw.find(':') != std::string_view::npos) return;  // nodes=2:ppn=8
    scan_.value(kind, raw);
  }

  void secret(const Pair& pair, std::string_view raw) {
    const std::string low = lower(pair.key);
    if (raw.size() < 6 || starts_with(raw, "sha256") || raw.find("://") != std::string_view::npos || raw.front() == '/' || raw.front() == '~') return;
    const bool is_password = low.find("pass") != std::string::npos || low.find("pw") != std::string::npos;
    if (!is_password && !has_digit(raw) && raw.size() < 16) return;
    if (contains_any(raw, "()[]")) return;
    scan_.value(Kind::credential, raw, 85);
  }

  Scan& scan_;
  std::string_view text_;
  bool has_elements_;
  std::string_view parent_, named_;
  std::string named_before_;
};

/// `- cn12` below `nodes:`.
void read_list_item(Scan& scan, std::string_view text) {
  const std::string_view body = trim_front(text, " \t");
  const std::size_t indent = text.size() - body.size();
  const bool is_item = (starts_with(body, "- ") && indent >= scan.list_indent) || (indent > scan.list_indent && (body.front() == '"' || body.front() == '\''));
  if (!is_item) {
    if (!body.empty() && body.front() != '#') scan.list_key.clear();
    return;
  }
  const std::string_view item = trim(body.front() == '-' ? body.substr(2) : body, " \t\r\"',");
  const auto what = meaning_of_key(scan.list_key);
  if (what && item.find(' ') == std::string_view::npos && item.find(": ") == std::string_view::npos && (item.empty() || item.back() != ':')) scan.value(what->kind, item);
}

}  // namespace

void recognise_keys(Scan& scan, const Line& line) {
  const std::string_view body = trim(line.text);
  if (body.size() > 2 && body.front() == '[' && body.back() == ']' && scan.flavour == Flavour::config && find_any(body, "\"', ") == std::string_view::npos) {
    scan.section = std::string(trim(body, "[]"));
  }
  if (!scan.list_key.empty()) read_list_item(scan, line.text);
  const bool has_element = line.has(has_slash) && line.text.find("</") != std::string_view::npos;
  if (!line.has(has_equals | has_colon) && !has_element) return;
  const bool may_open = !body.empty() && contains_any(body.substr(body.size() - 1), ":=[{|>");  // a key whose value is below
  const bool is_option = body.size() > 2 && body.front() == '-' && (is_alpha(body[1]) || body[1] == '-');
  if (!line.knows(group_key) && !may_open && !is_option) return;
  KeyReader(scan, line, has_element).read();
}

}  // namespace dtj::lint
