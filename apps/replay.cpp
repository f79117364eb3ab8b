// SPDX-License-Identifier: Apache-2.0
#include "apps/replay.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "apps/made_up_profiles.hpp"
#include "apps/progress.hpp"

namespace schedmate {
namespace {

Placer placer_of(std::string_view name) {
  if (name == "first_fit") return Placer::first_fit;
  return name == "spread" ? Placer::spread : Placer::consolidate;
}

RunLabel describe(const Settings& settings, const PolicySpec& policy) {
  RunLabel run;
  run.label = policy.label;
  run.policy = policy.text;
  run.mode = settings.text("mode");
  run.seed = static_cast<std::uint64_t>(settings.whole("seed"));
  run.overhead_small = Seconds(settings.whole("overhead_small_s"));
  run.overhead_large = Seconds(settings.whole("overhead_large_s"));
  constexpr std::array plain{"placement", "overhead_small_s", "overhead_large_s"};
  for (const char* key : plain) run.settings.emplace_back(key, settings.text(key));
  for (const SettingRow& row : setting_rows()) {
    if (row.defect != nullptr) run.settings.emplace_back(row.key, settings.text(row.key));
  }
  return run;
}

void describe_profiles(const MadeUpProfiles& profiles, RunLabel& label) {
  label.settings.emplace_back("profiles", profiles.lent() ? "syn" : "trace");
  if (!profiles.lent()) return;
  label.settings.emplace_back("workload", profiles.recipe());
  label.settings.emplace_back("workload_sha256", profiles.fingerprint());
}

SimOptions options_of(const Settings& settings, const RunLabel& run, Estimator estimator) {
  SimOptions options;
  options.defects = settings.defects();
  options.placer = placer_of(settings.text("placement"));
  options.preemption = {run.overhead_small, run.overhead_large};
  options.estimator = std::move(estimator);
  options.threads = static_cast<int>(settings.whole("threads"));
  return options;
}

/// CPU time of all threads of the process so far.
double cpu_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Parts {
  Scheduler scheduler;
  std::string estimator_spec;
  Estimator estimator;
};
Result<Parts> make_parts(const ReplayInput& input, const PolicySpec& policy) {
  const Settings& settings = input.session.settings;
  const auto seed = static_cast<std::uint64_t>(settings.whole("seed"));
  auto scheduler =
      make_scheduler(policy.name, {input.trace, input.cluster, settings.defects(), seed},
                     PolicyOptions(policy.options));
  if (!scheduler) return tl::unexpected(scheduler.error());
  std::string spec = policy.estimator.empty() ? scheduler->estimator : policy.estimator;
  auto estimator = make_estimator(spec, input.trace, seed);
  if (!estimator) return tl::unexpected(estimator.error());
  return Parts{std::move(*scheduler), std::move(spec), std::move(*estimator)};
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

Result<Replay> replay(const ReplayInput& input, const PolicySpec& policy) {
  const Settings& settings = input.session.settings;
  RunLabel label = describe(settings, policy);
  auto parts = make_parts(input, policy);
  if (!parts) return tl::unexpected(parts.error());
  label.estimator = parts->estimator_spec;
  label.profiler_columns = parts->scheduler.packs;
  const auto profiles =
      parts->scheduler.packs ? MadeUpProfiles::lend(settings, input.trace) : MadeUpProfiles::none();
  if (!profiles) return tl::unexpected(profiles.error());
  if (parts->scheduler.packs) describe_profiles(*profiles, label);

  SimOptions options = options_of(settings, label, std::move(parts->estimator));
  ProgressBar progress(policy.label, input.session.environment.progress);
  options.progress = [&](double done) { progress.show(done); };
  std::optional<Explainer> explainer;
  if (input.explained_row) {
    explainer.emplace(
        Explainer::Subject{input.trace, input.cluster, options.placer, *input.explained_row});
  }
  const double before_ms = cpu_ms();
  auto result = run(input, parts->scheduler, options, explainer);
  if (!result) return tl::unexpected(result.error());
  label.cpu_ms = cpu_ms() - before_ms;

  Replay done{{std::move(label), input.trace, input.cluster, std::move(*result)}, std::nullopt};
  if (explainer) done.explanation = std::move(*explainer).finish(done.record);
  return done;
}

}  // namespace schedmate
