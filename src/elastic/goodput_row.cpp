// SPDX-License-Identifier: Apache-2.0
#include "elastic/goodput_row.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::elastic {
namespace {

constexpr std::int32_t most_gpus_of_a_job = 64;  // as in the released scheduler

/// Goodputs of one job; what is unknown is 0.
class RowMaker {
 public:
  RowMaker(const RowInput& input, const RowOptions& options)
      : input_(input), options_(options), application_(input.run.application()) {
    if (!input.run.noise()) return;
    for (std::size_t type = 0; type < types(); ++type) {
      if (!profile(type).model) continue;
      source_ = type;
      break;
    }
  }

  [[nodiscard]] bool knows_nothing() const { return source_ == types(); }

  [[nodiscard]] double value(const Configuration& at) const {
    if (!application_.tables[at.type]) return 0;
    if (input_.run.job().kind == ElasticKind::rigid) return rigid(at);
    if (knows_nothing()) return at.gpus == 1 ? 1 : 0;
    if (at.gpus > most_gpus(at.type)) return 0;
    if (profile(at.type).model) return modelled(at.type, {at.nodes, at.gpus, 1});
    if (!options_.project) return 0;
    const std::int32_t node = input_.cluster.types[source_].gpus_per_node;
    const double there = application_.tables[at.type]->single_gpu_throughput();
    const double here = application_.tables[source_]->single_gpu_throughput();
    return modelled(source_, {(at.gpus + node - 1) / node, at.gpus, 1}) * there / here;
  }

 private:
  [[nodiscard]] std::size_t types() const { return application_.tables.size(); }
  [[nodiscard]] const TypeProfile& profile(std::size_t type) const {
    return input_.run.profiles()[type];
  }

  /// The scheduler believes that a job is never larger than it was submitted.
  [[nodiscard]] BatchLimits limits(std::size_t type) const {
    const ElasticJob& job = input_.run.job();
    BatchLimits limits;
    limits.least = static_cast<std::int32_t>(application_.least_batch(type));
    limits.most = static_cast<std::int32_t>(application_.most_batch(type));
    limits.initial_batch = static_cast<std::int32_t>(application_.training.initial_batch());
    limits.most_batch = job.batch;
    limits.tuned = job.kind == ElasticKind::adaptive;
    limits.single_precision = true;  // as the released scheduler reckons
    return limits;
  }

  [[nodiscard]] double modelled(std::size_t type, const StepShape& spread) const {
    return best_batch(*profile(type).model, *input_.run.noise(), limits(type), spread).goodput;
  }

  [[nodiscard]] std::int32_t most_of_type(std::size_t type) const {
    if (!application_.tables[type]) return 0;
    const auto fits =
        static_cast<std::int32_t>(input_.run.job().batch / application_.least_batch(type));
    return std::min({std::max(2 * profile(type).most_replicas(), 1), most_gpus_of_a_job, fits});
  }

  [[nodiscard]] std::int32_t most_gpus(std::size_t type) const {
    if (input_.run.job().kind == ElasticKind::scale_gpus) return input_.run.job().replicas;
    if (!options_.share_most) return most_of_type(type);
    std::int32_t most = 0;
    for (std::size_t each = 0; each < types(); ++each) most = std::max(most, most_of_type(each));
    return most;
  }

  /// Its true throughput is known from the start.
  [[nodiscard]] double rigid(const Configuration& at) const {
    const ElasticJob& job = input_.run.job();
    if (at.gpus != job.replicas) return 0;
    const GpusByNode placement(static_cast<std::size_t>(at.nodes), at.gpus / at.nodes);
    const BatchChoice batch = fixed_batch(limits(at.type), job.batch, at.gpus);
    const auto sample = application_.tables[at.type]->at(placement, batch.atomic_batch);
    if (!sample) return 0;
    return 1 / (sample->step_s + batch.accumulation * (sample->step_s - sample->sync_s));
  }

  const RowInput& input_;
  const RowOptions& options_;
  const Application& application_;
  std::size_t source_ = input_.run.application().tables.size();
};

}  // namespace

std::vector<double> goodput_row(const RowInput& input, const RowOptions& options) {
  const RowMaker maker(input, options);
  std::vector<double> row;
  double least = 0;
  for (const Configuration& each : input.configurations) {
    row.push_back(maker.value(each));
    if (row.back() > 0) least = least == 0 ? row.back() : std::min(least, row.back());
  }
  const bool rigid = input.run.job().kind == ElasticKind::rigid;
  const double unit = rigid ? input.run.job().replicas : 1;
  if (least > 0)
    for (double& value : row) value *= unit / least;
  return row;
}

double restart_factor(const ElasticRun& run, double now_s) {
  const double age = now_s - run.job().submit_s;
  const double penalty = run.application().traits.believed_restart_s;
  if (age < penalty) return 1;
  return std::max(age - run.restarts() * penalty, 0.0) / (age + penalty);
}

}  // namespace schedmate::elastic
