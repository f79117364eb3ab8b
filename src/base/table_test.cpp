// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/fold.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

using Rows = std::vector<std::vector<Cell>>;

std::string shown(std::span<const TableColumn> columns, const Rows& rows, std::size_t width) {
  return for_terminal(table_text(columns, rows, width), false);
}

const std::vector<TableColumn> columns{
    {"job"}, {"user", 2}, {"ran", 1, true}, {"why", 0, false, 12}};
const Rows jobs{{"1", "ann", "3 min", "the program ended with an error"},
                {"12", "bob", "59 min", ""}};

}  // namespace

TEST_CASE("table: without a terminal everything is there, and no row ends in blanks") {
  CHECK(shown(columns, jobs, 0) ==
        "job  user     ran  why\n"
        "1    ann    3 min  the program ended with an error\n"
        "12   bob   59 min\n");
}

TEST_CASE("table: where the width is short the last column is cut, and high ranks go first") {
  CHECK(shown(columns, jobs, 40) ==
        "job  user     ran  why\n"
        "1    ann    3 min  the program ended ...\n"
        "12   bob   59 min\n");
  CHECK(shown(columns, jobs, 30) ==
        "job     ran  why\n"
        "1     3 min  the program en...\n"
        "12   59 min\n");
  CHECK(shown(columns, jobs, 20) ==
        "job  why\n"
        "1    the program ...\n"
        "12\n");
  CHECK(shown(columns, jobs, 4) ==  // rank 0 stays, whatever it takes
        "job  why\n"
        "1    the progr...\n"
        "12\n");
}

TEST_CASE("table: a column in which nothing is known goes before any other") {
  const std::vector<TableColumn> shares{{"job"}, {"CPU", 1}, {"GPU", 2}, {"nodes"}};
  const Rows rows{{"1", unknown_cell, "41 %", "n[1-4]"}, {"2", "", "7 %", "n11"}};
  CHECK(shown(shares, rows, 0).starts_with("job  CPU  GPU   nodes\n"));
  CHECK(shown(shares, rows, 18).starts_with("job  GPU   nodes\n"));
  const std::vector<TableColumn> needed{{"job"}, {"CPU"}, {"GPU", 2}, {"nodes"}};
  CHECK(shown(needed, rows, 18).starts_with("job  CPU  nodes\n"));
}

TEST_CASE("table: a last column that is whole or folded") {
  const std::vector<TableColumn> whole{{"job"}, {"ran", 1}, {"verdict"}};
  const Rows rows{{"1", "3 min", "too small to tell"}};
  CHECK(shown(whole, rows, 29) == "job  ran    verdict\n1    3 min  too small to tell\n");
  CHECK(shown(whole, rows, 28) == "job  verdict\n1    too small to tell\n");
  const std::vector<TableColumn> folding{{"job"},
                                         {.name = "why", .least = 20, .too_long = TooLong::folded}};
  const Rows long_row{{"12", "the program ended with an error of its own"}};
  CHECK(shown(folding, long_row, 27) ==
        "job  why\n12   the program ended with\n     an error of its own\n");
  CHECK(shown(folding, long_row, 0).ends_with("of its own\n"));
}

TEST_CASE("table: of a path the end is kept") {
  const std::vector<TableColumn> places{{"fact"},
                                        {.name = "where", .too_long = TooLong::cut_in_front}};
  const Rows rows{{"length", "configs/large/resnet50.yaml:3"}};
  CHECK(shown(places, rows, 24) == "fact    where\nlength  ...snet50.yaml:3\n");
}

TEST_CASE("table: no line is wider than a terminal that has room for its rank 0") {
  for (std::size_t width = 17; width < 60; ++width) {
    const std::string text = shown(columns, jobs, width);
    for (const auto line : split(text, '\n'))
      CHECK_MESSAGE(columns_of(line) <= width, width, ": ", line);
  }
}

TEST_CASE("table: names are bold, a cell has its colour, and neither takes room") {
  const std::vector<TableColumn> states{{"state"}, {"x"}};
  const Rows rows{{{"failed", Style::red}, "a"}, {"ok", "b"}};
  CHECK(for_terminal(table_text(states, rows, 80), true) ==
        "\033[1mstate   x\033[0m\n\033[31mfailed\033[0m  a\nok      b\n");
}

TEST_CASE("aligned: rows of unequal length, characters instead of bytes, no blanks at the end") {
  using Words = std::vector<std::vector<std::string>>;
  const std::string bad = styled(Style::red, "bad");
  CHECK(aligned(Words{{bad, "x"}, {"four", "y"}}) == bad + "   x\nfour  y\n");
  CHECK(aligned(Words{{"é", "b", ""}, {}, {"long", "", "c"}, {"d", "e "}}) ==
        "é     b\n\nlong      c\nd     e\n");
}

TEST_CASE("shortened: in characters, from either end") {
  CHECK(shortened("ééééé", 5) == "ééééé");
  CHECK(shortened("éééééé", 5) == "éé...");
  CHECK(shortened("a/long/path", 8, true) == ".../path");
  CHECK(shortened("a\033b", 9) == "a?b");
  CHECK(shortened("abcd", 2) == "..");
}

}  // namespace schedmate
