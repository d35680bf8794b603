#include "compiler/lint/scan_file.hpp"

#include <cstring>
#include <istream>
#include <optional>

#include <fmt/format.h>
#include <re2/re2.h>

#include "compiler/lint/inline_allow.hpp"
#include "compiler/lint/plain_text.hpp"
#include "compiler/lint/scan.hpp"
#include "engine/base/hash.hpp"

namespace dtj::lint {

namespace {

constexpr std::size_t window_size = std::size_t{1} << 20;

/// A stretch of the window that will be reported: by a rule of the table, or by one of the configuration.
struct Hit {
  std::uint32_t begin = 0, end = 0;
  std::optional<Kind> kind;
  const OwnRule* own = nullptr;
};

/// Counts lines as it goes.
struct LineCounter {
  std::uint64_t window_begin = 0;
  std::uint64_t line_begin = 0;
  std::uint32_t line = 1;
  std::size_t at = 0;  ///< in the window

  void advance(std::string_view text, std::size_t to) {
    while (at < to) {
      const void* newline = std::memchr(text.data() + at, '\n', to - at);
      if (newline == nullptr) break;
      at = static_cast<std::size_t>(static_cast<const char*>(newline) - text.data()) + 1;
      ++line;
      line_begin = window_begin + at;
    }
    at = std::max(at, to);
  }
  void next_window(std::size_t size) {
    window_begin += size;
    at = 0;
  }
};

/// Cuts the text into windows that end at a line, and places what the scan finds in the file.
class Windows {
 public:
  Windows(std::string_view name, const Config& config, const OnFinding& on_finding)
      : name_(name), config_(config), scan_(name, {config.tier}), on_finding_(on_finding) {}

  /// Takes whole lines off the front of `text`; returns how many bytes. `is_last`: nothing comes after.
  std::size_t take(std::string_view text, bool is_last) {
    std::size_t size = text.size();
    if (!is_last) {
      const auto newline = text.rfind('\n');
      // A line longer than a window is cut where a word ends.
      const auto cut = newline != std::string_view::npos ? newline : text.find_last_of(" \t,;");
      size = cut == std::string_view::npos ? text.size() : cut + 1;
    }
    scan(text.substr(0, size));
    return size;
  }
  FileReport report() const { return {false, counter_.window_begin, counter_.line}; }

 private:
  void scan(std::string_view text) {
    std::vector<Hit> hits;
    const bool is_first = counter_.window_begin == 0;
    if (text.find('\x1b') == std::string_view::npos) {
      scan_.window(text, is_first);
      for (const Candidate& found : scan_.found()) hits.push_back({found.begin, found.end, found.kind, nullptr});
    } else {
      const PlainText plain(text);
      scan_.window(plain.text(), is_first);
      for (const Candidate& found : scan_.found()) hits.push_back({plain.begin_of(found.begin), plain.end_of(found.end), found.kind, nullptr});
    }
    add_own_rules(text, hits);
    if (text.find("dtj:allow") != std::string_view::npos) read_allows(text);
    for (const Hit& hit : hits) {
      counter_.advance(text, hit.begin);
      if (hit.kind && config_.tier == Tier::core && rule_of(*hit.kind).tier == Tier::all) continue;
      report(text, hit);
    }
    counter_.advance(text, text.size());
    counter_.next_window(text.size());
  }

  void add_own_rules(std::string_view text, std::vector<Hit>& hits) const {
    if (config_.own_rules.empty()) return;
    for (const OwnRule& rule : config_.own_rules) {
      re2::StringPiece rest(text.data(), text.size()), groups[2];
      const int count = rule.pattern->NumberOfCapturingGroups() > 0 ? 2 : 1;
      while (!rest.empty() && rule.pattern->Match(rest, 0, rest.size(), RE2::UNANCHORED, groups, count)) {
        const re2::StringPiece& span = groups[count - 1];
        if (!span.empty()) {
          const auto begin = static_cast<std::uint32_t>(span.data() - text.data());
          const auto end = begin + static_cast<std::uint32_t>(span.size());
          const bool is_known = std::any_of(hits.begin(), hits.end(), [&](const Hit& h) { return h.begin < end && begin < h.end; });
          if (!is_known && text.substr(begin, end - begin).find('\n') == std::string_view::npos) hits.push_back({begin, end, std::nullopt, &rule});
        }
        rest.remove_prefix(std::min(rest.size(), static_cast<std::size_t>(groups[0].data() - rest.data()) + std::max<std::size_t>(1, groups[0].size())));
      }
    }
    std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.begin < b.begin; });
  }

  void read_allows(std::string_view text) {
    LineCounter counter = counter_;
    for (std::size_t at = text.find("dtj:allow"); at != std::string_view::npos; at = text.find("dtj:allow", at + 1)) {
      counter.advance(text, at);
      for (InlineAllow& allow : read_inline_allow(line_around(text, at), counter.line)) allows_.push_back(std::move(allow));
    }
  }

  static std::string_view line_around(std::string_view text, std::size_t at) {
    constexpr std::size_t reach = 512;  // of a longer line only the neighbourhood counts
    const std::size_t low = at > reach ? at - reach : 0;
    const auto newline = text.substr(low, at - low).rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? low : low + newline + 1;
    const std::size_t end = std::min({text.size(), text.find('\n', at), at + reach});
    return text.substr(begin, end - begin);
  }

  void report(std::string_view text, const Hit& hit) {
    Finding finding;
    if (hit.kind) {
      const Rule& rule = rule_of(*hit.kind);
      finding.kind = rule.name;
      finding.code = rule.code;
      finding.message = fmt::format("{}: {}", rule.summary, rule.why);
      finding.placeholder = fmt::format("<{}>", rule.placeholder);
    } else {
      finding.kind = hit.own->name;
      finding.code = hit.own->code;
      finding.message = hit.own->message;
      finding.placeholder = fmt::format("<{}>", hit.own->placeholder);
    }
    finding.file = name_;
    finding.offset = counter_.window_begin + hit.begin;
    finding.line = counter_.line;
    finding.column = static_cast<std::uint32_t>(finding.offset - counter_.line_begin) + 1;
    finding.end_column = finding.column + (hit.end - hit.begin);
    finding.value = std::string(text.substr(hit.begin, hit.end - hit.begin));
    const std::string line = finding.file + finding.code + std::string(trim(line_around(text, hit.begin)));
    finding.fingerprint = to_hex(hash64(line));
    if (!allows_.empty()) finding.suppressed = reason_for(allows_, finding);
    on_finding_(std::move(finding));
  }

  std::string name_;
  const Config& config_;
  Scan scan_;
  const OnFinding& on_finding_;
  LineCounter counter_;
  std::vector<InlineAllow> allows_;
};

bool looks_binary(std::string_view head) { return head.find('\0') != std::string_view::npos; }

}  // namespace

FileReport scan_text(std::string_view name, std::string_view text, const Config& config, const OnFinding& on_finding) {
  if (looks_binary(text.substr(0, 8192))) return {true, text.size(), 0};
  Windows windows(name, config, on_finding);
  while (!text.empty()) {
    const bool is_last = text.size() <= window_size;
    text = text.substr(windows.take(text.substr(0, window_size), is_last));
  }
  return windows.report();
}

FileReport scan_stream(std::string_view name, std::istream& input, const Config& config, const OnFinding& on_finding) {
  Windows windows(name, config, on_finding);
  std::string buffer;
  std::size_t filled = 0;
  bool is_first = true;
  for (;;) {
    // A small file never pays for a whole window.
    if (buffer.size() < window_size) buffer.resize(std::min(window_size, std::max<std::size_t>(16384, 4 * buffer.size())));
    input.read(buffer.data() + filled, static_cast<std::streamsize>(buffer.size() - filled));
    filled += static_cast<std::size_t>(input.gcount());
    const bool is_last = filled < buffer.size();
    if (!is_last && buffer.size() < window_size) continue;
    const std::string_view text(buffer.data(), filled);
    if (is_first && looks_binary(text.substr(0, 8192))) return {true, filled, 0};
    is_first = false;
    const std::size_t taken = filled == 0 ? 0 : windows.take(text, is_last);
    if (is_last) return windows.report();
    std::memmove(buffer.data(), buffer.data() + taken, filled - taken);
    filled -= taken;
  }
}

}  // namespace dtj::lint
