// SPDX-License-Identifier: Apache-2.0
#include "apps/queue_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/flag_values.hpp"

namespace schedmate {

void add_queue_flags(const Parser& parser, queue::EtaRequest& request) {
  CLI::App& command = parser.app;
  command.add_option("ID", request.job, "job id")->type_name("");
  command
      .add_option(
          "--from", request.from,
          "where the queue is read: slurm (asks scontrol; the default where it is), FILE\n"
          "with what scontrol, squeue --json and sinfo --json printed (- reads a pipe), or\n"
          "trace:FORMAT:PATH")
      ->type_name("WHERE");
  command
      .add_option(
          "--at", request.at,
          "instant of the trace: seconds of its clock, a date, or +5d, +5-12 after its begin")
      ->type_name("TIME");
  command
      .add_option("--policy", request.policy,
                  "how the cluster is scheduled: NAME[:key=value,...]; default: slurm_backfill,\n"
                  "of a Slurm with the site's own settings")
      ->type_name("POLICY");
  command.add_option("--cluster", request.cluster, "cluster file; default: the trace's own")
      ->type_name("FILE");
  takes_whole(*command.add_option("--samples", request.samples, "replays at most; default: 200")
                   ->type_name("N"),
              1);
  add_seed(parser, "seed of all random draws");
  add_threads(parser, "replays at a time");
  add_strict(parser, "treat a bad row of the trace as an error");
}

bool is_of_queue(const queue::EtaRequest& request) {
  return !request.from.empty() || !request.at.empty() || !request.policy.empty() ||
         !request.cluster.empty();
}

Result<void> check_place(std::string_view command, const queue::EtaRequest& request,
                         const client::WhichDaemon& which) {
  if (which.address.empty() || !is_of_queue(request)) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{}: --address asks a daemon about its own queue; omit it, or --from, "
                          "--at, --policy and --cluster",
                          command));
}

}  // namespace schedmate
