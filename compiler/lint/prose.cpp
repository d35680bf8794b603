#include "compiler/lint/patterns.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// Names in sentences: a cue word says what the name beside it is.

namespace dtj::lint {

const Shapes& prose_shapes() {
  static const Shapes all(Collection::prose, {
      {"partition|queue", R"re((?i:\b(?:partitions?|queues?)(?: is| are| named| called|:)?) [`'"*]{1,2}([\w.\x80-\xff-]+)[`'"*])re", {Kind::partition}},
      {"partition|queue", R"re([`'"*]([\w.\x80-\xff-]+)[`'"*]{1,2} (?i:(?:gpu |cpu |slurm |batch )?(?:partition|queue)\b))re", {Kind::partition}},
      {"partition|queue", R"re((?i:\b(?:the|on|in|to|via|through|our)) ([A-Za-z]+[\d_][\w-]*|[a-z]+-[a-z\d-]*\d[\w-]*|[a-z]+_[\w-]+) (?i:(?:partition|queue)\b))re", {Kind::partition}},
      {"partition|queue", R"re((?i:\b(?:partition|queue)) ([A-Za-z]+[_][\w-]+|[A-Za-z]+[\w-]*\d[\w-]*|\w+[-_]\w*q\b|[a-z]+q\b))re", {Kind::partition}},
      {"account|allocation|grant|budget|award|charge code|project", R"re((?i:\b(?:accounts?|allocations?|grants?|budget|award|charge code|project(?: account| code| id)?)(?: is| named| called| code| number| id|:)?) [`'"*]{1,2}([\w.\x80-\xff-]+)[`'"*])re", {Kind::account}},
      {"account|allocation|budget", R"re([`'"*]([\w.\x80-\xff-]+)[`'"*]{1,2} (?i:(?:slurm |pbs )?(?:account|allocation|budget)\b))re", {Kind::account}},
      {"charg|bill", R"re((?i:\b(?:charged?(?: to| against| under)?|billed? (?:to|against)|charges? go to|charging)) [`'"*]*([A-Za-z][\w]*[-_\d][\w-]*|\d{4,})\b)re", {Kind::account}},
      {"account|allocation|grant|budget|project", R"re((?i:\b(?:account|allocation|grant|budget|project(?: account| code| id)?)(?: is| number| code| id|:)?) ([A-Za-z]+_[\w-]+|[A-Za-z]+[\w-]*\d[\w-]*)\b)re", {Kind::account}},
      {"access to|member|join|group", R"re((?i:\baccess to|\bmember of|\bmembership in|\bjoin|\bgroup) [`]([\w]+[-_]?[\w-]*\d[\w-]*)[`])re", {Kind::account}},
      {"qos", R"re((?i:\bqos(?: is| named| called|:)?) [`'"*]{1,2}([\w.\x80-\xff-]+)[`'"*])re", {Kind::qos}},
      {"qos", R"re([`'"*]([\w.\x80-\xff-]+)[`'"*]{1,2} (?i:qos)\b)re", {Kind::qos}},
      {"qos", R"re((?i:\bqos) ([A-Za-z]+[-_\d][\w-]+)\b)re", {Kind::qos}},
      {"reservation", R"re((?i:\breservations?(?: is| named| called|:)?) [`'"*]{1,2}([\w.\x80-\xff-]+)[`'"*])re", {Kind::reservation}},
      {"reservation", R"re([`'"*]([\w.\x80-\xff-]+)[`'"*]{1,2} (?i:reservation\b))re", {Kind::reservation}},
      {"reservation", R"re((?i:\breservation) ([A-Za-z]+[-_\d][\w-]+)\b)re", {Kind::reservation}},
      {"node|host|machine|server|bastion|proxy|gateway|login", R"re((?i:\b(?:nodes?|hosts?|machines?|servers?|bastion|proxy|gateway|login)(?: is| are| named| called|:)?) [`'"*]{1,2}([A-Za-z][\w.-]*(?:\[[\d,-]+\])?)[`'"*])re", {Kind::node}},
      {"node|host|machine|server", R"re((?i:\b(?:nodes?|hosts?|machines?|servers?)) ([a-z][a-z-]*\d[\w.\[\]-]*)\b)re", {Kind::node}},
      {" `| '| \"| *", R"re((?i:\b(?:on|to|into|from|drain|reboot|ssh|via|through|of|off)) [`'"*]+([a-z][a-z]*[-]?[a-z]*\d+[a-z\d-]*(?:\[[\d,-]+\])?)[`'"*])re", {Kind::node}, 55, has_number},
      {"broken|bad |dead|drained|down|slow|flaky", R"re((?i:\b(?:broken|bad|dead|drained|down|slow|flaky) (?:gpu on|node|on)) ([a-z][a-z-]*\d[\w-]*)\b)re", {Kind::node}},
      {"user|netid|login|log in as|logged in as|run as|runs as|submit as|submitted as", R"re((?i:\b(?:users?|username|user name|login name|netid|login|logins|(?:log(?:ged)? in|run|runs|submit|submitted) as)(?: is| are| named|:)?) [`'"*]{1,2}([a-z][\w.-]*)[`'"*])re", {Kind::username}},
      {"user ", R"re((?i:\buser) ([a-z]+\d+[a-z\d]*)\b)re", {Kind::username}},
      {"", R"re((?i:\b(?:ask|ping|contact|cc|poke|tell|message|dm|from|by|with|thanks|to|and|owner|maintainer|see|via|asked|told|or)[:,]?) @([A-Za-z][\w-]{2,})\b)re", {Kind::username}, 55, has_at},
      {"ask |ping |contact |cc |tell ", R"re((?i:\b(?:ask|ping|contact|cc|tell)) ([a-z]{2,}\d+[a-z\d]*)\b)re", {Kind::username}},
      {"ed by", R"re(\b(?:drained|rebooted|killed|cancell?ed|booked|restarted|submitted|owned|requested|reported|launched|started|undrained|resumed) by ([a-z]{5,12}\d*)\s*(?:$|[,.;:)]))re", {Kind::username}},
      {"-n|-c|-g|-h|-b|-d|-r|-login", R"re((?:^|[\s(\[,;:'"`*|])([a-z]{2,}[a-z\d]*-(?:n|c|g|h|b|d|r|gn|cn|gpu|node|cpu|comp|login|nid)\d{2,4})(?:$|[\s)\],;:'"`*|.]))re", {Kind::node}},
      {"todo(|fixme(|xxx(|note(|hack(", R"re((?:TO[D]O|FIX[M]E|XXX|NOTE|HACK)\(([a-z][\w.-]+)\))re", {Kind::username}},
      {"ed by|en by|run by", R"re((?:#|//|%|;|--).*\b(?i:(?:edited|written|changed|modified|fixed|added|updated|tested|reviewed|copied|adapted|created|maintained|submitted|last run) by):? ([a-z]{2,}\d+[a-z\d]*|[a-z]{5,12})\s*(?:$|[,.;(]|\d{4}|on \d))re", {Kind::username}},
      {" -- | — | – ", R"re((?:# |//).*(?: --|—|–) ([a-z]{3,}\d*)\s*(?:,? ?\d{4}[-\d]*)?$)re", {Kind::username}},
      {"#>>|# >>|#<<|# <<", R"re(^\s*#+ ?(?:>>+|<<+) ?([a-z]{4,}\d*)\s*$)re", {Kind::username}},
      {"reservation|qos|partition|queue|node", R"re((?i:reservation|qos|partition|queue|nodes?).* (?i:on|in|to) `([a-z][\w-]*[_-][\w-]+)`)re", {Kind::partition}},
      {"compte|cuenta|conto|konto|conta|projet|projekt|progetto|proyecto|账户|アカウント|課題", R"re((?i:(?:compte|cuenta|conto|konto|conta|projet|projekt|progetto|proyecto|rechenzeitprojekt|账户|アカウント|課題)(?: est| es| ist|:)?) ?[`'"]{1,2}([\w.@\x80-\xff-]+)[`'"])re", {Kind::account}},
      {"file d'attente|cola|coda|fila|warteschlange|partici|partizione|parti|队列|分区|キュー|パーティション|リソースグループ", R"re((?i:(?:file d'attente|cola|coda|fila|warteschlange|partición|partizione|partição|队列|分区|キュー|パーティション|リソースグループ)(?: est| es| ist|:)?) ?[`'"]{1,2}([\w.@\x80-\xff-]+)[`'"])re", {Kind::partition}},
      {"ud|knoten|nodo|nó|serveur|servidor|节点|ノード", R"re((?i:(?:n(?:œ|oe)ud|knoten|rechenknoten|nodo|nó|serveur|servidor|节点|ノード)s?(?: est| es| ist|:)?) ?[`'"]{0,2}([a-z][\w.-]*\d[\w.-]*))re", {Kind::node}},
      {"utilisateur|usuario|utente|benutzer|usu|kennung|用户|ユーザ", R"re((?i:(?:utilisateur|usuario|utente|benutzer|usuário|kennung|用户|ユーザ)(?: est| es| ist|:)?) ?[`'"]{1,2}([a-z][\w.-]*)[`'"])re", {Kind::username}},
      {"utilisateur |usuario |utente |benutzer ", R"re((?i:utilisateur|usuario|utente|benutzer) ([a-z][a-z\d_]{2,}) (?:sur|en|su|sul|auf|an)\b)re", {Kind::username}},
      {"", R"re(^\s*(?:#|//) ?([a-z]{4,}\d*),? \d{4}-\d\d(?:-\d\d)?\b)re", {Kind::username}, 55, starts_with_comment},
      {"port", R"re((?i:\bport) [`'"*]*(\d{4,5})\b)re", {Kind::port}},
      {"file system|filesystem|mount point|pool|volume|bucket", R"re((?i:\b(?:file ?systems?|mount point|pool|volume|bucket)(?: is| named| called)?) [`'"*]+([\w-]+)[`'"*])re", {Kind::other}},
      {"ticket|case|incident|helpdesk|support request", R"re((?i:\b(?:ticket|case|incident|helpdesk|support request)(?: no\.?| number| id)?) ?[#:]? ?[`]?((?:[A-Z]+[-#]?)?\d{4,})\b)re", {Kind::other}},
      {"inc|ritm|req|chg|cs|rt#|sup-|hd-|help-|ops-|ticket-", R"re(\b((?:INC|RITM|REQ|CHG|CS|RT#|HPCSUP-|SUP-|HD-|HELP-|OPS-|TICKET-)\d{3,})\b)re", {Kind::other}},
      {"job", R"re((?i:\bjobs?(?: id| number| array)?)[ :#]+[`#]?(\d{4,}(?:_\d+)?(?:\.[a-z][\w-]*)?)\b)re", {Kind::job_id}},
      {"job", R"re((?i:\bjobs) \d{4,}(?:,| and| to|-) ?(\d{4,})\b)re", {Kind::job_id}},
      {"job", R"re(\b[Jj]ob(?:s)?[-_](\d{5,})\b)re", {Kind::job_id}},
  });
  return all;
}

namespace {

/// Sentences stand in documents, logs and comments, and in the strings of programs.
bool may_hold_prose(const Scan& scan, const Line& line) {
  if (starts_with(line.text, "#!")) return false;
  switch (scan.flavour) {
    case Flavour::markdown:
    case Flavour::text:
    case Flavour::log:
    case Flavour::table: return true;
    case Flavour::shell:
    case Flavour::code:
    case Flavour::job:
    case Flavour::config: return line.has(has_hash) || line.text.find("//") != std::string_view::npos || line.text.find("echo") != std::string_view::npos;
  }
  return false;
}

bool is_common_word(std::string_view word) {
  for (const auto known : {"the", "this", "that", "these", "all", "any", "each", "your", "and", "for", "with", "from", "none", "same", "other", "python3", "utf8", "utf-8", "int8",
                           "fp16", "bf16", "fp8", "sha256", "md5", "http2", "ipv4", "ipv6", "x86_64", "aarch64", "cuda", "rank0", "rank-0", "rank_0", "gpu0", "gpu-0", "step1", "hand", "hand.", "orig", "original", "begin", "start", "stop", "end", "edit", "change", "changes", "mine", "theirs", "ours", "memory", "hand", "slurm", "design", "admins", "admin", "default", "hours", "itself", "people", "others", "someone", "everyone", "hpc"}) {
    if (equals_ignoring_case(word, known)) return true;
  }
  return false;
}

}  // namespace

void recognise_prose(Scan& scan, const Line& line) {
  if (line.hints->of(Collection::prose).empty() && !line.has(has_at | starts_with_comment)) return;
  if (!may_hold_prose(scan, line)) return;
  prose_shapes().each_match(line, scan.wants_all(), [&](const Shape& shape, const std::vector<std::string_view>& captures) {
    const Kind kind = *shape.kinds.front();
    const std::string_view name = trim_back(captures.front(), ".-");
    if (name.size() < 2 || is_common_word(name)) return;
    if (kind == Kind::other) {
      if (!is_placeholder(name) && !is_generic_path_word(name)) scan.leak(kind, name, 45);
    } else if (kind == Kind::port) {
      scan.port(name);
    } else if (kind == Kind::node) {
      const auto dash = name.rfind('-');
      if (dash != std::string_view::npos && is_generic_compound(name.substr(dash + 1))) return;  // dgx-h100
      if (has_digit(name) || name.find('-') != std::string_view::npos || name.find('.') != std::string_view::npos) scan.endpoint(kind, name);
    } else {
      scan.value(kind, name, 45);
    }
  });
}

}  // namespace dtj::lint
