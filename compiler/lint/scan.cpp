#include "compiler/lint/scan.hpp"

#include <cstring>

#include "compiler/lint/context.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/prefilter.hpp"

namespace dtj::lint {

namespace {

constexpr std::size_t max_names = 512;
constexpr std::size_t max_line = 2048;

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
  // What runs the jobs is said early, if at all.
  if (!knows_scheduler && num_windows_++ < 4) knows_scheduler = names_scheduler(text);
  std::size_t at = 0;
  while (at < text.size()) {
    const void* newline = std::memchr(text.data() + at, '\n', text.size() - at);
    const std::size_t end = newline == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(newline) - text.data());
    scan_row(text.substr(at, end - at));
    at = end + 1;
  }
  follow_names(text);
  resolve();
}

void Scan::scan_row(std::string_view row) {
  // What is longer than any line that people write is looked at piece by piece, so that no recogniser meets a length it is
  // not made for.
  while (row.size() > max_line) {
    const auto space = row.substr(0, max_line).find_last_of(" \t,;{}");
    const std::size_t size = space == std::string_view::npos || space < max_line / 2 ? max_line : space + 1;
    scan_line(row.substr(0, size));
    row = row.substr(size);
  }
  scan_line(row);
}

void Scan::scan_line(std::string_view text) {
  Line line;
  line.text = text;
  options_.has_prefilter ? prefilter().look(line, hints_) : prefilter().assume_all(line, hints_);
  if (line.text.empty() || is_space(line.text.front())) {
    if (trim(line.text).empty()) {
      table.reset();
      in_table_body = false;
      continued = Family::none;
      in_ssh_config = in_ssh_config && line.text.empty();
      return;
    }
  }
  if (line.has(has_angle)) shield_placeholders(line.text);
  if (line.has(has_slash)) recognise_urls(*this, line);
  if (line.has(has_slash | has_tilde)) recognise_paths(*this, line);
  if (line.has(has_at | has_dot | has_colon)) recognise_addresses(*this, line);
  if (line.knows(group_command) || continued != Family::none) recognise_commands(*this, line);
  recognise_keys(*this, line);
  if (table || in_table_body || line.knows(group_heading) || line.has(has_bar)) recognise_tables(*this, line);
  recognise_log_lines(*this, line);
  recognise_secrets(*this, line);
  recognise_prose(*this, line);
  if (wants_all()) recognise_measures(*this, line);
}

/// What `--fix` writes is known to be harmless, wherever it stands.
void Scan::shield_placeholders(std::string_view text) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && (is_upper(text[end]) || is_digit(text[end]) || text[end] == '_')) ++end;
    if (end > at + 2 && end < text.size() && text[end] == '>' && is_upper(text[at + 1])) safe(text.substr(at, end + 1 - at), 99);
  }
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
    const auto separator = find_any(raw, "-=", 2);
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
  if (kind == Kind::credential) end = std::min(raw.size(), find_any(raw, " \t\r\"'`,;"));
  raw = trim_back(raw.substr(0, end), ".:,+]");
  if (raw.size() < 2 || is_placeholder(raw) || is_generic(kind, raw)) return;
  const bool is_identifier = kind == Kind::account || kind == Kind::credential || kind == Kind::job_id || kind == Kind::username;
  if (!is_identifier && !std::any_of(raw.begin(), raw.end(), [](char c) { return is_word(c) && !is_digit(c); })) return;
  if ((kind == Kind::partition || kind == Kind::qos) && is_generic_compound(raw)) return;
  if (kind == Kind::mail && raw.find('@') != std::string_view::npos) return;
  if (kind == Kind::username && (raw.find('@') != std::string_view::npos || is_number(raw))) return;
  if (kind == Kind::job_id && (raw.size() < 4 || !is_digit(raw.front()) || raw == "1234" || raw == "12345")) return;
  leak(kind, raw, weight);
}

void Scan::endpoint(Kind kind, std::string_view raw) {
  if (contains_any(raw, " \t/") && raw.find("://") == std::string_view::npos) raw = raw.substr(0, find_any(raw, " \t/"));
  if (raw.find("://") != std::string_view::npos) return;  // a URL of its own
  const auto at = raw.rfind('@');
  if (at != std::string_view::npos) {
    value(Kind::username, raw.substr(0, at), 80);
    return endpoint(kind, raw.substr(at + 1));
  }
  if (is_ipv6(trim(raw, "[]"))) return;
  // `x[..L]`, `error[E105]`: no list of nodes.
  const auto bracket = raw.find('[');
  if (bracket != std::string_view::npos && bracket > 0) {
    const std::string_view inside = raw.substr(bracket + 1, raw.find(']', bracket) - bracket - 1);
    if (inside.empty() || inside.find_first_not_of("0123456789,-:") != std::string_view::npos) return;
  }
  if (flavour == Flavour::code && raw.find('_') != std::string_view::npos) return;  // no host has such a name
  if (kind == Kind::node && !raw.empty() && is_digit(raw.front()) && raw.find('.') == std::string_view::npos && raw.size() < 7) return;
  const auto colon = raw.rfind(':');
  if (colon != std::string_view::npos && raw.find('[') == std::string_view::npos) {
    const std::string_view tail = raw.substr(colon + 1);
    const std::string_view digits = tail.substr(0, std::min(tail.size(), find_none(tail, "0123456789")));
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
    name_trigrams_.insert(folded(piece[0]) << 10 | folded(piece[1]) << 5 | folded(piece[2]));
    if (kind == Kind::node && has_digit(piece) && is_node_like(piece)) {
      // `cn[01-07]` stands for cn01: the prefix and digits.
      const auto bracket = piece.find('[');
      const std::string stem = bracket == std::string_view::npos ? stem_of(piece) : stem_of(piece.substr(0, bracket)) + "#";
      if (stem.size() < 3) return;
      ++stems_[stem];
      add_stem_trigrams(stem);
    }
  });
}

/// Whatever digits stand for a `#`: the first three bytes of a name with this stem.
void Scan::add_stem_trigrams(std::string_view stem) {
  const std::uint32_t digit = folded('0');
  const auto at = [&](std::size_t i) { return stem[i] == '#' ? digit : folded(stem[i]); };
  name_trigrams_.insert(at(0) << 10 | at(1) << 5 | at(2));
  if (stem[1] != '#') return;
  for (std::uint32_t third = 0; third < 32; ++third) name_trigrams_.insert(at(0) << 10 | digit << 5 | third);
}

void Scan::follow_names(std::string_view text) {
  if (names_.empty()) return;
  const auto is_token = [](char c) { return is_word(c) || c == '-'; };
  std::uint32_t head = 0, second = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint32_t third = folded(text[i]), trigram = head << 10 | second << 5 | third;
    head = second;
    second = third;
    if (!name_trigrams_.has(trigram) || i < 2) continue;
    const std::size_t begin = i - 2;
    if (!is_token(text[begin]) || (begin > 0 && is_token(text[begin - 1]))) continue;
    std::size_t end = begin;
    while (end < text.size() && is_token(text[end]) && end - begin <= 60) ++end;
    follow(text, text.substr(begin, end - begin));
  }
}

void Scan::follow(std::string_view text, std::string_view token) {
  if (token.size() < 3 || token.size() > 60) return;
  const auto name = names_.find(lower(token));
  const bool is_quoted = is_quote(before(text, token)) || is_quote(after(text, token));
  if (name != names_.end() && (name->second.is_distinctive || is_quoted || name->second.kind == Kind::username)) {
    leak(name->second.kind, token, 30);
  } else if (name == names_.end() && has_digit(token) && !stems_.empty() && stems_.count(stem_of(token)) != 0) {
    leak(Kind::node, token, 30);
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
