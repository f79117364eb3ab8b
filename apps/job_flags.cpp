// SPDX-License-Identifier: Apache-2.0
#include "apps/job_flags.hpp"

#include <CLI/CLI.hpp>

#include "apps/flag_values.hpp"

namespace schedmate {

void add_job(CLI::App& command, service::JobRequest& job) {
  command.add_option("dir", job.root, "root folder of the job: repository or snapshot")
      ->type_name("DIR");
  command.add_option("--command", job.command, "command as submitted")->type_name("COMMAND");
  command
      .add_option("--workdir", job.workdir,
                  "working directory, relative to DIR; default: DIR itself")
      ->type_name("DIR");
  command
      .add_option("--root", job.roots,
                  "absolute path AS of the command stands for FOLDER below DIR; may be repeated")
      ->type_name("AS=FOLDER")
      ->expected(1)
      ->take_all();
  constexpr std::int64_t most = 10'000'000;
  takes_whole(*command
                   .add_option("--gpus", job.gpus,
                               "requested GPUs over all nodes; default: as the submission asks, "
                               "else 1")
                   ->type_name("N"),
              1, most);
  takes_whole(*command
                   .add_option("--nodes", job.nodes,
                               "requested nodes; default: as the submission asks, else 1")
                   ->type_name("N"),
              1, most);
  command.add_option("--gpu-type", job.gpu_type, "GPU type as requested")->type_name("TYPE");
}

void add_sources(CLI::App& command, service::JobRequest& job) {
  command.add_option("--log", job.log, "log of an earlier attempt, for the language model")
      ->type_name("FILE");
  command.add_option("--monitoring", job.monitoring, "samples of GPU use, for the language model")
      ->type_name("FILE");
}

Result<void> need_job(const service::JobRequest& job, std::string_view command) {
  return need(!job.root.empty(), command, "DIR").and_then([&] {
    return need(!job.command.empty(), command, "--command C");
  });
}

}  // namespace schedmate
