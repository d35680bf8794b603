#include <algorithm>
#include <iterator>

#include "compiler/lint/option_tables.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"
#include "compiler/lint/tokens.hpp"

// Directives and command lines: the options of every scheduler, the targets of ssh and its kin.

namespace dtj::lint {

namespace {

struct Walk {
  Scan& scan;
  const std::vector<Token>& tokens;
  std::size_t at = 0;
  Family family = Family::none;
  std::uint32_t words = 0;      ///< arguments seen since the command
  bool is_directive = false;
  bool wants_target = false;    ///< ssh, scp: the first free argument is a host
};

/// The digits and dots of job numbers in `afterok:123:456`.
void report_job_ids(Scan& scan, std::string_view text) {
  for_each_piece(text, ":,?", [&](std::string_view piece) {
    if (is_digit(piece.front())) scan.value(Kind::job_id, piece);
  });
}

void report_forward(Scan& scan, std::string_view text) {
  // [bind:]port:host:port
  std::vector<std::string_view> parts;
  for_each_piece(text, ":", [&](std::string_view piece) { parts.push_back(piece); });
  for (const auto part : parts) {
    if (is_number(part)) {
      scan.port(part);
    } else if (!is_ipv4(part)) {
      scan.endpoint(Kind::node, part);
    }
  }
}

void report_option(Walk& walk, Kind kind, std::string_view value, char letter) {
  Scan& scan = walk.scan;
  if (kind == Kind::job_id) {
    // done(123) && ended(124)
    return for_each_piece(trim(value, "'\""), "()&| ", [&](std::string_view piece) { report_job_ids(scan, piece); });
  }
  if (walk.family == Family::ssh && (letter == 'L' || letter == 'R') ) return report_forward(scan, value);
  if (kind == Kind::node && is_number(value)) return;
  if (kind == Kind::node && (value.find('/') != std::string_view::npos)) return;
  if (walk.family == Family::mpi && kind == Kind::node) {
    for_each_piece(value, ",", [&](std::string_view host) { scan.endpoint(Kind::node, host.substr(0, host.find(':'))); });
    return;
  }
  if (kind == Kind::username && walk.family == Family::fetch) return;
  if (kind == Kind::username) {
    for_each_piece(value, ",", [&](std::string_view name) { scan.value(kind, name); });
    return;
  }
  scan.value(kind, value);
}

/// The value of the option at `walk.at`, which has none of its own; empty when no value follows.
std::string_view next_value(Walk& walk) {
  if (walk.at + 1 >= walk.tokens.size()) return {};
  const Token& next = walk.tokens[walk.at + 1];
  if (next.ends_command || next.text.front() == '-' || next.text.front() == '#') return {};
  if (walk.scan.flavour == Flavour::code && next.text.find('=') != std::string_view::npos) return {};  // a keyword argument
  ++walk.at;
  return next.text;
}

void read_long(Walk& walk, std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto kind = long_option(walk.family, name, walk.scan.knows_scheduler);
  std::string_view value;
  if (equals == std::string_view::npos) {
    if (!kind) return;
    value = next_value(walk);
    if (value == "=" ) value = next_value(walk);
  } else {
    value = text.substr(equals + 1);
    if (trim(value, "\\").empty() && walk.tokens[walk.at].touches_next) value = next_value(walk);
  }
  if (kind && !value.empty()) report_option(walk, *kind, value, 0);
}

void read_short(Walk& walk, std::string_view text) {
  const char letter = text.front();
  const auto kind = short_option(walk.family, letter);
  if (!kind) {
    // Letters without a value may stand together: `squeue -hu name`, `rsync -av`.
    if (takes_value(walk.family, text.back())) {
      const auto last = short_option(walk.family, text.back());
      const std::string_view value = next_value(walk);
      if (last && text.size() > 1) report_option(walk, *last, value, text.back());
    }
    return;
  }
  std::string_view value = text.substr(1);
  if (!value.empty() && value.front() == '=') value = value.substr(1);
  if (value.empty()) value = next_value(walk);
  if (walk.family == Family::slurm && letter == 'd' && value.find(':') == std::string_view::npos) return;
  if (!value.empty()) report_option(walk, *kind, value, letter);
}

/// [user@]host[:path] of ssh, scp, rsync.
void read_target(Walk& walk, std::string_view text) {
  Scan& scan = walk.scan;
  const auto colon = text.find(':');
  const bool names_path = colon != std::string_view::npos && (colon + 1 == text.size() || !is_digit(text[colon + 1]));
  const std::string_view host = walk.family == Family::copy || names_path ? text.substr(0, colon) : text;
  const auto at = host.find('@');
  if (walk.family == Family::copy && colon == std::string_view::npos) return;
  if (text.front() == '/' || text.front() == '.' || text.front() == '~' || text.front() == '$' || text.front() == '<') {
    if (at == std::string_view::npos) return;
  }
  if (at != std::string_view::npos) {
    scan.value(Kind::username, host.substr(0, at), 80);
    scan.endpoint(Kind::hostname, host.substr(at + 1));
  } else if (is_node_like(host) || is_domain(host)) {
    scan.endpoint(Kind::node, host);  // a bare word may be an alias
  }
  walk.wants_target = walk.family == Family::copy;
}

void read_pairs(Walk& walk, std::string_view text);

/// Commands that are words of sentences too: only where a command starts.
bool is_everyday_word(std::string_view text) {
  for (const auto word : {"id", "su", "ps", "top", "host", "groups", "finger", "quota", "ping", "dig", "nc", "interactive"}) {
    if (text == word) return true;
  }
  return false;
}

bool starts_command(const Walk& walk) {
  if (walk.scan.flavour == Flavour::code) return false;
  if (walk.at == 0) return true;
  const Token& previous = walk.tokens[walk.at - 1];
  return previous.ends_command || previous.text == "$" || previous.text == "#" || previous.text == ">" || previous.text == "sudo" ||
         previous.text == "do" || previous.text == "then" || previous.text == "!" || ends_with(previous.text, "$");
}

void read_word(Walk& walk, std::string_view text) {
  ++walk.words;
  const auto family = family_of_command(text);
  if (family && !walk.is_directive && (!is_everyday_word(text) || starts_command(walk))) {
    if (*family == Family::other) return;
    walk.family = *family;
    walk.words = 0;
    walk.wants_target = walk.family == Family::ssh || walk.family == Family::copy || walk.family == Family::lookup;
    return;
  }
  if (walk.family == Family::person && walk.words == 1 && text.find('/') == std::string_view::npos) {
    walk.scan.value(Kind::username, text.substr(0, find_any(text, ":.")));
  }
  if (walk.family == Family::scancel) report_job_ids(walk.scan, text);
  if (walk.family == Family::lsf_query && is_number(text)) report_job_ids(walk.scan, text);
  if (walk.family == Family::lookup && walk.wants_target && !is_number(text)) {
    if (is_node_like(text) || is_domain(text)) walk.scan.endpoint(Kind::node, text);
    walk.wants_target = false;
  }
  if (walk.family == Family::pbs && is_digit(text.front()) && text.find('.') != std::string_view::npos) {
    walk.scan.value(Kind::job_id, text);
  }
  if (walk.wants_target && (walk.family == Family::ssh || walk.family == Family::copy)) read_target(walk, text);
  read_pairs(walk, text);
}

/// `nodename=x` of scontrol, `-l select=2:system=x:ncpus=4` of PBS, `-L rscgrp=x`: keys.cpp knows the keys; these are
/// the words that mean something only here.
void read_pairs(Walk& walk, std::string_view text) {
  if (walk.family != Family::pbs && walk.family != Family::oar && walk.family != Family::cobalt && walk.family != Family::scontrol) return;
  if (walk.family == Family::scontrol) {
    if (walk.words == 3 && is_number(text)) walk.scan.value(Kind::job_id, text);
    if (walk.words == 3 && walk.at > 0 && text.find('=') == std::string_view::npos) {
      const std::string_view what = walk.tokens[walk.at - 1].text;
      if (what == "node" || what == "nodes") walk.scan.value(Kind::node, text);
      if (what == "partition") walk.scan.value(Kind::partition, text);
      if (what == "reservation") walk.scan.value(Kind::reservation, text);
    }
    return;
  }
  const auto depend = text.find("depend=");
  if (depend != std::string_view::npos) report_job_ids(walk.scan, text.substr(depend + 7));
  for (const std::string_view key : {"filesystems=", "storage="}) {
    const auto at = text.find(key);
    if (at == std::string_view::npos) continue;
    const std::string_view value = text.substr(at + key.size());
    if (key == "storage=") {
      if (!is_placeholder(value)) walk.scan.leak(Kind::other, value, 60);
    } else {
      for_each_piece(value, ":,", [&](std::string_view piece) {
        if (!is_placeholder(piece) && piece != "home" && piece != "scratch" && piece != "local") walk.scan.leak(Kind::other, piece, 60);
      });
    }
  }
}

bool is_flux_command(std::string_view word) {
  for (const auto known : {"run", "submit", "batch", "alloc", "jobs", "bulksubmit", "proxy", "queue", "account", "resource", "job"}) {
    if (word == known) return true;
  }
  return false;
}

}  // namespace

void recognise_commands(Scan& scan, const Line& line) {
  std::string_view text = line.text;
  const auto directive = line.has(has_hash) ? find_directive(text) : std::nullopt;
  if (!directive && !line.knows(group_command) && scan.continued == Family::none) return;
  if (directive) text = text.substr(directive->end);
  const std::vector<Token> tokens = tokens_of(text);
  Walk walk{scan, tokens};
  walk.family = directive ? directive->family : scan.continued;
  walk.is_directive = directive.has_value();
  if (directive) scan.main_family = directive->family;
  for (walk.at = 0; walk.at < tokens.size(); ++walk.at) {
    const Token& token = tokens[walk.at];
    std::string_view word = token.text;
    if (token.ends_command) {
      if (!walk.is_directive) walk.family = Family::none;
      continue;
    }
    if (walk.is_directive && word.front() == '#' && walk.at > 0) break;
    const auto substitution = word.rfind("$(");
    if (substitution != std::string_view::npos && word.size() > substitution + 2) word = word.substr(substitution + 2);
    if (word == "flux" && (walk.at + 1 == tokens.size() || !is_flux_command(tokens[walk.at + 1].text))) continue;
    if (word == "--") continue;
    if (starts_with(word, "--") && word.size() > 2) {
      read_long(walk, word.substr(2));
    } else if (word.size() > 1 && word.front() == '-' && !is_digit(word[1])) {
      if (walk.family == Family::mpi || walk.family == Family::pjm) {
        if (word == "-host" || word == "-hosts") {
          report_option(walk, Kind::node, next_value(walk), 'H');
          continue;
        }
      }
      if (walk.family == Family::lsf && (word == "-sla")) {
        scan.value(Kind::qos, next_value(walk));
        continue;
      }
      read_short(walk, word.substr(1));
    } else {
      read_word(walk, word);
    }
  }
  const std::string_view tail = trim_back(line.text);
  scan.continued = !tail.empty() && tail.back() == '\\' && !walk.is_directive ? walk.family : Family::none;
}

}  // namespace dtj::lint
