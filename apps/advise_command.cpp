// SPDX-License-Identifier: Apache-2.0
#include "apps/advise_command.hpp"

#include <fmt/format.h>

#include "advisor/advisor.hpp"
#include "apps/advice_text.hpp"
#include "apps/advisor_state.hpp"
#include "apps/model_facts.hpp"
#include "apps/tree_access.hpp"
#include "apps/wall_clock.hpp"
#include "tree/redact.hpp"

namespace schedmate {
namespace {

/// The command is remembered and compared without its secrets.
Submission submission_of(const AdviseRequest& request, JobSource job) {
  job.command = redact(job.command);
  Submission submission{std::move(job),
                        request.id,
                        request.user,
                        request.branch,
                        request.vc,
                        {},
                        request.submit_s < 0 ? wall_clock() : at(request.submit_s)};
  if (request.time_limit_s > 0) submission.time_limit = Seconds(request.time_limit_s);
  return submission;
}

Result<void> check(const AdviseRequest& request) {
  if (request.record && request.id.empty())
    return fail(ErrorCode::unsupported, "advise: --record needs --job-id ID");
  if (request.time_limit_s < 0)
    return fail(ErrorCode::unsupported, "advise: --time-limit is a number of seconds from 1 on");
  return {};
}

}  // namespace

Result<void> advise_command(const Session& session, const AdviseRequest& request) {
  if (auto ok = check(request); !ok) return ok;
  auto job = job_source(request.job);
  if (!job) return tl::unexpected(job.error());
  job->rules = session.settings.text("rules");
  const auto models = open_models(session, request.user);
  if (!models) return tl::unexpected(models.error());
  const auto sources = run_sources(request.job);
  if (!sources) return tl::unexpected(sources.error());
  const auto state = open_state(session);
  if (!state) return tl::unexpected(state.error());
  const auto estimate = find_estimate(session.settings.text("estimate"));
  if (!estimate) return tl::unexpected(estimate.error());
  AdvisorParts parts{*state->store,
                     *state->index,
                     FlagRules::built_in(),
                     **estimate,
                     {.paper = session.settings.text("similarity") == "paper",
                      .similar_cosine = state->embedder->threshold},
                     [&](const JobSource&) {
                       return extract_facts(*job).map([&](Facts facts) {
                         return with_model_facts(std::move(facts), *job, *sources, *models);
                       });
                     },
                     confined_tree(),
                     state->is_operator};
  const auto advised = advise(submission_of(request, *job), parts);
  if (!advised) return tl::unexpected(advised.error());
  if (request.record)
    if (auto done = remember(*advised, parts); !done) return done;
  if (session.json)
    fmt::print("{}\n", advice_json(advised->advice));
  else
    fmt::print("{}", advice_text(advised->advice));
  return {};
}

}  // namespace schedmate
