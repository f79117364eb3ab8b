// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/facts.hpp>
#include <string>
#include <vector>

#include "settings/session.hpp"

namespace schedmate::service {

/// DIR --command C [--workdir W] [--root AS=DIR] [--gpus N] [--nodes N] [--gpu-type T], as facts
/// and advise take it. What is not said is taken from the submission in the command.
struct JobRequest {
  std::string root, command;
  std::string workdir = ".";
  std::optional<std::int64_t> gpus, nodes;
  std::string gpu_type;
  std::vector<std::string> roots;  ///< AS=DIR: where DIR stood when the command was written
  std::string log, monitoring;     ///< files of an earlier or running attempt, "" = none
};

/// What a model reads beside the tree (poster, section 2): the beginning of a log, where arguments
/// and configuration are printed, and monitoring samples as text.
struct RunSources {
  std::string log, monitoring;
};

/// Errors: those of reading the files.
[[nodiscard]] Result<RunSources> run_sources(const JobRequest& request, const FileAccess& access);

/// The job with its root as an absolute path; a root that is not given stays so. Errors:
/// unsupported (a senseless number or --root).
[[nodiscard]] Result<JobSource> job_source(const JobRequest& request);

/// `job` with the GPUs, nodes and GPU type of `facts`, where it does not say them; 0 GPUs when it
/// is not known how many.
[[nodiscard]] JobSource with_request(JobSource job, const Facts& facts);

}  // namespace schedmate::service
