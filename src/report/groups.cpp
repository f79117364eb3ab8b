// SPDX-License-Identifier: Apache-2.0
#include "report/groups.hpp"

#include "report/distribution.hpp"

namespace schedmate::report {

const std::vector<std::string>& size_classes() {
  static const std::vector<std::string> names = {"1", "2-4", "5-8", "9-16", "17-32", ">32"};
  return names;
}

std::uint32_t size_class(std::int32_t gpus) {
  if (gpus <= 1) return 0;
  if (gpus <= 4) return 1;
  if (gpus <= 8) return 2;
  if (gpus <= 16) return 3;
  return gpus <= 32 ? 4 : 5;
}

Groups::Groups(const std::vector<std::string>& names) : names_(names), members_(names.size()) {}

void Groups::add(std::uint32_t group, const Job& job, const JobOutcome& outcome) {
  Member& member = members_[group];
  const Seconds jct = outcome.end - job.submit;
  member.jct += jct;
  member.queue += outcome.queue;
  member.slowdown += bounded_slowdown(jct, job.duration);
  if (++member.seen == rank_of(member.jobs, 990)) member.p99 = jct;
}

std::vector<double> Groups::slowdowns() const {
  std::vector<double> means;
  for (const Member& member : members_) {
    if (member.jobs > 0) means.push_back(member.slowdown / static_cast<double>(member.jobs));
  }
  return means;
}

std::vector<GroupSummary> Groups::summaries() const {
  std::vector<GroupSummary> out;
  out.reserve(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    const auto n = static_cast<double>(member.jobs);  // 0 / 0 = NaN: no value
    out.push_back({.name = names_[i],
                   .jobs = member.jobs,
                   .average_jct = FractionalSeconds(member.jct) / n,
                   .p99_jct = FractionalSeconds(member.p99) * (n / n),
                   .average_queue = FractionalSeconds(member.queue) / n,
                   .average_slowdown = member.slowdown / n});
  }
  return out;
}

}  // namespace schedmate::report
