// SPDX-License-Identifier: Apache-2.0
#include "elastic/node_placer.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>
#include <utility>

#include "base/check.hpp"

namespace schedmate::elastic {
namespace {

constexpr std::int32_t most_gpus_of_a_node = 64;

}  // namespace

/// The least sum that is no less; all where no smaller one is.
std::int32_t NodePlacer::SumsOnNode::least_from(std::int32_t need) const {
  if (need >= whole) return whole;
  const std::uint64_t enough = sums >> static_cast<std::uint32_t>(need);
  return enough == 0 ? whole : need + std::countr_zero(enough);
}

void NodePlacer::SumsOnNode::add(std::int32_t gpus) {
  if (gpus < most_gpus_of_a_node) sums |= sums << static_cast<std::uint32_t>(gpus);
  whole += gpus;
}

bool NodePlacer::SumsOnNode::makes(std::int32_t gpus) const {
  return gpus == whole || (gpus < whole && ((sums >> static_cast<std::uint32_t>(gpus)) & 1U) != 0);
}

NodePlacer::NodePlacer(const ElasticCluster& cluster, PlacementRule rule) : rule_(rule) {
  for (const GpuType& type : cluster.types) {
    SCHEDMATE_CHECK(type.gpus_per_node <= most_gpus_of_a_node, "a node's sums fit a word");
    types_.push_back(
        {type.gpus_per_node, std::vector<Node>(static_cast<std::size_t>(type.nodes)), 0});
  }
}

RoundOfPlaces NodePlacer::place(std::span<const PlacedJob> jobs) {
  begin(jobs);
  for (const std::uint32_t job : now_)
    if (!keep(job)) queue_.push_back(job);
  std::ranges::sort(queue_, [this](auto one, auto two) { return larger(one, two); });
  while (next_ < queue_.size()) {
    const std::uint32_t job = queue_[next_++];
    if (!place_parts(job)) unplaced_.push_back(job);
  }
  for (const std::uint32_t job : now_)
    if (goes_on(job) && !jobs_[job].now.place.empty() &&
        jobs_[job].now.place != jobs_[job].before.place)
      moved_.push_back(job);
  return {moved_, unplaced_};
}

void NodePlacer::begin(std::span<const PlacedJob> jobs) {
  for (TypeNodes& type : types_) {
    std::ranges::fill(type.nodes, Node{type.gpus_per_node, nobody});
    type.pointer = 0;
  }
  for (std::vector<std::uint32_t>* list : {&now_, &queue_, &moved_, &unplaced_}) list->clear();
  next_ = 0;
  ++round_;
  for (const PlacedJob& placed : jobs)
    if (!placed.wanted->placement.empty()) enter(placed);
}

void NodePlacer::enter(const PlacedJob& placed) {
  if (placed.job >= jobs_.size()) jobs_.resize(std::size_t{placed.job} + 1);
  JobPlaces& job = jobs_[placed.job];
  SCHEDMATE_CHECK(job.round < round_, "a job comes once in a round");
  SCHEDMATE_CHECK(placed.wanted->type < types_.size(), "a job's GPUs are of the cluster");
  std::swap(job.before, job.now);
  if (job.round + 1 != round_) job.before.place.clear();  // it came back
  job.round = round_;
  job.now.type = placed.wanted->type;
  job.now.wanted = placed.wanted->placement;
  job.now.place.clear();
  job.largest = std::ranges::max(job.now.wanted);
  job.gpus = replicas_of(job.now.wanted);
  job.order = now_.size();
  now_.push_back(placed.job);
}

/// As in the last round, in which it had a place.
bool NodePlacer::goes_on(std::uint32_t job) const {
  const Placing& now = jobs_[job].now;
  const Placing& before = jobs_[job].before;
  return !before.place.empty() && now.type == before.type && now.wanted == before.wanted;
}

/// What it had, if the rule keeps anything.
bool NodePlacer::keep(std::uint32_t job) {
  if (rule_ != PlacementRule::smart || !goes_on(job)) return false;
  for (const NodeShare& share : jobs_[job].before.place)
    take(job, static_cast<std::size_t>(share.node), share.gpus);
  settle(job);
  return true;
}

void NodePlacer::take(std::uint32_t job, std::size_t node, std::int32_t gpus) {
  Node& at = types_[jobs_[job].now.type].nodes[node];
  at.free -= gpus;
  SCHEDMATE_CHECK(at.free >= 0, "a node has no more GPUs than it has");
  jobs_[job].now.place.push_back({static_cast<std::int32_t>(node), gpus});
}

/// It has all its parts.
void NodePlacer::settle(std::uint32_t job) {
  auto& place = jobs_[job].now.place;
  std::ranges::sort(place, {}, &NodeShare::node);
  if (place.size() != 1) return;
  Node& node = types_[jobs_[job].now.type].nodes[static_cast<std::size_t>(place.front().node)];
  jobs_[job].next = node.first;
  node.first = job;
}

void NodePlacer::leave(std::uint32_t job) {
  auto& [type, wanted, place] = jobs_[job].now;
  for (const NodeShare& share : place)
    types_[type].nodes[static_cast<std::size_t>(share.node)].free += share.gpus;
  place.clear();
}

bool NodePlacer::place_parts(std::uint32_t job) {
  const std::uint16_t type = jobs_[job].now.type;
  parts_ = jobs_[job].now.wanted;
  std::ranges::sort(parts_, std::greater<>());
  for (const std::int32_t gpus : parts_) {
    const bool possible = gpus >= 1 && gpus <= types_[type].gpus_per_node;
    std::optional<Room> room;
    if (possible)
      room = rule_ == PlacementRule::packed ? packed_room(job, gpus) : smart_room(job, gpus);
    if (!room) {
      leave(job);
      return false;
    }
    if (room->away > 0) send_away(types_[type].nodes[room->node], gpus, room->away);
    take(job, room->node, gpus);
  }
  settle(job);
  return true;
}

/// The next node with room, from where the last one was found.
std::optional<NodePlacer::Room> NodePlacer::packed_room(std::uint32_t job, std::int32_t gpus) {
  TypeNodes& type = types_[jobs_[job].now.type];
  for (std::size_t step = 0; step < type.nodes.size(); ++step) {
    const std::size_t node = (type.pointer + step) % type.nodes.size();
    if (type.nodes[node].free < gpus || has_part_on(job, node)) continue;
    type.pointer = node;
    return Room{node, 0};
  }
  return std::nullopt;
}

/// Where the fewest GPUs must go, then where the fewest stay free. Of equal nodes a job that is on
/// several has the last, another the first: so both kinds keep out of each other's way.
std::optional<NodePlacer::Room> NodePlacer::smart_room(std::uint32_t job, std::int32_t gpus) const {
  const std::vector<Node>& nodes = types_[jobs_[job].now.type].nodes;
  const bool from_last = jobs_[job].now.wanted.size() > 1;
  const auto choose = [&](auto away_from) {
    std::optional<Room> best;
    for (std::size_t step = 0; step < nodes.size(); ++step) {
      const std::size_t node = from_last ? nodes.size() - 1 - step : step;
      if (has_part_on(job, node)) continue;
      const std::optional<std::int32_t> away = away_from(nodes[node]);
      if (!away) continue;
      const auto worth = [&](const Room& room) {
        return std::pair(room.away, nodes[room.node].free);
      };
      const Room room{node, *away};
      if (!best || worth(room) < worth(*best)) best = room;
    }
    return best;
  };
  const auto as_it_is =
      choose([&](const Node& node) { return node.free >= gpus ? std::optional(0) : std::nullopt; });
  return as_it_is ? as_it_is : choose([&](const Node& node) { return least_away(node, gpus); });
}

/// The fewest GPUs of smaller jobs that must go for so many to be free; nothing when all are not
/// enough. Jobs on several nodes stay.
std::optional<std::int32_t> NodePlacer::least_away(const Node& node, std::int32_t gpus) const {
  SumsOnNode smaller;
  for (std::uint32_t job = node.first; job != nobody; job = jobs_[job].next)
    if (jobs_[job].gpus < gpus) smaller.add(jobs_[job].gpus);
  const std::int32_t need = gpus - node.free;
  return need > smaller.whole ? std::nullopt : std::optional(smaller.least_from(need));
}

/// Jobs on the node, less than `gpus` each, that have `away` together.
void NodePlacer::send_away(Node& node, std::int32_t gpus, std::int32_t away) {
  SumsOnNode smaller;
  leaving_.clear();
  for (std::uint32_t* link = &node.first; *link != nobody;) {
    const std::uint32_t job = *link;
    JobPlaces& places = jobs_[job];
    if (places.gpus >= gpus) {
      link = &places.next;
      continue;
    }
    *link = places.next;  // those that stay come back below
    leaving_.emplace_back(job, smaller);
    smaller.add(places.gpus);
  }
  for (; !leaving_.empty(); leaving_.pop_back()) {
    const auto& [job, others] = leaving_.back();
    if (others.makes(away)) {
      jobs_[job].next = node.first;
      node.first = job;
      continue;
    }
    away -= jobs_[job].gpus;
    leave(job);
    const auto waiting = queue_.begin() + static_cast<std::ptrdiff_t>(next_);
    queue_.insert(std::lower_bound(waiting, queue_.end(), job,
                                   [this](auto one, auto two) { return larger(one, two); }),
                  job);
  }
}

/// Whose turn is first. With largest parts first a place is always found where jobs that are there
/// have to go for others.
bool NodePlacer::larger(std::uint32_t one, std::uint32_t two) const {
  const auto rank = [this](std::uint32_t job) {
    const JobPlaces& places = jobs_[job];
    const bool packed = rule_ == PlacementRule::packed;
    return std::tuple(packed ? -places.gpus : -places.largest, -places.gpus, places.order);
  };
  return rank(one) < rank(two);
}

bool NodePlacer::has_part_on(std::uint32_t job, std::size_t node) const {
  const auto& place = jobs_[job].now.place;
  return std::ranges::find(place, static_cast<std::int32_t>(node), &NodeShare::node) != place.end();
}

std::span<const NodeShare> NodePlacer::place_of(std::uint32_t job) const {
  if (job >= jobs_.size() || jobs_[job].round != round_) return {};
  return jobs_[job].now.place;
}

std::int32_t NodePlacer::free_gpus(std::uint16_t type, std::int32_t node) const {
  return types_[type].nodes[static_cast<std::size_t>(node)].free;
}

}  // namespace schedmate::elastic
