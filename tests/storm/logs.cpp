// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/logs.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace schedmate::storm {

using enum Fault;

Logs::Log& Logs::of(const SeenJob& job, Written& written) {
  const auto [found, fresh] = logs_.try_emplace({job.id, job.submitted, job.restarts});
  Log& log = found->second;
  if (!fresh) return log;
  constexpr std::int64_t quickest = 500, slowest = 6'000;
  log.began = timeline_.now();
  log.step = random_.between(quickest, slowest);
  if (dice_.strikes(job_hangs, 1)) {
    constexpr std::int64_t soonest = 30'000, latest = 150'000;
    written.stands_from = log.began + dice_.of(job_hangs).between(soonest, latest);
    book_.note(timeline_.now(), "job {} will hang", job.id);
  }
  return log;
}

live::LogFound Logs::look(const SeenJob& job) {
  Written& written = book_.logs[{job.id, job.submitted, job.restarts}];
  Log& log = of(job, written);
  const std::int64_t steps =
      (std::min(timeline_.now(), written.stands_from) - log.began) / log.step;
  const bool moves = dice_.strikes(log_rotated, 0.1);
  if (moves) ++log.file;
  if (moves || dice_.strikes(log_truncated, 0.1)) {
    log.cut = steps;
    written.damaged = true;
  }
  constexpr std::int64_t line = 80;
  live::LogFound found{.step_time_s = static_cast<double>(log.step) / 1000,
                       .file = log.file,
                       .bytes = static_cast<std::uint64_t>((steps - log.cut) * line)};
  if (steps > log.cut) found.step = static_cast<double>(steps);
  if (dice_.strikes(log_lies, 0.1)) {
    written.damaged = written.lied = true;
    Random& random = dice_.of(log_lies);
    const std::array lies = {0.0,
                             -3.0,
                             1e300,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             static_cast<double>(random.below(1'000'000))};
    const auto some = [&] { return lies.at(static_cast<std::size_t>(random.below(lies.size()))); };
    found.step = some();
    found.total_steps = some();
    found.step_time_s = some();
    found.remaining_s = some();
    found.loss = some();
    found.recent_step_s = some();
  }
  return found;
}

}  // namespace schedmate::storm
