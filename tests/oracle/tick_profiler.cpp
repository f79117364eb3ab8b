// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <optional>

#include "tick_vc.hpp"

/// Lucid's profiler: small jobs of all VCs, fewest GPUs first, each for at most `duration` seconds.
/// A node is added when the queue is long, and goes when the queue is short and little is expected.

namespace oracle {

std::optional<double> mean_of_next(const std::vector<double>& rows, Tick first, Tick now) {
  std::vector<double> next;
  for (std::size_t row = 0; row < rows.size() && next.size() < 5; ++row) {
    if (first + 600 * static_cast<Tick>(row) > now) next.push_back(rows[row]);
  }
  if (next.empty()) return std::nullopt;
  return std::accumulate(next.begin(), next.end(), 0.0) / static_cast<double>(next.size());
}

namespace {

class Profiler {
 public:
  Profiler(const TickInput& input, std::vector<TickOutcome>& outcomes)
      : input_(input),
        settings_(input.profiler),
        spec_{"profiler", settings_.nodes, settings_.gpus_per_node, 1},
        vc_{input, spec_, outcomes} {
    for (std::size_t id = 0; id < input.jobs.size(); ++id) {
      if (outcomes[id].status == TickStatus::infeasible) continue;
      vc_.entries.emplace_back(input.jobs[id].submit, id);
    }
  }

  Scaling run() {
    for (Tick now = clock_start(input_); !vc_.done(); ++now) {
      vc_.for_each_running([&](std::size_t id) { end_if_over(id, now); });
      vc_.enter(now);
      pass_large_jobs();
      order_by(vc_.queue, [&](std::size_t id) { return vc_.job(id).gpus; });
      start_from_head(now);
      scale(now);
    }
    return std::move(scaling_);
  }

 private:
  void end_if_over(std::size_t id, Tick now) {
    const Tick run_time = std::min(vc_.job(id).duration, settings_.duration);
    if (vc_.outcomes[id].start + run_time == now) vc_.finish(id, now);
  }

  void pass_large_jobs() {
    vc_.ended += std::erase_if(
        vc_.queue, [&](std::size_t id) { return vc_.job(id).gpus > settings_.max_gpus; });
  }

  void start_from_head(Tick now) {
    while (!vc_.queue.empty()) {
      const std::size_t id = vc_.queue.front();
      const auto where = vc_.cluster.find(vc_.job(id).gpus);
      if (!where) return;
      vc_.queue.erase(vc_.queue.begin());
      vc_.run_on(id, *where, now);
      TickOutcome& out = vc_.outcomes[id];
      out.profiled = true;
      out.finished_in_profiler = vc_.job(id).duration <= settings_.duration;
      out.profiler_queue = out.queue = now - vc_.job(id).submit;
    }
  }

  void scale(Tick now) {
    const bool extended = vc_.cluster.has_node(extra_label);
    if (now % 10 == 0 && vc_.queue.size() > 10 && !extended) {
      vc_.cluster.append_node(extra_label);
      scaling_.emplace_back(now, 1);
    }
    if (now % 100 == 0 && vc_.queue.size() < 5 && extended && vc_.cluster.idle(extra_label)) {
      const Forecast& forecast = input_.forecast;
      if (mean_of_next(forecast.gpus, forecast.first, now).value_or(-1) > 40) return;
      vc_.cluster.remove_node(extra_label);
      scaling_.emplace_back(now, -1);
    }
  }

  const TickInput& input_;
  const ProfilerSettings& settings_;
  TickVc spec_;
  Vc vc_;
  Scaling scaling_;
};

}  // namespace

Scaling run_profiler(const TickInput& input, std::vector<TickOutcome>& outcomes) {
  return Profiler(input, outcomes).run();
}

}  // namespace oracle
