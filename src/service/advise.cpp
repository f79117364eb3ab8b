// SPDX-License-Identifier: Apache-2.0
#include "service/advise.hpp"

#include <fmt/format.h>

#include "advisor/advisor.hpp"
#include "service/advisor_state.hpp"
#include "service/model_facts.hpp"
#include "service/redaction.hpp"
#include "service/tree_access.hpp"
#include "trace/values.hpp"

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
                        request.submit_s < 0 ? now : at(request.submit_s),
                        {}};
  if (request.time_limit_s > 0) submission.time_limit = Seconds(request.time_limit_s);
  return submission;
}

Result<LimitPolicy> limit_policy(const settings::Settings& settings) {
  const std::int64_t risk_pct = settings.whole("time_limit.risk_pct");
  const std::int64_t longest_s = settings.whole("time_limit.longest_s");
  if (risk_pct < 1 || risk_pct > 50)
    return fail(ErrorCode::unsupported,
                fmt::format("time_limit.risk_pct = {}: the risk must be 1 to 50 %", risk_pct));
  LimitPolicy policy{.risk = static_cast<double>(risk_pct) / 100};
  if (longest_s > 0) policy.longest = Seconds(longest_s);
  return policy;
}

Result<void> check(const AdviseRequest& request) {
  if (request.record && request.id.empty())
    return fail(ErrorCode::unsupported, "advise: --record needs --job-id ID");
  if (request.time_limit_s < 0)
    return fail(ErrorCode::unsupported,
                "advise: --time-limit must be a number of seconds, 0 for none");
  if (request.time_limit_s > trace::longest_run_s)
    return fail(ErrorCode::unsupported,
                fmt::format("advise: --time-limit {} is more than ten years; give it in seconds",
                            request.time_limit_s));
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
  const auto sources = run_sources(request.job);
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
                              confined_tree(),
                              state->role};
  const auto limits = limit_policy(session.settings);
  if (!limits) return tl::unexpected(limits.error());
  Submission submission = submission_of(request, *job, session.clock.wall());
  submission.limits = *limits;
  auto advised = schedmate::advisor::advise(submission, parts);
  if (!advised) return tl::unexpected(advised.error());
  if (request.record)
    if (auto done = advisor::remember(*advised, parts); !done) return tl::unexpected(done.error());
  return std::move(advised->advice);
}

}  // namespace schedmate::service
