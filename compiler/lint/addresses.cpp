#include "compiler/lint/policy.hpp"
#include "compiler/lint/scan.hpp"

// E-mail addresses, user@host, IP addresses, full host names.

namespace dtj::lint {

namespace {

bool is_local_char(char c) { return is_word(c) || c == '.' || c == '-' || c == '+' || c == '%'; }

bool is_version_context(std::string_view text, std::string_view span) {
  const std::string_view all = head_before(text, span);
  const std::string head = lower(trim_back(all.substr(all.size() > 24 ? all.size() - 24 : 0), " \t\"'("));
  if (head.empty()) return false;
  const char c = head.back();
  if (c == 'v' && (head.size() == 1 || !is_alpha(head[head.size() - 2]))) return true;
  for (const auto tail : {"version", "version\":", "version:", "version=", "version\":", "version':", "version is", "driver", ".so.", "release", "==", ">=", "<=", "~=", "firmware", "revision", "build", "ofed", "cudnn", "tensorrt"}) {
    if (ends_with(head, tail)) return true;
  }
  return false;
}

/// `name=1.2.3.4` pins a package unless the name speaks of an address.
bool is_pin(std::string_view text, std::string_view span) {
  const std::string_view head = head_before(text, span);
  if (head.empty() || head.back() != '=') return false;
  const std::string key = lower(head.substr(head.size() > 32 ? head.size() - 32 : 0));
  for (const auto word : {"addr", "host", "ip", "server", "node", "url", "bind", "gateway", "iface", "proxy", "dns", "endpoint", "subnet", "nic", "dest", "src", "listen", "tcp", "master", "head"}) {
    if (key.find(word) != std::string::npos) return false;
  }
  return !(starts_with(span, "10.") || starts_with(span, "172.") || starts_with(span, "192.168."));
}

/// Behind the digits and dots around the dot at `dot`, when there are three dots; else 0.
std::size_t end_of_quad(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  int dots = 0;
  while (at < text.size() && (is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1])))) dots += text[at++] == '.' ? 1 : 0;
  return dots == 3 ? at : 0;
}

void read_ipv4(Scan& scan, std::string_view text) {
  std::size_t at = 0;
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', std::max(dot + 1, at))) {
    std::size_t begin = dot;
    while (begin > 0 && is_digit(text[begin - 1]) && dot - begin < 4) --begin;
    if (begin == dot || dot - begin > 3) continue;
    const std::size_t end = end_of_quad(text, begin);
    if (end == 0) continue;
    at = end;
    const std::string_view span = text.substr(begin, at - begin);
    const char left = before(text, span), right = after(text, span);
    if (is_word(left) || left == '.' || is_word(right) || (left == '-' && begin > 1 && is_word(text[begin - 2])) || !is_ipv4(span)) continue;
    if (right == '-' && at + 1 < text.size() && is_alpha(text[at + 1])) continue;  // 1.2.3.4-ubuntu
    if (is_reserved_ip(span) || is_version_context(text, span) || is_pin(text, span)) {
      scan.safe(span, 70);
      continue;
    }
    scan.leak(Kind::ip, span, 70);
    if (right == ':' && !is_version_context(text, span)) {
      const std::string_view tail = text.substr(at + 1);
      const std::string_view digits = tail.substr(0, std::min(tail.size(), find_none(tail, "0123456789")));
      const char behind = after(text, text.substr(begin, at + 1 + digits.size() - begin));
      if (digits.size() >= 2 && behind != ':' && behind != '.') scan.port(digits);
    }
  }
}

void read_ipv6(Scan& scan, std::string_view text) {
  // Either a run of zeros is left out, or there are seven colons.
  if (text.find("::") == std::string_view::npos && std::count(text.begin(), text.end(), ':') < 7) return;
  for (std::size_t at = text.find(':'); at != std::string_view::npos;) {
    std::size_t begin = at, end = at;
    while (begin > 0 && (is_hex(text[begin - 1]) || text[begin - 1] == ':') && at - begin < 45) --begin;
    while (end < text.size() && (is_hex(text[end]) || text[end] == ':') && end - at < 45) ++end;
    std::string_view span = text.substr(begin, end - begin);
    // A port or a full stop behind: `[fd00::1]:29500`; `addr: fd00::1`.
    if (!span.empty() && span.back() == ':' && !ends_with(span, "::")) span.remove_suffix(1);
    if (!span.empty() && span.front() == ':' && !starts_with(span, "::")) span.remove_prefix(1);
    const char left = before(text, span), right = after(text, span);
    const bool is_free = !is_word(left) && left != '.' && !is_word(right);
    if (span.size() >= 4 && is_free && is_ipv6(span)) {
      if (!is_reserved_ip(span) && find_any(span, "23fF") == 0) {
        scan.leak(Kind::ip, span, 72);
      } else {
        scan.safe(span, 72);
      }
    }
    at = text.find(':', std::max(end, at + 1));
  }
}

bool is_licence_line(std::string_view text) {
  const std::string low = lower(text.substr(0, 160));
  for (const auto word : {"copyright", "(c) ", "license", "licence", "signed-off-by", "author", "co-authored-by", "maintainer"}) {
    if (low.find(word) != std::string::npos) return low.find("copyright") != std::string::npos || low.find("licen") != std::string::npos || low.find("author") != std::string::npos;
  }
  return false;
}

/// What stands around an `@`.
struct Mention {
  std::string_view local, domain;
};

Mention mention_at(std::string_view text, std::size_t at) {
  std::size_t begin = at, end = at + 1;
  while (begin > 0 && is_local_char(text[begin - 1]) && at - begin < 70) --begin;
  while (end < text.size() && (is_host_char(text[end]) || static_cast<unsigned char>(text[end]) >= 0x80) && end - at < 256) ++end;
  return {trim_front(text.substr(begin, at - begin), ".-%"), trim_back(text.substr(at + 1, end - at - 1), ".-_")};
}

/// `<netid>@site.edu`, `${USER}@site.edu`: the site is literal.
void read_literal_domain(Scan& scan, std::string_view domain) {
  if (is_domain(domain) && !is_public_host(domain)) scan.leak(Kind::hostname, domain, 68);
}

void read_port_at_host(Scan& scan, const Mention& mention) {
  scan.port(mention.local);
  scan.endpoint(Kind::hostname, mention.domain);
}

void read_mention(Scan& scan, std::string_view text, std::size_t at) {
  const Mention mention = mention_at(text, at);
  if (mention.domain.empty() || !is_word(mention.domain.front())) return;
  if (mention.local.empty()) {
    const char c = at > 0 ? text[at - 1] : ' ';
    if (c == '>' || c == '}' || c == ')') read_literal_domain(scan, mention.domain);
    return;
  }
  const std::string_view whole = text.substr(static_cast<std::size_t>(mention.local.data() - text.data()), mention.local.size() + 1 + mention.domain.size());
  const char right = after(text, whole), left = before(text, whole);
  if (left == '/' && at > 2 && text.substr(at > 90 ? at - 90 : 0, 90).find("://") != std::string_view::npos) return;  // the URL recogniser has it
  if (left == '$' || left == '{') return read_literal_domain(scan, mention.domain);
  if (is_number(mention.local) && mention.local.size() >= 4 && !is_number(mention.domain)) return read_port_at_host(scan, mention);
  const char behind = whole.data() + whole.size() + 1 < text.data() + text.size() ? whole.data()[whole.size() + 1] : ' ';
  const bool is_remote_path = right == ':' && (behind == '/' || behind == '~' || behind == '$' || is_alpha(behind) || is_space(behind) || is_quote(behind));
  const bool is_mail = (is_domain(mention.domain) || has_code_domain(mention.domain)) && !(is_remote_path && (behind == '/' || behind == '~' || behind == '$'));
  if (is_mail) {
    if (is_public_host(mention.domain) && (lower(mention.domain).find("example") != std::string::npos || mention.local == "git" || mention.domain.find("github") != std::string_view::npos)) return scan.safe(whole, 76);
    if (is_placeholder(mention.local) || equals_ignoring_case(mention.local, "firstname.lastname") || equals_ignoring_case(mention.local, "first.last")) {
      return equals_ignoring_case(mention.local, "firstname.lastname") ? scan.safe(whole, 76) : read_literal_domain(scan, mention.domain);
    }
    if (is_well_known_user(mention.local) && (is_public_host(mention.domain) || is_generic_node(mention.domain))) return scan.safe(whole, 76);
    if (mention.local == "git" || is_licence_line(text)) return scan.safe(whole, 76);
    scan.leak(Kind::email, whole, 75);
    return;
  }
  if (is_remote_path && has_alpha(mention.local) && !is_public_host(mention.domain) && mention.local != "git") {
    scan.value(Kind::username, mention.local, 80);
    scan.endpoint(is_ipv4(mention.domain) ? Kind::ip : Kind::node, mention.domain);
  }
}

bool is_file_like(std::string_view text) {
  const auto dot = text.rfind('.');
  const std::string ext = lower(text.substr(dot + 1));
  for (const auto known : {"py", "pt", "sh", "md", "rs", "so", "pl", "cc", "is", "in", "me", "ml", "co", "no", "my", "mk", "es", "ps", "ch", "gr", "at", "be", "it", "cat", "net", "id", "ma", "sg", "ng", "name", "si"}) {
    if (ext == known && std::count(text.begin(), text.end(), '.') < 2) return true;
  }
  return false;
}

/// Full host names: `proxy.site.edu`, `db01.cluster.internal`.
void read_domains(Scan& scan, std::string_view text) {
  for (std::size_t at = text.find('.'); at != std::string_view::npos;) {
    // Most dots stand in numbers and at the end of sentences.
    if (at == 0 || at + 2 >= text.size() || !is_alnum(text[at + 1]) || (is_digit(text[at + 1]) && is_digit(text[at - 1]))) {
      at = text.find('.', at + 1);
      continue;
    }
    std::size_t begin = at, end = at;
    while (begin > 0 && is_host_char(text[begin - 1]) && at - begin < 253) --begin;
    while (end < text.size() && is_host_char(text[end]) && end - at < 253) ++end;
    const std::string_view span = trim(text.substr(begin, end - begin), ".-_");
    at = text.find('.', std::max(end, at + 1));
    if (span.size() < 5 || !is_domain(span) || !has_alpha(span.substr(0, span.find('.'))) ) continue;
    const char left = before(text, span), right = after(text, span);
    if (left == '@' || left == '/' || left == '$' || left == '{' || left == '\\' || left == '<' || left == '%' || right == '@' || right == '(' || right == '=' || right == '[') continue;
    if (right == '/' && !(span.find(".internal") != std::string_view::npos)) {
      // An API group (`kubeflow.org/v1`), an image of a registry, or a module: without a port no host.
      const auto labels = std::count(span.begin(), span.end(), '.');
      if (labels < 2) continue;
    }
    if (is_public_host(span) || is_file_like(span) || span.find('_') != std::string_view::npos) continue;
    if (scan.flavour == Flavour::code && !is_quote(left) && span.find('-') == std::string_view::npos && !ends_with(span, ".edu") && !ends_with(span, ".gov") && !ends_with(span, ".internal")) continue;
    if (starts_with(span, "std.")) continue;
    const bool is_module = std::count(span.begin(), span.end(), '.') >= 2 && (starts_with(span, "com.") || starts_with(span, "org.") || starts_with(span, "io.") || starts_with(span, "net.") || starts_with(span, "torch."));
    if (is_module) continue;
    scan.leak(Kind::hostname, span, 66);
    if (right == ':') {
      const std::string_view tail = rest_after(text, span).substr(1);
      const std::string_view digits = tail.substr(0, std::min(tail.size(), find_none(tail, "0123456789")));
      const char behind = digits.size() < tail.size() ? tail[digits.size()] : ' ';
      if (digits.size() >= 2 && behind != ':' && behind != '.') scan.port(digits);
    }
  }
}

}  // namespace

void recognise_addresses(Scan& scan, const Line& line) {
  if (line.has(has_at)) {
    for (std::size_t at = line.text.find('@'); at != std::string_view::npos; at = line.text.find('@', at + 1)) read_mention(scan, line.text, at);
  }
  if (line.has(has_dot)) {
    if (line.has(has_number)) read_ipv4(scan, line.text);
    read_domains(scan, line.text);
  }
  if (line.has(has_colon)) read_ipv6(scan, line.text);
}

}  // namespace dtj::lint
