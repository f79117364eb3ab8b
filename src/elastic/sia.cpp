// SPDX-License-Identifier: Apache-2.0
#include "elastic/sia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/random.hpp"
#include "elastic/allocation.hpp"
#include "elastic/elastic_policies.hpp"

namespace schedmate::elastic {
namespace {

constexpr double rounded_to = 0.01;  // values, so that equal ones are equal
constexpr double highest_value = 3000;
constexpr double least_goodput = 1e-4;  // below, a configuration counts as impossible

/// One row of the allocation: a job, or a GPU type that measures one.
struct SiaRow {
  std::size_t entry = 0;  ///< of the view's jobs
  bool measures = false;
  std::vector<AllocationOption> options;
  std::vector<std::size_t> configurations;  ///< of the options
  std::int32_t held = no_option;
  std::int32_t pinned = no_option;
};

class Sia {
 public:
  explicit Sia(const SiaOptions& options)
      : options_(options), random_(options.ties), solver_({.step = rounded_to}) {}

  ElasticPlan operator()(const ElasticView& view) {
    rows_.clear();
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      if (view.active[i]->profile_slots().empty())
        add_job(view, i);
      else
        add_profile(view, i);
    }
    if (options_.ties != 0) shuffle();
    return plan_of(view, solve(view));
  }

 private:
  struct Kept {
    std::uint64_t version = 0;
    std::vector<double> row;
  };

  const std::vector<double>& row_of(const ElasticView& view, const ElasticRun& run) {
    Kept& kept = kept_[&run];
    if (kept.row.empty() || kept.version != run.version())
      kept = {run.version(), goodput_row({run, view.cluster, view.configurations}, options_.row)};
    return kept.row;
  }

  void add_job(const ElasticView& view, std::size_t entry) {
    const ElasticRun& run = *view.active[entry];
    const std::vector<double>& goodputs = row_of(view, run);
    // Who holds nothing starts anyway (as the released scheduler has it).
    const double factor = run.runs() ? restart_factor(run, view.now_s) : 1;
    SiaRow row{entry, false, {}, {}, no_option, no_option};
    for (std::size_t c = 0; c < goodputs.size(); ++c) {
      const Configuration& at = view.configurations[c];
      const bool held = run.runs() && placement_of(at) == run.held();
      const double goodput = goodputs[c] * (held ? 1 : factor);
      if (!held && !(goodput > least_goodput)) continue;
      if (held) row.held = static_cast<std::int32_t>(row.options.size());
      row.options.push_back({at.type, at.gpus, value_of(std::max(goodput, least_goodput))});
      row.configurations.push_back(c);
    }
    if (run.pinned()) row.pinned = row.held;
    rows_.push_back(std::move(row));
  }

  [[nodiscard]] double value_of(double goodput) const {
    const double value = std::pow(goodput, options_.power);
    return std::min(highest_value, std::nearbyint(value / rounded_to) * rounded_to);
  }

  /// One GPU of a type that is still to be measured; in turn: of any one of them.
  void add_profile(const ElasticView& view, std::size_t entry) {
    for (const ProfileSlot& slot : view.active[entry]->profile_slots()) {
      const bool more = options_.measure_in_turn && !rows_.empty() && rows_.back().measures &&
                        rows_.back().entry == entry;
      if (!more) rows_.push_back({entry, true, {}, {}, no_option, no_option});
      SiaRow& row = rows_.back();
      const auto option = static_cast<std::int32_t>(row.options.size());
      if (slot.runs) row.held = row.pinned = option;
      row.options.push_back({slot.type, 1, 1});
      row.configurations.push_back(single(view, slot.type));
    }
  }

  static std::size_t single(const ElasticView& view, std::uint16_t type) {
    const auto found = std::ranges::find(view.configurations, Configuration{type, 1, 1});
    return static_cast<std::size_t>(found - view.configurations.begin());
  }

  static Assignment placement_of(const Configuration& at) {
    return {at.type, GpusByNode(static_cast<std::size_t>(at.nodes), at.gpus / at.nodes)};
  }

  std::size_t draw(std::size_t count) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count)));
  }

  /// Jobs and their options in another order: equal allocations come out differently.
  void shuffle() {
    for (std::size_t i = rows_.size(); i > 1; --i) std::swap(rows_[i - 1], rows_[draw(i)]);
    for (SiaRow& row : rows_)
      for (std::size_t i = row.options.size(); i > 1; --i) swap_options(row, i - 1, draw(i));
  }

  static void swap_options(SiaRow& row, std::size_t a, std::size_t b) {
    std::swap(row.options[a], row.options[b]);
    std::swap(row.configurations[a], row.configurations[b]);
    for (std::int32_t* const index : {&row.held, &row.pinned}) {
      if (*index == static_cast<std::int32_t>(a))
        *index = static_cast<std::int32_t>(b);
      else if (*index == static_cast<std::int32_t>(b))
        *index = static_cast<std::int32_t>(a);
    }
  }

  Allocation solve(const ElasticView& view) {
    AllocationProblem problem;
    for (const GpuType& type : view.cluster.types) problem.capacity.push_back(type.gpus());
    for (const SiaRow& row : rows_) problem.jobs.push_back({row.options, row.held, row.pinned});
    problem.without = options_.power < 0 ? options_.without : -options_.without;
    problem.maximise = options_.power > 0;
    return solver_.solve(problem);
  }

  [[nodiscard]] ElasticPlan plan_of(const ElasticView& view, const Allocation& allocation) const {
    ElasticPlan plan;
    plan.held.resize(view.active.size());
    plan.measured.resize(view.active.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int32_t choice = allocation.choice[i];
      if (choice == no_option) continue;
      const SiaRow& row = rows_[i];
      const std::size_t c = row.configurations[static_cast<std::size_t>(choice)];
      const Configuration& at = view.configurations[c];
      if (row.measures)
        plan.measured[row.entry].push_back(at.type);
      else
        plan.held[row.entry] = placement_of(at);
    }
    return plan;
  }

  SiaOptions options_;
  Random random_;
  AllocationSolver solver_;
  std::vector<SiaRow> rows_;
  std::unordered_map<const ElasticRun*, Kept> kept_;
};

}  // namespace

ElasticPolicy sia_policy(const SiaOptions& options) { return Sia(options); }

Result<ElasticPolicy> make_elastic_sia(PolicyOptions& options, std::uint64_t ties) {
  SiaOptions sia;
  const auto power = options.take_number("power", sia.power);
  if (!power) return tl::unexpected(power.error());
  const auto without = options.take_number("without", sia.without);
  if (!without) return tl::unexpected(without.error());
  const auto project = options.take_flag("project", sia.row.project);
  if (!project) return tl::unexpected(project.error());
  const auto share = options.take_flag("share_most", sia.row.share_most);
  if (!share) return tl::unexpected(share.error());
  const auto in_turn = options.take_flag("measure_in_turn", sia.measure_in_turn);
  if (!in_turn) return tl::unexpected(in_turn.error());
  if (!(std::abs(*power) >= 0.01 && std::abs(*power) <= 10) || !(*without > 0 && *without < 1000)) {
    return fail(ErrorCode::unsupported,
                fmt::format("sia: power={}, without={}: power must be 0.01 to 10 or -10 to -0.01, "
                            "and without above 0 and below 1000",
                            *power, *without));
  }
  sia.power = *power;
  sia.without = *without;
  sia.row = {*project, *share};
  sia.measure_in_turn = *in_turn;
  sia.ties = ties;
  return sia_policy(sia);
}

}  // namespace schedmate::elastic
