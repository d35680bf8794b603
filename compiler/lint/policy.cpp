#include "compiler/lint/policy.hpp"

#include <array>
#include <vector>

#include "compiler/lint/lists.hpp"

namespace dtj::lint {

namespace {

bool is_run_of(std::string_view text, std::string_view set) {
  return text.size() >= 2 && text.find_first_not_of(set) == std::string_view::npos;
}

bool is_stand_in(std::string_view value) {
  static constexpr std::array<std::string_view, 14> heads = {"your", "my_",  "my-", "changeme", "change_me", "todo",      "fixme",
                                                             "replace", "insert_", "enter_", "put_", "some_", "placeholder", "example"};
  const std::string low = lower(value.substr(0, 24));
  for (const auto head : heads) {
    if (starts_with(low, head)) return true;
  }
  return ends_with(value, "#") || value.find("##") != std::string_view::npos || low.find("_your_") != std::string::npos || low.find("-your-") != std::string::npos ||
         low.find("your") != std::string::npos || low.find("xxxx") != std::string::npos || low.find("change") == 0 ||
         low.find("...") != std::string::npos;
}

bool is_nothing(std::string_view value) {
  static constexpr std::array<std::string_view, 15> words = {"null", "none", "(null)", "n/a", "nil", "dummy", "undefined", "unset",
                                                             "true", "false", "yes", "no", "unknown", "auto", "empty"};
  for (const auto word : words) {
    if (equals_ignoring_case(value, word)) return true;
  }
  return false;
}

template <typename Test>
bool all_pieces(std::string_view text, std::string_view set, Test test) {
  bool all = true;
  bool any = false;
  for_each_piece(text, set, [&](std::string_view piece) {
    any = true;
    all = all && test(piece);
  });
  return any && all;
}

std::string_view without_digits(std::string_view word) { return trim_back(word, "0123456789"); }

bool is_generic_word(Kind kind, std::string_view word) {
  const Lists& known = lists();
  switch (kind) {
    case Kind::partition:
    case Kind::qos: return known.partitions.has(word);
    case Kind::account: return known.accounts.has(word);
    case Kind::hostname: return known.clusters.has(word) || is_generic_node(word);
    case Kind::node: return is_generic_node(word);
    case Kind::username:
    case Kind::mail: return is_well_known_user(word);
    case Kind::port: return is_default_port(word);
    case Kind::reservation:
    case Kind::ip:
    case Kind::email:
    case Kind::path:
    case Kind::credential:
    case Kind::job_id:
    case Kind::utilization:
    case Kind::result:
    case Kind::other: return false;
  }
  return false;
}

}  // namespace

bool is_placeholder(std::string_view value) {
  value = trim(value);
  if (value.empty() || is_nothing(value)) return true;
  if (contains_any(value, "$<>{}") || value.find("%(") != std::string_view::npos) return true;
  if (value.front() == '%' || value.front() == '@' || value.front() == '*') return true;
  if (value.find("...") != std::string_view::npos || is_run_of(value, "xX-_.") || is_run_of(value, "*.-_")) return true;
  if (!std::any_of(value.begin(), value.end(), [](char c) { return is_word(c); })) return true;
  return is_stand_in(value);
}

bool is_generic(Kind kind, std::string_view value) {
  return all_pieces(value, ",", [&](std::string_view word) { return is_generic_word(kind, word) || is_placeholder(word); });
}

bool is_generic_compound(std::string_view value) {
  return all_pieces(value, "-_.,", [](std::string_view word) {
    return lists().partitions.has(word) || lists().hardware.has(word) || lists().partitions.has(without_digits(word)) || is_number(word);
  });
}

bool is_generic_node(std::string_view value) {
  return all_pieces(value, ",", [](std::string_view name) {
    const std::string_view base = trim_back(name.substr(0, name.find('[')), "0123456789-_");
    const bool is_range_tail = trim(name, "[]0123456789-").empty();  // `4]` of `node[1,4]`
    return equals_ignoring_case(name, "all") || lists().node_bases.has(name) || lists().node_bases.has(base) || is_range_tail;
  });
}

bool is_default_port(std::string_view digits) {
  if (digits.size() > 5) return true;
  int port = 0;
  for (const char c : digits) port = port * 10 + (c - '0');
  if (port == 0 || port > 65535) return true;
  for (const auto& [first, last] : lists().ports) {
    if (port >= first && port <= last) return true;
  }
  return false;
}

bool is_well_known_user(std::string_view name) {
  return lists().users.has(name) || equals_ignoring_case(name, "firstname.lastname") || equals_ignoring_case(name, "first.last");
}

bool is_ipv4(std::string_view text) {
  int parts = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    int value = 0;
    while (at < text.size() && is_digit(text[at]) && at - begin < 4) value = value * 10 + (text[at++] - '0');
    if (at == begin || at - begin > 3 || value > 255) return false;
    ++parts;
    if (at == text.size()) break;
    if (text[at] != '.' || at + 1 == text.size()) return false;
    ++at;
  }
  return parts == 4;
}

bool is_ipv6(std::string_view text) {
  int groups = 0, run = 0, doubles = 0;
  bool has_letter_and_digit = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_hex(text[at])) {
      if (++run > 4) return false;
      if (run == 1) ++groups;
      has_letter_and_digit = has_letter_and_digit || is_digit(text[at]);
    } else if (text[at] == ':') {
      if (at > 0 && text[at - 1] == ':') ++doubles;
      run = 0;
    } else {
      return false;
    }
  }
  if (!has_letter_and_digit || groups > 8 || doubles > 1) return false;
  return doubles == 1 ? groups >= 1 : groups == 8;
}

bool is_reserved_ip(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    const std::string low = lower(text);
    return low == "::1" || low == "::" || starts_with(low, "2001:db8") || starts_with(low, "2001:0db8") || low.size() < 5;
  }
  static constexpr std::array<std::string_view, 7> heads = {"127.", "0.", "255.", "192.0.2.", "198.51.100.", "203.0.113.", "169.254.169.254"};
  return std::any_of(heads.begin(), heads.end(), [&](std::string_view head) { return starts_with(text, head); });
}

bool is_public_host(std::string_view host) {
  host = trim(host, ".");
  while (!host.empty()) {
    if (lists().public_hosts.has(host) || lists().reserved_domains.has(host)) return true;
    const auto dot = host.find('.');
    if (dot == std::string_view::npos) return false;
    const std::string_view label = host.substr(0, dot);
    const std::string low = lower(label);
    if (starts_with(low, "example") || ends_with(low, "example") || equals_ignoring_case(label, "your-domain") || equals_ignoring_case(label, "yourdomain")) return true;
    host = host.substr(dot + 1);
  }
  return false;
}

bool is_domain(std::string_view text, int labels) {
  int found = 0;
  std::string_view last;
  bool good = !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos;
  if (!good) return false;
  for_each_piece(text, ".", [&](std::string_view label) {
    ++found;
    last = label;
    good = good && label.front() != '-' && label.back() != '-';
  });
  return good && found >= labels && (lists().top_level_domains.has(last) || (found >= 3 && lists().code_domains.has(last)));
}

bool has_code_domain(std::string_view text) {
  const auto dot = text.rfind('.');
  return dot != std::string_view::npos && dot > 1 && lists().code_domains.has(text.substr(dot + 1));
}

bool is_node_like(std::string_view text) {
  return text.size() >= 3 && is_alpha(text.front()) && has_digit(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_host_char(c) || c == '[' || c == ']' || c == ','; });
}

namespace {

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> out;
  for_each_piece(path, "/", [&](std::string_view piece) { out.push_back(piece); });
  return out;
}

bool is_variable_component(std::string_view piece) {
  return contains_any(piece, "$<{*") || piece.find('%') != std::string_view::npos || is_placeholder(piece) || is_number(piece);
}

/// `$USER`, `<user>`, `alice`: what stands where a user's name stands, and says nothing.
bool is_anyone(std::string_view piece) { return contains_any(piece, "$<{") || is_well_known_user(piece) || is_placeholder(piece); }

bool under_container_root(std::string_view path) {
  for (const auto& root : lists().container_roots) {
    if (starts_with(path, root) && (path.size() == root.size() || path[root.size()] == '/')) return true;
  }
  return false;
}

bool is_file_name(std::string_view piece) {
  const auto dot = piece.rfind('.');
  return dot != std::string_view::npos && dot > 0 && piece.size() - dot <= 6 && piece.find('.') == dot;
}

/// Below a storage root: does a component name somebody or something of one site?
bool names_a_site(const std::vector<std::string_view>& parts, std::size_t first) {
  for (std::size_t i = first; i < parts.size(); ++i) {
    const bool is_home = parts[i - 1] == "home" || parts[i - 1] == "Users" || parts[i - 1] == "users";
    if (is_home && is_anyone(parts[i])) return false;
    if (is_variable_component(parts[i])) {
      if (i == first && is_anyone(parts[i])) return false;  // /scratch/$USER/run1 works for everybody
      continue;
    }
    const bool is_last_file = i + 1 == parts.size() && is_file_name(parts[i]);
    if (!lists().path_words.has(parts[i]) && !is_last_file) return true;
  }
  return false;
}

}  // namespace

bool is_generic_path_word(std::string_view word) { return lists().path_words.has(word) || lists().storage_roots.has(word); }

bool is_site_path(std::string_view path) {
  if (path.size() < 3 || under_container_root(path)) return false;
  const auto parts = components_of(path);
  if (parts.empty()) return false;
  const std::string_view root = parts.front();
  if (lists().system_roots.has(root) || starts_with(root, "lib")) return false;
  const std::string low = lower(path.substr(0, 28));
  for (const auto head : {"/path/", "/absolute/path", "/your", "/my", "/some/", "/full/path", "/foo/", "/change", "/example"}) {
    if (starts_with(low, head)) return false;
  }
  if (path.find("/path/to") != std::string_view::npos || path.find("/your_") != std::string_view::npos || path.find("...") != std::string_view::npos) return false;
  if (contains_any(root, "$<{}*%\\^()[]|?+#") || !is_word(root.front())) return false;
  if (lists().storage_roots.has(root)) {
    if (parts.size() > 1 && (root == "home" || root == "users" || root == "Users") && is_anyone(parts[1])) return false;
    return names_a_site(parts, 1);
  }
  if (lists().route_words.has(root) || parts.size() < 2) return false;
  // An unknown root is a mount of one site, unless it reads like a route of a web service or a pattern.
  const bool says_something = has_digit(root) || contains_any(root, "-_.") || parts.size() > 2 || !lists().route_words.has(parts[1]);
  return says_something && root.size() > 1;
}

}  // namespace dtj::lint
