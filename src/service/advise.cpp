// SPDX-License-Identifier: Apache-2.0
#include "service/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "advisor/advisor.hpp"
#include "base/confidence.hpp"
#include "base/words.hpp"
#include "secrets/outgoing.hpp"
#include "service/advisor_state.hpp"
#include "service/facts.hpp"
#include "service/file_access.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

/// What the submission in the command says, where the request does not; a contradiction is noted.
struct Asked {
  JobSource job;
  std::string partition;
  std::int64_t time_limit_s = 0;
  std::int64_t cpus = 0, memory_mib = 0;  ///< 0: not said
  std::string qos;
  std::vector<std::string> notes;
};

Asked asked_of(const AdviseRequest& request, const JobSource& job, const Facts& facts) {
  Asked asked{with_request(job, facts), request.vc, request.time_limit_s, 0, 0, "", {}};
  const auto extra = [&]<class Kind>(std::string_view name, const Kind& /*kind*/) -> const Kind* {
    const auto found = facts.extra.find(name);
    return found == facts.extra.end() ? nullptr : std::get_if<Kind>(&found->second.value);
  };
  if (const auto* cpus = extra("cpus", std::int64_t{})) asked.cpus = *cpus;
  if (const auto* memory = extra("memory_mib", std::int64_t{})) asked.memory_mib = *memory;
  if (const auto* qos = extra("qos", std::string())) asked.qos = secrets::redacted(*qos);
  if (const auto* limit = extra("time_limit_s", std::int64_t{})) {
    if (asked.time_limit_s == 0) asked.time_limit_s = *limit;
    if (asked.time_limit_s != *limit)
      asked.notes.push_back(fmt::format("the time limit is {} as given; the command asks for {}",
                                        in_words(Seconds(asked.time_limit_s)),
                                        in_words(Seconds(*limit))));
  }
  if (const auto* partition = extra("partition", std::string())) {
    if (asked.partition.empty()) asked.partition = *partition;
    if (asked.partition != *partition)
      asked.notes.push_back(fmt::format("the partition is {} as given; the command asks for {}",
                                        asked.partition, *partition));
  }
  return asked;
}

/// The command is remembered and compared without its secrets.
Submission submission_of(const AdviseRequest& request, const Asked& asked, SimTime now) {
  JobSource job = asked.job;
  Submission submission{secrets::redacted(std::move(job)),
                        request.id,
                        request.user,
                        secrets::redacted(request.branch),
                        asked.partition,
                        {},
                        request.submit_s < 0 ? now : at(request.submit_s),
                        {}};
  if (asked.time_limit_s > 0) submission.time_limit = Seconds(asked.time_limit_s);
  return submission;
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
  const auto bound = confidence_bound(request.min_confidence, 1);
  return bound ? Result<void>() : tl::unexpected(bound.error());
}

/// What an advice is made of, beside the request.
struct Means {
  const AdvisorState& state;
  std::function<Result<Facts>(const JobSource&)> read_facts;
  advisor::TreeAccess tree;
};

Result<Advice> advise_by(const settings::Session& session, const AdviseRequest& request,
                         const Asked& asked, Means means) {
  const auto estimate = find_estimate(session.settings.text("estimate"));
  if (!estimate) return tl::unexpected(estimate.error());
  advisor::AdvisorParts parts{*means.state.store,
                              *means.state.index,
                              advisor::FlagRules::built_in(),
                              **estimate,
                              {.paper = session.settings.text("similarity") == "paper",
                               .similar_cosine = means.state.embedder->threshold},
                              std::move(means.read_facts),
                              std::move(means.tree),
                              request.role.value_or(means.state.role)};
  const auto limits = limit_policy(session.settings);
  if (!limits) return tl::unexpected(limits.error());
  Submission submission = submission_of(request, asked, session.clock.wall());
  submission.limits = *limits;
  auto advised = schedmate::advisor::advise(submission, parts);
  if (!advised) return tl::unexpected(advised.error());
  std::ranges::copy(asked.notes, std::back_inserter(advised->advice.notes));
  JobRecord& record = advised->record;
  record.root = secrets::redacted(record.root);
  record.qos = asked.qos;
  record.name = secrets::redacted(request.name);
  record.log = request.log;
  record.cpus = asked.cpus;
  if (asked.memory_mib > 0) record.memory_mib = static_cast<double>(asked.memory_mib);
  if (request.record)
    if (auto done = advisor::remember(*advised, parts); !done) return tl::unexpected(done.error());
  return std::move(advised->advice);
}

/// None of it is there.
advisor::TreeAccess empty_tree() {
  return {
      .read = [](const std::string&, std::span<const std::string>) -> Result<advisor::Closure> {
        return advisor::Closure{};
      },
      .unchanged = [](const std::string&, std::span<const advisor::FileStamp>) { return false; },
      .text = [](const std::string&, std::string_view) { return std::nullopt; }};
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
  const auto said = extract_request(*job);
  if (!said) return tl::unexpected(said.error());
  const Asked asked = asked_of(request, *job, *said);
  const auto read = [&](const JobSource&) {
    return extract_facts(*job).and_then([&](Facts facts) {
      return without_doubtful(with_model_facts(std::move(facts), asked.job, *sources, *models),
                              request.min_confidence, job->rules);
    });
  };
  return advise_by(session, request, asked, {*state, read, confined_tree(files->access.identity)});
}

Result<Advice> advise_on(const settings::Session& session, const AdvisorState& state,
                         const AdviseRequest& request, const Facts& facts) {
  if (auto ok = check(request); !ok) return tl::unexpected(ok.error());
  JobSource job;
  job.root = request.job.root;
  job.workdir = request.job.workdir;
  job.command = request.job.command;
  job.gpus = static_cast<int>(request.job.gpus.value_or(0));
  job.nodes = static_cast<int>(request.job.nodes.value_or(0));
  job.gpu_type = request.job.gpu_type;
  const Asked asked = asked_of(request, job, facts);
  const auto read = [&](const JobSource&) { return Result<Facts>(facts); };
  return advise_by(session, request, asked, {state, read, empty_tree()});
}

}  // namespace schedmate::service
