// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.hpp"
#include "base/random.hpp"

namespace schedmate::elastic {
namespace {

/// What the jobs that are not pinned could gain and use at most.
struct AllocationReach {
  double gain = 0;        ///< sum of the largest gains
  std::int64_t jobs = 0;  ///< with an option that pays and fits
  std::int64_t gpus = 0;  ///< that could be used at once
  bool stepped = true;    ///< every gain is a multiple of the step
};

bool pays_and_fits(const AllocationProblem& problem, const std::vector<std::int64_t>& free,
                   const AllocationOption& option) {
  SCHEDMATE_CHECK(option.type < free.size(), "the GPU type of an option is one of the cluster's");
  SCHEDMATE_CHECK(option.gpus >= 1 && std::abs(option.value) < 1e100, "an option is well formed");
  return allocation_gain(problem, option.value) > 0 && option.gpus <= free[option.type];
}

bool is_multiple(double value, double step) {
  const double steps = value / step;
  return std::abs(steps - std::round(steps)) <= 1e-6 * std::max(1.0, 1e-6 * std::abs(steps));
}

AllocationReach reach_of(const AllocationProblem& problem, double step,
                         std::vector<std::int64_t>& free) {
  AllocationReach reach{.stepped = step > 0};
  std::vector<std::int64_t> usable(free.size());
  std::vector<std::int64_t> most(free.size());
  for (const AllocationJob& job : problem.jobs) {
    if (job.pinned != no_option) continue;
    std::ranges::fill(most, 0);
    double best = 0;
    for (const AllocationOption& option : job.options) {
      if (!pays_and_fits(problem, free, option)) continue;
      const double gain = allocation_gain(problem, option.value);
      reach.stepped = reach.stepped && is_multiple(gain, step);
      best = std::max(best, gain);
      most[option.type] = std::max(most[option.type], std::int64_t{option.gpus});
    }
    reach.gain += best;
    reach.jobs += best > 0 ? 1 : 0;
    for (std::size_t type = 0; type < free.size(); ++type) usable[type] += most[type];
  }
  // More than all jobs can use is as good as that: it keeps the numbers small.
  for (std::size_t type = 0; type < free.size(); ++type) {
    free[type] = std::min(free[type], usable[type]);
    reach.gpus += free[type];
  }
  return reach;
}

/// How gains become scores.
struct AllocationScale {
  std::int64_t held = 0;  ///< score of keeping what is held
  std::int64_t gpu = 0;   ///< score of a GPU saved
};

/// Chooses unit and shift. Preferences together stay far below a unit, so that they hardly widen
/// the bound; values without a step get the bits that they need more.
AllocationScale scale_of(const AllocationReach& reach, double step, AllocationTable& table) {
  AllocationScale scale;
  const auto set_preferences = [&](std::int64_t most) {
    scale.gpu = reach.gpus < most ? 1 : 0;
    scale.held = std::clamp(most / (reach.jobs + 1), std::int64_t{1}, scale.gpu * reach.gpus + 1);
    const std::int64_t sum = reach.jobs * scale.held + scale.gpu * reach.gpus;
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(sum)));
  };
  table.shift = set_preferences(std::int64_t{1} << 32) + 8;
  table.unit = step;
  table.exact = reach.stepped && std::ldexp(reach.gain / step, table.shift) < 0x1p60;
  if (!table.exact) {
    table.shift = set_preferences(std::int64_t{1} << 20) + 2;
    table.unit = std::exp2(std::ilogb(reach.gain) + 1 - (60 - table.shift));
  }
  table.tie_cost = std::ldexp(static_cast<double>(scale.gpu * reach.gpus), -table.shift);
  return scale;
}

/// Numbers the shapes as they are met.
class ShapeNumbers {
 public:
  explicit ShapeNumbers(std::vector<AllocationShape>& shapes) : shapes_(shapes), slots_(64, -1) {
    shapes_.clear();
  }
  std::int32_t of(const AllocationShape& shape) {
    const std::size_t slot = find(shape);
    if (slots_[slot] >= 0) return slots_[slot];
    const auto number = static_cast<std::int32_t>(shapes_.size());
    slots_[slot] = number;
    shapes_.push_back(shape);
    if (2 * shapes_.size() > slots_.size()) grow();
    return number;
  }

 private:
  std::size_t find(const AllocationShape& shape) const {
    const auto gpus = static_cast<std::uint32_t>(shape.gpus);
    std::size_t slot = mix(std::uint64_t{shape.type} << 32U | gpus) % slots_.size();
    while (slots_[slot] >= 0 && shapes_[static_cast<std::size_t>(slots_[slot])] != shape) {
      slot = (slot + 1) % slots_.size();
    }
    return slot;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      slots_[find(shapes_[i])] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<AllocationShape>& shapes_;
  std::vector<std::int32_t> slots_;
};

struct ScoredOption {
  AllocationShape shape;
  Score score;
  std::int32_t choice;
};

/// Cheapest first; of equal cost the best first.
bool cheaper_first(const ScoredOption& a, const ScoredOption& b) {
  if (a.shape.type != b.shape.type) return a.shape.type < b.shape.type;
  if (a.shape.gpus != b.shape.gpus) return a.shape.gpus < b.shape.gpus;
  if (a.score != b.score) return a.score > b.score;
  return a.choice < b.choice;
}

class TableFilling {
 public:
  TableFilling(const AllocationProblem& problem, const AllocationScale& scale,
               AllocationTable& table)
      : problem_(problem), scale_(scale), table_(table), numbers_(table.shapes) {
    table_.origin.clear();
    table_.first.assign(1, 0);
    table_.score.clear();
    table_.worth.clear();
    table_.shape.clear();
    table_.choice.clear();
  }
  void add(std::int32_t index) {
    const AllocationJob& job = problem_.jobs[static_cast<std::size_t>(index)];
    scored_.clear();
    for (std::size_t i = 0; i < job.options.size(); ++i) {
      const AllocationOption& option = job.options[i];
      if (!pays_and_fits(problem_, table_.free, option)) continue;
      const auto choice = static_cast<std::int32_t>(i);
      scored_.push_back({{option.type, option.gpus}, score(option, choice == job.held), choice});
    }
    if (scored_.empty()) return;
    if (!std::ranges::is_sorted(scored_, cheaper_first)) std::ranges::sort(scored_, cheaper_first);
    keep_useful();
    table_.origin.push_back(index);
    table_.first.push_back(static_cast<std::int32_t>(table_.score.size()));
  }

 private:
  Score score(const AllocationOption& option, bool held) const {
    const double steps = std::round(allocation_gain(problem_, option.value) / table_.unit);
    const auto units = std::max(std::int64_t{1}, static_cast<std::int64_t>(steps));
    return (units << table_.shift) + (held ? scale_.held : 0) - scale_.gpu * option.gpus;
  }
  /// Without those that gain no more than a cheaper one of the same type.
  void keep_useful() {
    Score best = 0;
    for (std::size_t i = 0; i < scored_.size(); ++i) {
      const ScoredOption& option = scored_[i];
      if (i > 0 && option.shape.type == scored_[i - 1].shape.type && option.score <= best) continue;
      best = option.score;
      table_.score.push_back(option.score);
      table_.worth.push_back(std::ldexp(static_cast<double>(option.score), -table_.shift));
      table_.shape.push_back(numbers_.of(option.shape));
      table_.choice.push_back(option.choice);
    }
  }

  const AllocationProblem& problem_;
  const AllocationScale& scale_;
  AllocationTable& table_;
  ShapeNumbers numbers_;
  std::vector<ScoredOption> scored_;
};

/// Takes the pinned jobs' GPUs away.
bool take_pinned(const AllocationProblem& problem, std::vector<std::int64_t>& free) {
  for (const AllocationJob& job : problem.jobs) {
    if (job.pinned == no_option) continue;
    SCHEDMATE_CHECK(job.pinned >= 0 && static_cast<std::size_t>(job.pinned) < job.options.size(),
                    "a pinned option is one of the job's");
    const AllocationOption& option = job.options[static_cast<std::size_t>(job.pinned)];
    SCHEDMATE_CHECK(option.type < free.size() && option.gpus >= 1, "an option is well formed");
    free[option.type] -= option.gpus;
  }
  return std::ranges::all_of(free, [](std::int64_t gpus) { return gpus >= 0; });
}

}  // namespace

bool tabulate(const AllocationProblem& problem, double step, AllocationTable& table) {
  table.free = problem.capacity;
  if (!take_pinned(problem, table.free)) return false;
  const AllocationReach reach = reach_of(problem, step, table.free);
  const AllocationScale scale = reach.gain > 0 ? scale_of(reach, step, table) : AllocationScale{};
  TableFilling filling(problem, scale, table);
  if (reach.gain <= 0) return true;
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
    if (problem.jobs[i].pinned == no_option) filling.add(static_cast<std::int32_t>(i));
  }
  return true;
}

}  // namespace schedmate::elastic
