// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/words.hpp"
#include "evaluation_report/report_text.hpp"
#include "service/evaluate.hpp"

namespace schedmate {
namespace {

std::string done_text(const service::ExperimentDone& done) {
  if (!done.rows) return fmt::format("{}: already exists\n", printable(done.csv));
  return fmt::format("{}: {} rows\n", printable(done.csv), *done.rows);
}

Result<void> run_evaluate(const CommandCall& call, const service::EvaluateRequest& request) {
  const auto ran = [&](const service::ExperimentDone& done) {
    if (!call.json) call.console.text(done_text(done));
  };
  const auto evaluation = service::evaluate(call.session, request, ran);
  if (!evaluation) return tl::unexpected(evaluation.error());
  for (const auto& [experiment, reason] : evaluation->absent)
    call.console.warn(fmt::format("{}: shown as recorded, because its inputs are missing: {}",
                                  experiment, reason));
  const auto& chapters = evaluation->chapters;
  if (call.json) {
    call.console.json(
        evaluation_report::evaluation_document(chapters, evaluation->page, request.report));
    return {};
  }
  for (const auto& chapter : chapters) call.console.text(evaluation_report::text_of(chapter));
  call.console.text(fmt::format("\nwritten to {}\n", printable(evaluation->page)));
  if (!request.report.empty())
    call.console.text(fmt::format("written to {}\n", printable(request.report)));
  return {};
}

}  // namespace

Command evaluate_command(const Parser& parser) {
  const auto request = std::make_shared<service::EvaluateRequest>();
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
  add_threads(parser, "perturbations to run in parallel");
  command.footer(
      "Example:\n  schedmate evaluate experiments/fig12_venus_heavy.toml --out evaluation");
  return {[request](const CommandCall& call) { return done(run_evaluate(call, *request)); },
          [request] {
            return need(!request->files.empty() || !request->cited.empty(), "evaluate", "FILE.toml")
                .and_then([&] { return need(!request->out.empty(), "evaluate", "--out DIR"); });
          }};
}

}  // namespace schedmate
