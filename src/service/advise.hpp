// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/advice.hpp>

#include "service/advisor_state.hpp"
#include "service/job_request.hpp"

namespace schedmate::service {

struct AdviseRequest {
  JobRequest job;
  std::string user, branch, vc, id;
  std::string name, log;  ///< as the scheduler calls it, and where it logs; kept with the record
  std::int64_t time_limit_s = 0;  ///< 0 = as the command asks, or none
  std::int64_t submit_s = -1;     ///< Unix time; -1 = now
  bool record = false;            ///< remember the submission
  /// Facts that are less sure are not compared with those of other jobs: 0 to 1, "auto", "" = none.
  std::string min_confidence{};
  /// Of whoever asks; none: as the history was opened.
  std::optional<Role> role{};
};

/// Admission, facts, similar jobs and estimate of a submission (paper 3.1). Errors: those of
/// reading the job's tree and of the store; unsupported for a request that contradicts itself.
[[nodiscard]] Result<Advice> advise(const settings::Session& session, const AdviseRequest& request);

/// The same on facts that somebody else has read: no file of the job is touched here. `state` is
/// the history that it stands on, for calls one after the other. Errors: those of the store;
/// unsupported for a request that contradicts itself.
[[nodiscard]] Result<Advice> advise_on(const settings::Session& session, const AdvisorState& state,
                                       const AdviseRequest& request, const Facts& facts);

}  // namespace schedmate::service
