#include "compiler/lint/patterns.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// What schedulers, launchers and shells print: the shape of the line says which word is what.

namespace dtj::lint {

const Shapes& log_shapes() {
  static const Shapes all(Collection::log, {
      // Slurm
      {"*** job|*** step", R"re(\*\*\* (?:JOB|STEP) (\d+[\d_.+]*)(?:\.\w+)? ON (\S+))re", {Kind::job_id, Kind::node}},
      {"srun|salloc|mpirun|prterun|orterun", R"re(\b(?:srun|salloc|mpirun|prterun|orterun)(?:\[\d+\])?: (?:error|warning): ([A-Za-z][\w.-]+): )re", {Kind::node}},
      {"job|stepid", R"re((?:Submitted batch job|[Jj]ob allocation|srun: [Jj]ob|salloc: [Jj]ob|StepId=|JobId[= ]|Job_id=|Job ID[: ]+|jobid[= ]|[Jj]ob step creation .* job) ?(\d{4,}[\d_.\[\]-]*))re", {Kind::job_id}},
      {"ready", R"re(\b[Nn]odes? (\S+) (?:are|is) ready)re", {Kind::node}},
      {"", R"re(^\s*(\d{4,})(?:_\S+)?\s+([A-Za-z][\w.-]*)\s+\S+\s+([a-z][\w.-]{2,})\s+(?:R|PD|CG|CD|F|S|TO|CA|NF)\s+[\d:-]+\s+\d+\s+(\S+))re", {Kind::job_id, Kind::partition, Kind::username, Kind::node}, 55, starts_with_number},
      {"fail|responding|down|drain", R"re(\b(?:NODE_FAIL|node failure|Node failure|not responding|DOWN|drained|draining) (?:on|of|at) ([A-Za-z][\w.-]*\d[\w.\[\],-]*))re", {Kind::node}},
      {"slurm-", R"re(\bslurm-(\d{4,}))re", {Kind::job_id}},
      // LSF
      {"job <", R"re(\bJob <(\d+)(?:\[\d+\])?>)re", {Kind::job_id}},
      {"queue <", R"re(\b(?:[Qq]ueue|QUEUE) <([\w.-]+)>)re", {Kind::partition}, 98},
      {"project <|group <|class <|account <", R"re(\b(?:Project|User Group|Service Class|Account) <([\w.-]+)>)re", {Kind::account}, 98},
      {"user <", R"re(\b(?:User|user) <([\w.-]+)>)re", {Kind::username}, 98},
      {"host <|hosts <|host(s) <|to <|on <|processor <", R"re(\b(?:[Hh]osts?|Host\(s\)|to|on|hosts?/processor) <(?:\d+\*)?([a-z][\w.-]*\d[\w.-]*)>)re", {Kind::node}, 98},
      {"from <|from host <", R"re(\b(?:from|from host) <([A-Za-z][\w.-]*)>)re", {Kind::node}, 98},
      {"> <", R"re(> <(?:\d+\*)?([a-z][\w.-]*\d[\w.-]*)>)re", {Kind::node}, 98},
      {"by user <", R"re(\bwas (?:submitted|executed|used) .*? by user <([\w.-]+)> in cluster <([\w.-]+)>)re", {Kind::username, Kind::hostname}, 98},
      {"in cluster <", R"re(\bin cluster <([\w.-]+)>)re", {Kind::hostname}, 98},
      // PBS, SGE, PJM, Flux, OAR
      {"", R"re((?:^|\s|`)(\d{5,}(?:\[\d*\])?\.[a-z][\w.-]*)(?:$|\s|`|,))re", {Kind::job_id}, 55, has_dot | has_number},
      {"our job", R"re([Yy]our job(?:-array)? (\d{4,}))re", {Kind::job_id}},
      {"pjsub job", R"re(pjsub Job (\d{4,}))re", {Kind::job_id}},
      {"oar_job_id", R"re(OAR_JOB_ID[ =]+(\d{4,}))re", {Kind::job_id}},
      {"queue=", R"re(\bqueue=([\w.-]+@?[\w.-]*))re", {Kind::partition}},
      {"", R"re((?:^|\s)([\w.-]+)@([a-z][\w-]*\d[\w.-]*)\s+(?:BIP|BP|IP|B|P|I)\s+\d+/)re", {Kind::partition, Kind::node}, 85, has_at | has_slash},
      // NCCL and torch
      {"nccl|rccl|mpi|ucx", R"re((?:^|[\s>\]])([A-Za-z][\w.-]*):\d+:\d+(?: \[\w+\])? (?:NCCL|RCCL|MPI|UCX))re", {Kind::node}},
      {"]:", R"re(\[([A-Za-z][\w.-]*\d[\w.-]*)\]:(\d{4,5}))re", {Kind::node, Kind::port}},
      {"", R"re(\(([A-Za-z][\w.-]*\d[\w.-]*), ?(\d{4,5})\))re", {Kind::node, Kind::port}, 55, has_paren | has_number | has_comma},
      {"connect|listening|bind|peer", R"re((?:connect(?:ed|ing|ion)?|listening|bind|remote peer|peer) (?:to|on|from|with|at)? ?(?:host )?[\[('"]?([A-Za-z][\w-]*\d[\w.-]*)[\])'"]?[:, ]+(?:port )?(\d{4,5}))re", {Kind::node, Kind::port}},
      {"", R"re(^(\d{5,})(?:[._+]\w+)*\|)re", {Kind::job_id}, 55, starts_with_number | has_bar},
      {"nccl|rccl", R"re(([A-Za-z][\w.-]*\d[\w.-]*|\d+\.\d+\.\d+\.\d+)<(\d{4,5})>)re", {Kind::node, Kind::port}},
      {"connect|refused|rendezvous|timeout|timed out|endpoint|listen|master|store|socket|server|address", R"re((?:^|[\s('"`])([a-z][a-z\d-]*\d[a-z\d-]*):(\d{4,5})(?:$|[\s,;)'"`]))re", {Kind::node, Kind::port}},
      {"", R"re(\[([a-z_][\w.-]*)@\d{4}-\d\d-\d\dT)re", {Kind::username}, 55, has_at | has_bracket},
      {"'][", R"re(\['([a-z][\w-]*\d[\w.-]*)'\]\[ ?\d+/\d+\])re", {Kind::node}},
      {"hostname=|host=|node=", R"re((?:^|[\s,(\[{"'])(?:hostname|HOSTNAME|host|node)=['"]?([A-Za-z][\w-]*\d[\w.-]*))re", {Kind::node}},
      {"host", R"re((?i:hostname|host)[)}"`'\s]*(?:-s|-f)?[)}"`'\s]*[!=]=? ?['"]?([a-z][\w.-]*[\w*])['"]?(?:\s|$|\]|:))re", {Kind::node}},
      {"login|log in|logged in|ssh", R"re((?:[Ll]og ?in(?:to)?|[Ll]ogged in|SSH|[Ss]sh)(?: to| into| on)? [`'"]?([a-z][\w-]*\d[\w.-]*))re", {Kind::node}},
      {"process rank", R"re(\bprocess rank \d+ with PID \d+ on node (\S+) exited)re", {Kind::node}},
      {"rank", R"re(\bRANK:? ?\d+.*? (?:host|on|HOST)[:=]? ([a-z][\w-]*\d[\w.-]*))re", {Kind::node}},
      {"rank", R"re(\b[Rr]ank \d+[^:]{0,20} (?:on|at|@) ([a-z][\w-]*\d[\w.-]*))re", {Kind::node}},
      {"running|started|starting|execut|launch|dispatched|scheduled|allocated|head node|ran ", R"re(\b(?:[Rr]unning|[Ss]tarted|[Ss]tarting|[Ee]xecuting|[Ee]xecuted|[Ll]aunched|[Ll]aunching|[Dd]ispatched|[Ss]cheduled|[Aa]llocated|[Hh]ead node|ran)(?: job)? (?:on|to|at|is)(?: host| node| nodes)?:? ['"`]?([a-z][\w-]*\d[\w.\[\],-]*))re", {Kind::node}},
      {"on host|on node|on machine", R"re(\bon (?:host|node|machine|nodes)(?:\(s\))?:? ['"`]?([A-Za-z][\w-]*\d[\w.\[\],-]*))re", {Kind::node}},
      {"", R"re(^([a-z][\w-]*\d[\w.-]*): (?:\[|rank|Rank|Traceback|\w+Error|NCCL|srun|WARNING|ERROR|INFO|worker|Worker|  ))re", {Kind::node}, 55, starts_with_lower | has_colon | has_number},
      {"slots", R"re(^([A-Za-z][\w.-]*) +(?:max[_-])?slots ?= ?\d+)re", {Kind::node}},
      {"display=", R"re(^\s*(?:DISPLAY|display)=([A-Za-z][\w.-]*):)re", {Kind::node}},
      // Shells and daemons
      {"", R"re(^[\s>|`]*(?:\([\w.\- ]+\)\s*)*\[?([A-Za-z_][\w.-]*)@([A-Za-z][\w.-]*)(?::| )?[^\s$#%>]*(?: [^$#%>\s]{1,60})?\]?\s?[$#%>](?:\s|$))re", {Kind::username, Kind::node}, 82, has_at},
      {":~|:/", R"re(^(?:\([\w.-]+\)\s*)?([a-z][\w-]*\d[\w.-]*):[~/][^\s$#%>]*[$#%>] )re", {Kind::node}},
      {"'s password", R"re((?:^|\s)([a-z_][\w.-]*)@([A-Za-z][\w.-]*)'s password)re", {Kind::username, Kind::node}},
      {"login:", R"re(\bLast (?:failed )?login: .* from ([A-Za-z][\w.-]+))re", {Kind::hostname}},
      {"logged in as", R"re(\blogged in as:? [`'"]?([A-Za-z][\w.-]*))re", {Kind::username}},
      {"publickey|password|session", R"re(\b(?:publickey|password|session opened|session closed) for (?:user )?([a-z_][\w.-]*))re", {Kind::username}},
      {"uid=", R"re(\buid=\d+\(([a-z_][\w.-]*)\))re", {Kind::username}},
      {"user name", R"re(\bUser name[: ]+[`'"]?([a-z_][\w.-]*))re", {Kind::username}},
      {"ermission denied for", R"re(\b[Pp]ermission denied for (?:user )?[`'"]?([a-z_][\w.-]*)['"`]?)re", {Kind::username}},
      {"sudo:", R"re(\bsudo:\s+([a-z_][\w.-]*) :)re", {Kind::username}},
      {"rwx|rw-|r-x|r--", R"re(^[-dlrwxs.+@]{10,11}\s+\d+\s+([a-z_][\w.-]+)\s+([A-Za-z_][\w.-]+)\s+\d)re", {Kind::username, Kind::account}},
      {"jan |feb |mar |apr |may |jun |jul |aug |sep |oct |nov |dec ", R"re(^\S{3} +\d+ \d\d:\d\d:\d\d ([a-z][\w-]*\d[\w.-]*) [\w/.-]+(?:\[\d+\])?:)re", {Kind::node}},
      {"", R"re(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* ([a-z][\w-]*\d[\w.-]*) [\w/.-]+(?:\[\d+\])?:)re", {Kind::node}, 55, starts_with_stamp | has_colon},
      {"linux ", R"re(^Linux ([A-Za-z][\w.-]+) \d\.)re", {Kind::node}},
      {"hostname|proxyjump", R"re(^\s*(?:HostName|Hostname|ProxyJump) +([\w.@-]+))re", {Kind::hostname}},
      {"machine ", R"re(^\s*machine ([\w.-]+) login (\S+) password (\S+))re", {Kind::hostname, Kind::username, Kind::credential}, 97},
      {"cancelled by|killed by user", R"re(\b(?:CANCELLED by|Cancelled by|cancelled by user|killed by user) ([a-z][\w.-]+))re", {Kind::username}},
  });
  return all;
}

namespace {

/// Behind `[01-07,12]` that opens at `at`, with a `-` or `,` in it; else 0.
std::size_t end_of_range(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && (is_digit(text[end]) || ((text[end] == '-' || text[end] == ',') && is_digit(text[end - 1])))) ++end;
  const bool is_range = end < text.size() && text[end] == ']' && is_digit(text[end - 1]) && contains_any(text.substr(at, end - at), "-,");
  return is_range ? end + 1 : 0;
}

/// `cn[01-07]` anywhere.
void read_ranges(Scan& scan, std::string_view text) {
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (is_lower(text[begin - 1]) || is_digit(text[begin - 1]) || text[begin - 1] == '-')) --begin;
    const char left = begin == 0 ? ' ' : text[begin - 1];
    if (begin >= 3 && text.substr(begin - 3, 3) == "-J ") continue;  // a job array of LSF
    if (begin == at || !is_lower(text[begin]) || !(is_space(left) || is_quote(left) || contains_any(std::string_view(&left, 1), "=:,("))) continue;
    std::size_t end = end_of_range(text, at);
    if (end == 0) continue;
    // A list goes on: `cn[01-02],gn[03-04]`.
    while (end < text.size() && (is_host_char(text[end]) || text[end] == '[' || (text[end] == ',' && end + 1 < text.size() && is_lower(text[end + 1])))) {
      end = text[end] == '[' ? std::max(end + 1, end_of_range(text, end)) : end + 1;
    }
    scan.endpoint(Kind::node, text.substr(begin, end - begin));
    at = end - 1;
  }
}

void read_hosts_row(Scan& scan, std::string_view text) {
  const std::string_view first = text.substr(0, find_any(text, " \t"));
  if (!is_ipv4(first)) return;
  std::vector<std::string_view> names;
  bool all_hosts = true;
  const std::string_view rest = rest_after(text, first);
  for_each_piece(rest.substr(0, rest.find('#')), " \t\r", [&](std::string_view piece) {
    names.push_back(piece);
    all_hosts = all_hosts && std::all_of(piece.begin(), piece.end(), is_host_char) && has_alpha(piece) && is_lower(piece.front());
  });
  if (!all_hosts || names.empty() || names.size() > 6) return;
  for (const auto name : names) {
    if (has_digit(name) || name.find('.') != std::string_view::npos) scan.endpoint(Kind::hostname, name);
  }
}

/// A file of SSH aliases: `Host x` opens a block.
void read_ssh_config(Scan& scan, std::string_view text) {
  const std::string_view body = trim(text);
  if (starts_with(body, "Host ") || starts_with(body, "Match ")) {
    scan.in_ssh_config = body.find(' ') == body.rfind(' ') || scan.flavour == Flavour::config;
    return;
  }
  if (!scan.in_ssh_config) return;
  for_each_piece(body, "\n", [&](std::string_view row) {
    const auto space = find_any(row, " \t");
    if (space == std::string_view::npos) return;
    const std::string_view key = row.substr(0, space), value = trim(row.substr(space));
    if (equals_ignoring_case(key, "User")) scan.value(Kind::username, value);
    if (equals_ignoring_case(key, "Port")) scan.port(value);
    if (equals_ignoring_case(key, "HostName")) scan.endpoint(Kind::hostname, value);
    if (equals_ignoring_case(key, "ProxyJump")) scan.endpoint(Kind::hostname, value);
    if (equals_ignoring_case(key, "LocalForward") || equals_ignoring_case(key, "RemoteForward")) {
      for_each_piece(value, " \t", [&](std::string_view piece) { is_number(piece) ? scan.port(piece) : scan.endpoint(Kind::node, piece); });
    }
  });
}

}  // namespace

void recognise_log_lines(Scan& scan, const Line& line) {
  const std::string_view text = line.text;
  log_shapes().each_match(line, scan.wants_all(), [&](const Shape& shape, const std::vector<std::string_view>& captures) {
    for (std::size_t i = 0; i < captures.size() && i < shape.kinds.size(); ++i) {
      if (captures[i].empty() || !shape.kinds[i]) continue;
      const Kind kind = *shape.kinds[i];
      if (kind == Kind::node || kind == Kind::hostname) {
        scan.endpoint(kind, captures[i]);
      } else if (kind == Kind::port) {
        scan.port(captures[i]);
      } else {
        scan.value(kind, captures[i], shape.weight);
      }
    }
  });
  if (line.has(has_bracket) && line.has(has_number)) read_ranges(scan, text);
  if (!text.empty() && is_digit(text.front()) && line.has(has_dot)) read_hosts_row(scan, text);
  if (scan.in_ssh_config || line.knows(group_ssh)) read_ssh_config(scan, text);
  if (scan.in_hostfile) {
    const std::string_view first = trim(text.substr(0, find_any(text, " \t:#")));
    if (is_node_like(first)) scan.endpoint(Kind::node, first);
  }
}

}  // namespace dtj::lint
