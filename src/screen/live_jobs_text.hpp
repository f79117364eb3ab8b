// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs as a daemon tells of them (docs/http.md), for people. `now_s` is the cluster's clock, empty
/// where it is not known; then instants are dates.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {

/// Those that run (first to end first), that wait (first to start first) and that ended (last to
/// end first), at most `most` in all; 0 = all.
[[nodiscard]] std::string live_jobs_text(const std::vector<Document>& jobs,
                                         std::optional<std::int64_t> now_s,
                                         const ScreenStyle& style, std::size_t most);

/// schedmate.job.v1 on one screen. What the daemon does not know yet is not shown.
[[nodiscard]] std::string live_job_text(const Document& job, std::optional<std::int64_t> now_s,
                                        const ScreenStyle& style);

/// When it starts and ends, and what that rests on.
[[nodiscard]] std::string live_eta_text(const Document& job, std::optional<std::int64_t> now_s,
                                        const ScreenStyle& style);

/// schedmate.why.v1 of a daemon.
[[nodiscard]] std::string live_why_text(const Document& why, std::optional<std::int64_t> now_s,
                                        const ScreenStyle& style);

/// The job's `progress`, `diagnosis` or `advice`; "": the daemon knows none.
[[nodiscard]] std::string live_progress_text(const Document& job);
[[nodiscard]] std::string live_diagnosis_text(const Document& job, const ScreenStyle& style);
[[nodiscard]] std::string live_advice_text(const Document& job);

}  // namespace schedmate::screen
