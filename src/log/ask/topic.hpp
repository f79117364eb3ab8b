// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a question is about, by its words.

#include <cstdint>
#include <string>
#include <string_view>

namespace schedmate::ask {

enum class Topic : std::uint8_t {
  other_job,  ///< another job, the queue or the cluster: no log of this job can know
  restart,
  node,
  hang,
  checkpoint,
  failure,
  when,  ///< how long until its end
  done,
  settings,
  speed,
  loss,
  memory,
  progress,
  words,  ///< anything else: its words decide
};

/// `job` is the job's own id, which a question may name; "" where it is not known.
[[nodiscard]] Topic topic_of(std::string_view question, std::string_view job);

}  // namespace schedmate::ask
