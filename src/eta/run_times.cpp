// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <schedmate/eta.hpp>

namespace schedmate {

PastRunTimes::PastRunTimes(std::vector<Past> runs) {
  std::ranges::sort(runs, {}, &Past::seconds);
  runs_.reserve(runs.size());
  for (const Past& run : runs) runs_.push_back(run.seconds);
  beyond_.resize(runs.size());
  double sum = 0;
  for (std::size_t i = runs.size(); i-- > 0;) beyond_[i] = sum += runs[i].weight;
}

double PastRunTimes::weight_beyond(double seconds) const {
  const auto first = std::ranges::upper_bound(runs_, seconds) - runs_.begin();
  return first == std::ssize(runs_) ? 0 : beyond_[static_cast<std::size_t>(first)];
}

double PastRunTimes::beyond(double seconds, double share) const {
  const auto first = std::ranges::upper_bound(runs_, seconds) - runs_.begin();
  const double left = beyond_[static_cast<std::size_t>(first)] * (1 - share);
  // The last one with at least that much weight on it and behind it.
  const auto from = beyond_.begin() + first;
  const auto found =
      std::partition_point(from, beyond_.end(), [&](double weight) { return weight >= left; });
  const auto at = std::max<std::ptrdiff_t>(first, found - beyond_.begin() - 1);
  return runs_[static_cast<std::size_t>(at)];
}

double RunTimeBelief::draw(double share, double ran) const {
  const double ours = own ? own->weight_beyond(ran) : 0;
  const double all = site && !site->empty() ? site->weight() : 0;
  const double others = all > 0 ? site->weight_beyond(ran) / all * site_weight : 0;
  if (ours + others <= 0) {
    constexpr double longest_s = 1e9;
    return std::min(longest_s, std::max(1.0, ran) / std::max(1e-9, 1 - share));
  }
  const double split = ours / (ours + others);
  if (share < split) return own->beyond(ran, share / split);
  return site->beyond(ran, (share - split) / (1 - split));
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
      break;
  }
  return "too_large";
}

}  // namespace schedmate
