// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "tests/cli/evaluate_world.hpp"

namespace schedmate {

TEST_CASE("evaluate: every standard arm has its rows, and the book cites their lines") {
  const World here;
  const Ran ran = here.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto rows = rows_of(here.read("out/small.csv"));
  for (const char* arm : {"sm", "sm.last_k", "sm.oracle", "sm.metadata", "sm.all", "fifo"})
    CHECK_MESSAGE(value_of(rows, arm, "ln_ratio") != "absent", arm);
  for (const char* figure : {"over_last_k", "over_metadata", "over_all", "oracle_share"})
    CHECK_MESSAGE(value_of(rows, "sm", figure) != "absent", figure);
  // qssf has last_k already: the same advice beside it changes nothing.
  CHECK(value_of(rows, "sm.last_k", "ln_ratio") == "0");
  CHECK(value_of(rows, "sm", "unfinished") == "0");
  const std::string book = here.read("book/evaluation.md");
  const auto found = std::ranges::find_if(
      rows, [](const Row& row) { return row.arm == "sm" && row.figure == "jct_s"; });
  const auto line = found - rows.begin() + 2;
  CHECK(book.contains(fmt::format(" :{} |", line)));
  CHECK(here.read("out/evaluation.html").contains(fmt::format("small.csv#L{0}\">{0}</a>", line)));
  CHECK(book.contains("## In short"));
  CHECK(book.contains("| small, crowd | sm against"));
  // One link a row is enough, its other cells have their lines.
  CHECK(book.find("small.csv#L") == book.rfind("small.csv#L"));
  CHECK(book.contains("| over last_k | over metadata | over all |"));
  CHECK(book.contains("### small: crowd, against qssf"));
  CHECK(book.contains("What this does not show"));
  CHECK(book.contains("is construction"));
  CHECK_FALSE(book.contains("<b>"));
  CHECK_FALSE(here.read("out/evaluation.html").contains("<b>"));
}

TEST_CASE("evaluate: of an experiment of the paper's the book says what became of the claim") {
  const World here;
  // Named as the book knows it: at least 1.302 times shorter is claimed of its arm sm.
  here.write("table2_simulated.toml", here.read("small.toml"));
  const Ran ran = here.run(
      {"evaluate", "table2_simulated.toml", "--out", "out", "--book", "book/evaluation.md"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const std::string book = here.read("book/evaluation.md");
  const double factor =
      parse_number<double>(
          value_of(rows_of(here.read("out/table2_simulated.csv")), "sm", "jct_ratio"))
          .value();
  REQUIRE(factor < 1.2);
  CHECK(book.contains("## What became of the paper's claims"));
  CHECK(
      book.contains("| Lucid+SchedMate, average JCT -23.2 % (Table 2) | table2_simulated, crowd"));
  CHECK(book.contains("| not reached |"));
}

TEST_CASE("evaluate: an arm above its bound is listed once, with the points and the reason") {
  const World here;
  here.write("small.toml", R"toml(title = "Late advice"
perturbations = 3
warm_up_days = 0
host = "qssf+sm"
[sweep]
setting = "workload_noise_pct"
values = [0, 50]
[[trace]]
name = "crowd"
trace = "helios:jobs.csv"
cluster = "cluster.toml"
[[arm]]
label = "late"
policy = "qssf+sm"
settings = { "cost.advice_s" = 36000 }
)toml");
  const Ran ran = here.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const std::string book = here.read("book/evaluation.md");
  CHECK(book.contains("Of 2 arms with advice, controls included, 0 are safe. Not safe:"));
  CHECK(
      book.contains("- small, crowd, workload_noise_pct = 0, 50: late against qssf+sm, the "
                    "same policy where other things cost\n"));
}

}  // namespace schedmate
