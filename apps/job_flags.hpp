// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/command.hpp"
#include "service/job_request.hpp"

namespace schedmate {

/// DIR --command C [--workdir W] [--root AS=FOLDER] [--gpus N] [--nodes N] [--gpu-type T].
void add_job(CLI::App& command, service::JobRequest& job);
/// [--log FILE] [--monitoring FILE]
void add_sources(CLI::App& command, service::JobRequest& job);
/// Errors: unsupported when DIR or the command is missing.
[[nodiscard]] Result<void> need_job(const service::JobRequest& job, std::string_view command);

}  // namespace schedmate
