// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "study/evaluate_estimates.hpp"
#include "study/evaluate_trace.hpp"
#include "study/in_parallel.hpp"
#include "study/perturb.hpp"
#include "study/replay.hpp"
#include "study/standard_arms.hpp"

namespace schedmate::study {
namespace {

using SharedWorkload = std::shared_ptr<const TraceWorkload>;

/// Replays of arms that are the same at every point of a sweep, by arm and perturbation.
class Repeated {
 public:
  std::optional<Replayed> find(std::size_t arm, std::size_t perturbation) {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find({arm, perturbation});
    return found == kept_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::size_t arm, std::size_t perturbation, const Replayed& replayed) {
    const std::scoped_lock lock(mutex_);
    kept_.emplace(std::pair(arm, perturbation), replayed);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::size_t>, Replayed> kept_;
};

/// One trace at one point of the sweep.
struct Case {
  const EvaluationInput& input;
  const ExperimentTrace& which;
  std::string point;
  RunName run;         // the first perturbation's
  Repeated& repeated;  // of the same trace
};

bool shapes_workload(std::string_view key) {
  return key.starts_with("workload") || key == "interference_pct" || key == "seed";
}

/// Workloads of one trace, shared by arms with the same settings.
class Workloads {
 public:
  explicit Workloads(const Trace& trace) : trace_(trace) {}
  Result<SharedWorkload> get(const settings::Settings& settings) {
    std::string key;
    for (const settings::SettingRow& row : settings::setting_rows())
      if (shapes_workload(row.key)) key += settings.text(row.key) + "\n";
    if (const auto found = made_.find(key); found != made_.end()) return found->second;
    auto made = make_trace_workload(settings, trace_);
    if (made) made_[key] = *made;
    return made;
  }

 private:
  const Trace& trace_;
  std::map<std::string, SharedWorkload> made_;
};

/// An arm, ready to run on what one perturbation draws.
struct Arm {
  settings::Session session;
  PolicySpec policy;
  std::size_t host = 0;  ///< index of the arm that it is compared with
  SharedWorkload workload;
};

/// What one perturbation draws, the same for all arms.
struct World {
  std::size_t perturbation = 0;
  LoadedTrace loaded;
  std::vector<Arm> arms;
};

std::size_t index_of_arm(const ExperimentFile& experiment, const std::string& label) {
  const auto found = std::ranges::find(experiment.arms, label, &ExperimentArm::label);
  return static_cast<std::size_t>(found - experiment.arms.begin()) % experiment.arms.size();
}

/// An arm's settings under one perturbation, from 0: each has a seed of its own.
Result<settings::Settings> settings_for(const Case& each, const ExperimentArm& arm,
                                        std::size_t perturbation) {
  auto settings = settings_of(each.input.session.settings, each.input.experiment, arm, each.point);
  if (!settings) return settings;
  const auto seed = settings->whole("seed") + static_cast<std::int64_t>(perturbation);
  if (auto set = settings->set("seed", fmt::format("{}", seed), settings->origin("seed")); !set)
    return tl::unexpected(set.error());
  return settings;
}

Result<Arm> make_arm(const Case& each, const ExperimentArm& spec, settings::Settings settings,
                     Workloads& workloads) {
  const ExperimentFile& experiment = each.input.experiment;
  const std::string_view front = experiment.estimates ? "fifo:estimate=" : "";
  auto policy =
      parse_policy(fmt::format("{}{}@{}", front, policy_at(spec, each.point), spec.label));
  if (!policy) return tl::unexpected(policy.error());
  auto workload = workloads.get(settings);
  if (!workload) return tl::unexpected(workload.error());
  const settings::Session& session = each.input.session;
  return Arm{{session.environment, std::move(settings), session.clock},
             std::move(*policy),
             spec.host.empty() ? 0 : index_of_arm(experiment, spec.host),
             std::move(*workload)};
}

Result<World> draw_world(const Case& each, std::size_t perturbation) {
  ExperimentTrace which = each.which;
  which.seed += static_cast<std::int64_t>(perturbation);
  auto loaded = load_trace(which);
  if (!loaded) return tl::unexpected(loaded.error());
  World world{perturbation, std::move(*loaded), {}};
  Trace& trace = world.loaded.trace;
  delay_submissions(trace, perturbation + 1);
  Workloads workloads(trace);
  for (const ExperimentArm& spec : each.input.experiment.arms) {
    auto settings = settings_for(each, spec, perturbation);
    if (!settings) return tl::unexpected(settings.error());
    constexpr double percent = 0.01;
    if (world.arms.empty())
      end_early(trace, percent * static_cast<double>(settings->whole("cost.early_end_pct")),
                static_cast<std::uint64_t>(settings->whole("seed")));
    auto arm = make_arm(each, spec, std::move(*settings), workloads);
    if (!arm) return tl::unexpected(arm.error());
    world.arms.push_back(std::move(*arm));
  }
  return world;
}

/// The end of the warm-up.
SimTime counted_from(const ExperimentFile& experiment, const Trace& trace) {
  constexpr double day_s = 86'400;
  const auto warm_up = static_cast<std::int64_t>(experiment.warm_up_days * day_s);
  return trace.jobs.front().submit + Seconds(warm_up);
}

/// Whether every arm can run, before hours go into one of them.
Result<void> check(const Case& each, World& world) {
  const ExperimentFile& experiment = each.input.experiment;
  Trace& trace = world.loaded.trace;
  if (trace.jobs.back().submit < counted_from(experiment, trace))
    return fail(ErrorCode::invalid,
                fmt::format("{}: trace {}: no job is left after a warm-up of {:g} days: lower "
                            "warm_up_days",
                            experiment.path, each.which.name, experiment.warm_up_days));
  for (const Arm& arm : world.arms) {
    WorkloadOnDemand ready(trace, arm.workload);
    const ReplayInput input{arm.session, trace, world.loaded.cluster, ready, {}};
    if (auto ok = check_policy(input, arm.policy); !ok)
      return fail(ok.error().code, fmt::format("{}: arm {}: {}", experiment.path, arm.policy.label,
                                               ok.error().message));
  }
  return {};
}

/// GPU seconds on GPUs that were another job's. Of a job that was evicted only what came after.
double packed_gpu_s(const Job& job, const JobOutcome& outcome) {
  if (outcome.packed_at == SimTime()) return 0;
  const bool parted = outcome.unpacked_at > outcome.packed_at;
  if (outcome.evictions > 0 && !parted) return 0;
  const SimTime until = parted ? outcome.unpacked_at : outcome.end;
  return static_cast<double>((until - outcome.packed_at).count()) * job.gpus;
}

Replayed measure(const Trace& trace, SimTime from, const SimResult& result) {
  Replayed replayed;
  SimTime first = never;
  SimTime last = SimTime::min();
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const Job& job = trace.jobs[row];
    const JobOutcome& outcome = result.outcomes[row];
    if (job.submit < from) continue;
    replayed.duration_s.push_back(std::max(1.0, static_cast<double>(job.duration.count())));
    replayed.jct_s.push_back(std::nan(""));
    if (outcome.status != JobStatus::finished) continue;
    first = std::min(first, job.submit);
    last = std::max(last, outcome.end);
    replayed.jct_s.back() = std::max(1.0, static_cast<double>((outcome.end - job.submit).count()));
    replayed.held_gpu_s += outcome.held_gpu_s;
    replayed.packed_gpu_s += packed_gpu_s(job, outcome);
  }
  if (first != never) replayed.makespan_s = static_cast<double>((last - first).count());
  return replayed;
}

/// Whether the arm is the same at every point of a sweep.
bool repeats(const ExperimentFile& experiment, std::size_t arm) {
  const ExperimentArm& spec = experiment.arms[arm];
  return experiment.points.size() > 1 && experiment.sweep.empty() &&
         policy_at(spec, "x") == policy_at(spec, "y");
}

Result<Replayed> replay_arm(const Case& each, World& world, std::size_t index) {
  const bool again = repeats(each.input.experiment, index);
  if (again)
    if (auto kept = each.repeated.find(index, world.perturbation)) return std::move(*kept);
  const Arm& arm = world.arms[index];
  Trace& trace = world.loaded.trace;
  WorkloadOnDemand ready(trace, arm.workload);
  const auto done =
      replay({arm.session, trace, world.loaded.cluster, ready, {}, /*draw=*/1}, arm.policy);
  if (!done) return tl::unexpected(done.error());
  Replayed replayed =
      measure(trace, counted_from(each.input.experiment, trace), done->record.result);
  if (again) each.repeated.keep(index, world.perturbation, replayed);
  return replayed;
}

/// All arms of a case under one perturbation.
Result<std::vector<Figures>> compare_arms(const Case& each, World& world) {
  std::vector<Replayed> replayed;
  std::vector<Figures> figures;
  for (std::size_t index = 0; index < world.arms.size(); ++index) {
    auto done = replay_arm(each, world, index);
    if (!done) return tl::unexpected(done.error());
    replayed.push_back(std::move(*done));
    figures.push_back(compare(replayed[world.arms[index].host], replayed.back()));
  }
  return figures;
}

/// The same for estimators.
Result<std::vector<EstimateErrors>> compare_estimators(const Case& each, World& world) {
  Trace& trace = world.loaded.trace;
  std::vector<EstimateErrors> errors;
  for (const Arm& arm : world.arms) {
    WorkloadOnDemand ready(trace, arm.workload);
    const ErrorInput input{trace, world.loaded.cluster,
                           arm.workload != nullptr ? arm.workload.get() : ready.of_profiles(),
                           static_cast<std::uint64_t>(arm.session.settings.whole("seed")),
                           counted_from(each.input.experiment, trace)};
    auto found = estimate_errors(input, arm.policy.estimator);
    if (!found) return tl::unexpected(found.error());
    errors.push_back(std::move(*found));
  }
  return errors;
}

template <class Value>
using Run = Result<std::vector<Value>> (*)(const Case&, World&);

/// What each arm gave under each perturbation: by arm, then by perturbation.
template <class Value>
using ByArm = std::vector<std::vector<Value>>;

template <class Value>
Result<ByArm<Value>> run_case(const Case& each, World& first, std::size_t count, Run<Value> run) {
  ByArm<Value> all(each.input.experiment.arms.size(), std::vector<Value>(count));
  const settings::ShowProgress bar = each.input.session.progress(
      fmt::format("{} {} {}", each.input.experiment.name, each.which.name, each.point));
  const auto run_all = [&](std::size_t k) -> Result<void> {
    RunName name = each.run;
    name.perturbation = k;
    auto values = kept_or_made<std::vector<Value>>(
        each.input.runs, name, [&]() -> Result<std::vector<Value>> {
          if (k == 0) return run(each, first);
          auto world = draw_world(each, k);
          return world ? run(each, *world) : tl::unexpected(world.error());
        });
    if (!values) return tl::unexpected(values.error());
    if (!*values) return {};
    for (std::size_t arm = 0; arm < all.size(); ++arm) all[arm][k] = std::move((**values)[arm]);
    return {};
  };
  const auto ran = in_parallel(count, each.input.threads, bar, run_all);
  if (!ran) return tl::unexpected(ran.error());
  return all;
}

/// `first`: what the first perturbation draws.
FigureRow base_row(const Case& each, const World& first, std::size_t arm) {
  const auto& arms = each.input.experiment.arms;
  FigureRow row;
  row.experiment = each.input.experiment.name;
  row.trace = each.which.name;
  row.at = each.point;
  row.arm = arms[arm].label;
  row.host = arms[first.arms[arm].host].label;
  row.policy = policy_at(arms[arm], each.point);
  for (const auto& [key, value] : arms[arm].settings)
    row.policy += fmt::format(" {}={}", key, value);
  if (const auto& workload = first.arms[arm].workload; workload != nullptr)
    row.workload_sha256 = workload->workload.fingerprint;
  row.command = each.input.command;
  return row;
}

/// What the arm has over its own standard arms, and of the oracle's gain.
void add_comparisons(const Case& each, const ByArm<Figures>& all, const FigureRow& base,
                     FigureRows& rows) {
  const auto& arms = each.input.experiment.arms;
  const auto figures_of = [&](const std::string& label) -> std::span<const Figures> {
    const auto found = std::ranges::find(arms, label, &ExperimentArm::label);
    if (found == arms.end()) return {};
    return all[static_cast<std::size_t>(found - arms.begin())];
  };
  const auto own = figures_of(base.arm);
  if (const auto oracle = figures_of(oracle_of(base.arm)); !oracle.empty())
    rows.push_back(oracle_row(base, {own, oracle}));
  for (const std::string_view control : {"last_k", "own", "all"}) {
    const auto other = figures_of(fmt::format("{}.{}", base.arm, control));
    if (other.empty()) continue;
    rows.push_back(difference_row(base, {own, other}));
    rows.back().figure = fmt::format("over_{}", control);
  }
}

/// How the invented workload's pairs spread: shares of the speeds in [i/20, (i+1)/20), of
/// both members of each pair that may share.
void add_pair_rates(const Case& each, const World& first, FigureRows& rows) {
  if (first.arms[0].workload == nullptr) return;
  const PairRates rates = pair_rates(first.arms[0].workload->workload);
  FigureRow row = base_row(each, first, 0);
  row.arm = row.host = row.policy = "";
  const auto all = std::accumulate(rates.allowed.begin(), rates.allowed.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < rates.allowed.size(); ++i) {
    row.figure = fmt::format("pairs_{:.2f}", static_cast<double>(i) / 20);
    const double share =
        static_cast<double>(rates.allowed[i]) / std::max(1.0, static_cast<double>(all));
    row.interval = {share, std::nan(""), std::nan(""), rates.allowed[i]};
    rows.push_back(row);
  }
}

/// Jobs that count, whether anybody finished them or not.
void add_submitted(const Case& each, const World& first, FigureRows& rows) {
  FigureRow row = base_row(each, first, 0);
  row.arm = row.host = row.policy = "";
  row.figure = "submitted";
  const Trace& trace = first.loaded.trace;
  const SimTime from = counted_from(each.input.experiment, trace);
  const auto jobs =
      std::ranges::count_if(trace.jobs, [&](const Job& job) { return job.submit >= from; });
  row.interval = {static_cast<double>(jobs), std::nan(""), std::nan(""), 1};
  rows.push_back(std::move(row));
}

void add_rows(const Case& each, const World& first, const ByArm<Figures>& all, FigureRows& rows) {
  add_pair_rates(each, first, rows);
  add_submitted(each, first, rows);
  for (std::size_t arm = 0; arm < all.size(); ++arm) {
    const FigureRow base = base_row(each, first, arm);
    for (FigureRow& row : arm == 0 ? host_rows(base, all[arm]) : arm_rows(base, all[arm]))
      rows.push_back(std::move(row));
    if (arm == 0) continue;
    add_comparisons(each, all, base, rows);
  }
}

void add_rows(const Case& each, const World& first, const ByArm<EstimateErrors>& all,
              FigureRows& rows) {
  for (std::size_t arm = 0; arm < all.size(); ++arm)
    for (FigureRow& row : estimate_rows(base_row(each, first, arm), all[arm]))
      rows.push_back(std::move(row));
}

/// Runs a case and adds what its first `counts[i]` perturbations gave to rows[i].
template <class Value>
Result<void> add_case(const Case& each, std::span<const std::size_t> counts, Run<Value> run,
                      std::vector<FigureRows>& rows) {
  auto first = draw_world(each, 0);
  if (!first) return tl::unexpected(first.error());
  if (auto ok = check(each, *first); !ok) return ok;
  const auto all = run_case(each, *first, std::ranges::max(counts), run);
  if (!all) return tl::unexpected(all.error());
  if (each.input.runs.is_part()) return {};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ByArm<Value> some = *all;
    for (auto& values : some) values.resize(counts[i]);
    add_rows(each, *first, some, rows[i]);
  }
  return {};
}

}  // namespace

Result<std::vector<FigureRows>> run_experiment(const EvaluationInput& input,
                                               std::span<const std::size_t> counts) {
  std::vector<FigureRows> rows(counts.size());
  RunName run;
  for (const ExperimentTrace& which : input.experiment.traces) {
    Repeated repeated;
    run.point = 0;
    for (const std::string& point : input.experiment.points) {
      const Case each{input, which, point, run, repeated};
      const auto done = input.experiment.estimates
                            ? add_case(each, counts, compare_estimators, rows)
                            : add_case(each, counts, compare_arms, rows);
      if (!done) return tl::unexpected(done.error());
      ++run.point;
    }
    ++run.trace;
  }
  return rows;
}

}  // namespace schedmate::study
