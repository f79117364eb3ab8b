// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The logs of the jobs: a step each few seconds, until the job hangs. Some are cut or moved away
/// while they are written, and some lie.

#include <map>

#include "live/study.hpp"
#include "tests/storm/book.hpp"
#include "tests/storm/faults.hpp"
#include "tests/storm/timeline.hpp"

namespace schedmate::storm {

class Logs {
 public:
  Logs(Dice& dice, Timeline& timeline, Book& book)
      : dice_(dice), timeline_(timeline), book_(book), random_(dice.stream("logs")) {}

  /// As the job's log is now.
  [[nodiscard]] live::LogFound look(const SeenJob& job);

 private:
  struct Log {
    Millis began = 0, step = 1'000;
    std::int64_t cut = 0;  ///< steps that are not in it any more
    std::uint64_t file = 1;
  };
  Log& of(const SeenJob& job, Written& written);

  Dice& dice_;
  Timeline& timeline_;
  Book& book_;
  Random random_;
  std::map<AttemptKey, Log> logs_;
};

}  // namespace schedmate::storm
