// SPDX-License-Identifier: Apache-2.0
#include "elastic/bootstrap.hpp"

#include <algorithm>
#include <functional>
#include <ranges>

#include "base/random.hpp"

namespace schedmate::elastic {
namespace {

/// Whether an earlier job has anything to show.
bool has_shown(const ElasticRun& run, bool finished_only) {
  if (finished_only && !run.completion_s()) return false;
  const auto measured = [](const TypeProfile& profile) {
    return profile.steps.size() > profile.inherited;
  };
  return run.noise() && std::ranges::any_of(run.profiles(), measured);
}

/// Steps of the same shape show whether two jobs can be the same program (the measured steps have
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
    const bool looked_for = random_.uniform() < options_.match.hit_rate && believes(known);
    const auto similar = looked_for ? similar_to(run, known) : Matches{};
    if (!similar.empty())
      inherit(run, similar);
    else if (options_.profile_s > 0)
      measure(run);
  }

 private:
  struct SimilarRun {
    std::uint32_t place = 0;  ///< in the workload
    const ElasticRun* run = nullptr;
  };
  using Matches = std::vector<SimilarRun>;

  /// Whether the latest matches that were put to the test were mostly right. Now and then one is
  /// tried all the same, so that it can turn out that they have become so.
  [[nodiscard]] bool believes(std::span<ElasticRun* const> known) const {
    if (!options_.match.guarded) return true;
    constexpr int latest = 20;
    constexpr int enough = 4;
    constexpr std::size_t trial = 20;
    int tested = 0;
    int right = 0;
    for (auto each = known.rbegin(); each != known.rend() && tested < latest; ++each) {
      if (!(*each)->has_been_checked()) continue;
      ++tested;
      right += (*each)->has_forgotten() ? 0 : 1;
    }
    return tested < enough || 2 * right >= tested || known.size() % trial == 0;
  }

  Matches similar_to(const ElasticRun& run, std::span<ElasticRun* const> known) {
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
  Matches shown(std::span<ElasticRun* const> known, const Wanted& wanted) const {
    Matches runs;
    for (std::uint32_t i = 0; i < known.size(); ++i)
      if (has_shown(*known[i], options_.match.finished_only) && wanted(*known[i]))
        runs.push_back({i, known[i]});
    return runs;
  }

  /// The new job is the one after those that are known.
  [[nodiscard]] Matches found_for(std::span<ElasticRun* const> known) const {
    Matches runs;
    for (const std::uint32_t each : (*options_.similar)[known.size()])
      if (has_shown(*known[each], options_.match.finished_only))
        runs.push_back({each, known[each]});
    return runs;
  }

  /// One job was found, and with it all that are of its application.
  Matches drawn(Matches runs) {
    if (runs.empty()) return runs;
    const auto one =
        static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(runs.size())));
    const ElasticRun& taken = *runs[one].run;
    std::erase_if(runs, [&](const SimilarRun& each) { return !same(taken, *each.run); });
    return runs;
  }

  /// What each of them measured itself: what it inherited stands there already.
  static void inherit(ElasticRun& run, const Matches& similar) {
    const auto own = [](const ElasticRun& each, std::size_t type) {
      const TypeProfile& profile = each.profiles()[type];
      return std::span(profile.steps).subspan(profile.inherited);
    };
    std::vector<TypeProfile> taken(run.profiles().size());
    for (const SimilarRun& each : similar) {
      const auto agrees = [&](std::size_t type) {
        return agree(taken[type], own(*each.run, type));
      };
      if (!std::ranges::all_of(std::views::iota(std::size_t{0}, taken.size()), agrees)) continue;
      for (std::size_t type = 0; type < taken.size(); ++type)
        for (const ObservedStep& step : own(*each.run, type))
          if (taken[type].add(step)) taken[type].from.push_back(each.place);
    }
    for (std::size_t type = 0; type < taken.size(); ++type)
      if (run.application().tables[type]) run.inherit(type, taken[type]);
    const TrainingTable& training = similar.front().run->application().training;
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

}  // namespace schedmate::elastic
