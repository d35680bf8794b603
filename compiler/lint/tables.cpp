#include <array>
#include <string>
#include <unordered_map>

#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// Tables: a header line types the columns of the lines below it (squeue, sinfo, sacct, qstat, bjobs, pjstat, Markdown, CSV).

namespace dtj::lint {

namespace {

struct Heading {
  std::string_view word;  ///< lower case, without spaces, `-` and `_`
  std::optional<Kind> kind;
};

constexpr std::array headings = {
    Heading{"account", Kind::account},      Heading{"alloc", std::nullopt},         Heading{"alloccpus", std::nullopt},
    Heading{"alloctres", std::nullopt},     Heading{"avail", std::nullopt},         Heading{"bank", Kind::account},
    Heading{"cluster", Kind::hostname},     Heading{"command", std::nullopt},       Heading{"cpu", std::nullopt},
    Heading{"cpus", std::nullopt},          Heading{"cpus(a/i/o/t)", std::nullopt}, Heading{"defaultaccount", Kind::account},
    Heading{"defacct", Kind::account},      Heading{"elapse", std::nullopt},        Heading{"elapselim", std::nullopt},
    Heading{"elapsed", std::nullopt},       Heading{"elaptime", std::nullopt},      Heading{"endtime", std::nullopt},
    Heading{"exechost", Kind::node},        Heading{"exitcode", std::nullopt},      Heading{"fairshare", Kind::utilization},
    Heading{"features", std::nullopt},      Heading{"freemem", std::nullopt},       Heading{"fromhost", Kind::node},
    Heading{"gres", std::nullopt},          Heading{"group", std::nullopt},         Heading{"host", Kind::node},
    Heading{"hostname", Kind::node},        Heading{"hostnames", Kind::node},       Heading{"info", Kind::node},
    Heading{"jobid", Kind::job_id},         Heading{"jobname", std::nullopt},       Heading{"limit", std::nullopt},
    Heading{"login", Kind::username},       Heading{"maxrss", std::nullopt},        Heading{"md", std::nullopt},
    Heading{"memory", std::nullopt},        Heading{"minmemory", std::nullopt},     Heading{"name", std::nullopt},
    Heading{"ncpus", std::nullopt},         Heading{"nds", std::nullopt},           Heading{"nnodes", std::nullopt},
    Heading{"node", Kind::node},            Heading{"nodelist", Kind::node},        Heading{"nodelist(reason)", Kind::node},
    Heading{"nodename", Kind::node},        Heading{"noderequire", std::nullopt},   Heading{"nodes", std::nullopt},
    Heading{"nodes(a/i)", std::nullopt},    Heading{"nodes(a/i/o/t)", std::nullopt}, Heading{"ntasks", std::nullopt},
    Heading{"owner", Kind::username},       Heading{"partition", Kind::partition},  Heading{"pid", std::nullopt},
    Heading{"prio", std::nullopt},          Heading{"prior", std::nullopt},         Heading{"priority", std::nullopt},
    Heading{"project", Kind::account},      Heading{"qos", Kind::qos},              Heading{"queue", Kind::partition},
    Heading{"queuename", Kind::partition},  Heading{"rawshares", std::nullopt},     Heading{"rawusage", Kind::utilization},
    Heading{"reason", std::nullopt},        Heading{"reqmem", std::nullopt},        Heading{"reservation", Kind::reservation},
    Heading{"resvname", Kind::reservation}, Heading{"s", std::nullopt},             Heading{"sessid", std::nullopt},
    Heading{"slots", std::nullopt},         Heading{"st", std::nullopt},            Heading{"start", std::nullopt},
    Heading{"startdate", std::nullopt},     Heading{"starttime", std::nullopt},     Heading{"stat", std::nullopt},
    Heading{"state", std::nullopt},         Heading{"status", std::nullopt},        Heading{"submit", std::nullopt},
    Heading{"submit/start", std::nullopt},  Heading{"submissiondate", std::nullopt}, Heading{"submittime", std::nullopt},
    Heading{"time", std::nullopt},          Heading{"timeleft", std::nullopt},      Heading{"timelimit", std::nullopt},
    Heading{"timeuse", std::nullopt},       Heading{"timestamp", std::nullopt},     Heading{"tsk", std::nullopt},
    Heading{"tty", std::nullopt},           Heading{"user", Kind::username},        Heading{"users", std::nullopt},
    Heading{"userid", Kind::username},      Heading{"username", Kind::username},    Heading{"vnode", std::nullopt},
    Heading{"wckey", Kind::account},        Heading{"from", std::nullopt},          Heading{"port", Kind::port},
    Heading{"email", std::nullopt},         Heading{"at", std::nullopt},            Heading{"ja-task-id", std::nullopt},
    Heading{"core", std::nullopt},          Heading{"vmem", std::nullopt},          
    Heading{"sockets", std::nullopt},       Heading{"arch", std::nullopt},          Heading{"ncpu", std::nullopt},
    Heading{"load", std::nullopt},          Heading{"runtime", std::nullopt},       Heading{"gpus", std::nullopt},
    Heading{"elap", std::nullopt},          Heading{"req'd", std::nullopt},         Heading{"max", std::nullopt},
    Heading{"tokens/s", Kind::result},
    Heading{"tok/s", Kind::result},
    Heading{"mfu", Kind::result},
    Heading{"loss", Kind::result},
    Heading{"valloss", Kind::result},
    Heading{"evalloss", Kind::result},
    Heading{"trainloss", Kind::result},
    Heading{"accuracy", Kind::result},
    Heading{"acc", Kind::result},
    Heading{"top1", Kind::result},
    Heading{"top1acc", Kind::result},
    Heading{"ppl", Kind::result},
    Heading{"perplexity", Kind::result},
    Heading{"throughput", Kind::result},
    Heading{"f1", Kind::result},
    Heading{"bleu", Kind::result},
    Heading{"samples/s", Kind::result},
    Heading{"images/s", Kind::result},
    Heading{"speedup", Kind::result},
    Heading{"tflops", Kind::result},
    Heading{"tflops/gpu", Kind::result},
    Heading{"mmlu", Kind::result},
    Heading{"score", Kind::result},
    Heading{"stepms", Kind::result},
    Heading{"mstep", Kind::result},
    Heading{"msstep", Kind::result},
    Heading{"busbw", Kind::result},
    Heading{"algbw", Kind::result},
    Heading{"effectvusage", Kind::utilization},
    Heading{"njobs", Kind::utilization},
    Heading{"pend", Kind::utilization},
    Heading{"run", Kind::utilization},
    Heading{"susp", Kind::utilization},
    Heading{"cpuload", Kind::utilization},
    Heading{"used", Kind::utilization},
    Heading{"use%", Kind::utilization},
    Heading{"util", Kind::utilization},
    Heading{"utilization", Kind::utilization},
    Heading{"allocated", Kind::utilization},
    Heading{"idle", Kind::utilization}};

std::string normal(std::string_view text) {
  std::string out;
  for (const char c : trim(text, " \t\r`*\"'")) {
    if (c != ' ' && c != '_' && c != '-') out += to_lower(c);
  }
  return out;
}

const Heading* find_heading(std::string_view text) {
  const std::string word = normal(text);
  if (word.empty() || word.size() > 20) return nullptr;
  static const std::unordered_map<std::string_view, const Heading*> known = [] {
    std::unordered_map<std::string_view, const Heading*> out;
    for (const Heading& heading : headings) out.emplace(heading.word, &heading);
    return out;
  }();
  const auto it = known.find(word);
  return it == known.end() ? nullptr : it->second;
}

struct Cell {
  std::string_view text;
  std::uint32_t begin = 0, end = 0;
};

std::vector<Cell> cells_of(std::string_view line, char separator) {
  std::vector<Cell> out;
  const auto push = [&](std::string_view piece, std::size_t at) {
    const std::string_view cell = trim(piece);
    const auto begin = at + static_cast<std::size_t>(cell.data() - piece.data());
    out.push_back({cell, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + cell.size())});
  };
  if (separator == ' ') {
    for_each_piece(line, " \t\r", [&](std::string_view piece) { push(piece, static_cast<std::size_t>(piece.data() - line.data())); });
    return out;
  }
  std::size_t at = 0;
  while (at <= line.size()) {
    auto end = line.find(separator, at);
    if (end == std::string_view::npos) end = line.size();
    push(line.substr(at, end - at), at);
    at = end + 1;
  }
  return out;
}

/// The columns when the line is a header. Two words of a space-separated heading may be one name: `Job ID`.
std::optional<Table> read_header(const Scan& scan, std::string_view text, char separator, bool is_markdown) {
  const auto cells = cells_of(text, separator);
  if (cells.size() < 2 || cells.size() > 40) return std::nullopt;
  Table table;
  table.separator = separator;
  std::size_t known = 0, typed = 0, capitals = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Cell cell = cells[i];
    const Heading* heading = find_heading(cell.text);
    if (separator == ' ' && i + 1 < cells.size() && cells[i + 1].begin == cell.end + 1) {
      const std::string_view both = text.substr(cell.begin, cells[i + 1].end - cell.begin);
      const std::string word = normal(both);
      if (word == "jobid" || word == "timeuse" || word == "submissiondate" || word == "username" || word == "jobname") {
        heading = find_heading(both);
        cell.end = cells[i + 1].end;
        ++i;
      }
    }
    if (heading != nullptr) ++known;
    if (heading != nullptr && heading->kind && (scan.wants_all() || rule_of(*heading->kind).tier == Tier::core || *heading->kind == Kind::job_id)) ++typed;
    if (!cell.text.empty() && is_upper(cell.text.front())) ++capitals;
    table.columns.push_back({cell.begin, cell.end, heading == nullptr ? std::nullopt : heading->kind});
  }
  if (typed == 0) return std::nullopt;
  if (separator != ' ') return is_markdown || known >= 2 ? std::optional(table) : std::nullopt;
  const bool is_most = known >= 3 && known * 2 > table.columns.size();
  const bool is_all = known == table.columns.size() && known >= 2 && capitals * 2 >= known;
  if (!is_most && !is_all) return std::nullopt;
  return table;
}

bool is_rule(std::string_view text) { return text.size() >= 3 && find_none(text, "-+|:= \t\r") == std::string_view::npos && text.find("--") != std::string_view::npos; }

/// The dashes below a header show how wide each column is.
void widen_columns(Table& table, std::string_view rule) {
  const auto cells = cells_of(rule, ' ');
  if (cells.size() != table.columns.size()) return;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    table.columns[i].begin = cells[i].begin;
    table.columns[i].end = cells[i].end;
  }
}

const Column* column_of(const Table& table, const std::vector<Cell>& cells, std::size_t index) {
  if (table.separator != ' ' || cells.size() == table.columns.size()) return index < table.columns.size() ? &table.columns[index] : nullptr;
  const Column* found = nullptr;
  for (const Column& column : table.columns) {
    if (cells[index].begin < column.end && column.begin < cells[index].end) {
      if (found != nullptr && !found->kind) continue;
      found = found == nullptr ? &column : found;
    }
  }
  return found;
}

void report_cell(Scan& scan, Kind kind, std::string_view cell) {
  if (cell.empty() || cell.front() == '(' || cell == "-" || cell == "--" || cell.front() == '[') return;
  cell = trim(cell, "`*+\"'~");
  if (kind == Kind::result || kind == Kind::utilization) {
    if (!cell.empty() && is_digit(cell.front()) && scan.wants_all()) scan.leak(kind, cell, 41);
    return;
  }
  if (kind == Kind::job_id) {
    if (!cell.empty() && is_digit(cell.front())) scan.value(kind, cell, 58);
    return;
  }
  if (cell.empty() || (cell.find(' ') != std::string_view::npos && kind != Kind::node)) return;
  if (kind == Kind::node) {
    // bjobs: 4*cn12:4*cn13
    const auto star = cell.find('*');
    if (star != std::string_view::npos) cell = cell.substr(star + 1);
    for_each_piece(cell, " +", [&](std::string_view host) {
      if (!is_number(host) && has_alpha(host)) scan.endpoint(kind, host.substr(0, find_any(host, ":/")));
    });
    return;
  }
  if (is_number(cell) && kind != Kind::account && kind != Kind::port) return;
  scan.value(kind, cell, 58);
}

void read_row(Scan& scan, std::string_view text) {
  Table& table = *scan.table;
  const auto cells = cells_of(text, table.separator);
  const bool is_short = cells.size() < 2 && table.columns.size() > 2;
  if (is_short && table.separator == ' ') {
    scan.table.reset();
    return;
  }
  ++table.rows;
  // Placeholders are not as wide as what they replace: columns no longer stand below their heads.
  if (table.separator == ' ' && text.find('<') != std::string_view::npos && cells.size() != table.columns.size()) return;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Column* column = column_of(table, cells, i);
    if (column != nullptr && column->kind) report_cell(scan, *column->kind, cells[i].text);
  }
}

/// `| Partition | a_q |`: a row whose first cell names what the second holds.
void read_definition(Scan& scan, std::string_view text) {
  const auto cells = cells_of(text, '|');
  const std::size_t first = !cells.empty() && cells.front().text.empty() ? 1 : 0;
  if (first + 1 >= cells.size() || cells.size() > first + 4) return;
  const Heading* heading = find_heading(cells[first].text);
  if (heading == nullptr || !heading->kind || heading->word == "info") return;
  report_cell(scan, *heading->kind, cells[first + 1].text);
}

}  // namespace

void recognise_tables(Scan& scan, const Line& line) {
  const std::string_view text = line.text;
  if (!scan.table && !scan.in_table_body && !line.has(has_bar) && line.has(has_number)) return;
  const char separator = line.has(has_bar) && text.find('|') != std::string_view::npos ? '|' : ' ';
  const bool is_rule_line = is_rule(text);
  if (separator == '|' && is_rule_line && scan.flavour == Flavour::markdown) scan.in_table_body = true;
  if (scan.table && is_rule_line) {
    if (separator == ' ') widen_columns(*scan.table, text);
    return;
  }
  if (separator != '|') scan.in_table_body = false;
  if (scan.in_table_body && !scan.table) return read_definition(scan, text);
  const bool is_prompt = text.find("$ ") != std::string_view::npos;
  const bool has_path = starts_with(text, "/") || text.find(" /") != std::string_view::npos;
  const bool may_be_header = (!line.has(has_equals | has_at) && !has_path) || text.find('(') != std::string_view::npos;
  // No scheduler prints a digit in a header; most lines of logs have one.
  const bool may_have_words = separator == '|' || !line.has(has_number);
  if (may_be_header && may_have_words && !is_prompt && !scan.in_table_body) {
    if (auto header = read_header(scan, text, separator, separator == '|' && scan.flavour == Flavour::markdown)) {
      scan.table = std::move(header);
      return;
    }
    if (separator == ' ' && text.find(',') != std::string_view::npos) {
      if (auto header = read_header(scan, text, ',', false)) {
        scan.table = std::move(header);
        return;
      }
    }
  }
  if (!scan.table) {
    if (separator == '|' && scan.flavour != Flavour::shell && scan.flavour != Flavour::code && scan.flavour != Flavour::log) read_definition(scan, text);
    return;
  }
  if (is_prompt || (scan.table->separator == '|' && separator != '|') || starts_with(text, "```")) {
    scan.table.reset();
    return;
  }
  read_row(scan, text);
}

}  // namespace dtj::lint
