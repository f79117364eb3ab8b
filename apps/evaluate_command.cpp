// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "evaluation_report/report_text.hpp"
#include "lab/evaluate.hpp"
#include "screen/evaluate_text.hpp"

namespace schedmate {
namespace {

Result<void> run_shard(const CommandCall& call, const lab::EvaluateRequest& request) {
  const auto ran = [&](const lab::ShardMade& made) {
    if (!call.json) call.console.text(screen::shard_text(made));
  };
  const auto all = lab::evaluate_shard(call.session, request, ran);
  if (!all) return tl::unexpected(all.error());
  if (call.json) call.console.json(screen::shard_document(request.shard, *all));
  return {};
}

Result<void> run_evaluate(const CommandCall& call, const lab::EvaluateRequest& request) {
  const auto ran = [&](const lab::ExperimentDone& done) {
    if (!call.json) call.console.text(screen::done_text(done));
  };
  const auto evaluation = lab::evaluate(call.session, request, ran);
  if (!evaluation) return tl::unexpected(evaluation.error());
  for (const auto& [experiment, reason] : evaluation->absent)
    call.console.warn(fmt::format("{}: shown as recorded, because its inputs are missing: {}",
                                  experiment, reason));
  if (call.json) {
    call.console.json(evaluation_report::evaluation_document(evaluation->chapters, evaluation->page,
                                                             request.report));
    return {};
  }
  call.console.text(screen::evaluation_text(*evaluation, request.report));
  return {};
}

}  // namespace

Command evaluate_command(const Parser& parser) {
  const auto request = std::make_shared<lab::EvaluateRequest>();
  CLI::App& command = parser.app;
  command.add_option("files", request->files, "experiments (TOML)")->type_name("FILE");
  command
      .add_option("--cite", request->cited,
                  "experiments to show from their CSVs without running them")
      ->type_name("FILE");
  command.add_option("--out", request->out, "folder for the CSVs")->type_name("DIR");
  command
      .add_option("--book", request->report,
                  "write the report as Markdown, with a folder of its pages")
      ->type_name("FILE");
  command.add_option("--shard", request->shard, "make the runs of one of N shards alone, no CSV")
      ->type_name("K/N");
  add_threads(parser, "perturbations to run in parallel");
  command.footer(
      "Example:\n  schedmate evaluate experiments/fig12_venus_heavy.toml --out evaluation");
  return {[request](const CommandCall& call) {
            return done(request->shard.empty() ? run_evaluate(call, *request)
                                               : run_shard(call, *request));
          },
          [request] {
            return need(!request->files.empty() || !request->cited.empty(), "evaluate", "FILE.toml")
                .and_then([&] { return need(!request->out.empty(), "evaluate", "--out DIR"); });
          }};
}

}  // namespace schedmate
