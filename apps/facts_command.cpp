// SPDX-License-Identifier: Apache-2.0
#include "apps/facts_command.hpp"

#include <fmt/format.h>

#include <chrono>

#include "apps/facts_text.hpp"
#include "apps/model_facts.hpp"
#include "core/facts_json.hpp"

namespace schedmate {

Result<void> facts_command(const Session& session, const FactsRequest& request) {
  auto job = job_source(request.job);
  if (!job) return tl::unexpected(job.error());
  job->rules = session.settings.text("rules");
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto sources = run_sources(request.job);
  if (!sources) return tl::unexpected(sources.error());
  const auto began = std::chrono::steady_clock::now();
  auto found = extract_facts(*job);
  if (!found) return tl::unexpected(found.error());
  Facts facts = with_model_facts(*std::move(found), *job, *sources, *models);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  facts.wall_ms = took.count();
  if (session.json)
    fmt::print("{}\n", facts_json(facts, {.explain = request.explain}));
  else
    fmt::print("{}", facts_text(facts, request.explain));
  return {};
}

}  // namespace schedmate
