// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What schedmate-reader answers (docs/reader.md), as the loop takes it. Documents are read without
/// trust: what is missing or of another kind is not known.

#include <schedmate/advice.hpp>
#include <schedmate/job_record.hpp>

#include "base/document.hpp"
#include "live/study.hpp"

namespace schedmate::daemon {

/// Of schedmate.progress.v1 with the file that it was read from.
[[nodiscard]] live::LogFound log_found(const Document& document);
/// Of schedmate.diagnosis.v1.
[[nodiscard]] live::CauseFound cause_found(const Document& diagnosis);
/// Of a reader's answer: with the step that the log shows last, however the job was looked at
/// before.
[[nodiscard]] live::CauseFound failure_found(const Document& failure);
[[nodiscard]] live::CodeFound code_found(const Advice& advice);
/// The same of an advice as the history keeps it.
[[nodiscard]] live::CodeFound code_found(const GivenAdvice& advice);

}  // namespace schedmate::daemon
