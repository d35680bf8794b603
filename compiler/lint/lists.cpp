#include "compiler/lint/lists.hpp"

#include <nlohmann/json.hpp>

#include "compiler/lint/embedded_lists.hpp"

namespace dtj::lint {

namespace {

using Json = nlohmann::json;

void fill(WordSet& set, const Json& data, const char* key) {
  for (const auto& word : data.at(key)) set.insert(lower(word.get<std::string>()));
}

Lists read_lists() {
  const Json data = Json::parse(embedded_lists());
  Lists out;
  fill(out.partitions, data, "generic_partition_qos_words");
  fill(out.accounts, data, "generic_account_words");
  fill(out.clusters, data, "generic_cluster_words");
  fill(out.hardware, data, "hardware_words");
  fill(out.node_bases, data, "generic_node_bases");
  fill(out.reserved_domains, data, "reserved_domains");
  fill(out.public_hosts, data, "public_hosts");
  fill(out.users, data, "well_known_users");
  fill(out.storage_roots, data, "storage_roots");
  fill(out.path_words, data, "generic_path_words");
  fill(out.route_words, data, "route_words");
  fill(out.top_level_domains, data, "top_level_domains");
  fill(out.code_domains, data, "code_domains");
  for (const auto& root : data.at("system_roots")) out.system_roots.insert(root.get<std::string>().substr(1));
  for (const auto& root : data.at("container_roots")) out.container_roots.push_back(root.get<std::string>());
  for (const auto& port : data.at("default_ports")) {
    if (port.is_array()) {
      out.ports.emplace_back(port.at(0).get<int>(), port.at(1).get<int>());
    } else {
      out.ports.emplace_back(port.get<int>(), port.get<int>());
    }
  }
  return out;
}

}  // namespace

bool WordSet::has(std::string_view word) const {
  std::array<char, 64> buffer;
  if (word.size() > buffer.size()) return false;
  std::transform(word.begin(), word.end(), buffer.begin(), to_lower);
  return words_.find(std::string_view(buffer.data(), word.size())) != words_.end();
}

const Lists& lists() {
  static const Lists all = read_lists();
  return all;
}

}  // namespace dtj::lint
