// SPDX-License-Identifier: Apache-2.0
#include "log/progress/columns.hpp"

#include <doctest/doctest.h>

namespace schedmate::progress {
namespace {

std::optional<std::string> row_of(std::string_view head, std::string_view row) {
  Columns columns;
  columns.see_text(head);
  columns.see_text("-----  ------");
  return columns.row(row);
}

}  // namespace

TEST_CASE("a row of numbers takes its names from the head above it") {
  const std::string want = "epoch: 1, train_loss: 1.13, time: 00:12, ";
  CHECK(row_of("epoch     train_loss  time    ", "1         1.13   00:12     ") == want);
  CHECK(row_of("| epoch | train_loss | time |", "| 1 | 1.13 | 00:12 |") == want);
  CHECK(row_of("epoch,train_loss,time", "1,1.13,00:12") == want);
  CHECK(row_of("epoch train_loss time", "1 1.13 00:12") == want);
}

TEST_CASE("what stands in parentheses is no part of a name") {
  CHECK(row_of("Step (of)  Loss (avg)  LR", "1  2.5  0.1") == "Step: 1, Loss: 2.5, LR: 0.1, ");
}

TEST_CASE("lines that do not fit the head are no rows") {
  for (const std::string_view line :
       {"1 1.13", "1 1.13 00:12 5", "done 1 2", "1 yes no", "1 [0.5] 3", "", "a b c"})
    CHECK_MESSAGE(!row_of("epoch  loss  time", line), line);
  CHECK(!row_of("This is a sentence.", "1 2 3 4"));
  CHECK(!row_of("two words", "1 2"));
}

TEST_CASE("text ends a table") {
  Columns columns;
  columns.see_text("epoch  loss  time");
  columns.see_text("Saving the model now.");
  CHECK(!columns.row("1 2 3"));
}

}  // namespace schedmate::progress
