// SPDX-License-Identifier: Apache-2.0
#include "elastic/rigid_queue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>
#include <unordered_map>

#include "elastic/elastic_policies.hpp"

namespace schedmate::elastic {
namespace {

GpusByNode packed_placement(const GpuType& type, std::int32_t gpus) {
  GpusByNode placement(static_cast<std::size_t>(gpus / type.gpus_per_node), type.gpus_per_node);
  if (const std::int32_t rest = gpus % type.gpus_per_node; rest > 0) placement.push_back(rest);
  return placement;
}

/// Fills what is known of the training at this batch, from its last epoch backwards.
void add_training(RigidPlace& place, const ElasticRun& run, double batch) {
  const TrainingTable& training = run.application().training;
  const std::size_t epochs = training.epochs();
  place.speed.resize(epochs);
  place.later_s.resize(epochs);
  double later_s = 0;
  for (std::size_t epoch = epochs; epoch-- > 0;) {
    const double gained = gain(training.noise_at(batch, epoch), batch, training.initial_batch());
    place.speed[epoch] = gained * place.steps_per_s;
    place.later_s[epoch] = later_s;
    const double begin = epoch == 0 ? 0 : training.end_of(epoch - 1);
    const double end = std::min(training.end_of(epoch), run.whole_progress());
    later_s += std::max(end - begin, 0.0) / place.speed[epoch];
  }
}

std::optional<RigidPlace> rigid_place(const ElasticRun& run, const Assignment& at) {
  const BatchChoice batch = run.batch_at(at);
  const auto sample = run.application().tables[at.type]->at(at.placement, batch.atomic_batch);
  if (!sample) return std::nullopt;
  const double step_s = sample->step_s + batch.accumulation * (sample->step_s - sample->sync_s);
  RigidPlace place{at, 1 / (step_s * run.application().traits.slowdown), {}, {}};
  const double total = static_cast<double>(replicas_of(at.placement)) * batch.atomic_batch *
                       (batch.accumulation + 1);
  add_training(place, run, total);
  return place;
}

/// The places of jobs, each reckoned once.
class KnownRigidPlaces {
 public:
  const RigidPlaces& of(const ElasticView& view, std::size_t entry) {
    const ElasticRun* const run = view.active[entry];
    auto known = places_.find(run);
    if (known == places_.end())
      known = places_.emplace(run, rigid_places(*run, view.cluster)).first;
    return known->second;
  }

 private:
  std::unordered_map<const ElasticRun*, RigidPlaces> places_;
};

/// Of the places with room the one where the job ends first; nothing when there is none.
const RigidPlace* fastest_with_room(const ElasticRun& run, const RigidPlaces& places,
                                    const RigidPlan& plan) {
  const RigidPlace* best = nullptr;
  double least_s = 0;
  for (const auto& place : places) {
    if (!place || !plan.has_room(*place)) continue;
    const double left_s = remaining_s(run, *place);
    if (best != nullptr && left_s >= least_s) continue;
    best = &*place;
    least_s = left_s;
  }
  return best;
}

class ElasticFifo {
 public:
  ElasticPlan operator()(const ElasticView& view) {
    RigidPlan plan(view);
    plan.keep_all();
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      if (plan.has(i)) continue;
      const auto* const place = fastest_with_room(*view.active[i], places_.of(view, i), plan);
      if (place == nullptr) break;
      plan.give(i, place->at);
    }
    return plan.take();
  }

 private:
  KnownRigidPlaces places_;
};

class ElasticSrtf {
 public:
  ElasticPlan operator()(const ElasticView& view) {
    RigidPlan plan(view);
    for (const std::size_t entry : order(view)) {
      if (plan.has(entry)) continue;
      if (const RigidPlace* const place = choice(view, entry, plan)) plan.give(entry, place->at);
    }
    return plan.take();
  }

 private:
  /// By the time that remains on the type where it is shortest, then by submission.
  std::vector<std::size_t> order(const ElasticView& view) {
    std::vector<double> left_s;
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      double least_s = HUGE_VAL;
      for (const auto& place : places_.of(view, i))
        if (place) least_s = std::min(least_s, remaining_s(*view.active[i], *place));
      left_s.push_back(least_s);
    }
    std::vector<std::size_t> entries(view.active.size());
    std::iota(entries.begin(), entries.end(), std::size_t{0});
    std::ranges::stable_sort(entries, {}, [&](std::size_t entry) { return left_s[entry]; });
    return entries;
  }

  const RigidPlace* choice(const ElasticView& view, std::size_t entry, const RigidPlan& plan) {
    const ElasticRun& run = *view.active[entry];
    const RigidPlaces& places = places_.of(view, entry);
    const RigidPlace* const best = fastest_with_room(run, places, plan);
    if (best == nullptr || !run.runs() || best->at == run.held()) return best;
    const auto& here = places[run.held().type];
    if (!here || !plan.has_room(*here)) return best;
    const double saved_s = remaining_s(run, *here) - remaining_s(run, *best);
    return saved_s > run.application().traits.restart_s ? best : &*here;
  }

  KnownRigidPlaces places_;
};

}  // namespace

RigidPlaces rigid_places(const ElasticRun& run, const ElasticCluster& cluster) {
  RigidPlaces places(cluster.types.size());
  bool possible = false;
  for (std::int32_t gpus = run.job().replicas; gpus > 0 && !possible; --gpus) {
    for (std::size_t type = 0; type < places.size(); ++type) {
      if (!run.application().tables[type] || gpus > cluster.types[type].gpus()) continue;
      places[type] = rigid_place(
          run, {static_cast<std::uint16_t>(type), packed_placement(cluster.types[type], gpus)});
      possible = possible || places[type];
    }
  }
  return places;
}

double remaining_s(const ElasticRun& run, const RigidPlace& place) {
  const TrainingTable& training = run.application().training;
  const auto epochs = std::views::iota(std::size_t{0}, training.epochs() - 1);
  const std::size_t epoch = *std::ranges::partition_point(
      epochs, [&](std::size_t each) { return training.end_of(each) <= run.progress(); });
  const double end = std::min(training.end_of(epoch), run.whole_progress());
  return std::max(end - run.progress(), 0.0) / place.speed[epoch] + place.later_s[epoch];
}

RigidPlan::RigidPlan(const ElasticView& view) : view_(view) {
  plan_.held.resize(view.active.size());
  plan_.measured.resize(view.active.size());
  for (const GpuType& type : view.cluster.types) free_.push_back(type.gpus());
  for (std::size_t i = 0; i < view.active.size(); ++i)
    if (view.active[i]->pinned()) give(i, view.active[i]->held());
}

void RigidPlan::keep_all() {
  for (std::size_t i = 0; i < view_.active.size(); ++i)
    if (!has(i) && view_.active[i]->runs()) give(i, view_.active[i]->held());
}

bool RigidPlan::has_room(const RigidPlace& place) const {
  return replicas_of(place.at.placement) <= free_[place.at.type];
}

void RigidPlan::give(std::size_t entry, const Assignment& what) {
  plan_.held[entry] = what;
  free_[what.type] -= replicas_of(what.placement);
}

ElasticPolicy elastic_fifo_policy() { return ElasticFifo(); }
ElasticPolicy elastic_srtf_policy() { return ElasticSrtf(); }

// Neither leaves anything to chance, so `ties` changes nothing.
Result<ElasticPolicy> make_elastic_fifo(PolicyOptions& /*options*/, std::uint64_t /*ties*/) {
  return elastic_fifo_policy();
}
Result<ElasticPolicy> make_elastic_srtf(PolicyOptions& /*options*/, std::uint64_t /*ties*/) {
  return elastic_srtf_policy();
}

}  // namespace schedmate::elastic
