#include <array>
#include <functional>
#include <initializer_list>
#include <unordered_map>

#include "compiler/lint/scan.hpp"

// What a key holds, by its last words: `slurm_partition`, `partitionName` and `Partition` are one.

namespace dtj::lint {

namespace {

/// The words of a key, in lower case; at most the last four.
std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    const bool is_break = !is_alnum(c);
    const bool is_hump = i > 0 && is_upper(c) && is_lower(key[i - 1]);
    const bool is_end_of_capitals = i > 0 && i + 1 < key.size() && is_upper(c) && is_upper(key[i - 1]) && is_lower(key[i + 1]);
    if ((is_break || is_hump || is_end_of_capitals) && !out.back().empty()) out.emplace_back();
    if (!is_break) out.back() += to_lower(c);
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::optional<KeyMeaning> credential_key(const std::string& last, const std::string& previous) {
  if (is_one_of(last, {"password", "passwd", "passphrase", "apikey", "authtoken", "secretkey", "accesstoken", "pw", "pwd"})) {
    if (last == "pwd" && previous.empty()) return std::nullopt;  // the working directory
    return KeyMeaning{Kind::credential, false};
  }
  if (last == "token" && !is_one_of(previous, {"pad", "eos", "bos", "unk", "sep", "cls", "mask", "special", "stop", "end", "start", "per", "next", "eot", "image"})) {
    return KeyMeaning{Kind::credential, false};
  }
  if (is_one_of(last, {"secret", "pat", "credential", "credentials", "auth"}) && last != "auth") return KeyMeaning{Kind::credential, false};
  if (last == "key" && is_one_of(previous, {"api", "secret", "access", "private", "auth", "encryption", "wandb", "service", "munge", "license"})) {
    return KeyMeaning{Kind::credential, false};
  }
  return std::nullopt;
}

std::optional<KeyMeaning> host_key(const std::string& last, const std::string& previous) {
  if (previous == "per") return std::nullopt;  // `ranks_per_node` is a number
  if (is_one_of(last, {"nodelist", "nodefile", "hostlist", "nodename", "nodenames", "batchhost", "masteraddr", "hostfile", "exechost", "nodeaddr"})) return KeyMeaning{Kind::node, false};
  if (is_one_of(last, {"node", "nodes", "hosts", "worker", "workers", "vnode", "excluded", "exclude", "excludes"})) return KeyMeaning{Kind::node, true};
  if (last == "list" && is_one_of(previous, {"node", "host"})) return KeyMeaning{Kind::node, false};
  if (last == "name" && is_one_of(previous, {"node"})) return KeyMeaning{Kind::node, false};
  if (last == "addr" && is_one_of(previous, {"master", "node", "head", "leader", "coordinator"})) return KeyMeaning{Kind::node, false};
  if (last == "host" && is_one_of(previous, {"batch", "exec", "from", "submit", "nodes"})) return KeyMeaning{Kind::node, false};
  if (last == "endpoint" && previous == "rdzv") return KeyMeaning{Kind::node, false};
  if (is_one_of(last, {"hostname", "clustername", "controlmachine", "slurmctldhost", "slurmdbdhost", "dbdhost", "host", "headnode", "fqdn"})) return KeyMeaning{Kind::hostname, false};
  if (last == "name" && is_one_of(previous, {"cluster", "host"})) return KeyMeaning{Kind::hostname, false};
  if (is_one_of(last, {"cluster", "clusters", "system", "sid", "machine"})) return KeyMeaning{Kind::hostname, true};
  if (is_one_of(last, {"server", "address", "addr", "endpoint", "registry", "proxy", "gateway", "proxyjump", "coordinator", "broker", "url", "uri", "nfsserver", "target", "remote", "mirror"})) {
    return KeyMeaning{Kind::hostname, false};
  }
  return std::nullopt;
}

std::optional<KeyMeaning> account_key(const std::string& last, const std::string& previous) {
  if (is_one_of(last, {"account", "accounts", "acct", "bank", "allocation", "alloc", "charge"})) return KeyMeaning{Kind::account, true};
  if (is_one_of(last, {"wckey", "allowaccounts", "denyaccounts", "grouplist", "accountname", "defaultaccount"})) return KeyMeaning{Kind::account, false};
  if (last == "list" && previous == "group") return KeyMeaning{Kind::account, true};
  if (last == "name" && previous == "account") return KeyMeaning{Kind::account, true};
  if (last == "project" && is_one_of(previous, {"slurm", "pbs", "lsf", "hpc", "sbatch", "charge", "compute", "allocation", "cluster"})) return KeyMeaning{Kind::account, false};
  return std::nullopt;
}

std::optional<KeyMeaning> person_key(const std::string& last, const std::string& previous) {
  if (is_one_of(last, {"user", "username", "userid", "login", "uname", "logname", "netid", "euser", "ruser"})) {
    if (previous == "mail") return KeyMeaning{Kind::mail, false};
    if (is_one_of(previous, {"run", "as"})) return std::nullopt;
    return KeyMeaning{Kind::username, false};
  }
  if (is_one_of(last, {"owner", "submitter", "users", "jobowner"})) return KeyMeaning{Kind::username, true};
  if (last == "name" && is_one_of(previous, {"user", "login"})) return KeyMeaning{Kind::username, false};
  if (last == "id" && is_one_of(previous, {"user"})) return KeyMeaning{Kind::username, false};
  if (is_one_of(last, {"mailuser", "mailto"})) return KeyMeaning{Kind::mail, false};
  return std::nullopt;
}

}  // namespace

namespace {

std::optional<KeyMeaning> work_out(std::string_view key) {
  const auto words = words_of(key);
  if (words.empty()) return std::nullopt;
  const std::string& last = words.back();
  const std::string previous = words.size() > 1 ? words[words.size() - 2] : std::string();
  if (is_one_of(last, {"partition", "partitions", "rscgrp", "partitionname", "queuename", "qname", "defaultpartition"})) {
    return KeyMeaning{Kind::partition, words.size() == 1 && last != "rscgrp" && last != "partitionname" && last != "queuename"};
  }
  if (is_one_of(last, {"queue", "queues", "qlist"})) return KeyMeaning{Kind::partition, true};
  if (last == "name" && is_one_of(previous, {"partition", "queue"})) return KeyMeaning{Kind::partition, true};
  if (is_one_of(last, {"qos", "allowqos", "defaultqos", "qoslist"})) return KeyMeaning{Kind::qos, false};
  if (is_one_of(last, {"reservation", "reservationname", "resv"})) return KeyMeaning{Kind::reservation, true};
  if (last == "name" && previous == "reservation") return KeyMeaning{Kind::reservation, false};
  if (is_one_of(last, {"port", "masterport", "ports"})) return KeyMeaning{Kind::port, false};
  if (is_one_of(last, {"jobid", "jobids", "dependency", "stepid", "arrayjobid"}) || (is_one_of(last, {"id", "ids"}) && previous == "job")) return KeyMeaning{Kind::job_id, false};
  if (auto meaning = account_key(last, previous)) return meaning;
  if (auto meaning = person_key(last, previous)) return meaning;
  if (auto meaning = host_key(last, previous)) return meaning;
  return credential_key(last, previous);
}

}  // namespace

std::optional<KeyMeaning> meaning_of_key(std::string_view key) {
  // The same few keys come again and again.
  constexpr std::size_t max_known = 4096;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  thread_local std::unordered_map<std::string, std::optional<KeyMeaning>, Hash, std::equal_to<>> known;
  if (is_number(key) || key.size() > 80) return key.size() > 80 ? work_out(key.substr(key.size() - 80)) : std::nullopt;
  const auto it = known.find(key);
  if (it != known.end()) return it->second;
  if (known.size() >= max_known) known.clear();
  return known.emplace(std::string(key), work_out(key)).first->second;
}

}  // namespace dtj::lint
