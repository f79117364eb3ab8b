// SPDX-License-Identifier: Apache-2.0
#include "policy/slurm_backfill_map.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace schedmate::policy {
namespace {
constexpr std::int64_t beyond = std::numeric_limits<std::int64_t>::max() / 2;
}

FreeMap::FreeMap(FreeTimes& running, const Cluster& cluster, const Grid& grid)
    : running_(running),
      cluster_(cluster),
      grid_(grid),
      first_(slot_at(grid.now)),
      last_(slot_at(grid.now + grid.window)) {
  candidates_.resize(static_cast<std::size_t>(cluster_.gpus_per_node()) + 1);
  if (running_.together()) return;
  Profile all{{first_, cluster_.free_gpus()}};
  for (const FreeTimes::End& end : running_.ends()) {
    const Slot slot = slot_after(end.at);
    if (slot > last_) break;
    const int free = all.back().free + end.gpus;
    if (slot == all.back().from) {
      all.back().free = free;
    } else {
      all.push_back({slot, free});
    }
  }
  reserve_on(0) = std::move(all);
}

const FreeMap::Profile* FreeMap::reserved(std::uint32_t node) const {
  const std::uint32_t index = node < profile_of_node_.size() ? profile_of_node_[node] : 0;
  return index == 0 ? nullptr : &profiles_[index - 1];
}

FreeMap::Profile& FreeMap::reserve_on(std::uint32_t node) {
  if (profile_of_node_.empty()) profile_of_node_.resize(std::max(cluster_.node_end(), node + 1));
  std::uint32_t& index = profile_of_node_[node];
  if (index == 0) {
    profiles_.push_back(running_.together() ? profile_of(node) : Profile());
    index = static_cast<std::uint32_t>(profiles_.size());
  }
  return profiles_[index - 1];
}

FreeMap::Slot FreeMap::slot_at(SimTime when) const {
  return seconds_of(round_up(when - grid_.resolution + Seconds(1), grid_.resolution)) /
         grid_.resolution.count();
}

FreeMap::Slot FreeMap::slot_after(SimTime when) const {
  if (when <= grid_.now) return first_;
  const Slot slot = seconds_of(when) / grid_.resolution.count();
  return slot + (seconds_of(when) % grid_.resolution.count() > 0 ? 1 : 0);
}

FreeMap::Stretch FreeMap::from_now(Seconds run_time) const {
  return {first_, slot_after(grid_.now + run_time) - first_};
}

FreeMap::Profile FreeMap::profile_of(std::uint32_t node) const {
  Profile profile{{first_, 0}};
  for (int gpus = 1; gpus <= cluster_.gpus_per_node(); ++gpus) {
    const Slot slot = slot_after(running_.ready(node, gpus));
    if (slot != profile.back().from) profile.push_back({slot, 0});
    profile.back().free = gpus;
  }
  return profile;
}

/// The first start from wanted.from on of a stretch with that many free GPUs throughout.
FreeMap::Slot FreeMap::first_gap(const Profile& profile, int gpus, Stretch wanted) {
  Slot start = beyond;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const Slot end = i + 1 < profile.size() ? profile[i + 1].from : beyond;
    if (end <= wanted.from) continue;
    if (profile[i].free < gpus) {
      start = beyond;
      continue;
    }
    if (start == beyond) start = std::max(profile[i].from, wanted.from);
    if (end - start >= wanted.length) return start;
  }
  return beyond;
}

void FreeMap::occupy(Profile& profile, Stretch when, int gpus) {
  const auto cut = [&](Slot slot) {  // the index of the step from there on
    const auto next = std::ranges::lower_bound(profile, slot, {}, &Step::from);
    const auto index = static_cast<std::size_t>(next - profile.begin());
    if (next == profile.end() || next->from != slot) {
      profile.insert(next, Step{slot, profile[index - 1].free});
    }
    return index;
  };
  const auto begin = cut(when.from);
  const auto end = cut(when.from + when.length);
  for (std::size_t i = begin; i < end; ++i) profile[i].free -= gpus;
}

FreeMap::Slot FreeMap::first_fit(std::uint32_t node, int gpus, Stretch wanted) const {
  if (among_ != nullptr && !among_->has(node)) return beyond;
  if (const Profile* profile = reserved(node)) return first_gap(*profile, gpus, wanted);
  return std::max(wanted.from, slot_after(running_.ready(node, gpus)));
}

int FreeMap::free_at(std::uint32_t node, Slot slot) const {
  if (const Profile* profile = reserved(node))
    return std::prev(std::ranges::upper_bound(*profile, slot, {}, &Step::from))->free;
  int gpus = 0;
  while (gpus < cluster_.gpus_per_node() && slot_after(running_.ready(node, gpus + 1)) <= slot) {
    ++gpus;
  }
  return gpus;
}

/// Of stretches that differ in length by less than a factor of 16: nodes by a lower bound of their
/// first fit, which only rises as the map fills up.
FreeMap::Candidates& FreeMap::candidates(int gpus, Slot length) {
  constexpr int bits = 4;
  const auto kind =
      static_cast<std::size_t>((std::bit_width(static_cast<std::uint64_t>(length)) - 1) / bits);
  auto& of_gpus = candidates_[static_cast<std::size_t>(gpus)];
  if (of_gpus.size() <= kind) of_gpus.resize(kind + 1);
  Candidates& made = of_gpus[kind];
  if (made.length > 0) return made;
  made.length = Slot(1) << (kind * bits);
  for (const auto& [when, node] : running_.order(gpus)) {
    const Slot ready = slot_after(when);
    if (ready > last_) break;
    made.nodes.push_back({ready, node});  // in order, hence a heap
  }
  return made;
}

/// Calls action(node, first fit) for all nodes that may have one by the slot that it returns.
template <class Action>
void FreeMap::for_each_fit(int gpus, Stretch wanted, const Action& action) {
  auto& [nodes, least] = candidates(gpus, wanted.length);
  looked_at_.clear();
  for (Slot until = last_; !nodes.empty() && nodes.front().from <= until;) {
    std::ranges::pop_heap(nodes, std::ranges::greater(), &NodeFrom::from);
    auto& [from, node] = nodes.back();
    if (const Slot bound = first_fit(node, gpus, {first_, least}); bound > from) {
      from = bound;
      std::ranges::push_heap(nodes, std::ranges::greater(), &NodeFrom::from);
      continue;
    }
    looked_at_.push_back(nodes.back());
    nodes.pop_back();
    until = action(node, first_fit(node, gpus, wanted));
  }
  for (const NodeFrom& each : looked_at_) {
    nodes.push_back(each);
    std::ranges::push_heap(nodes, std::ranges::greater(), &NodeFrom::from);
  }
}

/// From when on that many nodes have had a first fit.
FreeMap::Slot FreeMap::nth_node(const FreeTimes::Need& need, Stretch wanted) {
  std::priority_queue<Slot> fits;
  const auto count = static_cast<std::size_t>(need.nodes);
  for_each_fit(need.gpus, wanted, [&](std::uint32_t, Slot fit) {
    fits.push(fit);
    if (fits.size() > count) fits.pop();
    return fits.size() == count ? fits.top() - 1 : last_;
  });
  return fits.size() == count ? fits.top() : beyond;
}

/// The nodes of a gang must fit at the same time: each round goes on to the first instant by which
/// enough of them have fitted, which no right start can precede.
FreeMap::Slot FreeMap::earliest(int gang, Stretch wanted) {
  if (!running_.together()) return first_fit(0, gang, wanted);
  const auto needs = running_.needs(gang);
  while (wanted.from <= last_) {
    Slot start = nth_node(needs[0], wanted);
    if (needs[1].gpus != needs[0].gpus) start = std::max(start, nth_node(needs[1], wanted));
    if (start == wanted.from) break;
    wanted.from = start;
    if (gang <= cluster_.gpus_per_node()) break;
  }
  return wanted.from;
}

bool FreeMap::all_fit(std::span<const Share> where, Stretch wanted) const {
  return std::ranges::all_of(
      where, [&](const Share& share) { return fits(share.node, share.gpus, wanted); });
}

Shares FreeMap::now(const Request& request) {
  if (!cluster_.fits(request.gang)) return {};
  if (running_.together()) among_ = request.nodes;
  const Stretch wanted = from_now(request.run_time);
  const Bounds::Asked asked{request.gang, wanted.length, among_};
  if (refused_now_.raise(asked, first_) > first_) return {};
  Shares where = find_now(request, wanted);
  if (where.empty()) refused_now_.add(asked, first_ + 1);
  return where;
}

Shares FreeMap::find_now(const Request& request, Stretch wanted) const {
  if (!running_.together())
    return fits(0, request.gang, wanted) ? Shares{{0, request.gang}} : Shares{};
  if (!request.preferred.empty() && all_fit(request.preferred, wanted))
    return {request.preferred.begin(), request.preferred.end()};
  return request.gang <= cluster_.gpus_per_node() ? one_node_now(request.gang, wanted)
                                                  : nodes_now(request.gang, wanted);
}

/// The fullest node that will do.
Shares FreeMap::one_node_now(int gang, Stretch wanted) const {
  for (int free = gang; free <= cluster_.gpus_per_node(); ++free) {
    for (auto node = cluster_.node_with_free(free, 0); node != UINT32_MAX;
         node = cluster_.node_with_free(free, node + 1)) {
      if (fits(node, gang, wanted)) return {{node, gang}};
    }
  }
  return {};
}

/// The lowest wholly free nodes, and for the remainder the emptiest one besides.
Shares FreeMap::nodes_now(int gang, Stretch wanted) const {
  const int per_node = cluster_.gpus_per_node();
  Shares where;
  const auto take = [&](int free, int gpus) {
    for (auto node = cluster_.node_with_free(free, 0); node != UINT32_MAX && gang >= gpus;
         node = cluster_.node_with_free(free, node + 1)) {
      const bool taken =
          gpus < per_node && std::ranges::find(where, node, &Share::node) != where.end();
      if (taken || !fits(node, gpus, wanted)) continue;
      where.push_back({node, gpus});
      gang -= gpus;
    }
  };
  take(per_node, per_node);
  if (gang >= per_node) return {};
  for (int free = per_node; gang > 0 && free >= gang; --free) take(free, gang);
  return gang == 0 ? where : Shares{};
}

Shares FreeMap::one_node_later(int gang, Stretch wanted) const {
  std::pair best{std::numeric_limits<int>::max(), UINT32_MAX};
  for (const auto& [when, node] : running_.order(gang)) {
    if (slot_after(when) > wanted.from) break;
    if (fits(node, gang, wanted)) best = std::min(best, {free_at(node, wanted.from), node});
  }
  return {{best.second, gang}};
}

Shares FreeMap::nodes_later(int gang, Stretch wanted) const {
  const int per_node = cluster_.gpus_per_node();
  std::vector<std::uint32_t> whole;
  for (const auto& [when, node] : running_.order(per_node)) {
    if (slot_after(when) > wanted.from) break;
    if (fits(node, per_node, wanted)) whole.push_back(node);
  }
  std::ranges::sort(whole);
  whole.resize(static_cast<std::size_t>(gang / per_node));
  Shares where;
  for (const std::uint32_t node : whole) where.push_back({node, per_node});
  const int rest = gang % per_node;
  std::pair best{0, UINT32_MAX};  // minus its free GPUs, node
  for (int free = per_node; rest > 0 && free >= rest && -best.first <= free; --free) {
    for (const auto& [when, node] : running_.order(free)) {
      if (slot_after(when) > wanted.from) break;
      if (std::ranges::binary_search(whole, node) || !fits(node, rest, wanted)) continue;
      best = std::min(best, {-free_at(node, wanted.from), node});
    }
  }
  if (rest > 0) where.push_back({best.second, rest});
  return where;
}

void FreeMap::started(std::span<const Share> where, Seconds run_time) {
  for (const Share& share : where) {
    if (reserved(share.node) != nullptr)
      occupy(reserve_on(share.node), from_now(run_time), share.gpus);
  }
}

FreeMap::Slot FreeMap::Bounds::raise(const Asked& asked, Slot start) const {
  for (const Bound& bound : bounds_)
    if (bound.asked.gang <= asked.gang && bound.asked.length <= asked.length &&
        (bound.asked.nodes == nullptr || bound.asked.nodes == asked.nodes))
      start = std::max(start, bound.start);
  return start;
}

void FreeMap::Bounds::add(const Asked& asked, Slot start) {
  std::erase_if(bounds_, [&](const Bound& other) {
    return other.asked.gang >= asked.gang && other.asked.length >= asked.length &&
           other.asked.nodes == asked.nodes && other.start <= start;
  });
  bounds_.push_back({asked, start});
}

std::optional<FreeMap::Reservation> FreeMap::reserve(const Request& request) {
  const Seconds slots =
      (request.run_time + grid_.resolution - Seconds(1)) / grid_.resolution.count();
  if (running_.together()) among_ = request.nodes;
  const Bounds::Asked asked{request.gang, slots.count(), among_};
  Stretch wanted{reserved_.raise(asked, first_ + 1), slots.count()};
  if (wanted.from > last_) return std::nullopt;
  wanted.from = earliest(request.gang, wanted);
  reserved_.add(asked, wanted.from);
  if (wanted.from > last_) return std::nullopt;
  Reservation made{at(wanted.from * grid_.resolution.count()), {}};
  if (!running_.together()) {
    made.where = {{0, request.gang}};
  } else if (!request.preferred.empty() && all_fit(request.preferred, wanted)) {
    made.where.assign(request.preferred.begin(), request.preferred.end());
  } else {
    made.where = request.gang <= cluster_.gpus_per_node() ? one_node_later(request.gang, wanted)
                                                          : nodes_later(request.gang, wanted);
  }
  const bool whole = grid_.whole_nodes && running_.together();
  for (const Share& share : made.where)
    occupy(reserve_on(share.node), wanted, whole ? cluster_.gpus_per_node() : share.gpus);
  return made;
}

}  // namespace schedmate::policy
