// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One run: a daemon, a cluster, people and whatever goes wrong, by one seed. After a while all
/// faults stop, and everything must settle. Equal options give an equal run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "live/settings.hpp"
#include "tests/storm/book.hpp"
#include "tests/storm/faults.hpp"

namespace schedmate::storm {

struct Options {
  std::uint64_t seed = 1;
  FaultSet faults = FaultSet().set();  ///< those that may occur
  live::Rules rules{};
  journal::Rules journal_rules{};
  std::optional<Seconds> until{};  ///< when faults stop, if earlier than by the seed
  std::int64_t kill_at = -1;       ///< a boundary at which the daemon is killed
  bool trace = false;
};

struct Outcome {
  std::optional<Violation> violation;
  std::vector<std::string> trace;
  std::string world;  ///< the cluster and the settings, in one line
  FaultSet drawn;
  Seconds until{0};
  std::int64_t boundaries = 0, kills = 0, restarts = 0, calls = 0;
  std::int64_t compacted = 0;  ///< rows of the journal
  std::int64_t losses = 0;     ///< power cuts in which a disk lost what it had said it kept
  std::int64_t tests = 0;      ///< of nodes that said something
  std::int64_t halves = 0;     ///< of nodes of tests that failed
  std::int64_t found = 0;      ///< nodes drained by a log and a test
  std::int64_t hangs = 0;      ///< of which owners were told
  std::int64_t restarted = 0;  ///< since they hung
};

[[nodiscard]] Outcome run(const Options& options);

/// Switches off a rule of acting, or of the journal. Errors: not_found.
[[nodiscard]] Result<void> plant(std::string_view rule, Options& options);
[[nodiscard]] const std::vector<std::string_view>& plants();

/// "storm --seeds 5:5 --faults ..." for exactly this run.
[[nodiscard]] std::string command_of(const Options& options, std::string_view plant);

/// Fewer faults and a shorter storm with the same rule violated.
[[nodiscard]] Options shrink(Options options, const Violation& violation);

}  // namespace schedmate::storm
