// SPDX-License-Identifier: Apache-2.0
#include "elastic/bootstrap.hpp"

#include <algorithm>
#include <functional>
#include <ranges>

#include "base/random.hpp"

namespace schedmate {
namespace {

/// Whether an earlier job has anything to show.
bool has_shown(const ElasticRun& run, bool finished_only) {
  if (finished_only && !run.completion_s()) return false;
  const auto measured = [](const TypeProfile& profile) {
    return profile.steps.size() > profile.inherited;
  };
  return run.noise() && std::ranges::any_of(run.profiles(), measured);
}

/// Steps of the same shape tell whether two jobs can be the same program (sia.md 8.1: steps have
/// no noise).
bool agree(const TypeProfile& taken, std::span<const ObservedStep> steps) {
  return std::ranges::none_of(steps, [&](const ObservedStep& step) {
    const auto known = std::ranges::find(taken.steps, step.shape, &ObservedStep::shape);
    return known != taken.steps.end() && differ(known->step_s, step.step_s);
  });
}

class Bootstrap {
 public:
  explicit Bootstrap(const BootstrapOptions& options) : options_(options), random_(options.seed) {}

  void operator()(ElasticRun& run, std::span<ElasticRun* const> known) {
    const bool looked_for = random_.uniform() < options_.match.hit_rate;
    const auto similar = looked_for ? similar_to(run, known) : Runs{};
    if (!similar.empty())
      inherit(run, similar);
    else if (options_.profile_s > 0)
      measure(run);
  }

 private:
  using Runs = std::vector<const ElasticRun*>;

  Runs similar_to(const ElasticRun& run, std::span<ElasticRun* const> known) {
    switch (options_.match.rule) {
      case MatchRule::none:
        return {};
      case MatchRule::advisor:
        return found_for(known);
      case MatchRule::perfect:
        return shown(known, [&](const ElasticRun& each) { return same(run, each); });
      case MatchRule::wrong:
        return drawn(shown(known, [&](const ElasticRun& each) { return !same(run, each); }));
      case MatchRule::shuffled:
        return drawn(shown(known, [](const ElasticRun&) { return true; }));
    }
    return {};
  }

  static bool same(const ElasticRun& one, const ElasticRun& two) {
    return &one.application() == &two.application();
  }

  template <class Wanted>
  Runs shown(std::span<ElasticRun* const> known, const Wanted& wanted) const {
    Runs runs;
    for (const ElasticRun* const each : known)
      if (has_shown(*each, options_.match.finished_only) && wanted(*each)) runs.push_back(each);
    return runs;
  }

  /// The new job is the one after those that are known.
  [[nodiscard]] Runs found_for(std::span<ElasticRun* const> known) const {
    Runs runs;
    for (const std::uint32_t each : (*options_.similar)[known.size()])
      if (has_shown(*known[each], options_.match.finished_only)) runs.push_back(known[each]);
    return runs;
  }

  /// One job was found, and with it all that are of its application.
  Runs drawn(Runs runs) {
    if (runs.empty()) return runs;
    const auto one =
        static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(runs.size())));
    const ElasticRun& taken = *runs[one];
    std::erase_if(runs, [&](const ElasticRun* each) { return !same(taken, *each); });
    return runs;
  }

  /// What each of them measured itself: what it inherited stands there already.
  static void inherit(ElasticRun& run, const Runs& similar) {
    const auto own = [](const ElasticRun& each, std::size_t type) {
      const TypeProfile& profile = each.profiles()[type];
      return std::span(profile.steps).subspan(profile.inherited);
    };
    std::vector<TypeProfile> taken(run.profiles().size());
    for (const ElasticRun* const each : similar) {
      const auto agrees = [&](std::size_t type) { return agree(taken[type], own(*each, type)); };
      if (!std::ranges::all_of(std::views::iota(std::size_t{0}, taken.size()), agrees)) continue;
      for (std::size_t type = 0; type < taken.size(); ++type)
        for (const ObservedStep& step : own(*each, type)) taken[type].add(step);
    }
    for (std::size_t type = 0; type < taken.size(); ++type)
      if (run.application().tables[type]) run.inherit(type, taken[type].steps);
    const TrainingTable& training = similar.front()->application().training;
    run.inherit(training.noise_at(training.initial_batch(), 0));
  }

  void measure(ElasticRun& run) const {
    std::vector<std::uint16_t> types;
    for (std::size_t type = 0; type < run.profiles().size(); ++type)
      if (run.application().tables[type]) types.push_back(static_cast<std::uint16_t>(type));
    run.profile_first(types, options_.profile_s);
  }

  BootstrapOptions options_;
  Random random_;
};

}  // namespace

std::function<void(ElasticRun& run, std::span<ElasticRun* const> known)> bootstrap(
    const BootstrapOptions& options) {
  return Bootstrap(options);
}

}  // namespace schedmate
