#include "compiler/lint/prefilter.hpp"

#include "compiler/lint/text.hpp"
#include <algorithm>

#include <gsl/assert>

#include "compiler/lint/option_tables.hpp"
#include "compiler/lint/patterns.hpp"

namespace dtj::lint {

namespace {

constexpr std::uint16_t none = 0xffff;

/// The fold in the low five bits, the triggers above them.
constexpr std::array<std::uint64_t, 256> make_classes() {
  std::array<std::uint64_t, 256> table{};
  const auto mark = [&](char c, std::uint64_t trigger) { table[static_cast<unsigned char>(c)] |= trigger << 5; };
  for (std::size_t c = 0; c < 256; ++c) table[c] = fold_of(static_cast<unsigned char>(c));
  mark('/', has_slash);
  mark('@', has_at);
  mark(':', has_colon);
  mark('=', has_equals);
  mark('-', has_dash);
  mark('.', has_dot);
  for (char c = '0'; c <= '9'; ++c) mark(c, has_number);
  for (char c = 'A'; c <= 'Z'; ++c) mark(c, has_upper);
  mark('|', has_bar);
  for (const char c : {'"', '\'', '`'}) mark(c, has_quote);
  mark('#', has_hash);
  mark('%', has_percent);
  mark('~', has_tilde);
  mark('[', has_bracket);
  mark('(', has_paren);
  mark(',', has_comma);
  mark('<', has_angle);
  return table;
}
constexpr auto classes = make_classes();

/// What only the first word of a line tells.
std::uint32_t start_of(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  if (at == text.size()) return 0;
  const char c = text[at];
  if (c == '#' || c == '/') return starts_with_comment;
  if (is_lower(c)) return at == 0 ? std::uint32_t{starts_with_lower} : 0;
  if (!is_digit(c)) return 0;
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end - at < 4 || end == text.size()) return 0;
  if (is_any_of(text[end], " \t_|.+")) return starts_with_number;
  return text[end] == '-' && end + 6 < text.size() && text[end + 6] == 'T' ? std::uint32_t{starts_with_stamp} : 0;
}

/// How seldom a character stands in text, roughly.
int rarity(char c) {
  constexpr std::string_view common = "etaoinsrhdl cump_-fg", rare = "<>()[]`'\"*#$@=xzqjkv";
  return is_any_of(c, rare) ? 12 : is_any_of(c, common) ? static_cast<int>(common.find(c)) / 3 : 7;
}

/// Where in the literal the three characters stand that are seldom met; 0 for a literal of two.
std::size_t rarest_trigram(std::string_view text) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t i = 0; i + 3 <= text.size(); ++i) {
    const int sum = rarity(text[i]) + rarity(text[i + 1]) + rarity(text[i + 2]);
    if (sum > most) {
      most = sum;
      best = i;
    }
  }
  return best;
}

/// Does a key that holds the literal in front of `at` end there? A word about tokens or nodes is no key.
bool ends_key(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_alnum(text[at]) || is_any_of(text[at], "_-./"))) ++at;
  while (at < text.size() && is_any_of(text[at], " \t\"'`])*+")) ++at;
  return at < text.size() && is_any_of(text[at], "=:>");
}

/// The last words of keys that say what a value is; meaning_of_key decides.
constexpr std::string_view key_atoms =
    "partition|rscgrp|queue|qname|qlist|qos|reserv|resv|port|jobid|job_id|job-id|dependency|stepid|accou|acct|bank|alloc|charge|wckey|group|project|user|"
    "login|uname|logname|netid|owner|submitter|mail|node|host|addr|worker|exclu|endpoint|machine|fqdn|cluster|system|sid|server|registry|"
    "proxy|gateway|coordinator|broker|url|uri|target|remote|mirror|passw|passphrase|api|token|secret|pat|credential|key|pwd|name|value|default|leader|head";
constexpr std::string_view heading_atoms =
    "account|bank|cluster|acct|host|jobid|job id|job_id|job-id|login|node|info|owner|partition|project|qos|queue|reserv|resv|user|wckey|port|tok/s|tokens/s|mfu|loss|acc|top-1|ppl|perplexity|throughput|bleu|samples/s|images/s|speedup|tflops|mmlu|score|busbw|njobs|cpuload|util";
constexpr std::string_view directive_atoms = "pbs|bsub|pjm|flux|oar|cobalt|#$|su |id |nc |ps |--";

}  // namespace

Prefilter::Prefilter() {
  for_each_piece(key_atoms, "|", [&](std::string_view text) { add(text, group_key); });
  for_each_piece(heading_atoms, "|", [&](std::string_view text) { add(text, group_heading); });
  for_each_piece(directive_atoms, "|", [&](std::string_view text) { add(text, group_command); });
  add("host ", group_ssh);
  add("match ", group_ssh);
  for (const std::string_view word : command_words()) {
    if (word.size() >= 3) add(word, group_command);
  }
  add_shapes(log_shapes());
  add_shapes(prose_shapes());
  add_shapes(secret_shapes());
  add_shapes(use_shapes());
  add_shapes(result_shapes());
  index();
}

Prefilter::Atom& Prefilter::atom(std::string_view text) {
  const auto it = std::find_if(atoms_.begin(), atoms_.end(), [&](const Atom& a) { return a.text == text; });
  if (it != atoms_.end()) return *it;
  Expects(text.size() >= 2 && text == lower(text));
  atoms_.push_back({std::string(text), 0, 0, {}});
  return atoms_.back();
}

void Prefilter::add(std::string_view text, std::uint32_t groups) { atom(text).groups |= groups; }

void Prefilter::add_shapes(const Shapes& shapes) {
  for (std::size_t i = 0; i < shapes.shapes().size(); ++i) {
    for_each_piece(shapes.shapes()[i].atoms, "|", [&](std::string_view text) {
      atom(text).shapes.emplace_back(shapes.collection(), static_cast<std::uint16_t>(i));
    });
  }
}

void Prefilter::index() {
  first_.assign(trigram_mask + 1, none);
  const auto enter = [&](std::uint32_t trigram, std::size_t id) {
    trigrams_.insert(trigram);
    entries_.push_back(static_cast<std::uint16_t>(id));
    next_.push_back(first_[trigram]);
    first_[trigram] = static_cast<std::uint16_t>(entries_.size() - 1);
  };
  for (std::size_t id = 0; id < atoms_.size(); ++id) {
    const std::string& text = atoms_[id].text;
    const std::size_t key = atoms_[id].key = rarest_trigram(text);
    const std::uint32_t head = folded(text[key]) << 10 | folded(text[key + 1]) << 5;
    if (text.size() > 2) {
      enter(head | folded(text[key + 2]), id);
    } else {
      for (std::uint32_t third = 0; third < 32; ++third) enter(head | third, id);
    }
  }
  Ensures(entries_.size() < none);
}

std::uint32_t Prefilter::note(std::string_view text, std::size_t at, std::uint32_t trigram, Hints& hints) const {
  std::uint32_t groups = 0;
  for (std::uint16_t i = first_[trigram]; i != none; i = next_[i]) {
    const Atom& atom = atoms_[entries_[i]];
    if (at < atom.key || text.size() - (at - atom.key) < atom.text.size()) continue;
    const std::size_t begin = at - atom.key;
    bool is_same = true;
    for (std::size_t k = 0; k < atom.text.size() && is_same; ++k) is_same = to_lower(text[begin + k]) == atom.text[k];
    if (!is_same) continue;
    const bool is_key = (atom.groups & group_key) != 0 && ends_key(text, begin + atom.text.size());
    groups |= is_key ? atom.groups : atom.groups & ~std::uint32_t{group_key};
    for (const auto& [collection, shape] : atom.shapes) hints.add(collection, shape);
  }
  return groups;
}

void Prefilter::look(Line& line, Hints& hints) const {
  hints.clear();
  line.hints = &hints;
  std::uint64_t found = 0;
  std::uint32_t first = 0, second = 0, groups = 0;
  const std::string_view text = line.text;
  const char* data = text.data();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint64_t c = classes[static_cast<unsigned char>(data[i])];
    found |= c;
    const std::uint32_t third = static_cast<std::uint32_t>(c & 31), trigram = first << 10 | second << 5 | third;
    first = second;
    second = third;
    if (trigrams_.has(trigram) && i >= 2) groups |= note(text, i - 2, trigram, hints);
  }
  line.triggers = static_cast<std::uint32_t>(found >> 5) | start_of(text);
  line.groups = groups;
}

void Prefilter::assume_all(Line& line, Hints& hints) const {
  look(line, hints);
  line.groups = group_key | group_heading | group_command | group_ssh;
  for (const Atom& atom : atoms_) {
    for (const auto& [collection, shape] : atom.shapes) hints.add(collection, shape);
  }
}

const Prefilter& prefilter() {
  static const Prefilter instance;
  return instance;
}

}  // namespace dtj::lint
