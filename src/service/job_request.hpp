// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/facts.hpp>
#include <string>

#include "settings/session.hpp"

namespace schedmate::service {

/// DIR --command C [--workdir W] [--gpus N] [--nodes N] [--gpu-type T], as facts and advise take
/// it.
struct JobRequest {
  std::string root, command;
  std::string workdir = ".";
  std::int64_t gpus = 1, nodes = 1;
  std::string gpu_type;
  std::string log, monitoring;  ///< files of an earlier or running attempt, "" = none
};

/// What a model reads beside the tree (poster, section 2): the beginning of a log, where arguments
/// and configuration are printed, and monitoring samples as text.
struct RunSources {
  std::string log, monitoring;
};

/// Errors: those of reading the files.
[[nodiscard]] Result<RunSources> run_sources(const JobRequest& request, const FileAccess& access);

/// The job with its root as an absolute path; a root that is not given stays so. Errors:
/// unsupported (a senseless number).
[[nodiscard]] Result<JobSource> job_source(const JobRequest& request);

}  // namespace schedmate::service
