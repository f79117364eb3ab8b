// SPDX-License-Identifier: Apache-2.0
#include "elastic/node_placer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/random.hpp"
#include "tests/support/effort.hpp"

namespace schedmate::elastic {
namespace {

using Wishes = std::map<std::uint32_t, Assignment>;

/// Takes the jobs in the order of their numbers.
RoundOfPlaces place_round(NodePlacer& placer, const Wishes& wishes) {
  std::vector<PlacedJob> jobs;
  for (const auto& [job, wanted] : wishes) jobs.push_back({job, &wanted});
  return placer.place(jobs);
}

std::vector<std::uint32_t> numbers(std::span<const std::uint32_t> jobs) {
  std::vector<std::uint32_t> all(jobs.begin(), jobs.end());
  std::ranges::sort(all);
  return all;
}

std::vector<NodeShare> share_list(const NodePlacer& placer, std::uint32_t job) {
  const auto shares = placer.place_of(job);
  return {shares.begin(), shares.end()};
}

Assignment on(GpusByNode placement, std::uint16_t type = 0) { return {type, std::move(placement)}; }

ElasticCluster nodes_of(std::int32_t nodes, std::int32_t gpus_per_node) {
  return {"one", {GpuType{"a", nodes, gpus_per_node, nodes}}};
}

ElasticCluster three_types() {
  return {"three", {{"a", 6, 4, 6}, {"b", 5, 8, 3}, {"c", 3, 16, 3}}};
}

/// Whoever has a place has what it wants, on nodes of its own, and no node gives more than it has.
void check_places(const NodePlacer& placer, const ElasticCluster& cluster, const Wishes& wishes) {
  std::map<std::pair<std::uint16_t, std::int32_t>, std::int32_t> used;
  for (const auto& [job, wanted] : wishes) {
    GpusByNode given;
    std::set<std::int32_t> nodes;
    for (const NodeShare& share : placer.place_of(job)) {
      given.push_back(share.gpus);
      CHECK(nodes.insert(share.node).second);
      CHECK(share.node < cluster.types[wanted.type].nodes);
      used[{wanted.type, share.node}] += share.gpus;
    }
    GpusByNode parts = wanted.placement;
    std::ranges::sort(parts);
    std::ranges::sort(given);
    CHECK((given.empty() || given == parts));
  }
  const auto types = static_cast<std::uint16_t>(cluster.types.size());
  for (std::uint16_t type = 0; type < types; ++type)
    for (std::int32_t node = 0; node < cluster.types[type].nodes; ++node) {
      const std::int32_t free = placer.free_gpus(type, node);
      CHECK(free >= 0);
      CHECK(free == cluster.types[type].gpus_per_node - used[{type, node}]);
    }
}

/// Jobs that come, go, grow and shrink at random within the GPUs that there are.
class RandomRounds {
 public:
  RandomRounds(const ElasticCluster& cluster, std::uint64_t seed)
      : cluster_(cluster), all_(configurations_of(cluster)), random_(seed) {}

  const Wishes& next() {
    std::vector<std::int32_t> left;
    for (const GpuType& type : cluster_.types) left.push_back(type.gpus());
    Wishes next;
    for (const auto& [job, wanted] : wishes_)
      if (random_.uniform() < 0.7) add(next, job, wanted, left);
    for (std::uint32_t job = 0; job < 40; ++job) {
      if (next.contains(job) || random_.uniform() < 0.5) continue;
      const Configuration& drawn =
          all_[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(all_.size())))];
      add(next, job,
          {drawn.type, GpusByNode(static_cast<std::size_t>(drawn.nodes), drawn.gpus / drawn.nodes)},
          left);
    }
    wishes_ = std::move(next);
    return wishes_;
  }

 private:
  static void add(Wishes& wishes, std::uint32_t job, const Assignment& wanted,
                  std::vector<std::int32_t>& left) {
    const std::int32_t gpus = replicas_of(wanted.placement);
    if (gpus > left[wanted.type]) return;
    left[wanted.type] -= gpus;
    wishes.emplace(job, wanted);
  }

  const ElasticCluster& cluster_;
  std::vector<Configuration> all_;
  Random random_;
  Wishes wishes_;
};

TEST_CASE("node placer: configurations always find a place, and smart moves fewer jobs") {
  const ElasticCluster cluster = three_types();
  std::size_t packed_moves = 0;
  std::size_t smart_moves = 0;
  for (std::uint64_t seed = 1; seed <= testing::cases(100); ++seed) {
    CAPTURE(seed);
    RandomRounds rounds(cluster, seed);
    NodePlacer packed(cluster, PlacementRule::packed);
    NodePlacer smart(cluster, PlacementRule::smart);
    for (int round = 0; round < 20; ++round) {
      const Wishes& wishes = rounds.next();
      const RoundOfPlaces by_packed = place_round(packed, wishes);
      const RoundOfPlaces by_smart = place_round(smart, wishes);
      CHECK(by_packed.unplaced.empty());
      CHECK(by_smart.unplaced.empty());
      packed_moves += by_packed.moved.size();
      smart_moves += by_smart.moved.size();
      check_places(packed, cluster, wishes);
      check_places(smart, cluster, wishes);
    }
  }
  CHECK(smart_moves > 0);
  CHECK(4 * smart_moves < packed_moves);
}

TEST_CASE("node placer: what is said to have moved did, and nothing else") {
  const ElasticCluster cluster = three_types();
  for (const PlacementRule rule : {PlacementRule::packed, PlacementRule::smart}) {
    RandomRounds rounds(cluster, 7);
    NodePlacer placer(cluster, rule);
    Wishes before;
    std::map<std::uint32_t, std::vector<NodeShare>> was;
    for (int round = 0; round < 50; ++round) {
      const Wishes& wishes = rounds.next();
      const std::vector<std::uint32_t> reported = numbers(place_round(placer, wishes).moved);
      std::vector<std::uint32_t> moved;
      for (const auto& [job, wanted] : wishes)
        if (before.contains(job) && before[job] == wanted && was[job] != share_list(placer, job))
          moved.push_back(job);
      CHECK(reported == moved);
      before = wishes;
      for (const auto& [job, wanted] : wishes) was[job] = share_list(placer, job);
    }
  }
}

TEST_CASE("node placer: nothing moves where nothing changes, or jobs only end") {
  const ElasticCluster cluster = three_types();
  NodePlacer placer(cluster, PlacementRule::smart);
  RandomRounds rounds(cluster, 3);
  for (int round = 0; round < 20; ++round) {
    Wishes wishes = rounds.next();
    (void)place_round(placer, wishes);
    CHECK(place_round(placer, wishes).moved.empty());
    std::erase_if(wishes, [](const auto& wish) { return wish.first % 3 == 0; });
    CHECK(place_round(placer, wishes).moved.empty());
  }
}

TEST_CASE("node placer: equal rounds give equal places") {
  const ElasticCluster cluster = three_types();
  for (const PlacementRule rule : {PlacementRule::packed, PlacementRule::smart}) {
    NodePlacer one(cluster, rule);
    NodePlacer two(cluster, rule);
    RandomRounds rounds(cluster, 5);
    for (int round = 0; round < 30; ++round) {
      const Wishes& wishes = rounds.next();
      CHECK(numbers(place_round(one, wishes).moved) == numbers(place_round(two, wishes).moved));
      for (const auto& [job, wanted] : wishes) CHECK(share_list(one, job) == share_list(two, job));
    }
  }
}

TEST_CASE("node placer: packed takes larger jobs first, node after node") {
  const ElasticCluster cluster = nodes_of(4, 4);
  NodePlacer placer(cluster, PlacementRule::packed);
  const Wishes wishes{{0, on({1})}, {1, on({4, 4})}, {2, on({2})}, {3, on({2})}, {4, on({1})}};
  CHECK(place_round(placer, wishes).unplaced.empty());
  CHECK(share_list(placer, 1) == std::vector<NodeShare>{{0, 4}, {1, 4}});
  CHECK(share_list(placer, 2) == std::vector<NodeShare>{{2, 2}});
  CHECK(share_list(placer, 3) == std::vector<NodeShare>{{2, 2}});
  CHECK(share_list(placer, 0) == std::vector<NodeShare>{{3, 1}});
  CHECK(share_list(placer, 4) == std::vector<NodeShare>{{3, 1}});
}

TEST_CASE("node placer: a larger job pushes others on when packed, and finds its own place else") {
  const ElasticCluster cluster = nodes_of(2, 4);
  NodePlacer packed(cluster, PlacementRule::packed);
  NodePlacer smart(cluster, PlacementRule::smart);
  Wishes wishes{{0, on({2})}};
  (void)place_round(packed, wishes);
  (void)place_round(smart, wishes);
  wishes.emplace(1, on({4}));
  CHECK(numbers(place_round(packed, wishes).moved) == std::vector<std::uint32_t>{0});
  CHECK(place_round(smart, wishes).moved.empty());
  CHECK(share_list(smart, 1) == std::vector<NodeShare>{{1, 4}});
}

TEST_CASE("node placer: smart has jobs of several nodes at the end and fills nodes at the start") {
  const ElasticCluster cluster = nodes_of(5, 4);
  NodePlacer placer(cluster, PlacementRule::smart);
  const Wishes wishes{{0, on({1})}, {1, on({4, 4})}, {2, on({2})}, {3, on({2})}};
  (void)place_round(placer, wishes);
  CHECK(share_list(placer, 1) == std::vector<NodeShare>{{3, 4}, {4, 4}});
  CHECK(share_list(placer, 2) == std::vector<NodeShare>{{0, 2}});
  CHECK(share_list(placer, 3) == std::vector<NodeShare>{{0, 2}});
  CHECK(share_list(placer, 0) == std::vector<NodeShare>{{1, 1}});
}

TEST_CASE("node placer: where GPUs are free in pieces, the fewest of them move") {
  const ElasticCluster cluster = nodes_of(3, 4);
  NodePlacer placer(cluster, PlacementRule::smart);
  Wishes wishes{{0, on({2})}, {1, on({1})}, {2, on({1})}, {3, on({2})},
                {4, on({2})}, {5, on({2})}, {6, on({2})}};
  (void)place_round(placer, wishes);
  CHECK(share_list(placer, 1) == std::vector<NodeShare>{{2, 1}});
  CHECK(share_list(placer, 6) == std::vector<NodeShare>{{2, 2}});
  // Nodes 0 and 1 keep a job of 2, node 2 two of 1.
  for (const std::uint32_t gone : {3U, 5U, 6U}) wishes.erase(gone);
  wishes.erase(2);
  wishes.emplace(7, on({4}));
  const RoundOfPlaces round = place_round(placer, wishes);
  CHECK(round.unplaced.empty());
  CHECK(numbers(round.moved) == std::vector<std::uint32_t>{1});
  CHECK(share_list(placer, 7) == std::vector<NodeShare>{{2, 4}});
}

/// What must go at the least from a node for 4 GPUs of it to be free, by trying all sets of its
/// jobs.
std::int32_t least_sent_away(const NodePlacer& placer, const Wishes& wishes, std::int32_t node) {
  std::vector<std::int32_t> sizes;
  for (const auto& [job, wanted] : wishes)
    for (const NodeShare& share : placer.place_of(job))
      if (share.node == node && share.gpus < 4) sizes.push_back(share.gpus);
  std::int32_t least = 100;
  for (std::uint32_t set = 0; set < (1U << sizes.size()); ++set) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (((set >> i) & 1U) != 0) sum += sizes[i];
    if (placer.free_gpus(0, node) + sum >= 4) least = std::min(least, sum);
  }
  return least;
}

/// Two nodes of 8 with jobs of 1, 2 and 4, of which some have ended.
Wishes in_pieces(NodePlacer& placer, Random& random) {
  Wishes wishes;
  std::int32_t left = 16;
  for (std::uint32_t job = 0; left > 0; ++job) {
    const auto gpus = std::min(left, static_cast<std::int32_t>(1U << random.below(3)));
    if (gpus != 3) wishes.emplace(job, on({gpus}));
    left -= gpus;
  }
  (void)place_round(placer, wishes);
  std::erase_if(wishes, [&](const auto&) { return random.uniform() < 0.3; });
  (void)place_round(placer, wishes);
  return wishes;
}

TEST_CASE("node placer: no other set of jobs on any node would have been smaller") {
  const ElasticCluster cluster = nodes_of(2, 8);
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    NodePlacer placer(cluster, PlacementRule::smart);
    Wishes wishes = in_pieces(placer, random);
    const std::array free{placer.free_gpus(0, 0), placer.free_gpus(0, 1)};
    if (std::max(free[0], free[1]) >= 4 || free[0] + free[1] < 4) continue;
    const std::array away{least_sent_away(placer, wishes, 0), least_sent_away(placer, wishes, 1)};
    const std::int32_t least = std::min(away[0], away[1]);
    // Where more must go than is missing, some of it may come back.
    if (away[0] + free[0] != 4 || away[1] + free[1] != 4) continue;
    ++seen;
    wishes.emplace(99, on({4}));
    const RoundOfPlaces round = place_round(placer, wishes);
    CHECK(round.unplaced.empty());
    std::int32_t moved = 0;
    for (const std::uint32_t job : round.moved) moved += replicas_of(wishes[job].placement);
    CHECK(moved == least);
  }
  CHECK(seen > 20);
}

TEST_CASE("node placer: half of 64 jobs on a node of 64 go for one that needs all of it") {
  const ElasticCluster cluster = nodes_of(2, 64);
  NodePlacer placer(cluster, PlacementRule::smart);
  Wishes wishes;
  for (std::uint32_t job = 0; job < 128; ++job) wishes.emplace(job, on({1}));
  (void)place_round(placer, wishes);
  std::erase_if(wishes, [](const auto& wish) { return wish.first % 2 == 1; });
  wishes.emplace(128, on({64}));
  const RoundOfPlaces round = place_round(placer, wishes);
  CHECK(round.unplaced.empty());
  CHECK(round.moved.size() == 32);
  check_places(placer, cluster, wishes);
}

TEST_CASE("node placer: who pauses or changes has not moved") {
  const ElasticCluster cluster = nodes_of(2, 4);
  NodePlacer placer(cluster, PlacementRule::packed);
  (void)place_round(placer, {{0, on({4})}, {1, on({2})}});
  CHECK(share_list(placer, 1) == std::vector<NodeShare>{{1, 2}});
  (void)place_round(placer, {{0, on({4})}, {1, on({})}});
  CHECK(share_list(placer, 1).empty());
  CHECK(place_round(placer, {{1, on({2})}}).moved.empty());
  CHECK(share_list(placer, 1) == std::vector<NodeShare>{{0, 2}});
  CHECK(place_round(placer, {{0, on({4})}, {1, on({1})}}).moved.empty());
  CHECK(placer.place_of(99).empty());
}

/// Any number of GPUs on any number of nodes, as Pollux hands them out, and nonsense.
Wishes arbitrary_wishes(const ElasticCluster& cluster, Random& random) {
  Wishes wishes;
  for (std::uint32_t job = 0; job < 20; ++job) {
    const auto type = static_cast<std::uint16_t>(random.below(3));
    GpusByNode placement(static_cast<std::size_t>(random.between(0, 4)));
    for (std::int32_t& gpus : placement)
      gpus = static_cast<std::int32_t>(random.between(0, cluster.types[type].gpus_per_node + 1));
    wishes.emplace(job, on(placement, type));
  }
  return wishes;
}

TEST_CASE("node placer: whatever is wanted, each job has its place or is named") {
  const ElasticCluster cluster = three_types();
  for (std::uint64_t seed = 1; seed <= testing::cases(200); ++seed) {
    Random random(seed);
    NodePlacer placer(cluster, seed % 2 == 0 ? PlacementRule::packed : PlacementRule::smart);
    for (int round = 0; round < 5; ++round) {
      const Wishes wishes = arbitrary_wishes(cluster, random);
      const std::vector<std::uint32_t> unplaced = numbers(place_round(placer, wishes).unplaced);
      check_places(placer, cluster, wishes);
      std::vector<std::uint32_t> without;
      for (const auto& [job, wanted] : wishes)
        if (!wanted.placement.empty() && placer.place_of(job).empty()) without.push_back(job);
      CHECK(unplaced == without);
    }
  }
}

TEST_CASE("node placer: three jobs of 4 do not fit two nodes of 6, and one is named") {
  for (const PlacementRule rule : {PlacementRule::packed, PlacementRule::smart}) {
    NodePlacer placer(nodes_of(2, 6), rule);
    const Wishes wishes{{0, on({4})}, {1, on({4})}, {2, on({4})}};
    CHECK(numbers(place_round(placer, wishes).unplaced) == std::vector<std::uint32_t>{2});
  }
}

}  // namespace
}  // namespace schedmate::elastic
