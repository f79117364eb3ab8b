// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "screen/whatif_text.hpp"
#include "settings/version.hpp"

namespace schedmate {
namespace {

/// 1 when the replay is too far from reality, and then it stands alone.
Result<int> run_whatif(const CommandCall& call, const lab::WhatifRequest& request) {
  const auto print = [&](std::string (*text)(const lab::WhatifAnswer&, std::size_t)) {
    return [&call, text](const lab::WhatifAnswer& answer) {
      if (!call.json) call.console.text(text(answer, call.session.environment.columns));
    };
  };
  const auto answer =
      lab::whatif(call.session, request, {print(screen::world_text), print(screen::fidelity_text)});
  if (!answer) return tl::unexpected(answer.error());
  print(screen::changes_text)(*answer);
  if (call.json) call.console.json(lab::whatif_document(*answer));
  return answer->fidelity.good() ? 0 : 1;
}

}  // namespace

Command whatif_command(const Parser& parser) {
  const auto request = std::make_shared<lab::WhatifRequest>();
  request->commit = settings::version().commit;
  CLI::App& command = parser.app;
  command.add_option("--sacct", request->sacct, "output of sacct --parsable2 or sacct --json")
      ->type_name("FILE");
  command
      .add_option("--cluster", request->cluster, "cluster file; default: inferred from the dump")
      ->type_name("FILE");
  command.add_option("--policy", request->policies, "policy to try; repeatable; default: several")
      ->type_name("POLICY")
      ->allow_extra_args(false);
  command
      .add_option("--site", request->site,
                  "policy that represents your own scheduler; default: Slurm")
      ->type_name("POLICY");
  command.add_option("--out", request->out, "output folder; default: print only")->type_name("DIR");
  command.add_option("--names", request->names, "user names: hashed (default) or plain")
      ->type_name("NAMES");
  add_seed(parser, "seed of all random draws");
  add_threads(parser, "virtual clusters to replay in parallel");
  add_strict(parser, "treat a bad row of the dump as an error");
  command.footer(
      "Example:\n"
      "  TZ=UTC sacct --allusers --duplicates --json --starttime 2024-01-01 > log.json\n"
      "  schedmate whatif --sacct log.json --policy qssf:estimate=last_k --out out");
  return {[request](const CommandCall& call) { return run_whatif(call, *request); },
          [request] { return need(!request->sacct.empty(), "whatif", "--sacct FILE"); }};
}

}  // namespace schedmate
