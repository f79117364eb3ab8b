// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where in the logs of a run its failure is (paper 3.3, Failure Locator).

#include <cstdint>
#include <optional>
#include <schedmate/diagnosis.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "log/failure/classify.hpp"
#include "log/lines/clean.hpp"

namespace schedmate::failure {

/// A line that has to do with the failure.
struct FailureLine {
  std::size_t file = 0;      ///< index of the path
  std::uint64_t line = 0;    ///< 1-based
  std::uint64_t begins = 0;  ///< first line of its traceback, else `line`
  std::string text;          ///< the state of the line, cut
  LineRole role = LineRole::cause;
  int weight = 0;
  int rank = -1;
  std::optional<lines::Stamp> time;
  std::uint64_t hash = 0;             ///< of its template
  std::uint64_t progress_before = 0;  ///< progress lines of this file so far
  std::uint64_t progress_line = 0;    ///< the last of them; 0: none
  std::uint32_t run = 0;              ///< which run of the file it belongs to
  std::uint64_t count = 1;            ///< lines like it, itself included
  std::uint32_t era = 0;              ///< goes up after many ordinary lines: the program went on
};

struct Located {
  std::optional<FailureLine> root;  ///< nothing: no failure
  std::vector<FailureLine> others;  ///< of the same failure, in the order of the log
  std::uint64_t lines = 0;          ///< looked at
  std::uint64_t progress = 0;       ///< progress lines among them; counted by `scan` alone
  std::uint64_t survived = 0;       ///< failure lines that training went on after, likewise
  std::vector<Error> cut_short;     ///< of files that end before their text does
};

struct LocateInput {
  std::span<const std::string> paths;
  LineKinds& kinds;
  /// Templates of a good run; what is there is not the cause. May be null.
  const std::unordered_set<std::uint64_t>* known = nullptr;
  FileAccess access{};
};

struct LocatorRow {
  std::string_view name;
  std::string_view summary;
  Result<Located> (*locate)(const LocateInput& input);
};
[[nodiscard]] std::span<const LocatorRow> locator_rows();
/// Errors: not_found, naming the nearest.
[[nodiscard]] Result<const LocatorRow*> find_locator(std::string_view name);

#define LOCATOR(name, summary) \
  [[nodiscard]] Result<Located> locate_##name(const LocateInput& input);
#include "log/failure/locators.def"
#undef LOCATOR

/// A failure line as locators keep it.
[[nodiscard]] FailureLine failure_line(std::string_view state, const LineVerdict& verdict);

}  // namespace schedmate::failure
