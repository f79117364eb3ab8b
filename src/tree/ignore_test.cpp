// SPDX-License-Identifier: Apache-2.0
#include "tree/ignore.hpp"

#include <doctest/doctest.h>

namespace schedmate::tree {
namespace {

bool ignores(std::string_view rules, std::string_view path, bool is_folder = false) {
  return IgnoreRules::parse(rules).value().ignores(path, is_folder);
}

}  // namespace

TEST_CASE("patterns fit as in .gitignore") {
  CHECK(ignores("*.log", "a.log"));
  CHECK(ignores("*.log", "deep/er/a.log"));
  CHECK_FALSE(ignores("*.log", "a.logs"));
  CHECK(ignores("/a.py", "a.py"));
  CHECK_FALSE(ignores("/a.py", "b/a.py"));
  CHECK(ignores("b/a.py", "b/a.py"));
  CHECK_FALSE(ignores("b/a.py", "c/b/a.py"));
  CHECK(ignores("**/b/a.py", "c/d/b/a.py"));
  CHECK(ignores("a/**/b", "a/b"));
  CHECK(ignores("a/**/b", "a/x/y/b"));
  CHECK(ignores("a/**", "a/x/y"));
  CHECK_FALSE(ignores("a/**", "a", true));
  CHECK(ignores("?.[!a-c]y", "x.py"));
  CHECK_FALSE(ignores("?.[!a-p]y", "x.py"));
  CHECK(ignores("\\#a", "#a"));
  CHECK(ignores("\\!a", "!a"));
  CHECK(ignores("a\\*", "a*"));
  CHECK_FALSE(ignores("a\\*", "ab"));
  CHECK_FALSE(ignores("a*c", "a/c"));
  CHECK_FALSE(ignores("# a\n\n", "a"));
  CHECK(ignores("a  \r\n", "a"));
}

TEST_CASE("a pattern for folders takes what is in them") {
  CHECK(ignores("data/", "data", true));
  CHECK_FALSE(ignores("data/", "data", false));
  CHECK(ignores("data/", "x/data/y/z.py"));
  CHECK_FALSE(ignores("data/", "x/data.py"));
}

TEST_CASE("the last pattern that fits decides, but not within an ignored folder") {
  CHECK_FALSE(ignores("*.log\n!keep.log", "keep.log"));
  CHECK(ignores("!keep.log\n*.log", "keep.log"));
  CHECK(ignores("a/\n!a/b.py", "a/b.py"));
  CHECK_FALSE(ignores("a/*\n!a/b.py", "a/b.py"));
}

TEST_CASE("too many or too long patterns are an error") {
  std::string many;
  for (std::size_t i = 0; i <= IgnoreRules::most_patterns; ++i) many += "x\n";
  CHECK_FALSE(IgnoreRules::parse(many));
  const auto one = IgnoreRules::parse("\n" + std::string(500, 'x'));
  REQUIRE_FALSE(one);
  CHECK(one.error().message.starts_with(".schedmateignore:2:"));
}

}  // namespace schedmate::tree
