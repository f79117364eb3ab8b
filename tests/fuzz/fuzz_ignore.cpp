// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "base/text.hpp"
#include "tests/fuzz/targets.hpp"
#include "tree/ignore.hpp"
#include "tree/names.hpp"
#include "tree/tree.hpp"

namespace schedmate::fuzz {

/// Paths, one on a line, a line of '#', then the rules.
void fuzz_ignore(std::string_view input) {
  const std::size_t end = input.find("\n#\n");
  const std::string_view names = input.substr(0, end);
  const auto rules = tree::IgnoreRules::parse(
      end == std::string_view::npos ? std::string_view() : input.substr(end + 3));
  if (!rules) return;
  for (const std::string_view name : split(names, '\n')) {
    const auto path = tree::join_path("", name);
    if (!path) continue;
    SCHEDMATE_CHECK(tree::join_path("", *path) == *path, "a joined path is as short as it gets");
    const std::string below = *path + "/x";
    SCHEDMATE_CHECK(!rules->ignores(*path, true) || rules->ignores(below, false),
                    "what lies in an ignored folder is ignored");
    SCHEDMATE_CHECK(!tree::is_secret_path(*path) || tree::is_secret_path("a/" + *path),
                    "a secret is one in every folder");
  }
}

}  // namespace schedmate::fuzz
