// SPDX-License-Identifier: Apache-2.0
#include "elastic/pollux_population.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "elastic/pollux_members.hpp"

namespace schedmate::elastic {
namespace {

constexpr double at_the_end = std::numeric_limits<double>::infinity();

/// Hashes of the members there are, to know those that come twice.
class MemberSet {
 public:
  explicit MemberSet(std::size_t most) : cells_(4 * most + 1) {}
  void clear() { std::ranges::fill(cells_, 0); }
  /// False when it was there.
  bool add(std::uint64_t hash) {
    hash = std::max<std::uint64_t>(hash, 1);  // 0 is a free cell
    std::size_t cell = hash % cells_.size();
    for (; cells_[cell] != 0; cell = (cell + 1) % cells_.size())
      if (cells_[cell] == hash) return false;
    cells_[cell] = hash;
    return true;
  }

 private:
  std::vector<std::uint64_t> cells_;
};

/// NSGA-II's order: by front of those that none in it beats in both objectives, then by distance
/// from the others of the front.
class ParetoFronts {
 public:
  explicit ParetoFronts(const PolluxMembers& members, std::size_t slots)
      : members_(members), rank_(slots), distance_(slots) {}

  [[nodiscard]] bool better(std::uint32_t a, std::uint32_t b) const {
    return rank_[a] != rank_[b] ? rank_[a] < rank_[b] : distance_[a] > distance_[b];
  }

  /// Fronts in turn, each by the first objective; that in which the `kept` end by distance.
  void sort(std::vector<std::uint32_t>& slots, std::size_t kept) {
    const auto by_objectives = [this](std::uint32_t a, std::uint32_t b) {
      const Objectives& one = members_.objectives(a);
      const Objectives& two = members_.objectives(b);
      return std::tie(one.mean, one.utility, a) < std::tie(two.mean, two.utility, b);
    };
    std::ranges::sort(slots, by_objectives);
    number(slots);
    std::ranges::sort(slots, [&](std::uint32_t a, std::uint32_t b) {
      return rank_[a] != rank_[b] ? rank_[a] < rank_[b] : by_objectives(a, b);
    });
    for (std::size_t start = 0; start < slots.size();) {
      std::size_t end = start;
      while (end < slots.size() && rank_[slots[end]] == rank_[slots[start]]) ++end;
      const std::span<std::uint32_t> front(slots.data() + start, end - start);
      spread(front);
      if (start < kept && kept < end) {
        std::ranges::sort(front, [&](std::uint32_t a, std::uint32_t b) {
          return distance_[a] != distance_[b] ? distance_[a] > distance_[b] : by_objectives(a, b);
        });
      }
      start = end;
    }
  }

 private:
  /// By the first objective a member can only be beaten by earlier ones, and of a front by none if
  /// not by its last.
  void number(std::span<const std::uint32_t> slots) {
    last_.clear();
    for (const std::uint32_t slot : slots) {
      const auto front = std::ranges::partition_point(
          last_, [&](std::uint32_t last) { return beats(last, slot); });
      rank_[slot] = static_cast<std::uint32_t>(front - last_.begin());
      if (front == last_.end())
        last_.push_back(slot);
      else
        *front = slot;
    }
  }

  /// Of two in the order of the first objective.
  [[nodiscard]] bool beats(std::uint32_t earlier, std::uint32_t later) const {
    const Objectives& one = members_.objectives(earlier);
    const Objectives& two = members_.objectives(later);
    return one.utility < two.utility || (one.utility == two.utility && one.mean < two.mean);
  }

  /// How far the neighbours of each are apart, as shares of the front's width.
  void spread(std::span<const std::uint32_t> front) {
    const Objectives& first = members_.objectives(front.front());
    const Objectives& last = members_.objectives(front.back());
    const double width = std::max(last.mean - first.mean, 1e-300);
    const double height = std::max(first.utility - last.utility, 1e-300);
    for (std::size_t i = 0; i < front.size(); ++i) {
      double& distance = distance_[front[i]];
      distance = at_the_end;
      if (i == 0 || i + 1 == front.size()) continue;
      const Objectives& before = members_.objectives(front[i - 1]);
      const Objectives& after = members_.objectives(front[i + 1]);
      distance = (after.mean - before.mean) / width + (before.utility - after.utility) / height;
    }
  }

  const PolluxMembers& members_;
  std::vector<std::uint32_t> rank_, last_;
  std::vector<double> distance_;
};

/// One search: members that live, best first, and slots for those that come.
class Generations {
 public:
  Generations(PolluxMembers& members, std::size_t population, Random& random)
      : members_(members),
        random_(random),
        population_(population),
        fronts_(members, 2 * population),
        known_(2 * population),
        spare_(2 * population) {
    std::iota(spare_.rbegin(), spare_.rend(), std::uint32_t{0});
  }

  /// The slot where the next member goes.
  [[nodiscard]] std::size_t next() const { return spare_.back(); }
  /// Rows were written there.
  void add_made() {
    members_.make_whole(next(), random_);
    add();
  }
  [[nodiscard]] std::span<const std::uint32_t> living() const { return living_; }

  /// The best by the first objective, one of equals by chance: most often their nodes differ only.
  [[nodiscard]] std::uint32_t choose() {
    const auto mean = [this](std::uint32_t slot) { return members_.objectives(slot).mean; };
    const double best = mean(*std::ranges::min_element(living_, {}, mean));
    auto place = draw(static_cast<std::size_t>(std::ranges::count(living_, best, mean)));
    return *std::ranges::find_if(
        living_, [&](std::uint32_t slot) { return mean(slot) == best && place-- == 0; });
  }

  /// The better half stays.
  void survive() {
    fronts_.sort(living_, population_);
    while (living_.size() > population_) {
      spare_.push_back(living_.back());
      living_.pop_back();
    }
  }

  /// Pairs have pairs of children until there are as many new members as a population has.
  void renew(std::size_t jobs) {
    known_.clear();
    for (const std::uint32_t slot : living_) known_.add(members_.hash(slot));
    const std::size_t parents = living_.size();
    for (std::size_t pair = 0; pair < population_; ++pair) {
      const std::size_t one = winner(parents);
      const std::size_t two = winner(parents);
      const std::size_t point = draw(jobs);
      for (const auto& [first, second] : {std::pair{one, two}, std::pair{two, one}}) {
        if (living_.size() == parents + population_) return;
        members_.breed(next(), {first, second, point}, random_);
        add();
      }
    }
  }

 private:
  /// Members that come twice are dropped.
  void add() {
    if (!known_.add(members_.hash(next()))) return;
    living_.push_back(spare_.back());
    spare_.pop_back();
  }
  std::size_t draw(std::size_t count) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count)));
  }
  /// The better of two.
  std::size_t winner(std::size_t parents) {
    const std::uint32_t one = living_[draw(parents)];
    const std::uint32_t two = living_[draw(parents)];
    return fronts_.better(two, one) ? two : one;
  }

  PolluxMembers& members_;
  Random& random_;
  std::size_t population_;
  ParetoFronts fronts_;
  MemberSet known_;
  std::vector<std::uint32_t> living_, spare_;
};

/// Where each job stood in the last population; the number of jobs there for new ones.
std::vector<std::size_t> places_in(const PopulationGenes& last, const PopulationProblem& problem) {
  std::vector<std::size_t> places;
  for (const PopulationJob& job : problem.jobs) {
    const auto found = std::ranges::find(last.keys, job.key);
    places.push_back(static_cast<std::size_t>(found - last.keys.begin()));
  }
  return places;
}

/// What is held now, and the last population with the jobs that are left; new ones have nothing.
void seed_population(const PopulationGenes& last, const PopulationProblem& problem,
                     PolluxMembers& members, Generations& generations) {
  for (std::size_t job = 0; job < problem.jobs.size(); ++job)
    std::ranges::copy(members.held(job), members.row(generations.next(), job).begin());
  generations.add_made();
  if (last.nodes != problem.capacity.size()) return;
  const std::vector<std::size_t> places = places_in(last, problem);
  const std::size_t member_size = last.keys.size() * last.nodes;
  for (std::size_t start = 0; start < last.gpus.size(); start += member_size) {
    for (std::size_t job = 0; job < places.size(); ++job) {
      const auto row = members.row(generations.next(), job);
      std::ranges::fill(row, std::uint8_t{0});
      if (places[job] == last.keys.size()) continue;
      std::copy_n(last.gpus.data() + start + places[job] * last.nodes, last.nodes, row.begin());
    }
    generations.add_made();
  }
}

PopulationGenes genes_of(const PopulationProblem& problem, PolluxMembers& members,
                         std::span<const std::uint32_t> living) {
  PopulationGenes genes{{}, problem.capacity.size(), {}};
  for (const PopulationJob& job : problem.jobs) genes.keys.push_back(job.key);
  for (const std::uint32_t slot : living) {
    for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
      const auto row = members.row(slot, job).first(genes.nodes);
      genes.gpus.insert(genes.gpus.end(), row.begin(), row.end());
    }
  }
  return genes;
}

}  // namespace

std::vector<NodeGpus> PopulationSearch::best(const PopulationProblem& problem) {
  if (problem.jobs.empty()) return {};
  const auto population = static_cast<std::size_t>(options_.population);
  PolluxMembers members(problem, options_.power, 2 * population);
  Generations generations(members, population, random_);
  seed_population(last_, problem, members, generations);
  generations.survive();
  for (std::int32_t i = 0; i < options_.generations; ++i) {
    generations.renew(problem.jobs.size());
    generations.survive();
  }
  last_ = genes_of(problem, members, generations.living());
  const std::uint32_t chosen = generations.choose();
  std::vector<NodeGpus> rows;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    const auto row = members.row(chosen, job).first(problem.capacity.size());
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

}  // namespace schedmate::elastic
