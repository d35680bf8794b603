#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dtj/dtj.hpp"

// Leaked site details in whatever people publish: partitions, accounts, hosts, ports, users, paths, addresses, secrets.
// Like the rest of the public API, nothing here throws, exits or prints.

namespace dtj::lint {

enum class Tier : std::uint8_t {
  core,  ///< what names a site, a person or a secret
  all,   ///< also job numbers, live use, results, other details
};

/// One rule of the table. Texts are sentences without a full stop.
struct RuleInfo {
  std::string code;  ///< "L101"
  std::string name;  ///< "partition", the `kind` of its findings
  Tier tier = Tier::core;
  std::string placeholder;  ///< "<PARTITION>"
  std::string summary, why, example;
};

/// One leaked detail. Lines and columns are 1-based, columns count bytes, the end is exclusive.
struct Finding {
  std::string code, kind, file;
  DiagnosticSeverity severity = DiagnosticSeverity::error;
  std::uint64_t offset = 0;  ///< of the first byte, in the file
  std::uint32_t line = 0, column = 0, end_column = 0;
  std::string value;
  std::string message;
  std::string placeholder;  ///< what to write instead
  std::string suppressed;   ///< why it is allowed; empty = it counts
  std::string fingerprint;  ///< of the rule, the file and the text of the line: stays when lines move
};

struct Request {
  enum class Source : std::uint8_t {
    paths,   ///< files and folders; in a work tree of Git without what it ignores
    text,    ///< `text`, called `text_name`
    staged,  ///< the Git index
    diff,    ///< the lines that the work tree adds to `diff_base`
  };
  Source source = Source::paths;
  std::vector<std::string> paths;
  std::string text, text_name, diff_base;
  std::optional<Tier> tier;       ///< none = as the configuration says, else core
  std::string config;             ///< a .dtjlint.toml; "" = the nearest one above the current folder
  std::string baseline;           ///< a file of fingerprints that are known and allowed
  bool fix = false;               ///< writes placeholders into the files
  bool dry_run = false;           ///< with `fix`: says what would be written
  std::string profile;            ///< with `fix`: a private file for the values, `PLACEHOLDER = "value"`
  /// Gets each finding as it is made, instead of `Report::findings`: memory stays flat. Not with `fix`.
  std::function<void(const Finding&)> on_finding;
};

struct Report {
  std::vector<Finding> findings;     ///< in the order of files and bytes; suppressed ones too
  std::vector<std::string> jobs_in_folders;  ///< the .dtj files that were met there: they deserve the full check
  std::vector<std::string> notes;    ///< files that were skipped, fixes that were made
  std::optional<Failure> failure;    ///< a bad configuration, a file that cannot be read, no Git
  std::uint64_t num_files = 0, num_bytes = 0;
  std::map<std::string, std::string> replaced;  ///< placeholder -> value, of `fix`
  std::size_t num_errors = 0;                   ///< findings of severity error that nothing suppresses
};

struct RenderOptions {
  enum class Format : std::uint8_t { text, json, sarif, github };
  Format format = Format::text;
  bool redact = false;  ///< the values stay out of the report
  bool show_suppressed = false;
};

DTJ_API const std::vector<RuleInfo>& rules();
DTJ_API Report check(const Request& request);
DTJ_API std::string render(const Report& report, const RenderOptions& options);
/// One finding in a format of lines, which is any but sarif; "" when it is suppressed and not to be shown.
DTJ_API std::string render(const Finding& finding, const RenderOptions& options);
/// The first line of a file of fingerprints.
DTJ_API std::string baseline_head();
/// Its line in a file of fingerprints.
DTJ_API std::string render_baseline(const Finding& finding);
/// SARIF documents as one; empty texts are none.
DTJ_API std::string join_sarif(const std::vector<std::string>& documents);
/// A workflow command of GitHub: a note on a line. `level` is error, warning or notice.
DTJ_API std::string github_command(std::string_view level, std::string_view file, std::int64_t line, std::int64_t column,
                                   std::int64_t end_column, std::string_view title, std::string_view message);
/// What a rule means, with an example; `code` is its code or name.
DTJ_API std::optional<std::string> explain(std::string_view code);

}  // namespace dtj::lint
