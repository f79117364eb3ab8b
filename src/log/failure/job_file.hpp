// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/job_context.hpp>

#include "base/document.hpp"

namespace schedmate::failure {

/// The fields of a job file (docs/formats/job.md) that say where and when it ran.
[[nodiscard]] Document job_document(const JobContext& job);
/// The reverse. Errors: as read_job_text(), of which it is the greater part.
[[nodiscard]] Result<JobContext> read_job_document(const std::string& place,
                                                   const Document& document);

}  // namespace schedmate::failure
