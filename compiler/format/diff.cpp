#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compiler/format/format.hpp"

namespace dtj::format {
namespace {

using Lines = std::vector<std::string_view>;

Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// One line of the result: of both texts, of the old, or of the new one.
struct Row {
  char mark;
  std::string_view text;
};

/// Longest common subsequence of two short runs by dynamic programming; longer ones are replaced as a whole.
void compare(const Lines& a, std::size_t a0, std::size_t a1, const Lines& b, std::size_t b0, std::size_t b1,
             std::vector<Row>& rows) {
  constexpr std::size_t max_cells = 16u << 20;
  const std::size_t n = a1 - a0, m = b1 - b0;
  if (n * m > max_cells) {
    for (std::size_t i = a0; i < a1; ++i) rows.push_back({'-', a[i]});
    for (std::size_t j = b0; j < b1; ++j) rows.push_back({'+', b[j]});
    return;
  }
  std::vector<std::uint32_t> length((n + 1) * (m + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return length[i * (m + 1) + j]; };
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      at(i, j) = a[a0 + i] == b[b0 + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (std::size_t i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && a[a0 + i] == b[b0 + j]) {
      rows.push_back({' ', a[a0 + i]});
      ++i;
      ++j;
    } else if (i < n && (j == m || at(i + 1, j) >= at(i, j + 1))) {
      rows.push_back({'-', a[a0 + i++]});
    } else {
      rows.push_back({'+', b[b0 + j++]});
    }
  }
}

std::vector<Row> rows_of(const Lines& a, const Lines& b) {
  std::vector<Row> rows;
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) rows.push_back({' ', a[head++]});
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  compare(a, head, a.size() - tail, b, head, b.size() - tail, rows);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) rows.push_back({' ', a[i]});
  return rows;
}

/// Rows [begin, end) with their place in both texts.
void write_hunk(const std::vector<Row>& rows, std::size_t begin, std::size_t end, std::string& out) {
  const auto count = [&](std::size_t from, std::size_t to, char other) {
    return static_cast<std::size_t>(std::count_if(rows.begin() + static_cast<std::ptrdiff_t>(from),
                                                  rows.begin() + static_cast<std::ptrdiff_t>(to),
                                                  [&](const Row& row) { return row.mark != other; }));
  };
  const std::size_t old_count = count(begin, end, '+'), new_count = count(begin, end, '-');
  // An empty side is named by the line before it.
  const std::size_t old_line = count(0, begin, '+') + (old_count > 0 ? 1 : 0);
  const std::size_t new_line = count(0, begin, '-') + (new_count > 0 ? 1 : 0);
  out += fmt::format("@@ -{},{} +{},{} @@\n", old_line, old_count, new_line, new_count);
  for (std::size_t i = begin; i < end; ++i) {
    out += rows[i].mark;
    out += rows[i].text;
    if (rows[i].text.back() != '\n') out += "\n\\ No newline at end of file\n";
  }
}

}  // namespace

std::string unified_diff(const std::string& name, const std::string& before, const std::string& after) {
  if (before == after) return {};
  constexpr std::size_t context = 3;
  const Lines a = split_lines(before), b = split_lines(after);
  const std::vector<Row> rows = rows_of(a, b);
  std::string out = fmt::format("--- {}\n+++ {}\n", name, name);
  const auto changed_from = [&](std::size_t i) {
    while (i < rows.size() && rows[i].mark == ' ') ++i;
    return i;
  };
  for (std::size_t change = changed_from(0); change < rows.size();) {
    const std::size_t begin = change > context ? change - context : 0;
    std::size_t last = change;  // the last changed row of this hunk
    for (std::size_t next = change; next < rows.size() && next <= last + 2 * context + 1; next = changed_from(next + 1)) last = next;
    const std::size_t end = std::min(last + context + 1, rows.size());
    write_hunk(rows, begin, end, out);
    change = changed_from(last + 1);
  }
  return out;
}

}  // namespace dtj::format
