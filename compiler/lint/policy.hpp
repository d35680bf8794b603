#pragma once

#include <string_view>

#include "compiler/lint/finding.hpp"

// What is never a leak: placeholders, generic words, reserved addresses, system paths.

namespace dtj::lint {

/// Nothing of the value is literal, or it is a word that stands for one (`<x>`, `$X`, `YOUR_X`, `xxx`, `null`).
bool is_placeholder(std::string_view value);
/// Words a whole value of the kind may be, a listed word each when the value is a comma list.
bool is_generic(Kind kind, std::string_view value);
/// Generic and hardware words only (`gpu-a100`): too common to say anything about a site.
bool is_generic_compound(std::string_view value);
/// A listed base with digits behind it, or a host list of such.
bool is_generic_node(std::string_view value);
bool is_default_port(std::string_view digits);
bool is_well_known_user(std::string_view name);

/// Dotted quad with each part at most 255.
bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
/// Loopback, wildcard, netmask, documentation range. `text` is an address.
bool is_reserved_ip(std::string_view text);

/// The domain itself or a domain above it is public or reserved.
bool is_public_host(std::string_view host);
/// Labels with dots between, the last one a known top level domain; `labels` at least.
bool is_domain(std::string_view text, int labels = 2);
/// `site.pl`: a domain in an e-mail address, a file name anywhere else.
bool has_code_domain(std::string_view text);
/// A letter first, then host name characters, with a digit somewhere: `cn12`, `gpu-xr675-31`.
bool is_node_like(std::string_view text);

/// `scratch`, `data`: says nothing about a site.
bool is_generic_path_word(std::string_view word);
/// An absolute path that names a user, project, file system or site.
bool is_site_path(std::string_view path);

}  // namespace dtj::lint
