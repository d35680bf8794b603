#include "compiler/site/site.hpp"

#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dtj::site {
namespace {

const std::vector<std::string> top_keys = {"default", "site"};
const std::vector<std::string> site_keys = {"bind"};

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "`" : ", `") + word + "`";
  return text;
}

class Reader {
 public:
  Reader(const source::SourceFile& file, diag::Sink& sink) : file_(file), sink_(sink) {}

  std::optional<Profile> read(const std::string& wanted) {
    toml::table root;
    try {
      root = toml::parse(file_.text(), file_.name());
    } catch (const toml::parse_error& error) {
      sink_.report({diag::Kind::bad_site_profile, at(error.source(), 1), fmt::format("the profile is not well-formed TOML: {}", lower_case(error.description()))})
          .help("the form of a profile is `[site.NAME.bind]`, then lines `name = \"value\"`");
      return std::nullopt;
    }
    report_unknown_keys(root, "a profile", top_keys);
    const auto name = choose_site(root, wanted);
    if (!name) return std::nullopt;
    Profile profile;
    profile.site = *name;
    for (const auto& [key, node] : *root["site"].as_table())
      if (const toml::table* site = table_of(node, "a site is", key)) read_site(*site, key.str() == *name, profile);
    return profile;
  }

 private:
  source::Range at(const toml::source_region& region, std::size_t length) const {
    const auto line = static_cast<std::int32_t>(region.begin.line);
    if (line < 1 || line > file_.num_lines()) return {};
    const std::string_view text = file_.line(line);
    const std::size_t column = std::min<std::size_t>(region.begin.column == 0 ? 0 : region.begin.column - 1, text.size());
    const auto begin = static_cast<std::uint32_t>(text.data() - file_.text().data() + static_cast<std::ptrdiff_t>(column));
    return source::Range::of(file_.id(), begin, begin + static_cast<std::uint32_t>(length));
  }
  source::Range at(const toml::key& key) const { return at(key.source(), key.str().size()); }

  static std::string lower_case(std::string_view text) {
    std::string lower(text);
    if (!lower.empty()) lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
    while (!lower.empty() && lower.back() == '.') lower.pop_back();
    return lower;
  }

  void report_unknown_keys(const toml::table& table, std::string_view owner, const std::vector<std::string>& known) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      auto& report = sink_.report({diag::Kind::unknown_site_key, at(key), fmt::format("{} has no key `{}`", owner, name)});
      const auto near = diag::nearest(name, known);
      report.help(near ? fmt::format("did you mean `{}`?", *near) : "there is " + quoted_list(known));
    }
  }

  const toml::table* table_of(const toml::node& node, std::string_view what, const toml::key& key) {
    if (const toml::table* table = node.as_table()) return table;
    sink_.report({diag::Kind::bad_site_profile, at(key), fmt::format("{} a table, and `{}` is none", what, std::string(key.str()))})
        .help("the form of a profile is `[site.NAME.bind]`, then lines `name = \"value\"`");
    return nullptr;
  }

  std::optional<std::string> choose_site(const toml::table& root, const std::string& wanted) {
    std::vector<std::string> names;
    if (const toml::table* sites = root["site"].as_table())
      for (const auto& [key, node] : *sites) names.emplace_back(key.str());
    if (names.empty()) {
      sink_.report({diag::Kind::bad_site_profile, at({{1, 1}, {1, 1}, {}}, 1), "the profile describes no site"})
          .help("write `[site.NAME.bind]`, then lines `name = \"value\"`");
      return std::nullopt;
    }
    const auto stated = root["default"].value<std::string>();
    if (wanted.empty() && !stated && names.size() == 1) return names.front();
    const std::string name = wanted.empty() ? stated.value_or("") : wanted;
    if (std::find(names.begin(), names.end(), name) != names.end()) return name;
    const toml::node* node = wanted.empty() ? root.get("default") : nullptr;
    auto& report = sink_.report({diag::Kind::unknown_site, node != nullptr ? at(node->source(), name.size() + 2) : at({{1, 1}, {1, 1}, {}}, 1),
                                 name.empty() ? fmt::format("the profile describes {} sites, and none is chosen", names.size())
                                              : fmt::format("the profile describes no site `{}`", name)});
    const auto near = name.empty() ? std::nullopt : diag::nearest(name, names);
    report.help(near ? fmt::format("did you mean `{}`?", *near)
                     : fmt::format("choose one with `default = \"{}\"` in the first line, or `--site-name {}`; there is {}", names.front(), names.front(), quoted_list(names)));
    return std::nullopt;
  }

  /// The mistakes of every site are said; the values of one count.
  void read_site(const toml::table& site, bool is_chosen, Profile& profile) {
    report_unknown_keys(site, "a site", site_keys);
    for (const auto& [key, node] : site) {
      if (key.str() != "bind") continue;
      const toml::table* bind = table_of(node, "`bind` is", key);
      if (bind == nullptr) return;
      for (const auto& [name, value] : *bind) {
        const auto text = text_of(value);
        if (!text)
          report_value(name);
        else if (is_chosen)
          profile.bind[std::string(name.str())] = {*text, fmt::format("{}:{}", file_.name(), name.source().begin.line)};
      }
    }
  }

  void report_value(const toml::key& name) {
    sink_.report({diag::Kind::bad_site_profile, at(name), fmt::format("the value of `{}` is neither text nor a number", std::string(name.str()))})
        .help(fmt::format("write `{} = \"...\"`, as it would stand after `--bind {}=`", std::string(name.str()), std::string(name.str())));
  }

  static std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
    if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
    return std::nullopt;
  }

  const source::SourceFile& file_;
  diag::Sink& sink_;
};

}  // namespace

std::optional<Profile> read_profile(const std::string& path, const std::string& name, source::SourceManager& sources, diag::Sink& sink) {
  const auto id = sources.load(path, source::Privacy::secret);
  if (!id) {
    sink.report({diag::Kind::bad_site_profile, {}, "the site profile cannot be used: " + id.error().message})
        .help("give another with `--site FILE`, or the environment variable `DTJ_SITE`");
    return std::nullopt;
  }
  auto profile = Reader(sources.file(*id), sink).read(name);
  if (profile) profile->path = path;
  if (profile) profile->file = *id;
  return profile;
}

void warn_of_tracked_profile(const Profile& profile, diag::Sink& sink) {
  if (!is_tracked_by_git(profile.path)) return;
  sink.report({diag::Kind::site_profile_tracked, source::Range::of(profile.file, 0, 0), "git tracks this site profile, so that whoever reads the repository reads it"})
      .help(fmt::format("take it out with `git rm --cached {}`, and add it to `.gitignore`", profile.path));
}

}  // namespace dtj::site
