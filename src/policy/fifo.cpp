// SPDX-License-Identifier: Apache-2.0
/// fifo: first in, first out.
///
/// Order: submission time, then order of entry. Strict head of line: a gang that cannot be placed
/// blocks everything behind it. Assumes nothing about durations. No departures: this is the FIFO of
/// the Lucid and Helios simulators.
#include <schedmate/scheduler.hpp>

#include "policy/head_of_line.hpp"

namespace schedmate::policy {

Result<Scheduler> make_fifo(const PolicyInput&, PolicyOptions&) {
  Scheduler scheduler;
  scheduler.heeds_order = true;
  scheduler.uses_estimates = false;
  scheduler.decide =
      HeadOfLine([](const JobInfo& job) { return static_cast<double>(seconds_of(job.submit)); });
  return scheduler;
}

}  // namespace schedmate::policy
