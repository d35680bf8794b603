#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ast/ast.hpp"
#include "compiler/check/units.hpp"
#include "compiler/check/value.hpp"
#include "compiler/diagnostics/diagnostics.hpp"

// The sections of a job are data checked against a schema: a new key is a new row in sections_schema.cpp.

namespace dtj::check {

class Evaluator;
struct MergedJob;
struct MergedSetting;

/// How the value of a key is read.
enum class KeyType : std::uint8_t {
  integer,   ///< evaluated
  number,    ///< evaluated; an integer will do
  boolean,   ///< evaluated
  text,      ///< evaluated string
  quantity,  ///< evaluated; the unit is one of `units`
  count,     ///< a quantity, or a bare integer that counts in units[0]
  word,      ///< one of `words` as a plain name; `words` empty = any name
  words,     ///< a list of them; strings will do
  value,     ///< evaluated, judged by its reader
  written,   ///< kept as a tree for its reader
};

using Fallback = std::variant<std::monostate, bool, std::int64_t, double, std::string_view, Quantity>;

struct KeySchema {
  std::string_view name;
  KeyType type = KeyType::value;
  std::string_view example;  ///< a value that is right, as source text
  bool is_required = false;
  Fallback fallback = {};  ///< what an absent key means, where that is a plain value
  std::vector<UnitKind> units = {};
  std::vector<std::string_view> words = {};
  std::vector<KeySchema> arguments = {};  ///< that a word may take: `slurm(partition = ...)`
  std::string_view of_word = {};          ///< an argument that one word alone takes
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};  ///< absent: what the plan can count
  bool is_path = false;
  bool belongs_to_method = false;  ///< an heir that launches in another way does not inherit it
};

struct SectionSchema {
  std::string_view name;
  std::string_view example;  ///< one whole section, for "write ..."
  bool is_required = false;
  bool has_label = false;  ///< `data NAME`
  std::vector<KeySchema> keys;

  const KeySchema* find(std::string_view key) const;
};

/// launch, mesh, precision, data, train, eval, checkpoint, init, parallel, budget, resume.
const std::vector<SectionSchema>& section_schemas();
const SectionSchema* find_section_schema(std::string_view name);
/// The settings that stand in the job itself: model, optimizer, seed.
const SectionSchema& job_schema();

/// One setting whose value suits its key: integer -> int64, number -> double, text and word -> string, words -> List of
/// strings, quantity and count -> Quantity. Poison: reported. Unbound: a placeholder without a value.
struct Entry {
  const ast::Setting* setting = nullptr;
  const KeySchema* key = nullptr;
  Value value;
  std::vector<Entry> arguments = {};        ///< of a word: `signal_before` in `slurm(signal_before = 5min)`
  std::set<std::string> placeholders = {};  ///< that the value depends on
  std::shared_ptr<Scope> scope;  ///< where it was evaluated; for the reader of a `written` one
};

struct SectionValues {
  const SectionSchema* schema = nullptr;
  std::string label;
  source::Range label_range;
  source::Range range;  ///< of the name of the section, or of the job
  bool is_written = true;
  std::vector<source::Range> parts;  ///< the sections that it was merged from
  std::map<std::string, Entry, std::less<>> entries;
  std::set<std::string, std::less<>> misspelt;  ///< keys that an unknown key was probably meant to be

  const Entry* find(std::string_view key) const;
  /// Whether the key is absent and nothing reported explains it.
  bool is_missing(std::string_view key) const;
  /// From the start of `a` to the end of `b` where they stand in one written section, else the one that is stated first.
  source::Range join(source::Range a, source::Range b) const;
};

/// A setting of a job: what it says, where, and whether it says anything.
enum class Presence : std::uint8_t {
  absent,   ///< `value` is the default
  unknown,  ///< mistaken (reported) or unbound: stay silent about what follows from it
  known,
};
template <class T>
struct Stated {
  T value{};
  source::Range range;  ///< `key = value`; none when absent
  Presence presence = Presence::absent;

  bool is_stated() const { return presence != Presence::absent; }
  bool is_known() const { return presence != Presence::unknown; }
};

/// An argument of the word that `key` holds; null: not written.
const Entry* find_argument(const SectionValues& section, std::string_view key, std::string_view argument);
/// The answer points into the section.
const Entry* find_argument(const SectionValues&& section, std::string_view key, std::string_view argument) = delete;

/// Where values are evaluated and mistakes reported.
struct ReadContext {
  Evaluator* evaluator;
  std::shared_ptr<Scope> scope;
  diag::Sink* sink;
};

/// Unknown and duplicate keys, missing required keys, types, units and least values are reported here, each once.
SectionValues read_settings(const SectionSchema& schema, const std::vector<MergedSetting>& settings, source::Range range,
                            const ReadContext& context);

/// All sections of a job by schema, with `data` once per label. Unknown, duplicate, wrongly labelled and missing required
/// sections are reported here.
struct JobSections {
  SectionValues top;
  std::map<std::string, SectionValues, std::less<>> sections;  ///< by name; all but data
  std::vector<SectionValues> data;

  /// An empty section, in which every key is absent, if the job does not have it.
  SectionValues section(std::string_view name) const;
  bool has(std::string_view name) const { return sections.find(name) != sections.end(); }
};
JobSections read_sections(const MergedJob& job, const ReadContext& context);

// The value of a key of the right type; an absent one is the schema's fallback.
Stated<std::int64_t> read_integer(const SectionValues& section, std::string_view key);
Stated<double> read_number(const SectionValues& section, std::string_view key);
Stated<bool> read_boolean(const SectionValues& section, std::string_view key);
/// Text and words. An unbound placeholder reads as "<name>" and is known.
Stated<std::string> read_text(const SectionValues& section, std::string_view key);
Stated<Quantity> read_quantity(const SectionValues& section, std::string_view key);
Stated<std::vector<std::string>> read_words(const SectionValues& section, std::string_view key);

/// "did you mean `x`?", or the list of what there is.
void suggest(diag::Diagnostic& report, std::string_view found, const std::vector<std::string>& candidates);

}  // namespace dtj::check
