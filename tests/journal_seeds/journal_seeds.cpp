// SPDX-License-Identifier: Apache-2.0

/// journal_seeds FIRST LAST: the journal on a disk that fails, for these seeds. Exit code 1 names
/// the first seed at which something is wrong; it repeats alone.

#include <fmt/format.h>

#include <span>

#include "base/text.hpp"
#include "tests/support/journal_trial.hpp"

int main(int count, char** words) {
  using schedmate::parse_number;
  const std::span given(words, static_cast<std::size_t>(count));
  const auto first = count == 3 ? parse_number<std::uint64_t>(given[1]) : std::nullopt;
  const auto last = count == 3 ? parse_number<std::uint64_t>(given[2]) : std::nullopt;
  if (!first || !last) {
    fmt::print(stderr, "usage: journal_seeds FIRST LAST\n");
    return 2;
  }
  std::int64_t crashes = 0, errors = 0;
  for (std::uint64_t seed = *first; seed <= *last; ++seed) {
    auto fault = schedmate::testing::fault_of_crashes(seed, {}, crashes);
    if (fault.empty()) fault = schedmate::testing::fault_of_errors(seed, {}, errors);
    if (fault.empty()) continue;
    fmt::print("{}\n", fault);
    return 1;
  }
  fmt::print("{} seeds, {} crashes, {} errors of the disk: nothing lost, nothing added\n",
             *last - *first + 1, crashes, errors);
  return 0;
}
