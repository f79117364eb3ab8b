// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <schedmate/eta.hpp>
#include <utility>

namespace schedmate {

PastRunTimes::PastRunTimes(std::vector<Past> runs) {
  // An end goes before a lower bound of the same length.
  std::ranges::sort(runs, {}, [](const Past& run) { return std::pair(run.seconds, !run.ended); });
  double longer = 0;
  for (const Past& run : runs) longer += run.weight;
  double grown = 1;  // what a unit of weight has become
  std::vector<double> weights;
  const auto add = [&](double seconds, double weight) {
    runs_.push_back(seconds);
    weights.push_back(weight);
  };
  for (const Past& run : runs) {
    longer -= run.weight;
    const double weight = run.weight * grown;
    if (run.ended) {
      add(run.seconds, weight);
    } else if (&run != &runs.back()) {
      grown *= 1 + run.weight / longer;
    } else {
      // Sixths of Pareto's law, in which a run lasts as long again at the median.
      for (const double factor : {1.2, 2.0, 6.0}) add(run.seconds * factor, weight / 3);
    }
  }
  beyond_.resize(weights.size());
  double sum = 0;
  for (std::size_t i = weights.size(); i-- > 0;) beyond_[i] = sum += weights[i];
}

double PastRunTimes::weight_beyond(double seconds) const {
  const auto first = std::ranges::upper_bound(runs_, seconds) - runs_.begin();
  return first == std::ssize(runs_) ? 0 : beyond_[static_cast<std::size_t>(first)];
}

double PastRunTimes::with_left(double left) const {
  const auto found =
      std::ranges::partition_point(beyond_, [&](double weight) { return weight > left; });
  const auto at = std::max<std::ptrdiff_t>(0, found - beyond_.begin() - 1);
  return runs_[static_cast<std::size_t>(at)];
}

double RunTimeBelief::draw(double share, double ran, double most) const {
  struct Part {
    const PastRunTimes* past;
    double beyond = 0;  // weight of those that are longer than `ran`
    double within = 0;  // and of them no longer than `most`
    double factor = 1;
  };
  const auto part = [&](const std::shared_ptr<const PastRunTimes>& past, double factor) {
    Part made{past.get(), 0, 0, factor};
    if (!past) return made;
    made.beyond = past->weight_beyond(ran);
    made.within = made.beyond - past->weight_beyond(most);
    return made;
  };
  const Part ours = part(own, 1);
  const Part others = part(site, site && !site->empty() ? site_weight / site->weight() : 0);
  const double all = ours.within + others.within * others.factor;
  if (!(all > 0)) {
    constexpr double longest_s = 1e9;
    const double drawn = std::max(1.0, ran) / std::max(1e-9, 1 - share);
    return most < longest_s ? ran + (most - ran) * share : std::min(longest_s, drawn);
  }
  const double split = ours.within / all;
  const bool is_ours = share < split;
  const double rest = is_ours ? share / split : (share - split) / (1 - split);
  const Part& chosen = is_ours ? ours : others;
  return chosen.past->with_left(chosen.beyond - rest * chosen.within);
}

std::string_view name_of(RunTimeSource source) {
  switch (source) {
    case RunTimeSource::advisor:
      return "advisor";
    case RunTimeSource::user:
      return "user";
    case RunTimeSource::site:
      return "site";
    case RunTimeSource::limit:
      break;
  }
  return "limit";
}

std::string_view name_of(QueueBlock block) {
  switch (block) {
    case QueueBlock::none:
      return "none";
    case QueueBlock::gpus:
      return "gpus";
    case QueueBlock::fragmentation:
      return "fragmentation";
    case QueueBlock::priority:
      return "priority";
    case QueueBlock::too_large:
      return "too_large";
    case QueueBlock::too_early:
      return "too_early";
    case QueueBlock::kept_out:
      break;
  }
  return "kept_out";
}

}  // namespace schedmate
