// SPDX-License-Identifier: Apache-2.0
#include "policy/lucid_profiler.hpp"

#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "policy/defaults.hpp"

namespace schedmate::policy {
namespace {

class LeastGpusFirst {
 public:
  explicit LeastGpusFirst(ProfilerOptions options) : options_(std::move(options)) {}

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.withdrawn) queue_.erase({view.job(id).gpus, id});
    for (const JobId id : view.arrived) queue_.emplace(view.job(id).gpus, id);
    while (!queue_.empty() && plan.start(queue_.begin()->second, queue_.begin()->first)) {
      queue_.erase(queue_.begin());
    }
    if (options_.elastic) scale(view, plan);
  }

 private:
  void scale(const View& view, Plan& plan) {
    const bool base = !extra_.has_value();
    const Seconds interval = base ? lucid::grow_interval : lucid::shrink_interval;
    const bool crowded = queue_.size() > lucid::crowded_queue;
    if (round_up(view.now, interval) == view.now) {
      if (base && crowded) {
        extra_ = plan.add_node(lucid::extra_node);
        plan.wake_at(view.now + Seconds(1));  // it serves from the next second on
        return;
      }
      if (!base && may_shrink(view)) {
        plan.remove_node(*extra_);
        extra_.reset();
        return;
      }
    }
    if (!base || crowded) plan.wake_at(round_up(view.now + Seconds(1), interval));
  }

  [[nodiscard]] bool may_shrink(const View& view) const {
    if (queue_.size() >= lucid::calm_queue) return false;
    if (std::popcount(view.cluster.free_mask(*extra_)) != view.cluster.gpus_per_node())
      return false;
    if (options_.forecast == nullptr) return true;
    return options_.forecast->is_over(view.now) ||
           options_.forecast->expected(view.now).gpus <= options_.calm_gpus;
  }

  ProfilerOptions options_;
  std::set<std::pair<int, JobId>> queue_;
  std::optional<std::uint32_t> extra_;  // node that it has grown by
};

}  // namespace

Policy least_gpus_first(ProfilerOptions options) { return LeastGpusFirst(std::move(options)); }

}  // namespace schedmate::policy
