// SPDX-License-Identifier: Apache-2.0
#include "elastic/gavel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/random.hpp"
#include "elastic/elastic_policies.hpp"
#include "elastic/linear_program.hpp"
#include "elastic/rigid_queue.hpp"

namespace schedmate::elastic {
namespace {

constexpr double least_share = 1e-5;  // below, it is rounding

/// What is remembered of a job.
struct GavelJob {
  RigidPlaces places;
  std::vector<double> received_s;  // by GPU type
  double rank = 0;                 // of equal claims the lower one first
};

/// A job's claim on a type.
struct GavelClaim {
  std::size_t entry = 0, type = 0;
  double priority = 0;
  double share = 0;
  bool kept = false;
};

class Gavel {
 public:
  explicit Gavel(const GavelOptions& options) : options_(options), random_(options.ties) {}

  ElasticPlan operator()(const ElasticView& view) {
    RigidPlan plan(view);
    if (view.now_s < next_s_) {
      plan.keep_all();
      return plan.take();
    }
    next_s_ = (std::floor(view.now_s / options_.round_s) + 1) * options_.round_s;
    enter_new(view);
    for (const GavelClaim& claim : claims(view)) {
      const RigidPlace& place = *jobs_.at(view.active[claim.entry]).places[claim.type];
      if (!plan.has(claim.entry) && plan.has_room(place)) plan.give(claim.entry, place.at);
    }
    count_time(view, plan);
    return plan.take();
  }

 private:
  /// A new job counts as having had half a round on each type.
  void enter_new(const ElasticView& view) {
    total_s_.resize(view.cluster.types.size());
    for (const ElasticRun* const run : view.active) {
      if (jobs_.contains(run)) continue;
      const double credit_s = options_.round_s / 2;
      const double rank =
          options_.ties == 0 ? static_cast<double>(jobs_.size()) : random_.uniform();
      jobs_[run] = {rigid_places(*run, view.cluster),
                    std::vector<double>(total_s_.size(), credit_s), rank};
      for (double& total : total_s_) total += credit_s;
    }
  }

  /// Shares by entry and type.
  std::vector<double> shares(const ElasticView& view) {
    using Key = std::tuple<std::size_t, std::int32_t, std::int32_t>;
    const std::size_t types = total_s_.size();
    std::map<Key, std::size_t> known;
    std::vector<GavelKind> kinds;
    std::vector<std::size_t> kind_of;
    for (const ElasticRun* const run : view.active) {
      const ElasticJob& job = run->job();
      const auto [found, is_new] =
          known.try_emplace({job.application, job.replicas, job.batch}, kinds.size());
      if (is_new)
        kinds.push_back(kind(jobs_.at(run).places));
      else
        ++kinds[found->second].jobs;
      kind_of.push_back(found->second);
    }
    std::vector<std::int32_t> capacity;
    for (const GpuType& type : view.cluster.types) capacity.push_back(type.gpus());
    const std::vector<double> of_kinds = gavel_shares(kinds, capacity);
    std::vector<double> result;
    for (const std::size_t each : kind_of)
      for (std::size_t type = 0; type < types; ++type)
        result.push_back(of_kinds[each * types + type]);
    return result;
  }

  static GavelKind kind(const RigidPlaces& places) {
    GavelKind kind;
    for (const auto& place : places) {
      kind.steps_per_s.push_back(place ? place->steps_per_s : 0);
      if (place) kind.gpus = replicas_of(place->at.placement);
    }
    return kind;
  }

  /// By priority; who has none comes last. Equals by type, then by rank.
  std::vector<GavelClaim> claims(const ElasticView& view) {
    const std::size_t types = total_s_.size();
    const std::vector<double> share = shares(view);
    std::vector<GavelClaim> claims;
    for (std::size_t type = 0; type < types; ++type) {
      for (const std::size_t entry : entries(view)) {
        const ElasticRun& run = *view.active[entry];
        const GavelJob& job = jobs_.at(&run);
        if (!job.places[type]) continue;
        const double each = share[entry * types + type];
        const double priority = each * total_s_[type] / job.received_s[type];
        const bool kept = options_.keep_type && run.runs() && run.held().type == type;
        claims.push_back({entry, type, priority, each, kept});
      }
    }
    std::ranges::stable_sort(claims, std::greater{}, [](const GavelClaim& claim) {
      return std::tuple(claim.priority, claim.share, claim.kept);
    });
    return claims;
  }

  [[nodiscard]] std::vector<std::size_t> entries(const ElasticView& view) const {
    std::vector<std::size_t> order(view.active.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {},
                             [&](std::size_t entry) { return jobs_.at(view.active[entry]).rank; });
    return order;
  }

  /// Whoever is given a type has it until the next decision.
  void count_time(const ElasticView& view, const RigidPlan& plan) {
    const double seconds = next_s_ - view.now_s;
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      if (!plan.has(i)) continue;
      const std::size_t type = plan.held(i).type;
      jobs_.at(view.active[i]).received_s[type] += seconds;
      total_s_[type] += seconds;
    }
  }

  GavelOptions options_;
  Random random_;
  std::unordered_map<const ElasticRun*, GavelJob> jobs_;
  std::vector<double> total_s_;  // received of each type by all jobs that ever came
  double next_s_ = 0;
};

}  // namespace

std::vector<double> gavel_shares(std::span<const GavelKind> kinds,
                                 std::span<const std::int32_t> capacity) {
  const std::size_t types = capacity.size();
  const std::size_t columns = kinds.size() * types;
  LinearProgram program;
  program.matrix.assign((kinds.size() + types) * columns, 0);
  for (const GavelKind& kind : kinds) program.limits.push_back(kind.jobs);
  for (const std::int32_t gpus : capacity) program.limits.push_back(gpus);
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t kind = column / types;
    const std::size_t type = column % types;
    program.objective.push_back(kinds[kind].steps_per_s[type]);
    program.matrix[kind * columns + column] = 1;
    program.matrix[(kinds.size() + type) * columns + column] = kinds[kind].gpus;
  }
  std::vector<double> shares = maximise(program)->values;  // bounded: every column has a limit
  for (std::size_t column = 0; column < columns; ++column) {
    double& share = shares[column];
    const std::size_t kind = column / types;
    share /= kinds[kind].jobs;
    if (share < least_share) share = 0;
  }
  return shares;
}

ElasticPolicy gavel_policy(const GavelOptions& options) { return Gavel(options); }

Result<ElasticPolicy> make_elastic_gavel(PolicyOptions& options, std::uint64_t ties) {
  GavelOptions gavel;
  const auto round_s = options.take_number("round_s", gavel.round_s);
  if (!round_s) return tl::unexpected(round_s.error());
  const auto keep = options.take_flag("keep_type", gavel.keep_type);
  if (!keep) return tl::unexpected(keep.error());
  if (!(*round_s >= 1 && *round_s <= 86'400))
    return fail(ErrorCode::unsupported,
                fmt::format("gavel: round_s={}: must be 1 to 86400 seconds", *round_s));
  gavel.round_s = *round_s;
  gavel.keep_type = *keep;
  gavel.ties = ties;
  return gavel_policy(gavel);
}

}  // namespace schedmate::elastic
