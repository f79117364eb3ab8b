// SPDX-License-Identifier: Apache-2.0
#include "service/past_failures.hpp"

#include "advisor/past_failures.hpp"

namespace schedmate::service {

Result<void> consult_history(const settings::Session& session, const HistoryView& history,
                             const HistoryQuery& what, Diagnosis& made) {
  if (made.verdict == FailureClass::none) return {};
  const advisor::FailureSubject subject{what.job.job_id, what.job.user, made.fingerprint,
                                        end_of(what.job).value_or(session.clock.wall())};
  const auto same = advisor::same_failures(history.store, subject);
  if (!same) return tl::unexpected(same.error());
  made.seen = seen_before(*same, what.job.nodes, {what.job.user, history.role});
  const auto past = advisor::failures_for_caps(history.store, subject);
  if (!past) return tl::unexpected(past.error());
  const settings::Settings& settings = session.settings;
  apply_caps({*past, subject.user, subject.ended, what.step},
             {.restarts_per_job = settings.whole("caps.restarts_per_job"),
              .restarts_per_user_hour = settings.whole("caps.restarts_per_user_hour"),
              .nodes_per_hour = settings.whole("caps.nodes_per_hour"),
              .same_cause_same_step = settings.whole("caps.same_cause_same_step")},
             made);
  return {};
}

}  // namespace schedmate::service
