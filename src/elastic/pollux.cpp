// SPDX-License-Identifier: Apache-2.0
#include "elastic/pollux.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/check.hpp"
#include "elastic/elastic_policies.hpp"

namespace schedmate::elastic {
namespace {

/// GPUs on one machine that Pollux takes for a node.
struct VirtualNode {
  std::uint16_t type = 0;
  std::int32_t machine = 0;  // of the type
  std::uint8_t gpus = 0;
};

/// The cluster as nodes of the smallest type's size.
struct VirtualCluster {
  std::vector<VirtualNode> nodes;
  std::int32_t gpus = 0;
  std::int32_t most_of_a_job = 0;  // what any type has, on nodes that were measured

  explicit VirtualCluster(const ElasticCluster& cluster)
      : gpus(cluster.gpus()), most_of_a_job(cluster.gpus()) {
    const std::int32_t size =
        std::ranges::min(cluster.types, {}, &GpuType::gpus_per_node).gpus_per_node;
    SCHEDMATE_CHECK(size > 0 && size <= 80, "three times a node's GPUs are counted in a byte");
    for (std::size_t place = 0; place < cluster.types.size(); ++place) {
      const GpuType& type = cluster.types[place];
      const auto t = static_cast<std::uint16_t>(place);
      most_of_a_job =
          std::min(most_of_a_job, std::min(type.nodes, type.measured_nodes) * type.gpus_per_node);
      for (std::int32_t machine = 0; machine < type.nodes; ++machine)
        for (std::int32_t left = type.gpus_per_node; left > 0; left -= size)
          nodes.push_back({t, machine, static_cast<std::uint8_t>(std::min(left, size))});
    }
  }
};

/// Limits of all jobs of an application: those of the first type that it was measured on.
std::size_t first_type(const Application& application) {
  const auto found =
      std::ranges::find_if(application.tables, [](const auto& table) { return table.has_value(); });
  return static_cast<std::size_t>(found - application.tables.begin());
}

BatchLimits pollux_limits(const ElasticRun& run) {
  const Application& application = run.application();
  const std::size_t type = first_type(application);
  const bool tuned = run.job().kind == ElasticKind::adaptive;
  BatchLimits limits;
  limits.least = static_cast<std::int32_t>(application.least_batch(type));
  limits.most = static_cast<std::int32_t>(application.most_batch(type));
  limits.initial_batch = static_cast<std::int32_t>(application.training.initial_batch());
  limits.most_batch =
      tuned ? static_cast<std::int32_t>(application.training.most_batch()) : run.job().batch;
  limits.tuned = tuned;
  return limits;
}

/// What Pollux knows of a job: one model for all GPU types.
class PolluxJob {
 public:
  std::uint64_t key = 0;      // from 1
  NodeGpus row;               // GPUs that it holds, by virtual node
  std::size_t profiling = 0;  // the node where it is measured, while it is

  /// Takes in what the job has shown since; what is known of a shape stays.
  void learn(const ElasticRun& run) {
    if (version_ == run.version()) return;
    version_ = run.version();
    goodputs_.clear();
    const std::size_t before = forget_if(run) ? 0 : steps_.size();
    taken_.resize(run.profiles().size());
    for (std::size_t type = 0; type < taken_.size(); ++type) {
      const auto& steps = run.profiles()[type].steps;
      for (; taken_[type] < steps.size(); ++taken_[type]) add(steps[taken_[type]]);
    }
    if (steps_.size() > before) model_ = fit(steps_);
  }

  [[nodiscard]] bool knows(const ElasticRun& run) const { return model_ && run.noise(); }

  /// Useful samples per second on one node; knows() must be true.
  [[nodiscard]] double goodput_on_a_node(const ElasticRun& run, std::int32_t gpus) const {
    return best_batch(*model_, *run.noise(), pollux_limits(run), {1, gpus, 1}).goodput;
  }

  /// Likewise; asked for once while nothing new is known.
  double goodput(const ElasticRun& run, const StepShape& spread) {
    const auto gpus = static_cast<std::size_t>(spread.replicas);
    const std::size_t place = gpus * (gpus + 1) / 2 + static_cast<std::size_t>(spread.nodes);
    if (place >= goodputs_.size()) goodputs_.resize(place + 1, -1);
    double& known = goodputs_[place];
    if (known < 0) known = best_batch(*model_, *run.noise(), pollux_limits(run), spread).goodput;
    return known;
  }

  /// Twice what it ran on so far.
  [[nodiscard]] std::int32_t most_gpus(const ElasticRun& run, const VirtualCluster& cluster) const {
    const BatchLimits limits = pollux_limits(run);
    std::int32_t seen = 0;
    for (const ObservedStep& step : steps_) seen = std::max(seen, step.shape.replicas);
    const std::int32_t most =
        run.job().kind == ElasticKind::adaptive ? std::max(2 * seen, 1) : run.job().replicas;
    return std::min({most, cluster.most_of_a_job, limits.most_batch / limits.least});
  }

 private:
  /// True when the job has dropped what it had inherited.
  bool forget_if(const ElasticRun& run) {
    if (forgot_ == run.has_forgotten()) return false;
    forgot_ = run.has_forgotten();
    steps_.clear();
    taken_.clear();
    model_.reset();
    return true;
  }

  void add(const ObservedStep& step) {
    if (std::ranges::find(steps_, step.shape, &ObservedStep::shape) == steps_.end())
      steps_.push_back(step);
  }

  std::optional<std::uint64_t> version_;
  bool forgot_ = false;
  std::vector<ObservedStep> steps_;
  std::vector<std::size_t> taken_;  // of the steps of each type
  std::optional<ThroughputModel> model_;
  std::vector<double> goodputs_;
};

/// A job that is not being measured, in Pollux's order.
struct PolluxEntry {
  std::size_t entry = 0;  // of the view's jobs
  const ElasticRun* run = nullptr;
  PolluxJob* known = nullptr;
  double fair_goodput = 1;  // with its share of the cluster
};

class Pollux {
 public:
  explicit Pollux(const PolluxOptions& options) : options_(options), search_(options.search) {}

  ElasticPlan operator()(const ElasticView& view) {
    if (!cluster_) cluster_.emplace(view.cluster);
    ElasticPlan plan;
    plan.held.resize(view.active.size());
    plan.measured.resize(view.active.size());
    enter(view);
    PopulationProblem problem;
    for (const VirtualNode& node : cluster_->nodes) problem.capacity.push_back(node.gpus);
    measure(view, problem.capacity, plan);
    pose(view.now_s, problem);
    const std::vector<NodeGpus> rows = search_.best(problem);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& [entry, run, known, fair] = entries_[i];
      known->row = rows[i];
      plan.held[entry] = run->pinned() ? run->held() : cut(*run, known->row);
    }
    return plan;
  }

 private:
  /// Pinned jobs first, then those that had the fewest GPU seconds.
  void enter(const ElasticView& view) {
    entries_.clear();
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      const ElasticRun& run = *view.active[i];
      PolluxJob& known = known_[&run];
      if (known.key == 0) known.key = known_.size();
      if (!run.runs()) known.row.assign(cluster_->nodes.size(), 0);
      if (!run.profile_slots().empty()) continue;
      known.learn(run);
      entries_.push_back({i, &run, &known, 1});
    }
    std::ranges::stable_sort(entries_, [](const PolluxEntry& a, const PolluxEntry& b) {
      if (a.run->pinned() != b.run->pinned()) return a.run->pinned();
      return a.run->attained_gpu_s() < b.run->attained_gpu_s();
    });
  }

  /// One GPU of one type after the other; the search does not get these.
  void measure(const ElasticView& view, NodeGpus& capacity, ElasticPlan& plan) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      const auto slots = view.active[i]->profile_slots();
      if (slots.empty()) continue;
      if (std::ranges::none_of(slots, &ProfileSlot::runs))
        waiting.push_back(i);
      else
        reserve(known_[view.active[i]].profiling, capacity, plan.measured[i]);
    }
    for (const std::size_t i : waiting) {
      const auto node = free_node(view.active[i]->profile_slots(), capacity);
      if (!node) continue;
      known_[view.active[i]].profiling = *node;
      reserve(*node, capacity, plan.measured[i]);
    }
  }

  void reserve(std::size_t node, NodeGpus& capacity, std::vector<std::uint16_t>& types) const {
    --capacity[node];
    types.push_back(cluster_->nodes[node].type);
  }

  /// Where the fewest are free beside what jobs hold; if none are, where one does that can move.
  [[nodiscard]] std::optional<std::size_t> free_node(std::span<const ProfileSlot> slots,
                                                     const NodeGpus& capacity) const {
    std::optional<std::size_t> best;
    std::int32_t least = 0;
    for (std::size_t node = 0; node < capacity.size(); ++node) {
      const std::uint16_t type = cluster_->nodes[node].type;
      if (std::ranges::find(slots, type, &ProfileSlot::type) == slots.end()) continue;
      std::int32_t free = capacity[node];
      std::int32_t movable = free;
      for (const PolluxEntry& each : entries_) {
        free -= each.known->row[node];
        if (each.run->pinned()) movable -= each.known->row[node];
      }
      if (movable < 1) continue;
      if (free < 1) free = cluster_->gpus;  // the last choice
      if (best && free >= least) continue;
      best = node;
      least = free;
    }
    return best;
  }

  /// The round as the search sees it.
  void pose(double now_s, PopulationProblem& problem) {
    const auto jobs = static_cast<std::int32_t>(entries_.size());
    const std::int32_t fair_gpus = jobs > 0 ? (cluster_->gpus + jobs - 1) / jobs : 1;
    problem.scale = static_cast<double>(cluster_->nodes.size()) / cluster_->gpus;
    for (PolluxEntry& each : entries_) {
      if (each.known->knows(*each.run)) each.fair_goodput = fair_goodput(each, fair_gpus);
      problem.jobs.push_back(job_of(each, now_s));
    }
    problem.speedup = [this, fair_gpus](std::size_t job, std::int32_t nodes, std::int32_t gpus) {
      const auto& [entry, run, known, fair] = entries_[job];
      if (!known->knows(*run)) return static_cast<double>(gpus) / fair_gpus;
      return known->goodput(*run, {nodes, gpus, 1}) / fair;
    };
  }

  static double fair_goodput(const PolluxEntry& each, std::int32_t gpus) {
    const double fair = each.known->goodput_on_a_node(*each.run, gpus);
    if (fair > 0) return fair;  // else its batch does not go that far
    const double single = each.known->goodput_on_a_node(*each.run, 1);
    return single > 0 ? single : 1;
  }

  [[nodiscard]] PopulationJob job_of(const PolluxEntry& each, double now_s) const {
    const ElasticRun& run = *each.run;
    PopulationJob job;
    job.key = each.known->key;
    job.held = each.known->row;
    for (const VirtualNode& node : cluster_->nodes)
      job.room.push_back(run.application().tables[node.type] ? node.gpus : std::uint8_t{0});
    job.pinned = run.pinned();
    if (run.job().kind == ElasticKind::rigid) job.least = run.job().replicas;
    job.most = each.known->most_gpus(run, *cluster_);
    const double age = now_s - run.job().submit_s;
    job.moved = std::max(age - run.restarts() * options_.believed_restart_s, 0.0) /
                (age + options_.believed_restart_s);
    return job;
  }

  /// Leaves of the row what a job can use, on one type and as it was measured.
  [[nodiscard]] Assignment cut(const ElasticRun& run, NodeGpus& row) const {
    Assignment kept{type_of(run, row), {}};
    for (std::size_t node = 0; node < row.size(); ++node)
      if (cluster_->nodes[node].type != kept.type) row[node] = 0;
    for (kept.placement = placement_of(row); !runs_on(run, kept);
         kept.placement = placement_of(row))
      --row[loneliest(row)];
    const bool rigid = run.job().kind == ElasticKind::rigid;
    if (kept.placement.empty() || (rigid && replicas_of(kept.placement) < run.job().replicas)) {
      std::ranges::fill(row, std::uint8_t{0});
      return {};
    }
    kept.placement = normalised(kept.placement);
    return kept;
  }

  /// The type with the most of its GPUs; of equals the one where a single GPU is the fastest.
  [[nodiscard]] std::uint16_t type_of(const ElasticRun& run, const NodeGpus& row) const {
    const auto& tables = run.application().tables;
    std::vector<std::int32_t> gpus(tables.size());
    for (std::size_t node = 0; node < row.size(); ++node)
      gpus[cluster_->nodes[node].type] += row[node];
    std::size_t best = first_type(run.application());
    for (std::size_t type = 0; type < tables.size(); ++type) {
      if (!tables[type] || gpus[type] < gpus[best]) continue;
      if (gpus[type] > gpus[best] ||
          tables[type]->single_gpu_throughput() > tables[best]->single_gpu_throughput())
        best = type;
    }
    return static_cast<std::uint16_t>(best);
  }

  /// GPUs on each machine; all of one type.
  [[nodiscard]] GpusByNode placement_of(const NodeGpus& row) const {
    GpusByNode placement;
    std::int32_t machine = -1;
    for (std::size_t node = 0; node < row.size(); ++node) {
      if (row[node] == 0) continue;
      if (cluster_->nodes[node].machine != machine) placement.push_back(0);
      machine = cluster_->nodes[node].machine;
      placement.back() += row[node];
    }
    return placement;
  }

  /// Whether its steps were measured there, for all batches that it may choose; without GPUs too.
  static bool runs_on(const ElasticRun& run, const Assignment& at) {
    if (at.placement.empty()) return true;
    const StepTable& table = *run.application().tables[at.type];
    const double least = table.least_batch();
    return replicas_of(at.placement) * least <= run.application().training.most_batch() &&
           table.at(at.placement, least) && table.at(at.placement, table.most_batch(at.placement));
  }

  /// The node whose GPU is missed the least: on the machine with the fewest.
  [[nodiscard]] std::size_t loneliest(const NodeGpus& row) const {
    std::size_t best = 0;
    std::int32_t fewest = cluster_->gpus + 1;
    for (std::size_t node = 0; node < row.size(); ++node) {
      if (row[node] == 0) continue;
      std::int32_t there = 0;
      for (std::size_t other = 0; other < row.size(); ++other)
        if (cluster_->nodes[other].machine == cluster_->nodes[node].machine) there += row[other];
      if (there <= fewest) best = node;
      fewest = std::min(fewest, there);
    }
    return best;
  }

  PolluxOptions options_;
  PopulationSearch search_;
  std::optional<VirtualCluster> cluster_;
  std::unordered_map<const ElasticRun*, PolluxJob> known_;
  std::vector<PolluxEntry> entries_;
};

}  // namespace

ElasticPolicy pollux_policy(const PolluxOptions& options) { return Pollux(options); }

Result<ElasticPolicy> make_elastic_pollux(PolicyOptions& options, std::uint64_t ties) {
  PolluxOptions pollux;
  const auto population = options.take_integer("population", pollux.search.population);
  if (!population) return tl::unexpected(population.error());
  const auto generations = options.take_integer("generations", pollux.search.generations);
  if (!generations) return tl::unexpected(generations.error());
  const auto power = options.take_number("power", pollux.search.power);
  if (!power) return tl::unexpected(power.error());
  constexpr std::int64_t most = 10'000;
  if (*population < 2 || *population > most || *generations < 1 || *generations > most) {
    return fail(ErrorCode::unsupported,
                fmt::format("pollux: population={}, generations={}: must be at least 2 and at "
                            "least 1, and both at most {}",
                            *population, *generations, most));
  }
  if (!(std::abs(*power) <= 10)) {
    return fail(ErrorCode::unsupported,
                fmt::format("pollux: power={}: must be a number from -10 to 10", *power));
  }
  pollux.search = {static_cast<std::int32_t>(*population), static_cast<std::int32_t>(*generations),
                   *power, ties};
  return pollux_policy(pollux);
}

}  // namespace schedmate::elastic
