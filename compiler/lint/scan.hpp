#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/lint/finding.hpp"
#include "compiler/lint/text.hpp"

// The scanner of one file: what the recognisers share. They see one line at a time, and the state of the lines before.

namespace dtj::lint {

/// Bytes folded to five bits: letters without case, digits, blanks, a few signs.
constexpr std::uint32_t fold_of(unsigned char c) {
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a' + 1);
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A' + 1);
  if (c >= '0' && c <= '9') return 27;
  if (c == ' ' || c == '\t') return 28;
  if (c == '-' || c == '_') return 29;
  if (c == '=' || c == ':' || c == '/') return 30;
  return c == 0 ? 0 : 31;
}

inline constexpr auto fold_table = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 0; c < 256; ++c) table[c] = static_cast<std::uint8_t>(fold_of(static_cast<unsigned char>(c)));
  return table;
}();
inline std::uint32_t folded(char c) { return fold_table[static_cast<unsigned char>(c)]; }
constexpr std::uint32_t trigram_mask = 0x7fff;

class TrigramSet {
 public:
  void insert(std::uint32_t trigram) { bits_[trigram >> 6] |= std::uint64_t{1} << (trigram & 63); }
  bool has(std::uint32_t trigram) const { return ((bits_[trigram >> 6] >> (trigram & 63)) & 1) != 0; }

 private:
  std::array<std::uint64_t, (trigram_mask + 1) / 64> bits_{};
};

enum class Family : std::uint8_t {
  none, slurm, scontrol, sacctmgr, scancel, slurm_query, pbs, lsf, lsf_query, sge_query, pjm, flux, oar, cobalt,
  ssh, copy, launch, mpi, lookup, fetch, secret, person, quota, other
};

/// What a file is, as far as its name and first bytes say.
enum class Flavour : std::uint8_t { text, shell, code, config, markdown, log, table, job };  // job: a .dtj file

/// A stretch of the window that may be a finding; without a kind it is known to be harmless and shields what is inside.
struct Candidate {
  std::uint32_t begin = 0, end = 0;
  std::optional<Kind> kind;
  std::uint8_t weight = 0;  ///< the heavier one wins where two overlap
};

/// Which signs stand in a line, and how it starts.
enum Trigger : std::uint32_t {
  has_slash = 1, has_at = 2, has_colon = 4, has_equals = 8, has_dash = 16, has_dot = 32, has_number = 64, has_bar = 128,
  has_quote = 256, has_upper = 512, has_hash = 1024, has_percent = 2048, has_tilde = 4096, has_bracket = 8192, has_paren = 16384,
  has_comma = 32768, has_angle = 65536,
  starts_with_number = 1 << 20,  ///< four digits and more, then a blank, `_`, `|`, `.` or `+`
  starts_with_stamp = 1 << 21,   ///< 2026-01-31T
  starts_with_lower = 1 << 22, starts_with_comment = 1 << 23,
};

/// Which recognisers know a word of the line.
enum Group : std::uint32_t { group_key = 1, group_heading = 2, group_command = 4, group_ssh = 8 };

/// The line shapes of one recogniser.
enum class Collection : std::uint8_t { log, prose, secret, use, result };

/// The line shapes one of whose literals stands in the line.
class Hints {
 public:
  void add(Collection collection, std::uint16_t shape) {
    auto& list = shapes_[static_cast<std::size_t>(collection)];
    if (std::find(list.begin(), list.end(), shape) == list.end()) list.push_back(shape);
  }
  void clear() {
    for (auto& list : shapes_) list.clear();
  }
  const std::vector<std::uint16_t>& of(Collection collection) const { return shapes_[static_cast<std::size_t>(collection)]; }

 private:
  std::array<std::vector<std::uint16_t>, 5> shapes_;
};

struct Line {
  std::string_view text;  ///< without the line end
  std::uint32_t triggers = 0, groups = 0;
  const Hints* hints = nullptr;
  bool has(std::uint32_t wanted) const { return (triggers & wanted) != 0; }
  bool knows(std::uint32_t group) const { return (groups & group) != 0; }
};

/// A confirmed name, followed through the rest of the file.
struct Confirmed {
  Kind kind{};
  bool is_distinctive = false;  ///< has a digit, `_` or `-`: no word of a language
};

struct Column {
  std::uint32_t begin = 0, end = 0;
  std::optional<Kind> kind;
};

struct Table {
  std::vector<Column> columns;
  char separator = ' ';
  bool counts_states = false;  ///< of sinfo, of a quota: numbers of live use
  std::uint32_t rows = 0;
};

struct Options {
  Tier tier = Tier::core;
  bool has_prefilter = true;  ///< off: every recogniser looks at every line, which finds the same and takes long
};

class Scan {
 public:
  Scan(std::string_view file_name, Options options);

  /// Scans whole lines. `first` = the file's first bytes are among them.
  void window(std::string_view text, bool is_first);
  /// Of the last window, in order, without overlaps, only those with a kind.
  const std::vector<Candidate>& found() const { return found_; }

  // For the recognisers.
  void leak(Kind kind, std::string_view span, int weight = 50);
  void safe(std::string_view span, int weight = 90);
  /// A value in a place of the kind: unwraps quotes and defaults, drops what is never a leak, confirms the name.
  void value(Kind kind, std::string_view raw, int weight = 60);
  /// [user@]host[:port], an address or a URL in a place where a host belongs.
  void endpoint(Kind kind, std::string_view raw);
  void port(std::string_view digits);
  bool wants_all() const { return options_.tier == Tier::all; }

  Flavour flavour = Flavour::text;
  bool knows_scheduler = false;  ///< a scheduler is in sight somewhere in the file
  bool in_ssh_config = false;
  bool in_fence = false;
  std::optional<Table> table;
  Family continued = Family::none;   ///< the command whose line ended in a backslash
  Family main_family = Family::none; ///< of the directives of the file
  std::string list_key;             ///< of a YAML list whose items are on lines of their own
  std::size_t list_indent = 0;
  std::string section;              ///< [section] or parent key
  bool in_hostfile = false;
  bool in_table_body = false;  ///< of a Markdown table: below its rule
  std::string named;           ///< the value of `name:` on the line before, which the next `value:` belongs to

 private:
  void scan_row(std::string_view row);
  void scan_line(std::string_view text);
  void shield_placeholders(std::string_view text);
  void follow_names(std::string_view text);
  void follow(std::string_view text, std::string_view token);
  void add_stem_trigrams(std::string_view stem);
  void resolve();
  void confirm(Kind kind, std::string_view name);

  Options options_;
  std::string_view window_;
  std::vector<Candidate> found_;
  std::unordered_map<std::string, Confirmed> names_;
  std::unordered_map<std::string, std::uint32_t> stems_;  ///< node names with their digits folded
  TrigramSet name_trigrams_;
  Hints hints_;
  std::uint32_t num_windows_ = 0;
};

// One file each; they report through the scan.
void recognise_commands(Scan& scan, const Line& line);
void recognise_keys(Scan& scan, const Line& line);
void recognise_tables(Scan& scan, const Line& line);
void recognise_log_lines(Scan& scan, const Line& line);
void recognise_urls(Scan& scan, const Line& line);
void recognise_addresses(Scan& scan, const Line& line);
void recognise_paths(Scan& scan, const Line& line);
void recognise_secrets(Scan& scan, const Line& line);
void recognise_prose(Scan& scan, const Line& line);
void recognise_measures(Scan& scan, const Line& line);

/// Digits folded: `hpx-n07` -> `hpx-n#`.
std::string stem_of(std::string_view name);
/// What a key of a configuration or of scheduler output holds.
struct KeyMeaning {
  Kind kind{};
  bool needs_scheduler = false;
};
std::optional<KeyMeaning> meaning_of_key(std::string_view key);

}  // namespace dtj::lint
