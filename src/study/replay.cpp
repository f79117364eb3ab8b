// SPDX-License-Identifier: Apache-2.0
#include "study/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "study/cost_checks.hpp"
#include "study/trace_workload.hpp"

namespace schedmate::study {
namespace {

Placer placer_of(std::string_view name) {
  if (name == "first_fit") return Placer::first_fit;
  return name == "spread" ? Placer::spread : Placer::consolidate;
}

RunLabel describe(const settings::Settings& settings, const PolicySpec& policy) {
  RunLabel run;
  run.label = policy.label;
  run.policy = policy.text;
  run.mode = settings.text("mode");
  run.seed = static_cast<std::uint64_t>(settings.whole("seed"));
  run.overhead_small = Seconds(settings.whole("overhead_small_s"));
  run.overhead_large = Seconds(settings.whole("overhead_large_s"));
  constexpr std::array plain{"placement", "overhead_small_s", "overhead_large_s"};
  for (const char* key : plain) run.settings.emplace_back(key, settings.text(key));
  for (const settings::SettingRow& row : settings::setting_rows()) {
    if (row.defect != nullptr) run.settings.emplace_back(row.key, settings.text(row.key));
  }
  return run;
}

void describe_workload(const TraceWorkload* made, const settings::Settings& settings,
                       RunLabel& label) {
  const bool invented = made != nullptr && !made->recipe.empty();
  label.settings.emplace_back("profiles", invented ? "syn" : "trace");
  if (!invented) return;
  label.settings.emplace_back("workload", made->recipe);
  label.settings.emplace_back("workload_sha256", made->workload.fingerprint);
  for (const char* key :
       {"workload_cut", "workload_length_pct", "workload_shuffle", "workload_errors_pct",
        "workload_noise_pct", "workload_packed_gpus", "interference_pct"})
    label.settings.emplace_back(key, settings.text(key));
}

/// Costs that are on are stated with the run; where jobs fail, all that follows from it.
void describe_costs(const settings::Settings& settings, RunLabel& label) {
  const bool fail = settings.whole("cost.failure_gpu_hours") > 0;
  for (const settings::SettingRow& row : settings::setting_rows()) {
    const bool is_cost = row.key.starts_with("cost.");
    const bool is_stated = fail && settings::is_cost_of_failures(row);
    if (is_stated || (is_cost && settings.text(row.key) != row.fallback))
      label.settings.emplace_back(row.key, settings.text(row.key));
  }
}

Costs costs_of(const settings::Settings& settings) {
  const auto seconds = [&](std::string_view key) { return Seconds(settings.whole(key)); };
  const auto share = [&](std::string_view key) {
    return static_cast<double>(settings.whole(key)) / 100;
  };
  Costs costs;
  costs.advice = seconds("cost.advice_s");
  costs.tracked_share = share("cost.tracked_pct");
  costs.failures = {.gpu_hours = static_cast<double>(settings.whole("cost.failure_gpu_hours")),
                    .framework_share = share("cost.framework_pct"),
                    .script_share = share("cost.script_pct"),
                    .checkpoint = seconds("cost.checkpoint_s"),
                    .detection = seconds("cost.detection_s"),
                    .manual_restart = seconds("cost.manual_restart_s"),
                    .handled_restart = seconds("cost.handled_restart_s"),
                    .missed_share = share("cost.handler_missed_pct"),
                    .false_share = share("cost.handler_false_pct"),
                    .bad_node_share = share("cost.bad_node_pct")};
  return costs;
}

SimOptions options_of(const settings::Settings& settings, const RunLabel& run,
                      Estimator estimator) {
  SimOptions options;
  options.defects = settings.defects();
  options.placer = placer_of(settings.text("placement"));
  options.preemption = {run.overhead_small, run.overhead_large};
  options.estimator = std::move(estimator);
  options.threads = static_cast<int>(settings.whole("threads"));
  options.costs = costs_of(settings);
  return options;
}

/// CPU time of all threads of the process so far.
double cpu_ms(const Clock& clock) {
  return std::chrono::duration<double, std::milli>(clock.cpu()).count();
}

bool reads_metadata(std::string_view estimator) {
  return estimator.starts_with("advisor") || estimator.starts_with("oracle_retrieval");
}

struct Parts {
  Scheduler scheduler;
  std::string estimator_spec;
  Estimator estimator;
  const TraceWorkload* workload = nullptr;  ///< that the run works on, if any

  /// Of all estimators in it.
  [[nodiscard]] std::array<std::string_view, 3> specs() const {
    return {estimator_spec, scheduler.advice, scheduler.cap};
  }
};
tl::unexpected<Error> of_policy(const PolicySpec& policy, const Error& error) {
  return fail(error.code, fmt::format("policy {}: {}", policy.text, error.message));
}

tl::unexpected<Error> no_shuffle(const PolicySpec& policy) {
  return of_policy(
      policy, {ErrorCode::unsupported,
               "workload_shuffle exchanges what is invented; this trace has tables of its own, "
               "and says itself what its jobs are"});
}

Result<Scheduler> scheduler_of(const ReplayInput& input, const PolicySpec& policy) {
  const settings::Settings& settings = input.session.settings;
  PolicyOptions options(policy.options);
  if (const Scheduler* own = input.own.find(policy.name); own != nullptr)
    return with_options(policy.name, *own, std::move(options));
  const auto seed = static_cast<std::uint64_t>(settings.whole("seed"));
  return make_scheduler(policy.name,
                        {input.cluster, settings.defects(), seed, forecast_of(input.trace)},
                        std::move(options));
}

Result<Parts> make_parts(const ReplayInput& input, const PolicySpec& policy) {
  const settings::Settings& settings = input.session.settings;
  if (auto ok = check_costs(settings, input.trace); !ok) return tl::unexpected(ok.error());
  const auto seed = static_cast<std::uint64_t>(settings.whole("seed"));
  auto scheduler = scheduler_of(input, policy);
  if (!scheduler) return of_policy(policy, scheduler.error());
  Parts parts{std::move(*scheduler), policy.estimator, {}, nullptr};
  if (parts.estimator_spec.empty()) parts.estimator_spec = parts.scheduler.estimator;
  const bool reads = std::ranges::any_of(parts.specs(), reads_metadata);
  if (parts.scheduler.packs || reads) {
    const auto workload = input.workloads.get(parts.scheduler.packs);
    if (!workload) return tl::unexpected(workload.error());
    parts.workload = *workload;
    if (reads && parts.workload == nullptr) {
      if (settings.text("workload_shuffle") != "none") return no_shuffle(policy);
      parts.workload = input.workloads.of_profiles();
    }
  }
  EstimatorInput made_of = estimator_input(input.trace, seed, parts.workload);
  made_of.own = input.own.estimators;
  auto estimator = make_estimator(parts.scheduler, parts.estimator_spec, made_of);
  if (!estimator) return of_policy(policy, estimator.error());
  parts.estimator = std::move(*estimator);
  return parts;
}

/// Whether a column of the trace is the run time itself, as it is for more than half of the jobs.
bool is_run_time(const Trace& trace, std::string_view column) {
  const auto found = trace.columns.find(column);
  if (found == trace.columns.end()) return false;
  std::size_t equal = 0;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const auto run_s = static_cast<double>(trace.jobs[row].duration.count());
    if (std::abs(found->second[row] - run_s) < 1) ++equal;
  }
  return 2 * equal > trace.jobs.size();
}

/// Of the estimators that decide something the one that knows what nobody can, "" = none does.
std::string oracle_of(const Trace& trace, const Parts& parts) {
  constexpr std::string_view column = "column:";
  if (!parts.scheduler.uses_estimates) return "";
  for (const std::string_view spec : parts.specs()) {
    if (is_oracle(spec)) return std::string(spec);
    if (spec.starts_with(column) && is_run_time(trace, spec.substr(column.size())))
      return std::string(spec);
  }
  return "";
}

/// What of the run's inputs nobody measured.
std::vector<std::string> invented_by(const Parts& parts, const Costs& costs) {
  std::vector<std::string> invented;
  if (parts.workload != nullptr && !parts.workload->recipe.empty()) {
    const std::string& recipe = parts.workload->recipe;
    if (parts.scheduler.packs)
      invented.push_back(fmt::format(
          "what each job does to its GPUs and how fast pairs run (workload {})", recipe));
    if (std::ranges::any_of(parts.specs(), reads_metadata))
      invented.push_back(fmt::format(
          "what SchedMate reads of each job: folder, command, model (workload {})", recipe));
  }
  const auto is_limit = [](std::string_view spec) { return spec.starts_with("limit"); };
  if (parts.scheduler.uses_estimates && std::ranges::any_of(parts.specs(), is_limit))
    invented.emplace_back("users' time limits (the run time times a random factor)");
  if (costs.failures.gpu_hours > 0)
    invented.push_back(fmt::format("failures of the infrastructure (one in {} GPU hours)",
                                   costs.failures.gpu_hours));
  return invented;
}

std::optional<ProfilerShare> share_of(const std::optional<ProfilerStage>& stage,
                                      const ClusterSpec& cluster) {
  if (!stage) return std::nullopt;
  ProfilerShare share{.gpus = std::int64_t{stage->nodes.nodes} * stage->nodes.gpus_per_node,
                      .max_gpus = stage->max_gpus,
                      .time = stage->time,
                      .lenders = stage->lenders};
  for (const PartitionSpec& vc : cluster.partitions)
    if (std::ranges::find(stage->lenders, vc.name) != stage->lenders.end())
      share.borrowed_gpus += vc.gpus_per_node;
  return share;
}

/// Notes for which jobs advice was used. Rows are apart, so VCs may answer at once.
Estimator noting(Estimator estimator, const Parts& parts, std::vector<std::uint8_t>& advised) {
  const bool is_advice = parts.estimator_spec.starts_with("advisor");
  return watched(std::move(estimator), [is_advice, &advised](const EnteringJob& at,
                                                             const Prediction& prediction) {
    const bool used = is_advice ? !prediction.blind : prediction.advised > 0 || prediction.use;
    if (used) advised[at.job.number] = 1;
  });
}

/// GPUs of the explained job's VC that the profiler holds all the time.
int lent_gpus(const ReplayInput& input, const Scheduler& scheduler) {
  if (!scheduler.profiler) return 0;
  const std::string& vc = input.trace.vcs[input.trace.jobs[*input.explained_row].vc];
  const auto& partitions = input.cluster.partitions;
  const auto own = partitions.size() == 1 ? partitions.begin()
                                          : std::ranges::find(partitions, vc, &PartitionSpec::name);
  if (own == partitions.end()) return 0;
  const auto& lenders = scheduler.profiler->lenders;
  return std::ranges::find(lenders, own->name) == lenders.end() ? 0 : own->gpus_per_node;
}

/// The replay proper, in front of it a first look at the other VCs when a job is to be explained.
Result<SimResult> run(const ReplayInput& input, const Scheduler& scheduler, SimOptions& options,
                      std::optional<Explainer>& explainer) {
  if (explainer) {
    options.threads = 1;  // observers are called from the threads of the VCs
    options.observer = [&](const SimOptions::Moment& moment) { explainer->look_around(moment); };
    if (auto first = simulate(input.trace, input.cluster, scheduler, options); !first) return first;
    options.observer = [&](const SimOptions::Moment& moment) { explainer->follow(moment); };
  }
  return simulate(input.trace, input.cluster, scheduler, options);
}

}  // namespace

Result<void> check_policy(const ReplayInput& input, const PolicySpec& policy) {
  return make_parts(input, policy).map([](const Parts&) {});
}

Result<PolicyEstimates> estimates_of(const ReplayInput& input, const PolicySpec& policy) {
  return make_parts(input, policy).map([](Parts&& parts) {
    return PolicyEstimates{std::move(parts.estimator), parts.workload};
  });
}

Result<Replay> replay(const ReplayInput& input, const PolicySpec& policy) {
  const settings::Settings& settings = input.session.settings;
  RunLabel label = describe(settings, policy);
  auto parts = make_parts(input, policy);
  if (!parts) return tl::unexpected(parts.error());
  label.estimator = parts->estimator_spec;
  if (!parts->scheduler.advice.empty())
    label.settings.emplace_back("advice", parts->scheduler.advice);
  label.profiler_columns = parts->scheduler.packs;
  std::optional<ScopedProfiles> profiles;
  if (parts->workload != nullptr) profiles.emplace(input.trace, parts->workload->workload);
  if (parts->scheduler.packs || parts->workload != nullptr)
    describe_workload(parts->workload, settings, label);
  label.uses_estimates = parts->scheduler.uses_estimates;
  label.oracle = oracle_of(input.trace, *parts);
  label.invented = invented_by(*parts, costs_of(settings));
  label.profiler = share_of(parts->scheduler.profiler, input.cluster);
  label.takes_advice =
      parts->scheduler.uses_estimates && (parts->scheduler.advice.starts_with("advisor") ||
                                          parts->estimator_spec.starts_with("advisor"));
  describe_costs(settings, label);

  std::vector<std::uint8_t> advised(label.takes_advice ? input.trace.jobs.size() : 0);
  if (label.takes_advice) parts->estimator = noting(std::move(parts->estimator), *parts, advised);
  SimOptions options = options_of(settings, label, std::move(parts->estimator));
  options.seed = label.seed + input.draw;
  if (!input.own.empty()) options.threads = 1;
  label.attempt_columns = parts->scheduler.packs || options.costs.failures.gpu_hours > 0;
  if (settings.flag("cost.warm_up") && parts->scheduler.profiler && parts->workload != nullptr &&
      parts->workload->workload.tables != nullptr) {
    options.costs.seen_profiles =
        seen_while_warming_up(parts->workload->workload, parts->scheduler.profiler->time);
  }
  options.progress = input.session.progress(policy.label);
  std::optional<Explainer> explainer;
  if (input.explained_row) {
    explainer.emplace(Explainer::Subject{input.trace, input.cluster, options.placer,
                                         *input.explained_row, lent_gpus(input, parts->scheduler)});
  }
  const double before_ms = cpu_ms(input.session.clock);
  auto result = run(input, parts->scheduler, options, explainer);
  if (!result) return tl::unexpected(result.error());
  label.cpu_ms = cpu_ms(input.session.clock) - before_ms;

  if (label.profiler)
    label.profiler->grew = std::ranges::count_if(
        result->profiler_scaling, [](const auto& change) { return change.second > 0; });
  if (std::ranges::find(advised, 1) == advised.end()) advised.clear();
  Replay done{
      {std::move(label), input.trace, input.cluster, std::move(*result), std::move(advised)},
      std::nullopt};
  if (explainer) done.explanation = std::move(*explainer).finish(done.record);
  return done;
}

}  // namespace schedmate::study
