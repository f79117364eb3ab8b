// SPDX-License-Identifier: Apache-2.0

/// `schedmate facts`: what a job is, each value with the line that proves it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/job_flags.hpp"
#include "core/facts_json.hpp"
#include "screen/facts_text.hpp"
#include "service/facts.hpp"

namespace schedmate {
namespace {

struct FactsFlags {
  service::JobRequest job;
  bool explain = false;
  std::string min_confidence;
};

Result<int> print_facts(const CommandCall& call, const FactsFlags& flags) {
  const auto facts = service::read_facts(call.session, flags.job, flags.min_confidence);
  if (!facts) return tl::unexpected(facts.error());
  const auto detail = flags.explain ? FactsDetail::with_rejected : FactsDetail::found;
  if (call.json)
    call.console.json(facts_document(*facts, detail));
  else
    call.console.text(screen::facts_text(*facts, flags.explain, call.session.environment.columns));
  return 0;
}

}  // namespace

Command facts_command(const Parser& parser) {
  const auto flags = std::make_shared<FactsFlags>();
  add_job(parser.app, flags->job);
  add_model(parser);
  add_sources(parser.app, flags->job);
  parser.app.add_flag("--explain", flags->explain, "also show what was found but not used");
  parser.app
      .add_option("--min-confidence", flags->min_confidence,
                  "leave out facts that are less sure; auto: 97 % of what is left is right; "
                  "default: all are shown")
      ->type_name("P|auto");
  parser.app.footer(
      "Example:\n  schedmate facts . --command 'torchrun train.py --lr 0.1' --gpus 8");
  return {[flags](const CommandCall& call) { return print_facts(call, *flags); },
          [flags] { return need_job(flags->job, "facts"); }};
}

}  // namespace schedmate
