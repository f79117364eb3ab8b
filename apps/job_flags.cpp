// SPDX-License-Identifier: Apache-2.0
#include "apps/job_flags.hpp"

#include <CLI/CLI.hpp>

namespace schedmate {

void add_job(CLI::App& command, service::JobRequest& job) {
  command.add_option("dir", job.root, "root of the job: repository or snapshot")->type_name("DIR");
  command.add_option("--command", job.command, "as it is submitted")->type_name("COMMAND");
  command.add_option("--workdir", job.workdir, "where it starts, below DIR; default: DIR itself")
      ->type_name("DIR");
  command.add_option("--gpus", job.gpus, "of the request, over all nodes; default: 1")
      ->type_name("N");
  command.add_option("--nodes", job.nodes, "of the request; default: 1")->type_name("N");
  command.add_option("--gpu-type", job.gpu_type, "as the request names it")->type_name("TYPE");
}

void add_sources(CLI::App& command, service::JobRequest& job) {
  command.add_option("--log", job.log, "of an earlier attempt, for the model")->type_name("FILE");
  command.add_option("--monitoring", job.monitoring, "samples of GPU use, for the model")
      ->type_name("FILE");
}

Result<void> need_job(const service::JobRequest& job, std::string_view command) {
  return need(!job.root.empty(), command, "DIR").and_then([&] {
    return need(!job.command.empty(), command, "--command C");
  });
}

}  // namespace schedmate
