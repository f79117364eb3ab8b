// SPDX-License-Identifier: Apache-2.0
#include "service/advise.hpp"

#include "advisor/advisor.hpp"
#include "service/advisor_state.hpp"
#include "service/file_access.hpp"
#include "service/model_facts.hpp"
#include "service/redaction.hpp"
#include "service/tree_access.hpp"

namespace schedmate::service {
namespace {

/// The command is remembered and compared without its secrets.
Submission submission_of(const AdviseRequest& request, JobSource job, SimTime now) {
  Submission submission{redacted(std::move(job)),
                        request.id,
                        request.user,
                        request.branch,
                        request.vc,
                        {},
                        request.submit_s < 0 ? now : at(request.submit_s)};
  if (request.time_limit_s > 0) submission.time_limit = Seconds(request.time_limit_s);
  return submission;
}

Result<void> check(const AdviseRequest& request) {
  if (request.record && request.id.empty())
    return fail(ErrorCode::unsupported, "advise: --record needs --job-id ID");
  if (request.time_limit_s < 0)
    return fail(ErrorCode::unsupported,
                "advise: --time-limit must be a number of seconds, 0 for none");
  return {};
}

}  // namespace

Result<Advice> advise(const settings::Session& session, const AdviseRequest& request) {
  if (auto ok = check(request); !ok) return tl::unexpected(ok.error());
  auto job = job_source(request.job);
  if (!job) return tl::unexpected(job.error());
  job->rules = session.settings.text("rules");
  const auto models = open_models(session, request.user);
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  job->identity = files->access.identity;
  const auto sources = run_sources(request.job, files->access);
  if (!sources) return tl::unexpected(sources.error());
  const auto state = open_state(session);
  if (!state) return tl::unexpected(state.error());
  const auto estimate = find_estimate(session.settings.text("estimate"));
  if (!estimate) return tl::unexpected(estimate.error());
  advisor::AdvisorParts parts{*state->store,
                              *state->index,
                              advisor::FlagRules::built_in(),
                              **estimate,
                              {.paper = session.settings.text("similarity") == "paper",
                               .similar_cosine = state->embedder->threshold},
                              [&](const JobSource&) {
                                return extract_facts(*job).map([&](Facts facts) {
                                  return with_model_facts(std::move(facts), *job, *sources,
                                                          *models);
                                });
                              },
                              confined_tree(files->access.identity),
                              state->role};
  auto advised =
      schedmate::advisor::advise(submission_of(request, *job, session.clock.wall()), parts);
  if (!advised) return tl::unexpected(advised.error());
  if (request.record)
    if (auto done = advisor::remember(*advised, parts); !done) return tl::unexpected(done.error());
  return std::move(advised->advice);
}

}  // namespace schedmate::service
