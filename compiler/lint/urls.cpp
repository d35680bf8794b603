#include <array>

#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// scheme://user:password@host:port/path

namespace dtj::lint {

namespace {

bool is_scheme_char(char c) { return is_alnum(c) || c == '+' || c == '.' || c == '-'; }

bool ends_url(char c) { return is_space(c) || is_quote(c) || c == '<' || c == '>' || c == ')' || c == ']' || c == ',' || c == ';' || c == '|' || c == '\\' || c == '}'; }

/// Names an object store or a hub: what stands behind it is a bucket, no host.
bool has_no_host(std::string_view scheme) {
  static constexpr std::array<std::string_view, 14> known = {"s3", "gs", "gcs", "hf", "az", "abfs", "abfss", "wasbs", "docker", "oras", "library", "wandb", "doi", "azureml"};
  return std::any_of(known.begin(), known.end(), [&](std::string_view name) { return equals_ignoring_case(name, scheme); });
}

void report_authority(Scan& scan, std::string_view authority) {
  const auto at = authority.rfind('@');
  std::string_view host = authority;
  if (at != std::string_view::npos) {
    const std::string_view who = authority.substr(0, at);
    host = authority.substr(at + 1);
    const auto colon = who.find(':');
    const std::string_view user = who.substr(0, colon);
    if (!is_placeholder(user) && !is_well_known_user(user) && user != "oauth2" && user != "token") scan.leak(Kind::username, user, 96);
    if (colon != std::string_view::npos) {
      const std::string_view password = who.substr(colon + 1);
      if (!is_placeholder(password) && !equals_ignoring_case(password, "password") && password.size() > 2) scan.leak(Kind::credential, password, 96);
    }
  }
  if (!host.empty() && host.front() == '[') {
    const auto close = host.find(']');
    if (close == std::string_view::npos) return;
    const std::string_view address = host.substr(1, close - 1);
    if (is_ipv6(address) && !is_reserved_ip(address)) scan.leak(Kind::ip, address, 96);
    if (close + 2 < host.size() && is_number(host.substr(close + 2)) && !is_default_port(host.substr(close + 2))) scan.leak(Kind::port, host.substr(close + 2), 96);
    return;
  }
  const auto colon = host.find(':');
  const std::string_view name = host.substr(0, colon);
  const bool is_private = !is_placeholder(name) && !is_generic_node(name) && !is_public_host(name);
  if (is_ipv4(name)) {
    if (!is_reserved_ip(name)) scan.leak(Kind::ip, name, 96);
  } else if (is_private && has_alpha(name) && name.size() > 1) {
    const bool is_bare = name.find('.') == std::string_view::npos;
    // A service name of a compose file or cluster (`http://redis:6379`) has neither dot nor digit.
    if (!is_bare || has_digit(name) || name.find('-') != std::string_view::npos) scan.leak(is_bare ? Kind::node : Kind::hostname, name, 96);
  }
  const bool is_loopback = is_reserved_ip(name) || equals_ignoring_case(name, "localhost");
  if (colon != std::string_view::npos && !is_public_host(name) && !is_loopback) {
    const std::string_view tail = host.substr(colon + 1);
    const std::string_view digits = tail.substr(0, std::min(tail.size(), find_none(tail, "0123456789")));
    if (digits.size() >= 2 && !is_default_port(digits)) scan.leak(Kind::port, digits, 96);
  }
}

}  // namespace

void recognise_urls(Scan& scan, const Line& line) {
  const std::string_view text = line.text;
  for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    std::size_t begin = at;
    while (begin > 0 && is_scheme_char(text[begin - 1])) --begin;
    const std::string_view scheme = text.substr(begin, at - begin);
    std::size_t end = at + 3;
    while (end < text.size() && !ends_url(text[end])) {
      if (text[end] == '$' && end + 1 < text.size() && (text[end + 1] == '{' || text[end + 1] == '(')) {
        const auto close = find_any(text, "})", end);
        end = close == std::string_view::npos ? text.size() : close;
        if (end == text.size()) break;
      }
      ++end;
    }
    if (scheme.empty()) continue;
    if (equals_ignoring_case(scheme, "file")) continue;  // the path recogniser reads on
    scan.safe(text.substr(begin, end - begin), 95);
    if (has_no_host(scheme)) continue;
    const std::string_view body = text.substr(at + 3, end - at - 3);
    report_authority(scan, trim_back(body.substr(0, find_any(body, "/?#")), ".:*"));
  }
}

}  // namespace dtj::lint
