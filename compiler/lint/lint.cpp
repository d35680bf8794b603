#include "compiler/lint/lint.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/lint/config.hpp"
#include "compiler/lint/files.hpp"
#include "compiler/lint/fix.hpp"
#include "compiler/lint/scan_file.hpp"
#include "compiler/lint/text.hpp"

namespace dtj::lint {

namespace {

Failure failure_of(const Error& error) { return {std::string(to_string(error.code)), error.message}; }

Result<std::string> read_file(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  if (!input) return fail(ErrorCode::not_found, fmt::format("cannot read `{}`", path));
  return std::string(std::istreambuf_iterator<char>(input), {});
}

/// Writes beside the file and renames, so that a full disk harms nothing.
Status replace_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".dtj-new";
  std::error_code error;
  const auto permissions = std::filesystem::status(path, error).permissions();
  {
    std::ofstream output(fresh, std::ios::binary | std::ios::trunc);
    output.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!output.flush()) return fail(ErrorCode::unavailable, fmt::format("cannot write `{}`", fresh));
  }
  if (std::filesystem::exists(path, error)) std::filesystem::permissions(fresh, permissions, error);
  std::filesystem::rename(fresh, path, error);
  if (error) return fail(ErrorCode::unavailable, fmt::format("cannot replace `{}`: {}", path, error.message()));
  return {};
}

class Run {
 public:
  explicit Run(const Request& request) : request_(request), named_(request.paths.begin(), request.paths.end()) {}

  Report take() {
    if (Status status = check(); !status) report_.failure = failure_of(status.error());
    return std::move(report_);
  }

 private:
  Status check() {
    DTJ_TRY(configure());
    DTJ_TRY(read_baseline());
    switch (request_.source) {
      case Request::Source::paths: DTJ_TRY(check_paths()); break;
      case Request::Source::text: check_text(request_.text_name, request_.text); break;
      case Request::Source::staged: DTJ_TRY(check_staged()); break;
      case Request::Source::diff: DTJ_TRY(check_diff()); break;
    }
    for (const auto& [reason, count] : unread_) report_.notes.push_back(fmt::format("{} {} not read: {}", count, count == 1 ? "file" : "files", reason));
    if (request_.fix) report_.replaced = placeholders_.values();
    if (request_.fix && !request_.dry_run && !request_.profile.empty()) {
      DTJ_TRY(replace_file(request_.profile, render_profile(placeholders_)));
      std::error_code ignored;
      std::filesystem::permissions(request_.profile, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
    }
    return {};
  }

  Status configure() {
    const std::string path = request_.config.empty() ? find_config(".") : request_.config;
    if (!path.empty()) {
      DTJ_TRY_ASSIGN(config_, read_config(path));
    }
    if (request_.tier) config_.tier = *request_.tier;
    return {};
  }

  Status read_baseline() {
    if (request_.baseline.empty()) return {};
    DTJ_TRY_ASSIGN(const std::string text, read_file(request_.baseline));
    for_each_piece(text, "\n", [&](std::string_view line) {
      if (line.front() != '#') baseline_.insert(std::string(line.substr(0, line.find(' '))));
    });
    return {};
  }

  Status check_paths() {
    DTJ_TRY_ASSIGN(const std::vector<std::string> files, expand_paths(request_.paths));
    for (const std::string& file : files) {
      if (skip(file)) continue;
      std::ifstream input(file, std::ios::binary);
      if (!input) return fail(ErrorCode::not_found, fmt::format("cannot read `{}`", file));
      if (ends_with(file, ".dtj") && named_.count(file) == 0) report_.jobs_in_folders.push_back(file);
      const std::size_t first = report_.findings.size();
      finish(file, scan_stream(file, input, config_, [&](Finding&& finding) { add(std::move(finding)); }));
      if (request_.fix && report_.findings.size() > first) {
        DTJ_TRY(fix(file, first));
      }
    }
    return {};
  }

  Status check_staged() {
    DTJ_TRY_ASSIGN(const std::vector<std::string> files, staged_files());
    for (const std::string& file : files) {
      if (skip(file)) continue;
      DTJ_TRY_ASSIGN(const std::string text, staged_text(file));
      check_text(file, text);
    }
    return {};
  }

  Status check_diff() {
    DTJ_TRY_ASSIGN(const auto changes, added_lines(request_.diff_base));
    for (const AddedLines& change : changes) {
      if (skip(change.file)) continue;
      DTJ_TRY_ASSIGN(const std::string text, read_file(change.file));
      finish(change.file, scan_text(change.file, text, config_, [&](Finding&& finding) {
               if (change.lines.count(finding.line) != 0) add(std::move(finding));
             }));
    }
    return {};
  }

  void check_text(const std::string& name, std::string_view text) {
    finish(name, scan_text(name, text, config_, [&](Finding&& finding) { add(std::move(finding)); }));
  }

  bool skip(const std::string& file) {
    const std::string reason = config_.reason_for_file(file);
    if (!reason.empty()) ++unread_[reason];
    return !reason.empty();
  }

  void finish(const std::string& file, const FileReport& scanned) {
    ++report_.num_files;
    report_.num_bytes += scanned.num_bytes;
    if (scanned.is_binary) report_.notes.push_back(fmt::format("{}: skipped, it is no text", file));
  }

  void add(Finding&& finding) {
    const auto by_code = config_.severities.find(finding.code), by_kind = config_.severities.find(finding.kind);
    const std::string level = by_code != config_.severities.end() ? by_code->second : by_kind != config_.severities.end() ? by_kind->second : "error";
    if (level == "off") return;
    if (level == "warning") finding.severity = DiagnosticSeverity::warning;
    if (level == "note") finding.severity = DiagnosticSeverity::note;
    if (finding.suppressed.empty()) finding.suppressed = config_.reason_for(finding);
    if (finding.suppressed.empty() && baseline_.count(finding.fingerprint) != 0) finding.suppressed = "in the baseline";
    if (finding.suppressed.empty() && finding.severity == DiagnosticSeverity::error) ++report_.num_errors;
    if (request_.on_finding && !request_.fix) return request_.on_finding(finding);
    report_.findings.push_back(std::move(finding));
  }

  Status fix(const std::string& file, std::size_t first) {
    DTJ_TRY_ASSIGN(const std::string text, read_file(file));
    std::vector<Finding> mine(report_.findings.begin() + static_cast<std::ptrdiff_t>(first), report_.findings.end());
    const std::string fixed = apply_placeholders(text, mine, placeholders_);
    if (fixed == text) return {};
    const auto count = std::count_if(mine.begin(), mine.end(), [](const Finding& f) { return f.suppressed.empty(); });
    report_.notes.push_back(fmt::format("{}: {} {}", file, count, request_.dry_run ? "placeholders would be written" : "placeholders written"));
    if (request_.dry_run) return {};
    DTJ_TRY(replace_file(file, fixed));
    for (std::size_t i = first; i < report_.findings.size(); ++i) {
      if (!report_.findings[i].suppressed.empty()) continue;
      report_.findings[i].suppressed = "fixed";
      if (report_.findings[i].severity == DiagnosticSeverity::error) --report_.num_errors;
    }
    return {};
  }

  const Request& request_;
  std::set<std::string> named_;
  Config config_;
  std::set<std::string> baseline_;
  std::map<std::string, std::size_t> unread_;  ///< files by the reason why they are exempt
  Placeholders placeholders_;
  Report report_;
};

}  // namespace

Report check(const Request& request) { return Run(request).take(); }

}  // namespace dtj::lint
