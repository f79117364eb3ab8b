// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <regex>

#include "base/text.hpp"
#include "tests/tidy/rules.hpp"

namespace schedmate::tidy {
namespace {

/// One finding per line that matches.
Findings find_lines(const File& file, const std::regex& pattern, std::string_view what,
                    std::string_view instead) {
  Findings found;
  int line = 0;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    std::cmatch match;
    if (!std::regex_search(text.begin(), text.end(), match, pattern)) continue;
    found.push_back(
        {file.path, line, fmt::format("{}: {}", what, match[1].str()), std::string(instead)});
  }
  return found;
}

}  // namespace

Findings check_licence_line(const File& file) {
  const bool is_script = file.text.starts_with("#!");
  if (!is_cpp(file) && !is_script) return {};
  const auto lines = split(file.text, '\n');
  const std::size_t at = is_script ? 1 : 0;
  // What links Slurm's library is under a licence that goes with Slurm's.
  const bool is_of_slurm = file.path.starts_with("plugins/slurm/");
  const std::string wanted = std::string(is_script ? "#" : "//") + " SPDX-License-Identifier: " +
                             (is_of_slurm ? "GPL-2.0-or-later" : "Apache-2.0");
  if (lines.size() > at && lines[at] == wanted) return {};
  return {{file.path, static_cast<int>(at) + 1, "no licence line", "write: " + wanted}};
}

// The words are written in two halves, so that this file does not find itself.
Findings check_leftovers(const File& file) {
  static const std::regex pattern(
      "\\b(FIX"
      "ME|TO"
      "DO|X"
      "XX|HA"
      "CK)\\b");
  return find_lines(file, pattern, "leftover note", "do it, or open an issue, and remove the note");
}

Findings check_places(const File& file) {
  static const std::regex machine_path(
      "(?:^|[\\s\"'`(=:,<])(/(?:wo"
      "rk|ro"
      "ot|ho"
      "me)/[\\w./-]+)");
  static const std::regex registry_host(
      "\\b((?:[\\w-]+\\.)*(?:py"
      "pi\\.org|pythonho"
      "sted\\.org|np"
      "mjs\\.(?:org|com)|cra"
      "tes\\.io|deb\\.de"
      "bian\\.org|security\\.de"
      "bian\\.org|proxy\\.go"
      "lang\\.org|artif"
      "actory[\\w.-]*|jf"
      "rog\\.io|pk"
      "g\\.dev))\\b");
  auto found = find_lines(file, machine_path, "a path of one machine",
                          "write it relative to the project's root");
  const auto hosts = find_lines(file, registry_host, "the host name of a package registry",
                                "name the package; its client knows where to look");
  found.insert(found.end(), hosts.begin(), hosts.end());
  return found;
}

Findings check_shared_data(const File& file) {
  static const std::string place = std::string("../sha") + "red";
  static const std::regex pattern(R"(^(?!\s*(?://|#)).*?(?:^|[^./])/?(\.\./shared)\b)");
  const bool runs = is_cpp(file) || file.path.ends_with(".sh");
  if (!is_test(file) || !runs || !file.text.contains(place)) return {};
  return find_lines(file, pattern, "a way to data that not every machine has",
                    "needs_shared() and shared() of tests/support/needs.hpp, in CMake "
                    "SCHEDMATE_SHARED");
}

}  // namespace schedmate::tidy
