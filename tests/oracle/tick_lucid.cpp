// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "tick_vc.hpp"

/// Lucid in one VC: jobs by estimated duration x GPUs; while many submissions are expected, a small
/// job first looks for a running one to share its GPUs with.

namespace oracle {
namespace {

constexpr double gpu_memory_mib = 24'576;

class LucidModel {
 public:
  LucidModel(Vc& vc, Mode mode, const Scaling& echoed)
      : vc_(vc), mode_(mode), echoed_(echoed), entered_at_(vc.input.jobs.size()) {
    for (const auto& [entry, id] : vc.entries) {
      vc.outcomes[id].remaining = static_cast<double>(vc.job(id).duration);
      entered_at_[id] = mode == Mode::repaired ? entry : vc.job(id).submit;
    }
  }

  void run() {
    for (Tick now = clock_start(vc_.input); !vc_.done() && !stuck(now); ++now) {
      if (mode_ == Mode::repaired) count_down();
      vc_.for_each_running([&](std::size_t id) { end_if_over(id, now); });
      vc_.enter(now);
      if (now % 100 == 0) set_switch(now);
      if (vc_.decides(now)) decide(now);
      for (const auto& [time, change] : echoed_) {
        if (time == now) echo(change);
      }
    }
    for (const std::size_t id : vc_.queue) vc_.outcomes[id].status = TickStatus::stalled;
  }

 private:
  /// With one node less a job may wait forever. Nothing can change any more once nobody runs or is
  /// to come, the node does not come back, and the forecast (the sharing switch) has passed.
  [[nodiscard]] bool stuck(Tick now) const {
    if (!vc_.running.empty() || vc_.entered < vc_.entries.size()) return false;
    const Forecast& forecast = vc_.input.forecast;
    Tick last_change = forecast.first + 600 * std::ssize(forecast.jobs);
    if (!vc_.entries.empty()) last_change = std::max(last_change, vc_.entries.back().first);
    if (!echoed_.empty()) last_change = std::max(last_change, echoed_.back().first);
    return now > last_change + 100 + vc_.spec.round && now > last_end_ + vc_.spec.round;
  }

  void count_down() {
    for (const std::size_t id : vc_.running) vc_.outcomes[id].remaining -= vc_.outcomes[id].rate;
  }

  void end_if_over(std::size_t id, Tick now) {
    TickOutcome& out = vc_.outcomes[id];
    if (out.remaining > 0) {
      if (mode_ == Mode::reference) out.remaining -= out.rate;
      return;
    }
    const std::optional<std::size_t> restored = out.exclusive ? std::nullopt : mate_of(id);
    if (restored) {
      vc_.outcomes[*restored].rate = 1;
      vc_.outcomes[*restored].exclusive = true;
      vc_.outcomes[*restored].unpacked_at = now;
    }
    vc_.finish(id, now);
    last_end_ = now;
  }

  /// The job to restore when `id` ends. The release takes the first it finds on the GPUs, which is
  /// the older of the two even when that is the one that ends.
  [[nodiscard]] std::optional<std::size_t> mate_of(std::size_t id) const {
    if (mode_ == Mode::reference) return vc_.cluster.first_resident(vc_.outcomes[id].nodes);
    for (const std::size_t other : vc_.running) {
      if (other != id && vc_.outcomes[other].nodes == vc_.outcomes[id].nodes) return other;
    }
    return std::nullopt;
  }

  void set_switch(Tick now) {
    const Forecast& forecast = vc_.input.forecast;
    const auto expected = mean_of_next(forecast.jobs, forecast.first, now);
    sharing_ = !expected || !(*expected <= 2);
  }

  [[nodiscard]] double priority(std::size_t id) const {
    const double estimate = vc_.job(id).estimate;
    return (estimate < 0 ? 1000 : estimate) * vc_.job(id).gpus;
  }

  void decide(Tick now) {
    order_by(vc_.queue, [&](std::size_t id) { return priority(id); });
    Jobs waiting;
    for (const std::size_t id : vc_.queue) {
      const bool blocked = !sharing_ && !waiting.empty();
      if (blocked || !(pack(id, now) || start_alone(id, now))) waiting.push_back(id);
    }
    vc_.queue = waiting;
  }

  bool start_alone(std::size_t id, Tick now) {
    const auto where = vc_.cluster.find(vc_.job(id).gpus);
    if (where) start(id, *where, now);
    return where.has_value();
  }

  bool pack(std::size_t id, Tick now) {
    if (!sharing_ || vc_.job(id).gpus > 8) return false;
    const auto partner =
        std::ranges::find_if(vc_.running, [&](std::size_t other) { return may_share(id, other); });
    if (partner == vc_.running.end()) return false;
    const std::size_t host = *partner;
    const Nodes where = vc_.outcomes[host].nodes;
    start(id, where, now);
    const auto& [newcomer, resident] = speeds(vc_.job(id).profile, vc_.job(host).profile);
    vc_.outcomes[id].rate = newcomer;
    vc_.outcomes[host].rate = resident;
    vc_.outcomes[id].exclusive = vc_.outcomes[host].exclusive = false;
    vc_.outcomes[id].packed_at = now;
    return true;
  }

  [[nodiscard]] bool may_share(std::size_t id, std::size_t host) const {
    const TickProfile& mine = vc_.input.profiles[vc_.job(id).profile];
    const TickProfile& theirs = vc_.input.profiles[vc_.job(host).profile];
    return vc_.outcomes[host].exclusive && vc_.job(host).gpus == vc_.job(id).gpus &&
           theirs.memory_mib < gpu_memory_mib - mine.memory_mib &&
           mine.sharing_score + theirs.sharing_score <= 2 && priority(id) <= 2 * priority(host);
  }

  [[nodiscard]] PairSpeed speeds(std::size_t newcomer, std::size_t resident) const {
    const auto& profiles = vc_.input.profiles;
    if (profiles[newcomer].interference_free || profiles[resident].interference_free) return {};
    return vc_.input.pairs[newcomer * profiles.size() + resident];
  }

  void start(std::size_t id, const Nodes& where, Tick now) {
    vc_.run_on(id, where, now);
    vc_.outcomes[id].queue += now - entered_at_[id];  // on top of the wait for the profiler
  }

  /// While the profiler has an extra node, this VC has one less: the idle one of the highest
  /// number, which hands its number on if a busy node has the number of an added one.
  void echo(int change) {
    if (change < 0) {
      if (!vc_.cluster.has_node(extra_label)) vc_.cluster.append_node(extra_label);
      return;
    }
    const std::vector<int> idle = vc_.cluster.idle_nodes();
    if (idle.empty()) return;
    const int label = std::ranges::max(idle);
    vc_.cluster.remove_node(label);
    if (label != extra_label && gave_before_) {
      vc_.cluster.relabel(extra_label, label);
      for (const std::size_t id : vc_.running) {
        for (NodeGpus& node : vc_.outcomes[id].nodes) {
          if (node.label == extra_label) node.label = label;
        }
      }
    }
    gave_before_ = true;
  }

  Vc& vc_;
  Mode mode_;
  const Scaling& echoed_;
  std::vector<Tick> entered_at_;  // by job
  Tick last_end_ = 0;
  bool sharing_ = false;
  bool gave_before_ = false;
};

}  // namespace

void run_lucid(Vc& vc, Mode mode, const Scaling& echoed) { LucidModel(vc, mode, echoed).run(); }

}  // namespace oracle
