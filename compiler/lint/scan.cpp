#include "compiler/lint/scan.hpp"

#include <cstring>

#include "compiler/lint/context.hpp"
#include "compiler/lint/policy.hpp"

namespace dtj::lint {

namespace {

constexpr std::size_t max_names = 512;

constexpr std::array<std::uint32_t, 256> make_triggers() {
  std::array<std::uint32_t, 256> table{};
  table['/'] = has_slash;
  table['@'] = has_at;
  table[':'] = has_colon;
  table['='] = has_equals;
  table['-'] = has_dash;
  table['.'] = has_dot;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = has_number;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = has_upper;
  table['|'] = has_bar;
  table['"'] = table['\''] = table['`'] = has_quote;
  table['#'] = has_hash;
  table[0x1b] = has_escape;
  table['%'] = has_percent;
  table['~'] = has_tilde;
  return table;
}
constexpr auto triggers_of = make_triggers();

std::uint32_t triggers_in(std::string_view text) {
  std::uint32_t found = 0;
  for (const char c : text) found |= triggers_of[static_cast<unsigned char>(c)];
  return found;
}

/// The characters that a scheduler's names are made of.
bool is_name_char(char c) { return is_word(c) || c == '-' || c == '.' || c == '+' || c == '@' || c == ',' || c == '[' || c == ']' || c == ':'; }

bool is_followed(Kind kind) {
  return kind == Kind::partition || kind == Kind::qos || kind == Kind::reservation || kind == Kind::account || kind == Kind::node ||
         kind == Kind::hostname || kind == Kind::username || kind == Kind::mail;
}

}  // namespace

std::string stem_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!is_digit(c)) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

Scan::Scan(std::string_view file_name, Options options) : options_(options) {
  flavour = flavour_of(file_name);
  in_hostfile = is_hostfile(file_name);
}

void Scan::window(std::string_view text, bool is_first) {
  window_ = text;
  found_.clear();
  if (is_first && flavour == Flavour::text) flavour = flavour_of_text(text);
  knows_scheduler = knows_scheduler || names_scheduler(text);
  std::size_t at = 0;
  while (at < text.size()) {
    const void* newline = std::memchr(text.data() + at, '\n', text.size() - at);
    const std::size_t end = newline == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(newline) - text.data());
    const std::string_view row = text.substr(at, end - at);
    scan_line({row, triggers_in(row)});
    at = end + 1;
  }
  follow_names(text);
  resolve();
}

void Scan::scan_line(const Line& line) {
  if (line.text.empty() || is_space(line.text.front())) {
    if (trim(line.text).empty()) {
      table.reset();
      continued = Family::none;
      in_ssh_config = in_ssh_config && line.text.empty();
      return;
    }
  }
  if (line.has(has_slash)) recognise_urls(*this, line);
  if (line.has(has_slash | has_tilde)) recognise_paths(*this, line);
  if (line.has(has_at | has_dot | has_colon)) recognise_addresses(*this, line);
  recognise_commands(*this, line);
  recognise_keys(*this, line);
  recognise_tables(*this, line);
  recognise_log_lines(*this, line);
  recognise_secrets(*this, line);
  recognise_prose(*this, line);
  if (wants_all()) recognise_measures(*this, line);
}

void Scan::leak(Kind kind, std::string_view span, int weight) {
  if (span.empty()) return;
  const auto begin = static_cast<std::uint32_t>(span.data() - window_.data());
  found_.push_back({begin, begin + static_cast<std::uint32_t>(span.size()), kind, static_cast<std::uint8_t>(weight)});
  if (is_followed(kind)) confirm(kind, span);
}

void Scan::safe(std::string_view span, int weight) {
  if (span.empty()) return;
  const auto begin = static_cast<std::uint32_t>(span.data() - window_.data());
  found_.push_back({begin, begin + static_cast<std::uint32_t>(span.size()), std::nullopt, static_cast<std::uint8_t>(weight)});
}

void Scan::value(Kind kind, std::string_view raw, int weight) {
  raw = trim(raw, " \t\r\"'`;,()|*");
  if (starts_with(raw, "${")) {
    const auto separator = raw.find_first_of("-=", 2);
    if (separator == std::string_view::npos || separator == 0 || contains_any(raw.substr(2, separator - 2), "}/%#")) return;
    const auto close = raw.find('}', separator);
    return value(kind, raw.substr(separator + 1, close == std::string_view::npos ? close : close - separator - 1), weight);
  }
  if (is_placeholder(raw)) return;
  if (kind == Kind::node || kind == Kind::hostname) return endpoint(kind, raw);
  if (kind == Kind::port) return port(raw);
  if (kind == Kind::path || kind == Kind::email || kind == Kind::ip) return;  // their shapes are enough
  std::size_t end = 0;
  while (end < raw.size() && is_name_char(raw[end])) ++end;
  if (kind == Kind::credential) end = std::min(raw.size(), raw.find_first_of(" \t\r\"'`,;"));
  raw = trim_back(raw.substr(0, end), ".:,+]");
  if (raw.empty() || is_placeholder(raw) || is_generic(kind, raw)) return;
  const bool is_identifier = kind == Kind::account || kind == Kind::credential || kind == Kind::job_id || kind == Kind::username;
  if (!is_identifier && !std::any_of(raw.begin(), raw.end(), [](char c) { return is_word(c) && !is_digit(c); })) return;
  if ((kind == Kind::partition || kind == Kind::qos) && is_generic_compound(raw)) return;
  if (kind == Kind::mail && raw.find('@') != std::string_view::npos) return;
  if (kind == Kind::username && (raw.find('@') != std::string_view::npos || is_number(raw))) return;
  if (kind == Kind::job_id && (raw.size() < 4 || !is_digit(raw.front()) || raw == "1234" || raw == "12345")) return;
  leak(kind, raw, weight);
}

void Scan::endpoint(Kind kind, std::string_view raw) {
  if (contains_any(raw, " \t/") && raw.find("://") == std::string_view::npos) raw = raw.substr(0, raw.find_first_of(" \t/"));
  if (raw.find("://") != std::string_view::npos) return;  // a URL of its own
  const auto at = raw.rfind('@');
  if (at != std::string_view::npos) {
    value(Kind::username, raw.substr(0, at), 80);
    return endpoint(kind, raw.substr(at + 1));
  }
  if (is_ipv6(trim(raw, "[]"))) return;
  const auto colon = raw.rfind(':');
  if (colon != std::string_view::npos && raw.find('[') == std::string_view::npos) {
    const std::string_view tail = raw.substr(colon + 1);
    const std::string_view digits = tail.substr(0, std::min(tail.size(), tail.find_first_not_of("0123456789")));
    if (digits.size() >= 2 && !(kind == Kind::node && digits.size() < 4)) port(digits);
    raw = raw.substr(0, raw.find(':'));
  }
  std::size_t end = 0;
  while (end < raw.size() && (is_host_char(raw[end]) || contains_any(raw.substr(end, 1), "[],"))) ++end;
  raw = trim_back(raw.substr(0, end), ".,-");
  while (!raw.empty() && raw.back() == ']' && raw.find('[') == std::string_view::npos) raw.remove_suffix(1);
  if (raw.empty() || is_ipv4(raw) || is_placeholder(raw) || is_generic(kind, raw) || is_generic_node(raw) || is_public_host(raw)) return;
  if (!has_alpha(raw) || raw.size() < 2) return;
  leak(raw.find('.') != std::string_view::npos && is_domain(raw) ? Kind::hostname : kind, raw, 65);
}

void Scan::port(std::string_view digits) {
  if (digits.size() < 2 || !is_number(digits) || is_default_port(digits)) return;
  leak(Kind::port, digits, 60);
}

void Scan::confirm(Kind kind, std::string_view name) {
  if (names_.size() >= max_names || name.size() > 60) return;
  for_each_piece(name, name.find('[') == std::string_view::npos ? "," : "", [&](std::string_view piece) {
    if (piece.size() < 3 || is_number(piece)) return;
    const bool is_distinctive = has_digit(piece) || contains_any(piece, "_-");
    if (!is_distinctive && (kind != Kind::username || piece.size() < 6) && piece.size() < 5) return;
    if (is_distinctive && piece.size() < 4) return;
    names_.emplace(lower(piece), Confirmed{kind, is_distinctive});
    name_heads_[static_cast<unsigned char>(to_lower(piece.front()))] = true;
    if (kind == Kind::node && has_digit(piece) && is_node_like(piece)) {
      // `cn[01-07]` stands for cn01: the prefix and digits.
      const auto bracket = piece.find('[');
      const std::string stem = bracket == std::string_view::npos ? stem_of(piece) : stem_of(piece.substr(0, bracket)) + "#";
      if (stem.size() >= 3) ++stems_[stem];
    }
  });
}

void Scan::follow_names(std::string_view text) {
  if (names_.empty()) return;
  const auto is_token = [](char c) { return is_word(c) || c == '-'; };
  std::size_t at = 0;
  std::string low;
  while (at < text.size()) {
    if (!is_token(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_token(text[at])) ++at;
    const std::string_view token = text.substr(begin, at - begin);
    if (token.size() < 3 || token.size() > 60) continue;
    if (!name_heads_[static_cast<unsigned char>(to_lower(token.front()))]) continue;
    low.assign(token);
    std::transform(low.begin(), low.end(), low.begin(), to_lower);
    const auto name = names_.find(low);
    const bool is_quoted = is_quote(before(text, token)) || is_quote(after(text, token));
    if (name != names_.end() && (name->second.is_distinctive || is_quoted || name->second.kind == Kind::username)) {
      leak(name->second.kind, token, 30);
    } else if (name == names_.end() && has_digit(token) && !stems_.empty() && stems_.count(stem_of(token)) != 0) {
      leak(Kind::node, token, 30);
    }
  }
}

void Scan::resolve() {
  std::sort(found_.begin(), found_.end(), [](const Candidate& a, const Candidate& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end > b.end : a.weight > b.weight;
  });
  std::vector<Candidate> kept;
  for (const Candidate& candidate : found_) {
    bool is_beaten = false;
    while (!kept.empty() && kept.back().end > candidate.begin) {
      // Overlap: the heavier one stays; of equals the longer one, which comes first.
      if (kept.back().weight >= candidate.weight) {
        is_beaten = true;
        break;
      }
      kept.pop_back();
    }
    if (!is_beaten) kept.push_back(candidate);
  }
  kept.erase(std::remove_if(kept.begin(), kept.end(), [](const Candidate& c) { return !c.kind.has_value(); }), kept.end());
  found_ = std::move(kept);
}

}  // namespace dtj::lint
