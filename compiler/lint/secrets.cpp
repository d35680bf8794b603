#include "compiler/lint/patterns.hpp"
#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// Tokens that carry their issuer in their first letters, and passwords on command lines.

namespace dtj::lint {

const Shapes& secret_shapes() {
  static const Shapes all(Collection::secret, {
      {"hf_", R"re(\b(hf_[A-Za-z0-9]{16,})\b)re", {Kind::credential}, 97},
      {"ghp_|gho_|ghu_|ghr_|ghs_", R"re(\b(gh[pousr]_[A-Za-z0-9]{16,})\b)re", {Kind::credential}, 97},
      {"github_pat_", R"re(\b(github_pat_[A-Za-z0-9_]{20,})\b)re", {Kind::credential}, 97},
      {"glpat-", R"re(\b(glpat-[A-Za-z0-9_-]{16,}))re", {Kind::credential}, 97},
      {"sk-", R"re(\b(sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}))re", {Kind::credential}, 97},
      {"akia|asia", R"re(\b((?:AKIA|ASIA)[A-Z0-9]{12,20})\b)re", {Kind::credential}, 97},
      {"xox", R"re(\b(xox[abprs]-[A-Za-z0-9-]{10,}))re", {Kind::credential}, 97},
      {"aiza", R"re(\b(AIza[A-Za-z0-9_-]{30,}))re", {Kind::credential}, 97},
      {"npm_|pypi-|dckr_pat_|nvapi-|dop_v1_|r8_|wandb_v1_|local-", R"re(\b(npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|nvapi-[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{30,}|r8_[A-Za-z0-9]{30,}|wandb_v1_[A-Za-z0-9_]{20,}|local-[a-f0-9]{30,}))re", {Kind::credential}, 97},
      {"eyj", R"re(\b(eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?))re", {Kind::credential}, 97},
      {"bearer ", R"re(\b[Bb]earer ([A-Za-z0-9_.~+/=-]{12,}))re", {Kind::credential}, 97},
      {"wandb login", R"re(\bwandb login (?:--\S+ )*([0-9a-f]{32,}))re", {Kind::credential}, 97},
      {"login", R"re(\b(?:hf|huggingface-cli|hf auth) login .*--token[ =]([^\s"'`$<]{8,}))re", {Kind::credential}, 97},
      {"curl", R"re(\bcurl\b.* (?:-u|--user)[ =]?['"]?([A-Za-z][\w.-]*):([^\s"'`$<{]{4,}))re", {Kind::username, Kind::credential}, 97},
      {"token=|key=|sig=|signature=", R"re([?&](?:token|access_token|api_key|apikey|key|sig|X-Amz-Signature)=([A-Za-z0-9%_.~-]{12,}))re", {Kind::credential}, 97},
      {"token |token:", R"re(\b[Tt]oken:? [`'"]?([0-9a-f]{32,})\b)re", {Kind::credential}, 97},
      {"password|passwd|passphrase", R"re(\b(?:[Pp]assword|[Pp]asswd|[Pp]assphrase) (?:is|was|:) ?[`'"]([^\s`'"<$]{4,})[`'"])re", {Kind::credential}, 97},
      {"password|passwd|passphrase", R"re(\b(?:[Pp]assword|[Pp]asswd|[Pp]assphrase) (?:is|was) ([^\s`'"<$]*[0-9!@#%^&*][^\s`'"<$]*))re", {Kind::credential}, 97},
      {"password|passwd|passphrase", R"re((?i:password|passwd|passphrase)[:,]? [`'"]([^\s`'"<$]*[0-9!@#%^&*+][^\s`'"<$]*)[`'"])re", {Kind::credential}, 97},
      {"_authtoken=", R"re(\b_authToken=([A-Za-z0-9_-]{8,}))re", {Kind::credential}, 97},
      {"private key", R"re((-----BEGIN [A-Z ]*PRIVATE KEY-----))re", {Kind::credential}, 97},
      {"echo", R"re(\becho ['"]?([^\s'"$|]{6,})['"]? \| ?(?:kinit|sudo -S|docker login|gh auth))re", {Kind::credential}, 97},
  });
  return all;
}

namespace {

bool is_obvious_filler(std::string_view text) {
  const std::string low = lower(text);
  std::size_t run = 1;
  for (std::size_t i = 1; i < low.size(); ++i) {
    run = low[i] == low[i - 1] ? run + 1 : 1;
    if (run >= 4 && (low[i] == 'x' || low[i] == '*' || low[i] == '.')) return true;
  }
  return low.find("your") != std::string::npos || low.find("example") != std::string::npos || low.find("token_here") != std::string::npos;
}

}  // namespace

void recognise_secrets(Scan& scan, const Line& line) {
  secret_shapes().each_match(line, scan.wants_all(), [&](const Shape& shape, const std::vector<std::string_view>& captures) {
    for (std::size_t i = 0; i < captures.size(); ++i) {
      if (captures[i].empty() || is_obvious_filler(captures[i]) || is_placeholder(captures[i].substr(0, 12))) continue;
      scan.leak(*shape.kinds[i], captures[i], shape.weight);
    }
  });
}

}  // namespace dtj::lint
