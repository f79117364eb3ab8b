// SPDX-License-Identifier: Apache-2.0
/// backfill_easy: EASY backfilling (Lifka, JSSPP 1995; Mu'alem and Feitelson, TPDS 2001).
///
/// Order: JobInfo::order, then entry, which is submission, as nothing runs in front of the queue.
/// The head starts when its gang can be placed. When it cannot, it gets a reservation: the earliest
/// instant at which it could be placed if every running job ended as predicted. Then every later
/// job is asked once, in order, and starts if it can be placed now and that does not move the
/// reservation back: it is predicted to be over by then, or the head finds its GPUs by then all the
/// same. Where the head would be placed is left open, so only the time counts.
///
/// Predictions (start + estimate, at least one second) plan, they never kill: a job that outlives
/// its own is expected to run as long again as it has so far. So the reservation may slip, though
/// never because of a start. Departures from the papers: a gang that must be kept together waits
/// for nodes, not for a number of GPUs; there is no limit on how far down the queue is looked; the
/// reservation is not rounded up to the VC's `round`. While too few nodes are up for the head it
/// has no reservation, and everybody may start. Estimator: `limit` unless `estimate=` says
/// otherwise (docs/decisions/0006).
///
/// Only the size of a job that would outlast the reservation decides whether it may start, so that
/// is asked once per size and state: a decision costs sizes x log(jobs), however long the queue.
#include <algorithm>
#include <cmath>
#include <map>
#include <schedmate/scheduler.hpp>

#include "policy/backfill_easy_queue.hpp"
#include "policy/free_times.hpp"

namespace schedmate::policy {
namespace {

Seconds whole_seconds(FractionalSeconds predicted) {
  constexpr double longest_s = 1e12;  // keeps every sum of times in range
  if (!(predicted.count() > 1)) return Seconds(1);
  return Seconds(static_cast<std::int64_t>(std::ceil(std::min(predicted.count(), longest_s))));
}
Seconds predicted_run_time(const JobInfo& job) { return whole_seconds(job.estimate); }

class BackfillEasy {
 public:
  void operator()(const View& view, Plan& plan) {
    if (!times_) times_.emplace(view.cluster);
    for (const JobId id : view.adopted)
      times_->hold(id, view.cluster.allocation(id),
                   view.now + whole_seconds(view.job(id).remaining(view.now)));
    for (const JobId id : view.ended) times_->free(id);
    for (const std::uint32_t node : view.nodes) times_->follow(view.cluster, node);
    for (const JobId id : view.arrived) enter(view, id);
    for (const JobId id : view.reordered) {
      leave(id, view.job(id).gpus);
      enter(view, id);
    }
    for (const JobId id : view.withdrawn) leave(id, view.job(id).gpus);
    times_->expect_overdue(view);
    serve(view, plan);
  }

 private:
  /// What goes first, then how many GPUs: minus the order, GPUs.
  using Kind = std::pair<std::int64_t, int>;
  struct Waiting {
    Kind kind;
    JobId id{};
  };

  void enter(const View& view, JobId id) {
    const JobInfo& job = view.job(id);
    if (job.order != 0) orders_[id] = job.order;
    lines_[{-job.order, job.gpus}].push(id, predicted_run_time(job));
  }

  /// From the line that it was put in.
  void leave(JobId id, int gpus) {
    const auto order = orders_.extract(id);
    const auto line = lines_.find({order ? -order.mapped() : 0, gpus});
    if (line == lines_.end()) return;
    line->second.remove(id);
    if (order && line->second.empty()) lines_.erase(line);
  }

  void serve(const View& view, Plan& plan) {
    auto head = first_waiting();
    while (head && start(view, plan, *head)) head = first_waiting();
    if (!head) return;
    const int gang = head->kind.second;
    const Reservation reservation{gang, times_->earliest(gang)};
    for (auto next = next_allowed(view, reservation, *head); next;
         next = next_allowed(view, reservation, *next)) {
      start(view, plan, *next);
    }
    // Should that job outlive its prediction, others may gain from a later reservation.
    if (const auto* end = times_->next_end()) plan.wake_at(end->at);
  }

  bool start(const View& view, Plan& plan, const Waiting& waiting) {
    const JobInfo& job = view.job(waiting.id);
    if (!plan.start(waiting.id, job.gpus)) return false;
    times_->hold(waiting.id, view.cluster.allocation(waiting.id),
                 view.now + predicted_run_time(job));
    leave(waiting.id, job.gpus);
    return true;
  }

  [[nodiscard]] std::optional<Waiting> first_waiting() const {
    std::optional<Waiting> first;
    for (const auto& [kind, line] : lines_) {
      if (first && kind.first != first->kind.first) break;
      const auto id = line.first(JobId{0}, WaitingLine::any_time);
      if (id && (!first || *id < first->id)) first = {kind, *id};
    }
    return first;
  }

  /// The first job after `after` that may start now without moving the head's reservation back.
  [[nodiscard]] std::optional<Waiting> next_allowed(const View& view, Reservation head,
                                                    const Waiting& after) {
    std::optional<Waiting> best;
    for (auto each = lines_.lower_bound({after.kind.first, 0}); each != lines_.end(); ++each) {
      const auto& [kind, line] = *each;
      const int gpus = kind.second;
      if (best && kind.first != best->kind.first) break;
      if (gpus > view.cluster.free_gpus()) continue;
      const JobId from{kind.first == after.kind.first ? index_of(after.id) + 1 : 0};
      const auto any = line.first(from, WaitingLine::any_time);
      if (!any || (best && best->id < *any) || !view.cluster.fits(gpus)) continue;
      const auto safe =
          line.first(from, head.at == never ? WaitingLine::any_time : head.at - view.now);
      const auto allowed =
          safe != any && times_->may_outlast(head, view.cluster, gpus) ? any : safe;
      if (allowed && (!best || *allowed < best->id)) best = {kind, *allowed};
    }
    return best;
  }

  std::optional<FreeTimes> times_;        // from the first call on
  std::map<Kind, WaitingLine> lines_;     // with other orders than 0, none is empty
  std::map<JobId, std::int64_t> orders_;  // of those that have another one than 0
};

}  // namespace

Result<Scheduler> make_backfill_easy(const PolicyInput&, PolicyOptions&) {
  Scheduler scheduler;
  scheduler.decide = BackfillEasy();
  scheduler.estimator = "limit";
  scheduler.plans = true;
  scheduler.heeds_order = true;
  return scheduler;
}

}  // namespace schedmate::policy
