// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the parts of the tick model have in common: one virtual cluster (VC) with its queue.

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tick_model.hpp"

namespace oracle {

using Jobs = std::vector<std::size_t>;  ///< indices into TickInput::jobs

/// Stable; a list that is in order already (the usual case) is left alone.
template <class Key>
void order_by(Jobs& jobs, Key key) {
  if (!std::ranges::is_sorted(jobs, std::less(), key)) {
    std::ranges::stable_sort(jobs, std::less(), key);
  }
}

struct Vc {
  const TickInput& input;
  const TickVc& spec;
  std::vector<TickOutcome>& outcomes;
  TickCluster cluster{spec.nodes, spec.gpus_per_node};
  std::vector<std::pair<Tick, std::size_t>> entries{};  ///< when which job joins, in order
  std::size_t entered = 0;
  std::size_t ended = 0;
  Jobs queue{};
  Jobs running{};  ///< in order of their starts

  [[nodiscard]] const TickJob& job(std::size_t id) const { return input.jobs[id]; }
  [[nodiscard]] bool done() const { return ended == entries.size(); }
  [[nodiscard]] bool decides(Tick now) const { return now % spec.round == 0; }

  /// Puts those that join now at the queue's end and says how many.
  std::size_t enter(Tick now) {
    const std::size_t before = entered;
    while (entered < entries.size() && entries[entered].first == now) {
      queue.push_back(entries[entered++].second);
    }
    return entered - before;
  }

  /// Gives a queued job these GPUs. The caller takes it off the queue.
  void run_on(std::size_t id, const Nodes& where, Tick now) {
    cluster.claim(id, where);
    outcomes[id].nodes = where;
    if (outcomes[id].start < 0) outcomes[id].start = now;
    running.push_back(id);
  }

  void finish(std::size_t id, Tick now) {
    cluster.release(id, outcomes[id].nodes);
    std::erase(running, id);
    outcomes[id].end = now;
    ++ended;
  }

  /// Visits the running jobs in order of their starts; `visit` may finish the one it is given.
  template <class Visit>
  void for_each_running(Visit visit) {
    for (std::size_t i = 0; i < running.size();) {
      const std::size_t id = running[i];
      visit(id);
      if (i < running.size() && running[i] == id) ++i;
    }
  }

  /// With nobody here nothing happens until the next one joins: the tick before that.
  [[nodiscard]] Tick skip_idle(Tick now) const {
    if (!queue.empty() || !running.empty() || entered == entries.size()) return now;
    return entries[entered].first - 1;
  }
};

void run_without_preemption(Vc& vc, TickPolicy policy, Mode mode);  ///< fifo, sjf, qssf
void run_with_preemption(Vc& vc, TickPolicy policy, Mode mode);     ///< srtf, tiresias

using Scaling = std::vector<std::pair<Tick, int>>;

/// Profiles the jobs and fills in what the profiler knows of them; gives its scaling events.
Scaling run_profiler(const TickInput& input, std::vector<TickOutcome>& outcomes);
/// Scaling events are of interest to the VC that echoes them.
void run_lucid(Vc& vc, Mode mode, const Scaling& echoed);

/// Mean of the next five forecast rows that begin after `now` (of fewer when fewer are left);
/// nothing when none is left.
std::optional<double> mean_of_next(const std::vector<double>& rows, Tick first, Tick now);

/// The clock starts at a whole hundred, where the sharing switch is set.
inline Tick clock_start(const TickInput& input) {
  return input.jobs.empty() ? 0 : input.jobs.front().submit / 100 * 100;
}

}  // namespace oracle
