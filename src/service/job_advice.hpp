// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a view of a job says of earlier runs and of the next one.

#include <schedmate/advice.hpp>

#include "service/advisor_state.hpp"
#include "service/job.hpp"

namespace schedmate::service {

/// What the advisor would say of this job if it were submitted now, by the facts of its record: no
/// file of its tree is read. Nothing where nobody's history is known, or nothing in it is alike.
[[nodiscard]] std::optional<Advice> advice_on(const settings::Session& session,
                                              const JobRecord& record);

/// Errors: those of the store.
[[nodiscard]] Result<EarlierRuns> earlier_runs(Store& store, const JobRecord& record);

/// When a job that runs will end: by what its log says is left, else by the advice.
[[nodiscard]] std::optional<ExpectedEnd> expected_end(const JobView& view,
                                                      const std::optional<Advice>& advice);

/// Of a job that has ended.
[[nodiscard]] std::vector<SizeAdvice> size_advice(const JobRecord& record, const JobUse& use);

}  // namespace schedmate::service
