// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <schedmate/trace.hpp>
#include <set>

#include "base/output.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "lab/pseudonyms.hpp"
#include "lab/whatif_page.hpp"
#include "lab/whatif_sites.hpp"
#include "lab/whatif_verdict.hpp"
#include "report/groups.hpp"
#include "report/run_notes.hpp"
#include "secrets/outgoing.hpp"
#include "service/held_input.hpp"
#include "study/replay.hpp"

namespace schedmate::lab {
namespace {

namespace fs = std::filesystem;
using study::PolicySpec;

constexpr std::string_view replay_label = "replay";

struct WhatifPolicies {
  std::vector<PolicySpec> sites;  // at least one
  std::vector<PolicySpec> others;
  bool schedmate = false;                          // the site with SchedMate is tried, too
  std::vector<std::optional<PolicySpec>> with_sm;  // by site: that, where there is such a policy
};
Result<WhatifPolicies> parse_all(const WhatifRequest& request) {
  WhatifPolicies policies;
  for (const std::string& text :
       request.site.empty() ? default_sites() : std::vector<std::string>{request.site}) {
    auto site = study::parse_policy(text);
    if (!site) return tl::unexpected(site.error());
    auto with_sm = with_schedmate(*site);
    if (!with_sm) return tl::unexpected(with_sm.error());
    policies.with_sm.push_back(std::move(*with_sm));
    site->label = replay_label;
    policies.sites.push_back(std::move(*site));
  }
  policies.schedmate = request.policies.empty();
  auto others = study::parse_policies(policies.schedmate ? default_policies()
                                                         : secrets::redacted(request.policies));
  if (!others) return tl::unexpected(others.error());
  policies.others = std::move(*others);
  if (std::ranges::find(policies.others, replay_label, &PolicySpec::label) !=
      policies.others.end()) {
    return fail(ErrorCode::unsupported, "--policy: the label 'replay' is reserved; choose another");
  }
  return policies;
}

Result<Pseudonyms> open_names(const settings::Session& session, const std::string& kind) {
  constexpr std::string_view kinds[] = {"hashed", "plain"};
  if (kind == "plain") return Pseudonyms::plain();
  if (kind == "hashed") return Pseudonyms::open(session);
  return fail(ErrorCode::not_found, unknown_name("--names", kind, kinds));
}

/// How to write nodes of more CPUs than a cluster file takes GPUs.
std::string with_unit_hint(const std::string& message, const AccountingDump& dump) {
  if (whatif::resource_of(dump) == whatif::Resource::gpus || !message.contains("gpus_per_node"))
    return message;
  return message +
         " (no job of the dump has GPUs, so CPUs are counted instead: for nodes of 128 CPUs write "
         "gpus_per_node = 64 and gpu_type = \"2 CPUs\", so that 2 CPUs count as one)";
}

Result<whatif::InferredCluster> seen_cluster(const WhatifRequest& request,
                                             const AccountingDump& dump) {
  auto seen = [&]() -> Result<whatif::InferredCluster> {
    if (request.cluster.empty()) return whatif::infer_cluster(dump);
    auto spec = read_cluster(request.cluster);
    if (!spec) return fail(spec.error().code, with_unit_hint(spec.error().message, dump));
    return whatif::map_cluster(dump, std::move(*spec));
  }();
  if (!seen && request.cluster.empty())
    return fail(seen.error().code, request.sacct + ": " + seen.error().message);
  return seen;
}

Result<AccountingDump> read_dump(const settings::Session& session, const std::string& path) {
  const settings::ShowProgress progress = session.progress("reading");
  const AccountingOptions options{.strict = session.settings.flag("strict"), .progress = progress};
  return service::read_held(
      path, [&](const std::string& held) { return read_accounting(held, options); });
}

whatif::Grouping users_of(const Trace& trace) {
  whatif::Grouping groups{trace.users, {}};
  for (const Job& job : trace.jobs) groups.of_row.push_back(job.user);
  return groups;
}

/// By GPUs, or CPUs in their place: never by units of several CPUs.
whatif::Grouping sizes_of(const whatif::RecordedCluster& world) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  whatif::Grouping groups{report::size_classes(), {}};
  for (const whatif::PastJob& job : world.past)
    groups.of_row.push_back(
        report::size_class(static_cast<std::int32_t>(std::min(job.amount, most))));
  return groups;
}

whatif::Grouping all_jobs(const Trace& trace) {
  return {{"all"}, std::vector<std::uint32_t>(trace.jobs.size())};
}

/// The recipe of the GPU use that the run looked at, "" when it looked at none. A dump has none.
std::string invented_workload(const RunLabel& run) {
  const auto found = std::ranges::find(run.settings, "workload", [](const auto& setting) {
    return std::string_view(setting.first);
  });
  return found == run.settings.end() ? "" : found->second;
}

/// Equal where every job started and ended at the same times.
std::string mark_of(const SimResult& result) {
  std::string times;
  for (const JobOutcome& outcome : result.outcomes) {
    fmt::format_to(std::back_inserter(times), FMT_COMPILE("{} {}"),
                   static_cast<int>(outcome.status), static_cast<int>(outcome.started));
    if (outcome.started)
      fmt::format_to(std::back_inserter(times), FMT_COMPILE(" {}"), seconds_of(outcome.start));
    if (outcome.status == JobStatus::finished)
      fmt::format_to(std::back_inserter(times), FMT_COMPILE(" {}"), seconds_of(outcome.end));
    times += '\n';
  }
  return sha256(times);
}

WhatifPolicy described(const PolicySpec& policy, const RunLabel& run) {
  WhatifPolicy found;
  found.label = policy.label;
  found.spec = policy.text;
  found.invented_workload = invented_workload(run);
  found.takes_advice = run.takes_advice;
  return found;
}

/// One run after the other: what they all share.
class Comparison {
 public:
  Comparison(const study::ReplayInput& input, const whatif::RecordedCluster& world, std::string out)
      : input_(input), world_(world), out_(std::move(out)) {}

  /// Replays what was under each of the sites and keeps the nearest.
  Result<void> replay_past(const std::vector<PolicySpec>& sites, WhatifAnswer& answer) {
    std::optional<study::Replay> nearest;
    for (const PolicySpec& site : sites) {
      auto done = study::replay(input_, site);
      if (!done) return tl::unexpected(done.error());
      const whatif::Fidelity fidelity = whatif::measure_fidelity(world_, done->record.result);
      answer.tried.push_back({site.text, fidelity.median_error_s});
      if (nearest && fidelity.median_error_s >= answer.fidelity.median_error_s) continue;
      answer.site = site.text;
      site_ = site;
      answer.site_workload = invented_workload(done->record.run);
      answer.fidelity = fidelity;
      nearest.emplace(std::move(*done));
    }
    past_invented_ = !answer.site_workload.empty();
    past_mark_ = mark_of(nearest->record.result);
    return keep(nearest->record, past_);
  }

  Result<WhatifPolicy> try_policy(const PolicySpec& policy) {
    auto done = study::replay(input_, policy);
    if (!done) return tl::unexpected(done.error());
    WhatifPolicy found = described(policy, done->record.run);
    foresees_limits(done->record.run, found);
    SimResult result;
    if (auto kept = keep(done->record, result); !kept) return tl::unexpected(kept.error());
    const auto seed = static_cast<std::uint64_t>(input_.session.settings.whole("seed"));
    const settings::ShowProgress progress = input_.session.progress("intervals");
    const RunSummary& summary = runs_.back();
    found.left = summary.jobs - summary.finished;
    found.jobs = summary.jobs;
    found.advised = summary.advised;
    found.notes = report::profiler_notes(summary);
    if (summary.preemptions > 0)
      found.notes.push_back(fmt::format(
          "it stops running jobs for others, {} times: that needs jobs which save their state",
          summary.preemptions));
    marks_.push_back(mark_of(result));
    found.as_replay = marks_.back() == past_mark_;
    const whatif::Pair pair{past_, result, past_invented_ || !found.invented_workload.empty()};
    found.all = whatif::compare(world_, pair, all_jobs(world_.trace), seed);
    progress(1.0 / 3);
    found.users = whatif::compare(world_, pair, users_of(world_.trace), seed);
    progress(2.0 / 3);
    found.sizes = whatif::compare(world_, pair, sizes_of(world_), seed);
    return found;
  }

  /// Finds the rows that say nothing of their own: a variant that equals its host, whatever equals
  /// the replay or a row further up. `arms` are what try_policy() was called with, in that order.
  Result<void> find_equal_rows(const std::vector<PolicySpec>& arms,
                               std::vector<WhatifPolicy>& policies) {
    for (std::size_t i = 0; i < policies.size(); ++i) {
      if (policies[i].as_replay) {
        policies[i].same_as = replay_label;
      } else if (auto done = compare_with_host(arms, i, policies); !done) {
        return done;
      }
    }
    for (std::size_t i = 0; i < policies.size(); ++i) {
      for (std::size_t k = 0; k < i && policies[i].same_as.empty(); ++k)
        if (marks_[k] == marks_[i] && policies[k].same_as.empty())
          policies[i].same_as = policies[k].label;
    }
    return {};
  }

  /// The replay and the policies with figures of their own.
  [[nodiscard]] std::vector<RunSummary> shown_runs(
      const std::vector<WhatifPolicy>& policies) const {
    std::vector<RunSummary> shown;
    for (const RunSummary& run : runs_) {
      const auto policy = std::ranges::find(policies, run.run.label, &WhatifPolicy::label);
      if (policy == policies.end() || is_shown(*policy)) shown.push_back(run);
    }
    return shown;
  }

  [[nodiscard]] const std::vector<RunSummary>& runs() const { return runs_; }

 private:
  /// A host that is not among the arms is replayed for this alone.
  Result<void> compare_with_host(const std::vector<PolicySpec>& arms, std::size_t i,
                                 std::vector<WhatifPolicy>& policies) {
    const auto host = host_of(arms[i]);
    if (!host) return tl::unexpected(host.error());
    if (!*host) return {};
    const auto is_host = [&](const PolicySpec& arm) {
      return arm.name == (*host)->name && arm.options == (*host)->options &&
             arm.estimator == (*host)->estimator;
    };
    if (is_host(site_)) return {};  // the replay, which it does not equal
    const auto known = std::ranges::find_if(arms, is_host);
    if (known != arms.end()) {
      if (marks_[static_cast<std::size_t>(known - arms.begin())] == marks_[i])
        policies[i].same_as = known->label;
      return {};
    }
    auto done = study::replay(input_, **host);
    if (!done) return tl::unexpected(done.error());
    if (mark_of(done->record.result) != marks_[i]) return {};
    policies[i].same_as = (*host)->text.substr(0, (*host)->text.rfind('@'));
    policies[i].host_alone = true;
    return {};
  }

  /// Where the dump names no limits they were made from run times: who orders by them looks ahead.
  /// The site's own planning by them is in the replay, too.
  void foresees_limits(RunLabel& run, WhatifPolicy& found) const {
    const bool many = world_.limits_guessed * 100 > world_.trace.jobs.size();
    const bool as_site = found.spec.starts_with(site_.name);
    if (many && !as_site && run.uses_estimates && run.oracle.empty() &&
        run.estimator == fmt::format("column:{}", whatif::limit_column))
      run.oracle = run.estimator;
    found.oracle = run.oracle;
  }

  /// Writes the run's files; keeps its summary and, in `result`, its outcomes.
  Result<void> keep(RunRecord& record, SimResult& result) {
    if (!out_.empty()) {
      if (auto written = write_run(out_, record); !written) return written;
    }
    runs_.push_back(summarise(record));
    result = std::move(record.result);
    return {};
  }

  const study::ReplayInput& input_;
  const whatif::RecordedCluster& world_;
  std::string out_;
  SimResult past_;
  std::string past_mark_;
  std::vector<std::string> marks_;  // of what was tried, by order
  PolicySpec site_;
  bool past_invented_ = false;  // GPU use that the replay looked at
  std::vector<RunSummary> runs_;
};

/// Messages name the file alone: its folders may be somebody's name.
void drop_folders(const std::string& path, std::vector<std::string>& messages) {
  const std::string file = fs::path(path).filename().string();
  for (std::string& message : messages)
    if (message.starts_with(path)) message.replace(0, path.size(), file);
}

/// Of summary.json, and of the page.
struct SummarisedRuns {
  const std::vector<RunSummary>& all;
  std::vector<RunSummary> shown;
};

Result<void> write_files(const WhatifAnswer& answer, const SummarisedRuns& runs,
                         const std::string& commit) {
  if (answer.out.empty()) return {};
  const auto write = [&](std::string_view name, const std::string& text) {
    return write_file((fs::path(answer.out) / name).string(), text);
  };
  const Experiment experiment{"sacct:" + answer.dump, "", commit, answer.world.trace,
                              answer.cluster.spec};
  return write("whatif.json", indented(whatif_document(answer)) + "\n")
      .and_then([&] { return write("cluster.toml", inferred_cluster_toml(answer.cluster)); })
      .and_then([&] { return write("summary.json", summary_json(experiment, runs.all)); })
      .and_then([&] {
        return write("report.html", report_html(experiment, runs.shown, whatif_opening(answer)));
      });
}

/// What the Advisor may read of each job: its folder, and its submit line or else its name.
std::vector<JobPlace> job_places(const AccountingDump& dump, const whatif::RecordedCluster& world) {
  std::vector<JobPlace> places;
  for (const std::uint32_t of : world.of) {
    const AccountedJob& job = dump.jobs[of];
    places.push_back({job.work_dir, job.submit_line.empty() ? job.name : job.submit_line});
  }
  return places;
}

/// "17" of "17#2", which is the second attempt of a job.
std::string_view job_of(std::string_view attempt) { return attempt.substr(0, attempt.find('#')); }

LastAttempts find_last_attempts(const AccountingDump& dump, const whatif::RecordedCluster& world) {
  std::set<std::string_view> several;  // jobs of which the dump has earlier attempts
  for (const AccountedJob& job : dump.jobs)
    if (job.id.contains('#')) several.insert(job_of(job.id));
  LastAttempts alone;
  for (const std::uint32_t of : world.of) {
    const AccountedJob& job = dump.jobs[of];
    if (job.restarts == 0 || several.contains(job_of(job.id))) continue;
    ++alone.jobs;
    alone.restarts += static_cast<std::uint64_t>(job.restarts);
  }
  return alone;
}

/// Of all policies that may run, before hours go into one of them.
Result<void> check_policies(const study::ReplayInput& input, const WhatifPolicies& policies) {
  for (const auto* list : {&policies.sites, &policies.others}) {
    for (const PolicySpec& policy : *list)
      if (auto sound = study::check_policy(input, policy); !sound) return sound;
  }
  for (const std::optional<PolicySpec>& policy : policies.with_sm) {
    if (!policies.schedmate || !policy) continue;
    if (auto sound = study::check_policy(input, *policy); !sound) return sound;
  }
  return {};
}

/// What is compared with the replay: first the site that was taken with SchedMate, so that what it
/// shows is SchedMate's doing and no other setting's.
std::vector<PolicySpec> tried_policies(const WhatifPolicies& policies, WhatifAnswer& answer) {
  std::vector<PolicySpec> arms = policies.others;
  if (!policies.schedmate || !answer.fidelity.good()) return arms;
  const auto site = std::ranges::find(policies.sites, answer.site, &PolicySpec::text);
  const auto& with_sm = policies.with_sm[static_cast<std::size_t>(site - policies.sites.begin())];
  if (with_sm) {
    arms.insert(arms.begin(), *with_sm);
  } else {
    answer.notes.push_back(fmt::format(
        "the site's {0} with SchedMate is not tried: there is no policy {0}+sm", site->name));
  }
  return arms;
}

/// An answer that grows.
struct WhatifRun {
  WhatifAnswer& answer;
  const WhatifSteps& steps;
};

/// The sound part of a run: everything has been read and parsed.
Result<void> compare_policies(const settings::Session& session, const std::string& commit,
                              const WhatifPolicies& policies, const WhatifRun& run) {
  WhatifAnswer& answer = run.answer;
  study::WorkloadOnDemand workloads(session.settings, answer.world.trace,
                                    job_places(answer.accounting, answer.world));
  const study::ReplayInput input{session, answer.world.trace, answer.cluster.spec, workloads,
                                 std::nullopt};
  if (auto sound = check_policies(input, policies); !sound) return sound;
  if (!answer.out.empty())
    if (auto made = make_folder(answer.out); !made) return made;
  run.steps.begins(answer);
  Comparison comparison(input, answer.world, answer.out);
  if (auto done = comparison.replay_past(policies.sites, answer); !done) return done;
  run.steps.replayed(answer);
  const std::vector<PolicySpec> arms = tried_policies(policies, answer);
  for (const PolicySpec& policy : arms) {
    if (!answer.fidelity.good()) break;
    auto found = comparison.try_policy(policy);
    if (!found) return tl::unexpected(found.error());
    answer.policies.push_back(std::move(*found));
  }
  if (auto done = comparison.find_equal_rows(arms, answer.policies); !done) return done;
  answer.verdict = make_verdict(answer);
  return write_files(answer, {comparison.runs(), comparison.shown_runs(answer.policies)}, commit);
}

/// What is known before anything is replayed.
Result<WhatifAnswer> read_past(const settings::Session& session, const WhatifRequest& request) {
  const auto names = open_names(session, request.names);
  if (!names) return tl::unexpected(names.error());
  auto dump = read_dump(session, request.sacct);
  if (!dump) return tl::unexpected(dump.error());
  auto cluster = seen_cluster(request, *dump);
  if (!cluster) return tl::unexpected(cluster.error());
  auto world =
      whatif::make_world(*dump, *cluster, [&](std::string_view name) { return names->of(name); });
  if (!world) return fail(world.error().code, request.sacct + ": " + world.error().message);
  drop_folders(request.sacct, world->trace.report.messages);
  WhatifAnswer answer;
  answer.dump = secrets::redacted(fs::path(request.sacct).filename().string());
  answer.hashed = request.names != "plain";
  answer.alone = find_last_attempts(*dump, *world);
  answer.losses = whatif::find_losses(*dump, *world);
  answer.reasons = whatif::find_reasons(*dump, *world);
  answer.accounting = *std::move(dump);
  answer.cluster = *std::move(cluster);
  answer.world = *std::move(world);
  answer.out = request.out;
  return answer;
}

}  // namespace

Result<WhatifAnswer> whatif(const settings::Session& session, const WhatifRequest& request,
                            const WhatifSteps& steps) {
  const auto policies = parse_all(request);
  if (!policies) return tl::unexpected(policies.error());
  for (const auto* list : {&policies->sites, &policies->others})
    if (auto plain = study::check_not_elastic(*list); !plain) return tl::unexpected(plain.error());
  auto answer = read_past(session, request);
  if (!answer) return answer;
  const auto done = compare_policies(session, request.commit, *policies, {*answer, steps});
  if (!done) return tl::unexpected(done.error());
  return answer;
}

}  // namespace schedmate::lab
