// SPDX-License-Identifier: Apache-2.0
#include "elastic/synthetic_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/random.hpp"
#include "elastic/step_table.hpp"

namespace schedmate::elastic {
namespace {

/// Members that pass gradients round in a ring: each sends 2 (n - 1) / n of them in 2 (n - 1)
/// messages.
struct GradientRing {
  double volume_s = 0;  ///< to send all gradients once
  double hop_s = 0;
  [[nodiscard]] double seconds(double members) const {
    return 2 * (members - 1) / members * volume_s + 2 * (members - 1) * hop_s;
  }
};

/// The model is a line in GPUs from 2 on, a ring is not: the line is right at both ends.
double slope_of(const GradientRing& ring, double members, double gpus) {
  if (gpus <= 2) return 2 * ring.hop_s;
  return (ring.seconds(members) - ring.seconds(2)) / (gpus - 2);
}

/// To 10 ns: what is left of a difference below that is rounding.
std::string row_of_step(const ThroughputModel& model, const StepShape& shape) {
  constexpr double units_of_a_second = 1e8;
  const ModelledTime time = step_time(model, shape);
  const double units =
      std::nearbyint((time.optimisation_s - time.accumulation_s) * units_of_a_second);
  return fmt::format("{},{:.6g},{:.6g}\n", shape.atomic_batch, time.optimisation_s,
                     units / units_of_a_second);
}

/// One application on one GPU type.
struct SyntheticSteps {
  const SyntheticApplication& application;
  const SyntheticGpuType& type;
  ThroughputModel model;

  [[nodiscard]] std::int32_t most_batch() const {
    return largest_batch_in_memory(application, type);
  }

  /// Each number of GPUs on a node, and whole nodes.
  [[nodiscard]] std::string placements_csv() const {
    std::string csv = "placement,local_bsz,step_time,sync_time\n";
    const std::int32_t node = type.gpus.gpus_per_node;
    for (std::int32_t gpus = 1; gpus <= node; ++gpus) add_placement(csv, {gpus});
    for (std::int32_t nodes = 2; nodes <= type.gpus.measured_nodes; ++nodes)
      add_placement(csv, GpusByNode(static_cast<std::size_t>(nodes), node));
    return csv;
  }

  /// Parts of several nodes; "" where no job may have any.
  [[nodiscard]] std::string scalability_csv() const {
    std::string csv;
    const std::int32_t node = type.gpus.gpus_per_node;
    for (std::int32_t nodes = 2; nodes <= type.gpus.measured_nodes; ++nodes)
      for (std::int32_t gpus = nodes; gpus < nodes * node; ++gpus)
        add_spread(csv, {nodes, gpus, 1});
    return csv.empty() ? csv : "num_nodes,num_replicas,local_bsz,step_time,sync_time\n" + csv;
  }

 private:
  void add_placement(std::string& csv, const GpusByNode& placement) const {
    StepShape shape{static_cast<std::int32_t>(placement.size()), replicas_of(placement), 1};
    for (std::int32_t batch = application.least_batch; batch <= most_batch(); batch *= 2) {
      shape.atomic_batch = batch;
      csv += text_of(placement) + "," + row_of_step(model, shape);
    }
  }

  /// Every fourth batch, which keeps the tables small, and the largest.
  void add_spread(std::string& csv, StepShape shape) const {
    const std::int32_t most = most_batch();
    for (std::int32_t batch = application.least_batch; batch < most; batch *= 4) {
      shape.atomic_batch = batch;
      csv += fmt::format("{},{},", shape.nodes, shape.replicas) + row_of_step(model, shape);
    }
    shape.atomic_batch = most;
    csv += fmt::format("{},{},", shape.nodes, shape.replicas) + row_of_step(model, shape);
  }
};

/// From phase to phase the noise grows evenly on a logarithmic scale, and so does the gradient
/// shrink.
std::string validation_csv(const SyntheticApplication& application, std::int32_t batch) {
  std::string csv = "progress,grad_sqr,grad_var\n";
  const double first = application.batches.front();
  const double lag = 1 + application.lag * std::log2(batch / first);
  for (std::int32_t epoch = 0; epoch < application.epochs; ++epoch) {
    const std::int64_t phase = std::int64_t{epoch} * application.phases / application.epochs;
    const double share = static_cast<double>(phase) / (application.phases - 1);
    const double squared = std::pow(application.squared_last, share);
    const double noise =
        application.noise_first * std::pow(application.noise_last / application.noise_first, share);
    fmt::format_to(std::back_inserter(csv), "{:.6g},{:.6g},{:.6g}\n",
                   (epoch + 1) * application.epoch_samples / first * lag, squared, noise * squared);
  }
  return csv;
}

std::string applications_toml(const SyntheticParameters& made) {
  std::string toml = "# Made by schedmate generate --elastic: invented, not measured.\n";
  for (const SyntheticApplication& each : made.applications) {
    fmt::format_to(std::back_inserter(toml),
                   "\n[[application]]\nname = \"{}\"\nrestart_s = {}\nbelieved_restart_s = {}\n"
                   "slowdown = {}\n",
                   each.name, each.restart_s, each.believed_restart_s, each.slowdown);
    if (!each.model.empty()) toml += "\n[[application.model]]\n";
    for (const auto& [key, value] : each.model) toml += fmt::format("{} = {}\n", key, value);
  }
  return toml;
}

std::string cluster_toml(const SyntheticParameters& made) {
  std::string toml = fmt::format(
      "# Made by schedmate generate --elastic: invented, not measured.\nname = \"{}\"\n",
      made.cluster);
  for (const SyntheticGpuType& type : made.types) {
    fmt::format_to(std::back_inserter(toml),
                   "\n[[type]]\nname = \"{}\"\nnodes = {}\ngpus_per_node = {}\n"
                   "measured_nodes = {}\n",
                   type.gpus.name, type.gpus.nodes, type.gpus.gpus_per_node,
                   type.gpus.measured_nodes);
  }
  return toml;
}

template <class Value>
const Value& drawn_of(const std::vector<Value>& values, Random& random) {
  return values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))];
}

const SyntheticApplication& drawn_application(const SyntheticParameters& made, Random& random) {
  double whole = 0;
  for (const SyntheticApplication& each : made.applications) whole += each.weight;
  double left = random.uniform() * whole;
  const SyntheticApplication* taken = nullptr;
  for (const SyntheticApplication& each : made.applications) {
    if (each.weight <= 0) continue;
    taken = &each;
    left -= each.weight;
    if (left < 0) break;
  }
  return *taken;
}

/// Of a Poisson process whose count is known the times are independent and uniform.
std::vector<std::int64_t> drawn_times(const SyntheticJobs& jobs, Random& random) {
  std::vector<std::int64_t> times;
  for (std::int32_t i = 0; i < jobs.count; ++i) {
    const bool burst = random.uniform() < jobs.burst_share;
    const double hours = burst ? jobs.burst_start_h + random.uniform() * jobs.burst_h
                               : random.uniform() * jobs.hours;
    times.push_back(static_cast<std::int64_t>(hours * 3600));
  }
  std::ranges::sort(times);
  return times;
}

std::string jobs_csv(const SyntheticParameters& made) {
  std::string csv = "name,time,application,num_replicas,batch_size\n";
  Random random(mix(static_cast<std::uint64_t>(made.jobs.seed)));
  std::int32_t number = 0;
  for (const std::int64_t time : drawn_times(made.jobs, random)) {
    const SyntheticApplication& application = drawn_application(made, random);
    const std::int32_t replicas = drawn_of(application.replicas, random);
    const std::int64_t asked = std::int64_t{application.batches.front()} * replicas *
                               drawn_of(made.jobs.batch_factors, random);
    fmt::format_to(std::back_inserter(csv), "{}-{:03},{},{},{},{}\n", made.tables, ++number, time,
                   application.name, replicas,
                   std::min<std::int64_t>(asked, application.batches.back()));
  }
  return csv;
}

void add_application(const SyntheticParameters& made, const SyntheticApplication& application,
                     std::vector<SyntheticFile>& files) {
  const std::string folder = fmt::format("{}/{}/", made.tables, application.name);
  for (std::size_t place = 0; place < made.types.size(); ++place) {
    const SyntheticGpuType& type = made.types[place];
    const SyntheticSteps steps{application, type, synthetic_model(application, made.types, place)};
    files.push_back(
        {fmt::format("{}placements-{}.csv", folder, type.gpus.name), steps.placements_csv()});
    std::string spread = steps.scalability_csv();
    if (!spread.empty())
      files.push_back(
          {fmt::format("{}scalability-{}.csv", folder, type.gpus.name), std::move(spread)});
  }
  for (const std::int32_t batch : application.batches)
    files.push_back(
        {fmt::format("{}validation-{}.csv", folder, batch), validation_csv(application, batch)});
}

}  // namespace

ThroughputModel synthetic_model(const SyntheticApplication& application,
                                const std::vector<SyntheticGpuType>& types, std::size_t place) {
  const SyntheticGpuType& type = types[place];
  const double gigabytes = application.gradient_mb / 1000;
  const GradientRing within{gigabytes / type.node_gb_per_s, type.hop_s};
  const GradientRing between{gigabytes / type.network_gb_per_s, type.hop_s};
  const std::int32_t node = type.gpus.gpus_per_node;
  const std::int32_t nodes = type.gpus.measured_nodes;
  ThroughputModel model;
  model.compute_s = application.step_s;
  model.compute_per_sample_s =
      application.sample_gflop / (1000 * type.peak_tflops * application.efficiency[place]);
  model.within_node_s = within.seconds(2);
  model.within_node_per_replica_s = slope_of(within, node, node);
  model.between_nodes_s = between.seconds(2);
  model.between_nodes_per_replica_s =
      slope_of(between, std::max(2, nodes), std::max(2, nodes) * node);
  model.overlap = application.overlap;
  return model;
}

std::vector<SyntheticFile> make_elastic_tables(const SyntheticParameters& made) {
  std::vector<SyntheticFile> files;
  files.push_back({made.cluster + ".toml", cluster_toml(made)});
  files.push_back({made.tables + "/applications.toml", applications_toml(made)});
  files.push_back({made.tables + "/jobs.csv", jobs_csv(made)});
  for (const SyntheticApplication& each : made.applications) add_application(made, each, files);
  return files;
}

}  // namespace schedmate::elastic
