// SPDX-License-Identifier: Apache-2.0
#include "elastic/bootstrap.hpp"

#include <algorithm>
#include <functional>
#include <vector>

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

class Bootstrap {
 public:
  explicit Bootstrap(const BootstrapOptions& options) : options_(options), random_(options.seed) {}

  void operator()(ElasticRun& run, std::span<ElasticRun* const> known) {
    const bool looked_for = random_.uniform() < options_.hit_rate;
    const auto similar = looked_for ? similar_to(run, known) : Runs{};
    if (!similar.empty())
      inherit(run, similar);
    else if (options_.profile_s > 0)
      measure(run);
  }

 private:
  using Runs = std::vector<const ElasticRun*>;

  Runs similar_to(const ElasticRun& run, std::span<ElasticRun* const> known) {
    Runs shown;
    for (const ElasticRun* const each : known)
      if (has_shown(*each, options_.finished_only)) shown.push_back(each);
    const auto same = [&](const ElasticRun* each) {
      return &each->application() == &run.application();
    };
    if (options_.match == MatchRule::perfect) std::erase_if(shown, std::not_fn(same));
    if (options_.match == MatchRule::wrong) std::erase_if(shown, same);
    if (options_.match == MatchRule::none) shown.clear();
    if (options_.match == MatchRule::perfect || shown.empty()) return shown;
    // One job was found, and with it all that are of its application.
    const auto drawn =
        static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(shown.size())));
    const Application* const taken = &shown[drawn]->application();
    std::erase_if(shown, [&](const ElasticRun* each) { return &each->application() != taken; });
    return shown;
  }

  /// What each of them measured itself: what it inherited stands there already.
  static void inherit(ElasticRun& run, const Runs& similar) {
    for (std::size_t type = 0; type < run.profiles().size(); ++type) {
      if (!run.application().tables[type]) continue;
      std::vector<ObservedStep> steps;
      for (const ElasticRun* const each : similar) {
        const TypeProfile& profile = each->profiles()[type];
        const auto own = std::span(profile.steps).subspan(profile.inherited);
        steps.insert(steps.end(), own.begin(), own.end());
      }
      run.inherit(type, steps);
    }
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
