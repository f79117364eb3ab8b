// SPDX-License-Identifier: Apache-2.0
#include "daemon/order_effect.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace schedmate::daemon {
namespace {

using Figures = OrderEffect::Figures;

/// Mean and quantiles; zeros where there are no values.
Figures figures_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  Figures made;
  for (const double each : values) made.mean += each / static_cast<double>(values.size());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  made.p10 = at(0.1);
  made.p90 = at(0.9);
  return made;
}

bool starts_always(const JobForecast& job) {
  return job.start && !job.waits_s.empty() &&
         std::ranges::all_of(job.waits_s, [](double wait) { return std::isfinite(wait); });
}

/// Sums of waits by sample, in both replays.
struct Sums {
  std::vector<double> now, would_be;
  std::int64_t jobs = 0;

  explicit Sums(std::size_t samples) : now(samples), would_be(samples) {}
  void add(double waited_s, const JobForecast& is, const JobForecast& ordered) {
    ++jobs;
    for (std::size_t i = 0; i < now.size(); ++i) {
      now[i] += waited_s + is.waits_s[i];
      would_be[i] += waited_s + ordered.waits_s[i];
    }
  }
  [[nodiscard]] Figures means(std::vector<double> sums) const {
    for (double& each : sums) each /= static_cast<double>(std::max<std::int64_t>(1, jobs));
    return jobs == 0 ? Figures() : figures_of(std::move(sums));
  }
  [[nodiscard]] Figures change_pct() const {
    std::vector<double> changes;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] > 0) changes.push_back(100 * (would_be[i] / now[i] - 1));
    return figures_of(std::move(changes));
  }
};

Document document_of(const Figures& figures) {
  return {{"mean", figures.mean}, {"p10", figures.p10}, {"p90", figures.p90}};
}

}  // namespace

Wishes wishes_of(const live::Loop& loop) {
  Wishes wishes;
  if (loop.ordering() == nullptr) return wishes;
  bool any = false;
  for (const auto& [id, attempt] : loop.jobs().all())
    if (const auto would_be = loop.ordering()->would_be(attempt.number)) {
      wishes[id] = *would_be;
      any = any || would_be->order != attempt.seen.order;
    }
  return any ? wishes : Wishes();
}

Result<TwoForecasts> forecast_ordered(QueueSnapshot& snapshot,
                                      const std::vector<live::Ordering::WouldBe>& would_be,
                                      const QueueForecast& as_it_is,
                                      const std::function<Result<QueueForecast>()>& forecast) {
  OrderEffect effect;
  std::vector<bool> changed(snapshot.jobs.size());
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i)
    changed[i] = std::exchange(snapshot.jobs[i].order, would_be[i].order) != would_be[i].order;
  auto ordered = forecast();
  if (!ordered) return tl::unexpected(ordered.error());
  effect.samples = std::min(as_it_is.samples, ordered->samples);
  Sums all(static_cast<std::size_t>(effect.samples)), unknown(all);
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    const SnapshotJob& job = snapshot.jobs[i];
    const JobForecast& is = as_it_is.jobs[i];
    if (job.started || !starts_always(is) || !starts_always(ordered->jobs[i])) continue;
    const auto waited_s = static_cast<double>((snapshot.now - job.submit).count());
    all.add(waited_s, is, ordered->jobs[i]);
    if (!would_be[i].known) unknown.add(waited_s, is, ordered->jobs[i]);
    effect.changed += changed[i] ? 1 : 0;
  }
  effect.waiting = all.jobs;
  effect.now = all.means(all.now);
  effect.would_be = all.means(all.would_be);
  effect.change_pct = all.change_pct();
  effect.unknown = unknown.jobs;
  effect.unknown_now = unknown.means(unknown.now);
  effect.unknown_would_be = unknown.means(unknown.would_be);
  return TwoForecasts{std::move(*ordered), effect};
}

Document order_effect_document(const OrderEffect& effect) {
  return {
      {"waiting", effect.waiting},
      {"changed", effect.changed},
      {"samples", effect.samples},
      {"wait_s", {{"now", document_of(effect.now)}, {"would_be", document_of(effect.would_be)}}},
      {"change_pct", document_of(effect.change_pct)},
      {"unknown",
       {{"waiting", effect.unknown},
        {"wait_s",
         {{"now", document_of(effect.unknown_now)},
          {"would_be", document_of(effect.unknown_would_be)}}}}}};
}

}  // namespace schedmate::daemon
