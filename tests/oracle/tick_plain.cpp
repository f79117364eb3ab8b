// SPDX-License-Identifier: Apache-2.0
#include "tick_vc.hpp"

/// fifo, sjf and qssf: the queue is put in order, then started from its head until one cannot be
/// placed. The end is known at the start.

namespace oracle {
namespace {

struct Ranking {
  TickPolicy policy;
  Mode mode;
};

void rank(Vc& vc, Ranking by, std::size_t arrived_now) {
  const auto gpus = [&](std::size_t id) { return vc.job(id).gpus; };
  switch (by.policy) {
    case TickPolicy::fifo:
      order_by(vc.queue, [&](std::size_t id) { return vc.job(id).submit; });
      break;
    case TickPolicy::sjf:
      order_by(vc.queue, [&](std::size_t id) { return vc.job(id).duration; });
      break;
    default:
      order_by(vc.queue, gpus);
      // The release looks at its estimates only when somebody had been waiting already.
      if (by.mode == Mode::repaired || vc.queue.size() > arrived_now) {
        order_by(vc.queue, [&](std::size_t id) { return vc.job(id).estimate * gpus(id); });
      }
  }
}

void start_from_head(Vc& vc, Tick now) {
  while (!vc.queue.empty()) {
    const std::size_t id = vc.queue.front();
    const auto where = vc.cluster.find(vc.job(id).gpus);
    if (!where) return;
    vc.queue.erase(vc.queue.begin());
    vc.run_on(id, *where, now);
    vc.outcomes[id].queue = now - vc.job(id).submit;
  }
}

}  // namespace

void run_without_preemption(Vc& vc, TickPolicy policy, Mode mode) {
  for (Tick now = clock_start(vc.input); !vc.done(); now = vc.skip_idle(now) + 1) {
    vc.for_each_running([&](std::size_t id) {
      if (vc.outcomes[id].start + vc.job(id).duration == now) vc.finish(id, now);
    });
    const std::size_t arrived_now = vc.enter(now);
    if (!vc.decides(now)) continue;
    rank(vc, {policy, mode}, arrived_now);
    start_from_head(vc, now);
  }
}

}  // namespace oracle
