// SPDX-License-Identifier: Apache-2.0
#include "report/fairness.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "report/distribution.hpp"

namespace schedmate::report {
namespace {

// Users with unfinished jobs in each VC, and the integral of their number over time.
class ActiveUsers {
 public:
  explicit ActiveUsers(std::size_t vcs) : vcs_(vcs) {}

  void enter(const Job& job) {
    advance(job.vc, job.submit);
    if (open_jobs_[key(job)]++ == 0) ++vcs_[job.vc].users;
  }
  void leave(const Job& job, SimTime end) {
    advance(job.vc, end);
    if (--open_jobs_[key(job)] == 0) --vcs_[job.vc].users;
  }
  [[nodiscard]] std::int64_t now(std::uint32_t vc) const { return vcs_[vc].users; }
  [[nodiscard]] std::int64_t user_seconds(std::uint32_t vc) const { return vcs_[vc].user_s; }

 private:
  struct PerVc {
    std::int64_t users = 0;
    std::int64_t user_s = 0;
    SimTime until;
  };
  static std::uint64_t key(const Job& job) {
    return (static_cast<std::uint64_t>(job.vc) << 32U) | job.user;
  }
  void advance(std::uint32_t vc, SimTime to) {
    PerVc& at = vcs_[vc];
    if (at.users > 0) at.user_s += at.users * (to - at.until).count();
    at.until = to;
  }
  std::vector<PerVc> vcs_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_jobs_;  // by VC and user
};

std::vector<double> vc_gpus(const RunRecord& record) {
  std::vector<double> gpus(record.trace.vcs.size(), record.result.total_gpus);
  for (std::size_t vc = 0; vc < gpus.size(); ++vc) {
    for (const PartitionSpec& part : record.cluster.partitions) {
      if (part.name == record.trace.vcs[vc]) gpus[vc] = part.nodes * part.gpus_per_node;
    }
  }
  return gpus;
}

struct Event {
  SimTime time;
  std::uint32_t row = 0;
};

std::vector<Event> ends_in_order(const SimResult& result) {
  std::vector<Event> ends;
  for (std::uint32_t row = 0; row < result.outcomes.size(); ++row) {
    const JobOutcome& outcome = result.outcomes[row];
    if (outcome.status == JobStatus::finished) ends.push_back({outcome.end, row});
  }
  std::ranges::sort(ends, {}, [](const Event& e) { return std::pair(e.time, e.row); });
  return ends;
}

double rho(const Job& job, Seconds jct, double share_of_gpus) {
  const FractionalSeconds floor = slowdown_threshold;
  const FractionalSeconds alone =
      FractionalSeconds(job.duration) * std::max(1.0, job.gpus / share_of_gpus);
  return std::max(FractionalSeconds(jct), floor) / std::max(alone, floor);
}

}  // namespace

std::vector<double> finish_fairness(const RunRecord& record) {
  const std::vector<Job>& jobs = record.trace.jobs;
  const std::vector<double> capacity = vc_gpus(record);
  std::vector<std::int64_t> at_entry(jobs.size());
  std::vector<double> by_row(jobs.size());
  ActiveUsers active(record.trace.vcs.size());
  std::uint32_t next = 0;
  const std::vector<Event> ends = ends_in_order(record.result);
  for (const auto& [end, row] : ends) {
    for (; next < jobs.size() && jobs[next].submit <= end; ++next) {
      if (record.result.outcomes[next].status != JobStatus::finished) continue;
      active.enter(jobs[next]);
      at_entry[next] = active.user_seconds(jobs[next].vc);
    }
    const Job& job = jobs[row];
    const auto users_now = static_cast<double>(active.now(job.vc));
    active.leave(job, end);
    const Seconds jct = end - job.submit;
    const auto user_s = static_cast<double>(active.user_seconds(job.vc) - at_entry[row]);
    const double users = jct > Seconds(0) ? user_s / static_cast<double>(jct.count()) : users_now;
    by_row[row] = rho(job, jct, capacity[job.vc] / users);
  }
  std::vector<double> finished;
  finished.reserve(ends.size());
  for (std::uint32_t row = 0; row < jobs.size(); ++row) {
    if (record.result.outcomes[row].status == JobStatus::finished) finished.push_back(by_row[row]);
  }
  return finished;
}

}  // namespace schedmate::report
