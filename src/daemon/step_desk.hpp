// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the loop's studies come in. Of a job that has failed the cluster is first asked, in a
/// thread of its own and one job after the other, how its steps ended: the study has that with it.
/// It is made all the same where the cluster does not tell, and at once where too many others wait
/// to be asked for. All other studies go on to the advice (advice_desk.hpp). One thread asks.

#include <atomic>
#include <cstdint>
#include <functional>
#include <schedmate/connector.hpp>
#include <utility>
#include <vector>

#include "daemon/advice_desk.hpp"

namespace schedmate::daemon {

class StepDesk {
 public:
  StepDesk(Studies& studies, settings::Session session)
      : studies_(studies), advice_(studies, std::move(session)) {}

  /// As Cluster::steps. Null, as at first: the cluster tells none. Before the first study.
  using Read = std::function<Result<std::vector<SeenStep>>(
      const SeenJob& job, const std::function<bool()>& others_wait)>;
  void read_by(ScriptDesk::Read scripts, Read steps) {
    advice_.read_by(std::move(scripts));
    read_ = std::move(steps);
  }

  /// As Studies::make(); `ask` answers as long as this is there.
  void make(std::uint64_t loop, live::Study study, const reader::Ask& ask) {
    constexpr int most_asked = 8;  // a job that is to run again waits for them
    if (study.what != live::Study::What::failure || !read_)
      return advice_.make(loop, std::move(study), ask);
    if (asked_ > most_asked) return studies_.make(loop, study, ask);
    ++asked_;
    worker_.ask([this, loop, ask, study = std::move(study)]() mutable {
      const auto others_wait = [this] { return asked_ > 1; };
      study.steps = read_(study.job, others_wait).value_or(std::vector<SeenStep>());
      --asked_;
      studies_.make(loop, study, ask);
    });
  }

 private:
  Studies& studies_;
  AdviceDesk advice_;
  Read read_;
  std::atomic<int> asked_ = 0;  // studies whose steps have not come yet
  Worker worker_;               // last: it uses what stands above
};

}  // namespace schedmate::daemon
