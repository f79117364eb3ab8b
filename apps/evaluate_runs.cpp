// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluate_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "apps/evaluate_trace.hpp"
#include "apps/perturb.hpp"
#include "apps/progress.hpp"
#include "apps/replay.hpp"
#include "apps/standard_arms.hpp"

namespace schedmate {
namespace {

using SharedWorkload = std::shared_ptr<const TraceWorkload>;

/// An arm at one point of the sweep, ready to run.
struct Arm {
  Session session;
  PolicySpec policy;
  std::size_t host = 0;  ///< index of the arm that it is compared with
  SharedWorkload workload;
};

/// One trace at one point of the sweep.
struct Case {
  const EvaluationInput& input;
  const ExperimentTrace& which;
  std::string point;
  LoadedTrace loaded;
  std::vector<Arm> arms;
};

bool shapes_workload(std::string_view key) {
  return key.starts_with("workload") || key == "interference_pct" || key == "seed";
}

/// Workloads are made once of the unperturbed trace, and shared by arms with the same settings.
class Workloads {
 public:
  explicit Workloads(const Trace& trace) : trace_(trace) {}
  Result<SharedWorkload> get(const Settings& settings) {
    std::string key;
    for (const SettingRow& row : setting_rows())
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
  auto policy = parse_policy(policy_at(spec, each.point) + "@" + spec.label);
  if (!policy) return tl::unexpected(policy.error());
  auto workload = workloads.get(*settings);
  if (!workload) return tl::unexpected(workload.error());
  Environment silent = each.input.session.environment;
  silent.progress = false;
  return Arm{{std::move(silent), std::move(*settings), false},
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

Replayed measure(const Case& each, const Perturbed& perturbed, const SimResult& result) {
  const auto& original = each.loaded.trace.jobs;
  constexpr double day_s = 86'400;
  const auto warm_up = static_cast<std::int64_t>(each.input.experiment.warm_up_days * day_s);
  const SimTime counted_from = original.front().submit + Seconds(warm_up);
  Replayed replayed;
  replayed.jct_s.assign(original.size(), std::nan(""));
  SimTime first = never;
  SimTime last = SimTime::min();
  for (std::size_t i = 0; i < perturbed.rows.size(); ++i) {
    const JobOutcome& outcome = result.outcomes[i];
    if (original[perturbed.rows[i]].submit < counted_from) continue;
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

/// All arms of a case under one perturbation; the workloads go along with the rows.
Result<std::vector<Figures>> run_perturbation(const Case& each, std::uint64_t seed) {
  Perturbed perturbed = perturb(each.loaded.trace, seed);
  std::map<const TraceWorkload*, SharedWorkload> along;
  std::vector<Replayed> replayed;
  std::vector<Figures> figures;
  for (const Arm& arm : each.arms) {
    SharedWorkload& workload = along[arm.workload.get()];
    if (workload == nullptr && arm.workload != nullptr)
      workload = std::make_shared<TraceWorkload>(arm.workload->recipe,
                                                 permuted(arm.workload->workload, perturbed.rows));
    WorkloadOnDemand ready(workload);
    const ReplayInput input{arm.session, perturbed.trace, each.loaded.cluster, ready, {}};
    const auto done = replay(input, arm.policy);
    if (!done) return tl::unexpected(done.error());
    replayed.push_back(measure(each, perturbed, done->record.result));
    figures.push_back(compare(replayed[arm.host], replayed.back()));
  }
  return figures;
}

/// By arm, then by perturbation.
using AllFigures = std::vector<std::vector<Figures>>;

Result<AllFigures> run_case(const Case& each) {
  const auto count = static_cast<std::size_t>(each.input.experiment.perturbations);
  AllFigures all(each.arms.size(), std::vector<Figures>(count));
  ProgressBar bar(fmt::format("{} {} {}", each.input.experiment.name, each.which.name, each.point),
                  each.input.session.environment.progress);
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> finished = 0;
  std::mutex mutex;
  std::optional<Error> error;
  const auto work = [&] {
    for (std::size_t k = next++; k < count; k = next++) {
      const auto figures = run_perturbation(each, k + 1);
      if (!figures) {
        const std::scoped_lock lock(mutex);
        error = figures.error();
        next = count;
        return;
      }
      for (std::size_t arm = 0; arm < all.size(); ++arm) all[arm][k] = (*figures)[arm];
      bar.show(static_cast<double>(++finished) / static_cast<double>(count));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < each.input.threads; ++i) threads.emplace_back(work);
    work();
  }
  if (error) return tl::unexpected(*error);
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

void add_rows(const Case& each, const AllFigures& all, std::vector<FigureRow>& rows) {
  const auto& arms = each.input.experiment.arms;
  for (std::size_t arm = 0; arm < all.size(); ++arm) {
    const FigureRow base = base_row(each, arm);
    for (FigureRow& row : arm_rows(base, all[arm])) rows.push_back(std::move(row));
    const auto oracle = std::ranges::find(arms, oracle_of(base.arm), &ExperimentArm::label);
    if (oracle == arms.end()) continue;
    const auto index = static_cast<std::size_t>(oracle - arms.begin());
    rows.push_back(oracle_row(base, {all[arm], all[index]}));
  }
}

}  // namespace

Result<std::vector<FigureRow>> run_experiment(const EvaluationInput& input) {
  std::vector<FigureRow> rows;
  for (const ExperimentTrace& which : input.experiment.traces) {
    for (const std::string& point : input.experiment.points) {
      auto loaded = load_trace(which);
      if (!loaded) return tl::unexpected(loaded.error());
      Case each{input, which, point, std::move(*loaded), {}};
      const auto settings =
          settings_of(input.session.settings, input.experiment, input.experiment.arms[0], point);
      if (!settings) return tl::unexpected(settings.error());
      constexpr double percent = 0.01;
      end_early(each.loaded.trace,
                percent * static_cast<double>(settings->whole("cost.early_end_pct")),
                static_cast<std::uint64_t>(settings->whole("seed")));
      if (auto made = make_arms(each); !made) return tl::unexpected(made.error());
      const auto all = run_case(each);
      if (!all) return tl::unexpected(all.error());
      add_rows(each, *all, rows);
    }
  }
  return rows;
}

}  // namespace schedmate
