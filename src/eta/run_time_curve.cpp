// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <schedmate/eta.hpp>
#include <schedmate/run_time_curve.hpp>

namespace schedmate {
namespace {

constexpr double zero_s = 60;    // run times below a minute or so are alike
constexpr float certain = 1e4F;  // cumulative hazard beyond which nobody runs

}  // namespace

double RunTimeCurve::place_of(double seconds) {
  const double place = std::log1p(std::max(0.0, seconds) / zero_s) / width;
  return std::min(place, static_cast<double>(bins));
}

double RunTimeCurve::seconds_at(double place) { return zero_s * std::expm1(place * width); }

RunTimeCurve::RunTimeCurve(const Chances& chances) {
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const float stay = bin + 1 == bins ? 0 : 1 - std::clamp(chances[bin], 0.0F, 1.0F);
    const float hazard = stay > 0 ? -std::log(stay) : certain;
    cumulative_[bin + 1] = std::min(certain, cumulative_[bin] + hazard);
  }
}

double RunTimeCurve::hazard_until(double seconds) const {
  const double place = place_of(seconds);
  const auto bin = std::min(static_cast<std::size_t>(place), bins - 1);
  const double within = place - static_cast<double>(bin);
  return cumulative_[bin] + within * (cumulative_[bin + 1] - cumulative_[bin]);
}

double RunTimeCurve::share_beyond(double seconds, double ran) const {
  return std::exp(hazard_until(ran) - hazard_until(std::max(ran, seconds)));
}

double RunTimeCurve::draw(double share, double ran, double most) const {
  const double from = hazard_until(ran);
  const double ends_by_most = std::isfinite(most) ? -std::expm1(from - hazard_until(most)) : 1;
  constexpr double hardly = 1e-9;
  if (!(ends_by_most > hardly)) return ran + std::max(0.0, most - ran) * share;
  const double wanted = from - std::log1p(-share * ends_by_most);
  const auto found = std::ranges::upper_bound(cumulative_, static_cast<float>(wanted));
  const auto bin = std::clamp<std::ptrdiff_t>(found - cumulative_.begin() - 1, 0, bins - 1);
  const auto at = static_cast<std::size_t>(bin);
  const double step = cumulative_[at + 1] - cumulative_[at];
  const double within = step > 0 ? std::clamp((wanted - cumulative_[at]) / step, 0.0, 1.0) : 0;
  return std::clamp(seconds_at(static_cast<double>(at) + within), ran, most);
}

double RunTimeBelief::draw(double share, double ran, double most) const {
  if (known_s) return std::clamp(*known_s, ran, std::max(ran, most));
  if (curve) return after_s + curve->draw(share, std::max(0.0, ran - after_s), most - after_s);
  constexpr double longest_s = 1e9;
  if (most < longest_s) return ran + std::max(0.0, most - ran) * share;
  return std::min(longest_s, std::max(1.0, ran) / std::max(1e-9, 1 - share));
}

std::string_view name_of(RunTimeSource source) {
  switch (source) {
    case RunTimeSource::progress:
      return "progress";
    case RunTimeSource::advisor:
      return "advisor";
    case RunTimeSource::user:
      return "user";
    case RunTimeSource::site:
      break;
  }
  return "site";
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
    case QueueBlock::shared_limit:
      return "shared_limit";
    case QueueBlock::kept_out:
      break;
  }
  return "kept_out";
}

}  // namespace schedmate
