// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is known of a job beside what the cluster shows, as its document tells it.

#include "base/document.hpp"
#include "live/lives.hpp"

namespace schedmate::daemon {

/// Of a list: `progress` without its series, `health`, `verdict`; null: not known. What has ended
/// well makes no steps any more, and has no health.
void add_life(const live::Life* life, Document& job);
/// Of one job: `advice`, `progress` with its series, `health`, `verdict`, `diagnosis`, `note`.
void add_whole_life(const live::Life* life, Document& job);
/// schedmate.diagnosis.v1, or as much of it as is known.
[[nodiscard]] Document diagnosis_document(const live::CauseFound& cause);

}  // namespace schedmate::daemon
