// SPDX-License-Identifier: Apache-2.0
#include "tick_vc.hpp"

/// srtf and tiresias: all jobs are put in one order; who fits into the number of GPUs of the VC,
/// counted from the front and passing over those too large, is to run, and nobody else.

namespace oracle {
namespace {

constexpr Tick tiresias_round = 60;
constexpr Tick service_limit = 18'000;  // GPU seconds; above it a job is in the low queue

class QuotaModel {
 public:
  QuotaModel(Vc& vc, TickPolicy policy, Mode mode)
      : vc_(vc), policy_(policy), mode_(mode), progress_(vc.input.jobs.size()) {
    for (const auto& [entry, id] : vc.entries) progress_[id].remain = vc.job(id).duration;
  }

  void run() {
    for (Tick now = clock_start(vc_.input); !vc_.done(); now = vc_.skip_idle(now) + 1) {
      vc_.for_each_running([&](std::size_t id) { advance(id, now); });
      vc_.enter(now);
      if (!vc_.decides(now)) continue;
      if (policy_ == TickPolicy::tiresias && now % tiresias_round != 0) continue;
      decide(now);
    }
  }

 private:
  struct Progress {
    Tick remain = 0;
    Tick service = 0;
    Tick preempted_at = -1;
  };

  /// One more second of a running job.
  void advance(std::size_t id, Tick now) {
    Progress& p = progress_[id];
    // The release looks first and counts afterwards, so every run lasts a second longer.
    bool over = mode_ == Mode::reference && p.remain == 0;
    if (!over) {
      p.remain -= 1;
      p.service += vc_.job(id).gpus;
      over = mode_ == Mode::repaired && p.remain <= 0;
    }
    if (over) vc_.finish(id, now);
  }

  [[nodiscard]] Jobs ranked() const {
    Jobs all;
    const auto append = [&](const Jobs& jobs) { all.insert(all.end(), jobs.begin(), jobs.end()); };
    if (policy_ == TickPolicy::srtf) {
      append(vc_.queue);
      append(vc_.running);
      order_by(all, [&](std::size_t id) { return progress_[id].remain; });
    } else {
      append(vc_.running);
      append(vc_.queue);
      order_by(all, [&](std::size_t id) { return vc_.job(id).submit; });
      order_by(all, [&](std::size_t id) { return progress_[id].service > service_limit; });
    }
    return all;
  }

  void decide(Tick now) {
    int quota = vc_.cluster.gpu_count();
    Jobs to_start;
    Jobs to_preempt;
    for (const std::size_t id : ranked()) {
      const bool runs = std::ranges::find(vc_.running, id) != vc_.running.end();
      if (vc_.job(id).gpus <= quota) {
        quota -= vc_.job(id).gpus;
        if (!runs) to_start.push_back(id);
      } else if (runs) {
        to_preempt.push_back(id);
      }
    }
    for (const std::size_t id : to_preempt) preempt(id, now);
    for (const std::size_t id : to_start) start(id, now);
  }

  void preempt(std::size_t id, Tick now) {
    vc_.cluster.release(id, vc_.outcomes[id].nodes);
    progress_[id].remain += vc_.job(id).gpus <= 8 ? 40 : 60;
    progress_[id].preempted_at = now;
    ++vc_.outcomes[id].preemptions;
    std::erase(vc_.running, id);
    vc_.queue.push_back(id);
  }

  void start(std::size_t id, Tick now) {
    const auto where = vc_.cluster.find(vc_.job(id).gpus);
    if (!where) return;
    const bool first = progress_[id].preempted_at < 0;
    vc_.outcomes[id].queue += now - (first ? vc_.job(id).submit : progress_[id].preempted_at);
    vc_.run_on(id, *where, now);
    std::erase(vc_.queue, id);
  }

  Vc& vc_;
  TickPolicy policy_;
  Mode mode_;
  std::vector<Progress> progress_;  // by job
};

}  // namespace

void run_with_preemption(Vc& vc, TickPolicy policy, Mode mode) {
  QuotaModel(vc, policy, mode).run();
}

}  // namespace oracle
