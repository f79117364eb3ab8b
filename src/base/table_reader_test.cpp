// SPDX-License-Identifier: Apache-2.0
#include "base/table_reader.hpp"

#include <doctest/doctest.h>

#include <string>

namespace schedmate {
namespace {

std::string complaint(std::string_view toml, const TableReader::Read& read) {
  const auto done = TableReader::read(toml, "a.toml", read);
  return done ? "" : done.error().message;
}

void read_sample(TableReader& file) {
  std::string name;
  double share = 0;
  file.text("name", name);
  file.maybe_number("share", share, {0, 1});
  file.maybe_tables("row", [](TableReader& row) {
    std::vector<std::string> names;
    row.texts("names", names);
  });
}

}  // namespace

TEST_CASE("the first thing that is wrong is reported with its place") {
  CHECK(complaint("name = 'x'\nshare = 2\n", read_sample) ==
        "a.toml:2:9: share must be a number from 0 to 1");
  CHECK(complaint("share = 0.5\n", read_sample) == "a.toml:1:1: name is missing here");
  CHECK(complaint("name = 'x'\n[[row]]\n[[row]]\n", read_sample) ==
        "a.toml:2:1: names is missing here");
  CHECK(complaint("name = 'x'\nrow = 3\n", read_sample) ==
        "a.toml:2:7: row must be a list of tables, each headed [[row]]");
  CHECK(complaint("name = \n", read_sample).starts_with("a.toml:1:"));
}

TEST_CASE("a key that nobody asked for is reported before one that is missing") {
  CHECK(complaint("nmae = 'x'\n", read_sample) ==
        "a.toml:1:1: unknown key 'nmae' (nearest: name; all: name, share, row)");
  CHECK(complaint("name = 'x'\n[[row]]\nname = ['y']\n", read_sample).starts_with("a.toml:3:1: "));
}

TEST_CASE("a reader says whether an optional key gave a value") {
  std::int64_t whole = 7;
  bool flag = true;
  std::vector<std::string> plain;
  CHECK(complaint("whole = 9007199254740993\nflag = false\nplain = [1, 0.5, true, 'x']\n",
                  [&](TableReader& file) {
                    CHECK(file.maybe_whole("whole", whole, {0, 1e18}));
                    CHECK(file.maybe_flag("flag", flag));
                    CHECK(file.maybe_plain("plain", plain));
                    CHECK_FALSE(file.maybe_text("none", plain.front()));
                    CHECK_FALSE(file.maybe_table("none", read_sample));
                  })
            .empty());
  CHECK(whole == 9'007'199'254'740'993);
  CHECK_FALSE(flag);
  CHECK(plain == std::vector<std::string>{"1", "0.5", "true", "x"});
  CHECK(complaint("plain = [[1]]", [&](TableReader& file) {
          CHECK_FALSE(file.maybe_plain("plain", plain));
        }) == "a.toml:1:10: plain: must be a single value");
}

TEST_CASE("the entries of a table and of those within have joined keys") {
  std::string seen;
  const auto read = [&](TableReader& file) {
    file.entries([&](const std::string& key, const TomlValue& value) -> Result<void> {
      if (key == "b.bad") return fail(ErrorCode::invalid, "no b.bad");
      seen += key + "=" + plain_text(value).value_or("?") + " ";
      return {};
    });
  };
  CHECK(complaint("a = 1\n[b]\nc.d = 'x'\ne = []\n", read).empty());
  CHECK(seen == "a=1 b.c.d=x b.e=? ");
  CHECK(complaint("[b]\n bad = 1\n", read) == "a.toml:2:8: no b.bad");
}

TEST_CASE("keys that nest too deep are refused before they are parsed") {
  std::string deep = "name = 'x'\na";
  for (int i = 0; i < 300; ++i) deep += ".a";
  CHECK(complaint(deep + " = 1\n", read_sample) == "a.toml:2:1: nested more than 200 levels deep");
}

}  // namespace schedmate
