#include "compiler/lint/option_tables.hpp"

#include <algorithm>
#include <array>

namespace dtj::lint {

namespace {

struct Command {
  std::string_view word;
  Family family;
};

constexpr std::array commands = {
    Command{"chown", Family::person},        Command{"finger", Family::person},     Command{"id", Family::person},
    Command{"su", Family::person},           Command{"usermod", Family::quota},     Command{"sudo", Family::quota},
    Command{"quota", Family::quota},         Command{"lfs", Family::quota},         Command{"crontab", Family::quota},
    Command{"pkill", Family::quota},         Command{"ps", Family::quota},          Command{"top", Family::quota},
    Command{"mmlsquota", Family::quota},     Command{"pgrep", Family::quota},       Command{"groups", Family::person},
    Command{"accelerate", Family::launch},  Command{"bacct", Family::lsf_query},   Command{"bhist", Family::lsf_query},
    Command{"bhosts", Family::lsf_query},   Command{"bjobs", Family::lsf_query},   Command{"bkill", Family::scancel},
    Command{"bpeek", Family::lsf_query},    Command{"bqueues", Family::lsf_query}, Command{"bsub", Family::lsf},
    Command{"curl", Family::fetch},         Command{"deepspeed", Family::launch},  Command{"dig", Family::lookup},
    Command{"flux", Family::flux},          Command{"host", Family::other},        Command{"jsrun", Family::mpi},
    Command{"mosh", Family::ssh},           Command{"mpiexec", Family::mpi},       Command{"mpirun", Family::mpi},
    Command{"mysql", Family::secret},       Command{"nc", Family::lookup},         Command{"nslookup", Family::lookup},
    Command{"oarsub", Family::oar},         Command{"oarstat", Family::oar},       Command{"oardel", Family::scancel},
    Command{"pbsdsh", Family::pbs},         Command{"pbsnodes", Family::lookup},   Command{"pdsh", Family::slurm_query},
    Command{"ping", Family::lookup},        Command{"pjdel", Family::scancel},     Command{"pjstat", Family::pjm},
    Command{"pjsub", Family::pjm},          Command{"qalter", Family::pbs},        Command{"qdel", Family::scancel},
    Command{"qhold", Family::scancel},      Command{"qhost", Family::sge_query},      Command{"qlogin", Family::pbs},        Command{"qmove", Family::pbs},
    Command{"qrsh", Family::pbs},           Command{"qrls", Family::scancel},      Command{"qsh", Family::pbs},
    Command{"qstat", Family::pbs},          Command{"qsub", Family::pbs},          Command{"qsub-gpu", Family::cobalt},
    Command{"rsync", Family::copy},         Command{"sacct", Family::slurm_query}, Command{"sacctmgr", Family::sacctmgr},
    Command{"salloc", Family::slurm},       Command{"sattach", Family::scancel},   Command{"sbatch", Family::slurm},
    Command{"sbcast", Family::other},       Command{"scancel", Family::scancel},   Command{"scontrol", Family::scontrol},
    Command{"scp", Family::copy},           Command{"seff", Family::scancel},      Command{"sftp", Family::ssh},
    Command{"sinfo", Family::slurm_query},  Command{"sinteractive", Family::slurm}, Command{"sprio", Family::slurm_query},
    Command{"squeue", Family::slurm_query}, Command{"sreport", Family::slurm_query}, Command{"srun", Family::slurm},
    Command{"sshare", Family::slurm_query}, Command{"ssh", Family::ssh},           Command{"sshfs", Family::copy},
    Command{"sshpass", Family::secret},     Command{"sstat", Family::slurm_query}, Command{"strigger", Family::slurm_query},
    Command{"telnet", Family::lookup},      Command{"torchrun", Family::launch},   Command{"traceroute", Family::lookup},
    Command{"wget", Family::fetch},         Command{"interactive", Family::other}, Command{"ssh-copy-id", Family::ssh},
    Command{"autossh", Family::ssh},        Command{"xfreerdp", Family::other},    Command{"msub", Family::pbs},
    Command{"tracejob", Family::scancel},   Command{"checkjob", Family::scancel},  Command{"sjstat", Family::slurm_query}};

struct ShortOption {
  Family family;
  char letter;
  Kind kind;
};

constexpr std::array short_options = {
    ShortOption{Family::slurm, 'p', Kind::partition},       ShortOption{Family::slurm, 'A', Kind::account},
    ShortOption{Family::slurm, 'q', Kind::qos},             ShortOption{Family::slurm, 'w', Kind::node},
    ShortOption{Family::slurm, 'x', Kind::node},            ShortOption{Family::slurm, 'M', Kind::hostname},
    ShortOption{Family::slurm, 'd', Kind::job_id},          ShortOption{Family::slurm_query, 'p', Kind::partition},
    ShortOption{Family::slurm_query, 'A', Kind::account},   ShortOption{Family::slurm_query, 'q', Kind::qos},
    ShortOption{Family::slurm_query, 'w', Kind::node},      ShortOption{Family::slurm_query, 'n', Kind::node},
    ShortOption{Family::slurm_query, 'M', Kind::hostname},  ShortOption{Family::slurm_query, 'u', Kind::username},
    ShortOption{Family::slurm_query, 'R', Kind::reservation}, ShortOption{Family::slurm_query, 'r', Kind::partition},
    ShortOption{Family::slurm_query, 'j', Kind::job_id},    ShortOption{Family::scancel, 'p', Kind::partition},
    ShortOption{Family::scancel, 'A', Kind::account},       ShortOption{Family::scancel, 'u', Kind::username},
    ShortOption{Family::scancel, 'q', Kind::qos},           ShortOption{Family::scancel, 'w', Kind::node},
    ShortOption{Family::scancel, 'M', Kind::hostname},      ShortOption{Family::scancel, 'R', Kind::reservation},
    ShortOption{Family::scontrol, 'M', Kind::hostname},     ShortOption{Family::sacctmgr, 'M', Kind::hostname},
    ShortOption{Family::pbs, 'q', Kind::partition},         ShortOption{Family::pbs, 'A', Kind::account},
    ShortOption{Family::pbs, 'P', Kind::account},           ShortOption{Family::pbs, 'M', Kind::mail},
    ShortOption{Family::pbs, 'u', Kind::username},          ShortOption{Family::pbs, 'f', Kind::job_id},
    ShortOption{Family::lsf, 'q', Kind::partition},         ShortOption{Family::lsf, 'P', Kind::account},
    ShortOption{Family::lsf, 'G', Kind::account},           ShortOption{Family::lsf, 'U', Kind::reservation},
    ShortOption{Family::lsf, 'm', Kind::node},              ShortOption{Family::lsf, 'u', Kind::mail},
    ShortOption{Family::lsf, 'w', Kind::job_id},            ShortOption{Family::lsf_query, 'q', Kind::partition},
    ShortOption{Family::lsf_query, 'P', Kind::account},     ShortOption{Family::lsf_query, 'G', Kind::account},
    ShortOption{Family::lsf_query, 'm', Kind::node},        ShortOption{Family::lsf_query, 'u', Kind::username},
    ShortOption{Family::sge_query, 'h', Kind::node},        ShortOption{Family::sge_query, 'q', Kind::partition},
    ShortOption{Family::sge_query, 'u', Kind::username},    ShortOption{Family::pjm, 'v', Kind::job_id},
    ShortOption{Family::pjm, 'g', Kind::account},           ShortOption{Family::flux, 'q', Kind::partition},
    ShortOption{Family::flux, 'B', Kind::account},          ShortOption{Family::flux, 'u', Kind::username},
    ShortOption{Family::oar, 'q', Kind::partition},         ShortOption{Family::oar, 'u', Kind::username},
    ShortOption{Family::cobalt, 'q', Kind::partition},      ShortOption{Family::cobalt, 'A', Kind::account},
    ShortOption{Family::cobalt, 'M', Kind::mail},           ShortOption{Family::ssh, 'l', Kind::username},
    ShortOption{Family::ssh, 'p', Kind::port},              ShortOption{Family::ssh, 'D', Kind::port},
    ShortOption{Family::ssh, 'J', Kind::hostname},          ShortOption{Family::ssh, 'L', Kind::hostname},
    ShortOption{Family::ssh, 'R', Kind::hostname},          ShortOption{Family::ssh, 'W', Kind::hostname},
    ShortOption{Family::copy, 'P', Kind::port},             ShortOption{Family::mpi, 'H', Kind::node},
    ShortOption{Family::copy, 'J', Kind::hostname},         ShortOption{Family::secret, 'p', Kind::credential},
    ShortOption{Family::secret, 'h', Kind::hostname},       ShortOption{Family::secret, 'u', Kind::username},
    ShortOption{Family::secret, 'P', Kind::port},           ShortOption{Family::quota, 'u', Kind::username}};

struct LongOption {
  std::string_view name;
  Kind kind;
  bool needs_scheduler;
};

constexpr std::array long_options = {
    LongOption{"partition", Kind::partition, false},     LongOption{"partitions", Kind::partition, false},
    LongOption{"slurm-partition", Kind::partition, false}, LongOption{"slurm_partition", Kind::partition, false},
    LongOption{"queue", Kind::partition, true},          LongOption{"account", Kind::account, true},
    LongOption{"accounts", Kind::account, true},         LongOption{"slurm-account", Kind::account, false},
    LongOption{"slurm_account", Kind::account, false},
    LongOption{"bank", Kind::account, true},             LongOption{"project", Kind::account, true},
    LongOption{"wckey", Kind::account, false},           LongOption{"qos", Kind::qos, false},
    LongOption{"slurm-qos", Kind::qos, false},           LongOption{"slurm_qos", Kind::qos, false},
    LongOption{"reservation", Kind::reservation, false}, LongOption{"nodelist", Kind::node, false},
    LongOption{"exclude", Kind::node, true},             LongOption{"excludes", Kind::node, true},
    LongOption{"nodes", Kind::node, true},               LongOption{"hosts", Kind::node, false},
    LongOption{"clusters", Kind::hostname, true},        LongOption{"cluster", Kind::hostname, true},
    LongOption{"host", Kind::hostname, false},           LongOption{"hostname", Kind::hostname, false},
    LongOption{"server", Kind::hostname, false},         LongOption{"node", Kind::node, true},
    LongOption{"master_addr", Kind::node, false},        LongOption{"master-addr", Kind::node, false},
    LongOption{"rdzv_endpoint", Kind::node, false},      LongOption{"rdzv-endpoint", Kind::node, false},
    LongOption{"main_process_ip", Kind::node, false},    LongOption{"include", Kind::node, true},
    LongOption{"head-node", Kind::node, false},          LongOption{"address", Kind::node, false},
    LongOption{"mail-user", Kind::mail, false},          LongOption{"mail_user", Kind::mail, false},
    LongOption{"user", Kind::username, true},            LongOption{"users", Kind::username, true},
    LongOption{"uid", Kind::username, true},             LongOption{"username", Kind::username, false},
    LongOption{"port", Kind::port, false},               LongOption{"master_port", Kind::port, false},
    LongOption{"master-port", Kind::port, false},        LongOption{"main_process_port", Kind::port, false},
    LongOption{"dashboard-port", Kind::port, false},     LongOption{"token", Kind::credential, false},
    LongOption{"password", Kind::credential, false},     LongOption{"api-key", Kind::credential, false},
    LongOption{"api_key", Kind::credential, false},      LongOption{"secret", Kind::credential, false},
    LongOption{"auth-token", Kind::credential, false},   LongOption{"dependency", Kind::job_id, false},
    LongOption{"jobid", Kind::job_id, false},            LongOption{"jobs", Kind::job_id, true},
    LongOption{"proxy", Kind::hostname, false},          LongOption{"IdentityServer.token", Kind::credential, false}};

}  // namespace

std::vector<std::string_view> command_words() {
  std::vector<std::string_view> out;
  for (const Command& command : commands) out.push_back(command.word);
  return out;
}

std::optional<Family> family_of_command(std::string_view word) {
  const auto slash = word.rfind('/');
  if (slash != std::string_view::npos) word = word.substr(slash + 1);
  word = trim_front(word, "!%");  // of a notebook
  const auto it = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.word == word; });
  if (it == commands.end()) return std::nullopt;
  return it->family;
}

std::optional<Directive> find_directive(std::string_view line) {
  struct Mark {
    std::string_view word;
    Family family;
  };
  static constexpr std::array marks = {Mark{"SBATCH", Family::slurm}, Mark{"PBS", Family::pbs},       Mark{"BSUB", Family::lsf},
                                       Mark{"PJM", Family::pjm},      Mark{"FLUX:", Family::flux},     Mark{"flux:", Family::flux},
                                       Mark{"OAR", Family::oar},      Mark{"COBALT", Family::cobalt},  Mark{"MSUB", Family::pbs},
                                       Mark{"$", Family::pbs}};
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    const std::string_view rest = trim_front(line.substr(at + 1), " \t#");
    for (const Mark& mark : marks) {
      if (!starts_with(rest, mark.word)) continue;
      const std::string_view tail = rest.substr(mark.word.size());
      // `#$` is a directive of SGE only with an option behind it.
      if (tail.empty() || !is_space(tail.front()) || trim_front(tail).substr(0, 1) != "-") continue;
      return Directive{mark.family, static_cast<std::size_t>(tail.data() - line.data())};
    }
  }
  return std::nullopt;
}

std::optional<Kind> short_option(Family family, char letter) {
  for (const ShortOption& option : short_options) {
    if (option.family == family && option.letter == letter) return option.kind;
  }
  return std::nullopt;
}

bool takes_value(Family family, char letter) {
  std::string_view letters;
  switch (family) {
    case Family::ssh: letters = "bcDEeFIiJLlmOopQRSWw"; break;
    case Family::copy: letters = "cDFiJloPSXe"; break;
    case Family::scancel: letters = "tnpAuqwMR"; break;
    case Family::lookup: letters = "cwWitpsI"; break;
    case Family::fetch: letters = "XHdoODeumbTA"; break;
    case Family::none:
    case Family::slurm:
    case Family::scontrol:
    case Family::sacctmgr:
    case Family::slurm_query:
    case Family::pbs:
    case Family::lsf:
    case Family::lsf_query:
    case Family::pjm:
    case Family::sge_query:
    case Family::flux:
    case Family::oar:
    case Family::cobalt:
    case Family::launch:
    case Family::mpi:
    case Family::secret:
    case Family::person:
    case Family::quota:
    case Family::other: break;
  }
  return letters.find(letter) != std::string_view::npos;
}

std::optional<Kind> long_option(Family family, std::string_view name, bool knows_scheduler) {
  if (family == Family::copy || family == Family::fetch || family == Family::secret) {
    if (name == "exclude" || name == "include" || name == "user") return std::nullopt;
  }
  const bool is_launch = family == Family::mpi || family == Family::launch;
  if (is_launch && name == "host") return Kind::node;
  if (name == "dependency" || name == "jobid" || name == "jobs") return knows_scheduler ? std::optional(Kind::job_id) : std::nullopt;
  for (const LongOption& option : long_options) {
    if (option.name != name) continue;
    const bool in_scheduler = family != Family::none && family != Family::other;
    if (option.needs_scheduler && !in_scheduler && !(knows_scheduler && (name == "account" || name == "queue" || name == "bank"))) return std::nullopt;
    return option.kind;
  }
  return std::nullopt;
}

}  // namespace dtj::lint
