// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The steps of a job that has ended: the controller has forgotten them, the site's accounting
/// knows. What users wrote (names of steps) is data.

#include <chrono>
#include <functional>
#include <map>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/step_ends.hpp"
#include "slurm_live/tools.hpp"

namespace schedmate::slurm_live {

struct ToldSteps {
  bool is_over = false;  ///< the accounting has the end of the job
  std::vector<SeenStep> steps{};
};
/// The words that ask sacct for them.
[[nodiscard]] std::vector<std::string> sacct_for_steps(const std::string& id);
/// Of what sacct printed, the steps of this attempt. Errors: invalid.
[[nodiscard]] Result<ToldSteps> read_steps(std::string_view sacct, const SeenJob& job);

class Steps {
 public:
  explicit Steps(Tools tools) : tools_(std::move(tools)) {}

  /// Whether others wait for their steps, or for what depends on them.
  using OthersWait = std::function<bool()>;
  /// Once an attempt whose end the accounting has, at most twenty a second: the call waits for its
  /// turn. Where the accounting comes late it is asked a second time, unless others wait, and where
  /// it does not answer not for a minute. Errors: unavailable, timeout, invalid. For one thread.
  [[nodiscard]] Result<std::vector<SeenStep>> read(const SeenJob& job, Connector::Deadline within,
                                                   const OthersWait& others_wait);

 private:
  Result<ToldSteps> ask(const SeenJob& job, Tools::Until until);

  Tools tools_;
  std::map<std::string, std::vector<SeenStep>> read_;  // by attempt; the last ones
  std::chrono::nanoseconds next_{0}, silent_until_{0};
};

}  // namespace schedmate::slurm_live
