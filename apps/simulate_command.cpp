// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/words.hpp"
#include "lab/simulate_elastic.hpp"
#include "screen/simulate_text.hpp"
#include "settings/version.hpp"
#include "study/elastic_study.hpp"

namespace schedmate {
namespace {

Result<void> run_elastic(const CommandCall& call, const lab::SimulateRequest& request) {
  const auto simulation = lab::simulate_elastic(call.session, request);
  if (!simulation) return tl::unexpected(simulation.error());
  if (call.json) {
    call.console.json(lab::elastic_document(simulation->summary));
    return {};
  }
  call.console.text(screen::elastic_text(simulation->summary, call.session.environment.columns));
  if (!simulation->report.empty()) call.console.text(printable(simulation->report) + "\n");
  return {};
}

Result<void> run_simulate(const CommandCall& call, const lab::SimulateRequest& request) {
  if (study::is_elastic_trace(request.trace)) return run_elastic(call, request);
  const auto begins = [&](const Experiment& experiment) {
    if (!call.json) call.console.text(screen::reading_text(experiment));
  };
  const auto simulation = lab::simulate(call.session, request, begins);
  if (!simulation) return tl::unexpected(simulation.error());
  if (call.json)
    call.console.json(lab::simulation_document(*simulation));
  else
    call.console.text(screen::simulation_text(*simulation, call.session.environment.columns));
  return {};
}

}  // namespace

Command simulate_command(const Parser& parser) {
  const auto request = std::make_shared<lab::SimulateRequest>();
  request->commit = settings::version().commit;
  CLI::App& command = parser.app;
  command.add_option("--trace", request->trace, "trace to replay; sia:FILE for elastic jobs")
      ->type_name("FORMAT:PATH");
  command.add_option("--policy", request->policies, "NAME[:key=value,...][@LABEL], repeatable")
      ->type_name("POLICY")
      ->allow_extra_args(false);
  command.add_option("--out", request->out, "output folder")->type_name("DIR");
  command.add_option("--cluster", request->cluster, "cluster file; default: the trace's own")
      ->type_name("FILE");
  command.add_option("--tables", request->tables, "step times of elastic jobs, with sia:FILE")
      ->type_name("DIR");
  add_setting(parser, "--mode", "mode", "repaired or reference");
  add_setting(parser, "--report", "report", "html or none");
  add_seed(parser, "seed of all random draws");
  add_threads(parser, "virtual clusters to replay in parallel");
  add_strict(parser, "treat a bad row of the trace as an error");
  command.add_option("--explain", request->explain, "print why this job waited")->type_name("JOB");
  command.footer(
      "Examples:\n"
      "  schedmate simulate --trace helios:data/venus/venus_sept2020_days0-12.csv.gz \\\n"
      "      --policy fifo --policy sjf:estimate=last_k --policy srtf@best --out out\n"
      "  schedmate simulate --trace sacct:jobs.txt --cluster cluster.toml --policy backfill_easy "
      "\\\n"
      "      --set placement=spread --report none --out out --json\n"
      "  schedmate simulate --trace helios:jobs.csv --policy fifo --explain 765472 --out out");
  return {
      [request](const CommandCall& call) { return done(run_simulate(call, *request)); },
      [request] {
        return need(!request->trace.empty(), "simulate", "--trace FORMAT:PATH")
            .and_then([&] { return need(!request->policies.empty(), "simulate", "--policy NAME"); })
            .and_then([&] { return need(!request->out.empty(), "simulate", "--out DIR"); });
      }};
}

}  // namespace schedmate
