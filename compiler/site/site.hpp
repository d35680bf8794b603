#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/source.hpp"

// The site profile: what a person's clusters are like, in a private file that no repository holds.
//
//   default = "hpc"
//   [site.hpc.bind]
//   partition = "gpu-large"
//   walltime = "4h"

namespace dtj::site {

/// A value of a placeholder and where it stands: "site.toml:4".
struct BoundValue {
  std::string text;
  std::string place;
};

struct Profile {
  std::string path;
  source::FileId file;
  std::string site;  ///< which of the profile's sites is meant
  std::map<std::string, BoundValue> bind;
};

/// Reads the site `name` of a profile; empty: its default, or its only one. Every mistake is reported, at its line and
/// without the text of the line, which may hold a secret. None: it cannot be used.
std::optional<Profile> read_profile(const std::string& path, const std::string& name, source::SourceManager& sources, diag::Sink& sink);

/// A warning when git tracks the profile.
void warn_of_tracked_profile(const Profile& profile, diag::Sink& sink);

/// Whether the index of the git repository around `path` holds it.
bool is_tracked_by_git(const std::string& path);

}  // namespace dtj::site
