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

/// An arm at one point of the sweep, ready to run.
struct Arm {
  settings::Session session;
  PolicySpec policy;
  std::size_t host = 0;  ///< index of the arm that it is compared with
  SharedWorkload workload;
};

/// Replays of arms that are the same at every point of a sweep, by arm and perturbation.
class Repeated {
 public:
  std::optional<Replayed> find(std::size_t arm, std::uint64_t seed) {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find({arm, seed});
    return found == kept_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::size_t arm, std::uint64_t seed, const Replayed& replayed) {
    const std::scoped_lock lock(mutex_);
    kept_.emplace(std::pair(arm, seed), replayed);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::uint64_t>, Replayed> kept_;
};

/// One trace at one point of the sweep.
struct Case {
  const EvaluationInput& input;
  const ExperimentTrace& which;
  std::string point;
  LoadedTrace loaded;
  Repeated& repeated;  // of the same trace
  std::vector<Arm> arms;
};

bool shapes_workload(std::string_view key) {
  return key.starts_with("workload") || key == "interference_pct" || key == "seed";
}

/// Workloads are made once of the unperturbed trace, and shared by arms with the same settings.
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

std::size_t index_of_arm(const ExperimentFile& experiment, const std::string& label) {
  const auto found = std::ranges::find(experiment.arms, label, &ExperimentArm::label);
  return static_cast<std::size_t>(found - experiment.arms.begin()) % experiment.arms.size();
}

Result<Arm> make_arm(const Case& each, const ExperimentArm& spec, Workloads& workloads) {
  const ExperimentFile& experiment = each.input.experiment;
  auto settings = settings_of(each.input.session.settings, experiment, spec, each.point);
  if (!settings) return tl::unexpected(settings.error());
  const std::string_view front = experiment.estimates ? "fifo:estimate=" : "";
  auto policy =
      parse_policy(fmt::format("{}{}@{}", front, policy_at(spec, each.point), spec.label));
  if (!policy) return tl::unexpected(policy.error());
  auto workload = workloads.get(*settings);
  if (!workload) return tl::unexpected(workload.error());
  const settings::Session& session = each.input.session;
  return Arm{{session.environment, std::move(*settings), session.clock},
             std::move(*policy),
             spec.host.empty() ? 0 : index_of_arm(experiment, spec.host),
             std::move(*workload)};
}

Result<void> make_arms(Case& each) {
  Workloads workloads(each.loaded.trace);
  for (const ExperimentArm& spec : each.input.experiment.arms) {
    auto arm = make_arm(each, spec, workloads);
    if (!arm) return tl::unexpected(arm.error());
    WorkloadOnDemand ready(arm->workload);
    const ReplayInput input{arm->session, each.loaded.trace, each.loaded.cluster, ready, {}};
    if (auto ok = check_policy(input, arm->policy); !ok)
      return fail(ok.error().code, fmt::format("{}: arm {}: {}", each.input.experiment.path,
                                               spec.label, ok.error().message));
    each.arms.push_back(std::move(*arm));
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

/// The end of the warm-up.
SimTime counted_from(const Case& each) {
  constexpr double day_s = 86'400;
  const auto warm_up = static_cast<std::int64_t>(each.input.experiment.warm_up_days * day_s);
  return each.loaded.trace.jobs.front().submit + Seconds(warm_up);
}

Replayed measure(const Case& each, const Perturbed& perturbed, const SimResult& result) {
  const auto& original = each.loaded.trace.jobs;
  const SimTime from = counted_from(each);
  Replayed replayed;
  replayed.jct_s.assign(original.size(), std::nan(""));
  SimTime first = never;
  SimTime last = SimTime::min();
  for (std::size_t i = 0; i < perturbed.rows.size(); ++i) {
    const JobOutcome& outcome = result.outcomes[i];
    if (original[perturbed.rows[i]].submit < from) continue;
    if (outcome.status != JobStatus::finished) continue;
    const Job& job = perturbed.trace.jobs[i];
    first = std::min(first, job.submit);
    last = std::max(last, outcome.end);
    replayed.jct_s[perturbed.rows[i]] =
        std::max(1.0, static_cast<double>((outcome.end - job.submit).count()));
    replayed.held_gpu_s += outcome.held_gpu_s;
    replayed.packed_gpu_s += packed_gpu_s(job, outcome);
  }
  if (first != never) replayed.makespan_s = static_cast<double>((last - first).count());
  return replayed;
}

/// The perturbed trace with the workloads, which go along with its rows.
class World {
 public:
  World(const Case& each, std::uint64_t seed) : perturbed(perturb(each.loaded.trace, seed)) {}
  SharedWorkload along(const Arm& arm) {
    if (arm.workload == nullptr) return nullptr;
    SharedWorkload& workload = workloads_[arm.workload.get()];
    if (workload == nullptr)
      workload = std::make_shared<TraceWorkload>(arm.workload->recipe,
                                                 permuted(arm.workload->workload, perturbed.rows),
                                                 arm.workload->compared);
    return workload;
  }
  Perturbed perturbed;

 private:
  std::map<const TraceWorkload*, SharedWorkload> workloads_;
};

/// Whether the arm is the same at every point of a sweep.
bool repeats(const ExperimentFile& experiment, std::size_t arm) {
  const ExperimentArm& spec = experiment.arms[arm];
  return experiment.points.size() > 1 && experiment.sweep.empty() &&
         policy_at(spec, "x") == policy_at(spec, "y");
}

Result<Replayed> replay_arm(const Case& each, World& world, std::size_t index, std::uint64_t seed) {
  const bool again = repeats(each.input.experiment, index);
  if (again)
    if (auto kept = each.repeated.find(index, seed)) return std::move(*kept);
  const Arm& arm = each.arms[index];
  WorkloadOnDemand ready(world.along(arm));
  const ReplayInput input{arm.session, world.perturbed.trace, each.loaded.cluster, ready, {}, seed};
  const auto done = replay(input, arm.policy);
  if (!done) return tl::unexpected(done.error());
  Replayed replayed = measure(each, world.perturbed, done->record.result);
  if (again) each.repeated.keep(index, seed, replayed);
  return replayed;
}

/// All arms of a case under one perturbation.
Result<std::vector<Figures>> compare_arms(const Case& each, std::uint64_t seed) {
  World world(each, seed);
  std::vector<Replayed> replayed;
  std::vector<Figures> figures;
  for (std::size_t index = 0; index < each.arms.size(); ++index) {
    auto done = replay_arm(each, world, index, seed);
    if (!done) return tl::unexpected(done.error());
    replayed.push_back(std::move(*done));
    figures.push_back(compare(replayed[each.arms[index].host], replayed.back()));
  }
  return figures;
}

/// The same for estimators.
Result<std::vector<EstimateErrors>> compare_estimators(const Case& each, std::uint64_t seed) {
  World world(each, seed);
  std::vector<EstimateErrors> errors;
  for (const Arm& arm : each.arms) {
    const SharedWorkload made = world.along(arm);
    const ErrorInput input{world.perturbed.trace, each.loaded.cluster, made.get(),
                           static_cast<std::uint64_t>(arm.session.settings.whole("seed")),
                           counted_from(each)};
    auto found = estimate_errors(input, arm.policy.estimator);
    if (!found) return tl::unexpected(found.error());
    errors.push_back(std::move(*found));
  }
  return errors;
}

/// What each arm gave under each perturbation: by arm, then by perturbation.
template <class Value>
using ByArm = std::vector<std::vector<Value>>;

template <class Value>
Result<ByArm<Value>> run_case(const Case& each, std::size_t count,
                              Result<std::vector<Value>> (*run)(const Case&, std::uint64_t)) {
  ByArm<Value> all(each.arms.size(), std::vector<Value>(count));
  const settings::ShowProgress bar = each.input.session.progress(
      fmt::format("{} {} {}", each.input.experiment.name, each.which.name, each.point));
  const auto run_all = [&](std::size_t k) -> Result<void> {
    auto values = run(each, k + 1);
    if (!values) return tl::unexpected(values.error());
    for (std::size_t arm = 0; arm < all.size(); ++arm) all[arm][k] = std::move((*values)[arm]);
    return {};
  };
  const auto ran = in_parallel(count, each.input.threads, bar, run_all);
  if (!ran) return tl::unexpected(ran.error());
  return all;
}

FigureRow base_row(const Case& each, std::size_t arm) {
  const auto& arms = each.input.experiment.arms;
  FigureRow row;
  row.experiment = each.input.experiment.name;
  row.trace = each.which.name;
  row.at = each.point;
  row.arm = arms[arm].label;
  row.host = arms[each.arms[arm].host].label;
  row.policy = policy_at(arms[arm], each.point);
  for (const auto& [key, value] : arms[arm].settings)
    row.policy += fmt::format(" {}={}", key, value);
  if (const auto& workload = each.arms[arm].workload; workload != nullptr)
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
  for (const std::string_view control : {"last_k", "metadata", "all"}) {
    const auto other = figures_of(fmt::format("{}.{}", base.arm, control));
    if (other.empty()) continue;
    rows.push_back(difference_row(base, {own, other}));
    rows.back().figure = fmt::format("over_{}", control);
  }
}

/// How the invented workload's pairs spread: shares of the speeds in [i/20, (i+1)/20), of
/// both members of each pair that may share.
void add_pair_rates(const Case& each, FigureRows& rows) {
  if (each.arms[0].workload == nullptr) return;
  const PairRates rates = pair_rates(each.arms[0].workload->workload);
  FigureRow row = base_row(each, 0);
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
void add_submitted(const Case& each, FigureRows& rows) {
  FigureRow row = base_row(each, 0);
  row.arm = row.host = row.policy = "";
  row.figure = "submitted";
  const auto jobs = std::ranges::count_if(
      each.loaded.trace.jobs, [&](const Job& job) { return job.submit >= counted_from(each); });
  row.interval = {static_cast<double>(jobs), std::nan(""), std::nan(""), 1};
  rows.push_back(std::move(row));
}

void add_rows(const Case& each, const ByArm<Figures>& all, FigureRows& rows) {
  add_pair_rates(each, rows);
  add_submitted(each, rows);
  for (std::size_t arm = 0; arm < all.size(); ++arm) {
    const FigureRow base = base_row(each, arm);
    for (FigureRow& row : arm == 0 ? host_rows(base, all[arm]) : arm_rows(base, all[arm]))
      rows.push_back(std::move(row));
    if (arm == 0) continue;
    add_comparisons(each, all, base, rows);
  }
}

void add_rows(const Case& each, const ByArm<EstimateErrors>& all, FigureRows& rows) {
  for (std::size_t arm = 0; arm < all.size(); ++arm)
    for (FigureRow& row : estimate_rows(base_row(each, arm), all[arm]))
      rows.push_back(std::move(row));
}

/// Runs a case and adds what its first `counts[i]` perturbations gave to rows[i].
template <class Value>
Result<void> add_case(const Case& each, std::span<const std::size_t> counts,
                      Result<std::vector<Value>> (*run)(const Case&, std::uint64_t),
                      std::vector<FigureRows>& rows) {
  const auto all = run_case(each, std::ranges::max(counts), run);
  if (!all) return tl::unexpected(all.error());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ByArm<Value> first = *all;
    for (auto& values : first) values.resize(counts[i]);
    add_rows(each, first, rows[i]);
  }
  return {};
}

}  // namespace

Result<std::vector<FigureRows>> run_experiment(const EvaluationInput& input,
                                               std::span<const std::size_t> counts) {
  std::vector<FigureRows> rows(counts.size());
  for (const ExperimentTrace& which : input.experiment.traces) {
    Repeated repeated;
    for (const std::string& point : input.experiment.points) {
      auto loaded = load_trace(which);
      if (!loaded) return tl::unexpected(loaded.error());
      Case each{input, which, point, std::move(*loaded), repeated, {}};
      const auto settings =
          settings_of(input.session.settings, input.experiment, input.experiment.arms[0], point);
      if (!settings) return tl::unexpected(settings.error());
      constexpr double percent = 0.01;
      end_early(each.loaded.trace,
                percent * static_cast<double>(settings->whole("cost.early_end_pct")),
                static_cast<std::uint64_t>(settings->whole("seed")));
      if (each.loaded.trace.jobs.back().submit < counted_from(each))
        return fail(ErrorCode::invalid,
                    fmt::format("{}: trace {}: no job is left after a warm-up of {:g} days: lower "
                                "warm_up_days",
                                input.experiment.path, which.name, input.experiment.warm_up_days));
      if (auto made = make_arms(each); !made) return tl::unexpected(made.error());
      const auto done = input.experiment.estimates
                            ? add_case(each, counts, compare_estimators, rows)
                            : add_case(each, counts, compare_arms, rows);
      if (!done) return tl::unexpected(done.error());
    }
  }
  return rows;
}

}  // namespace schedmate::study
