// SPDX-License-Identifier: Apache-2.0
#include "service/report_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "trace/hostlist.hpp"

namespace schedmate::service {
namespace {

constexpr std::array<std::string_view, 4> groupings = {"user", "node", "day", "cause"};

/// What a job is sorted by; the greatest first. What was not measured comes last.
struct Sorting {
  std::string_view name;
  std::optional<double> (*value)(const ReportJob& job);
};

/// The worst first.
std::optional<double> low(std::optional<double> share) {
  return share ? std::optional(-*share) : std::nullopt;
}

constexpr std::array sortings = {
    Sorting{"waste",
            [](const ReportJob& job) { return std::optional(job.use.wasted_gpu_hours()); }},
    Sorting{"end",
            [](const ReportJob& job) {
              return std::optional(static_cast<double>(seconds_of(job.end)));
            }},
    Sorting{"ran",
            [](const ReportJob& job) {
              return std::optional(static_cast<double>(job.record.outcome->duration.count()));
            }},
    Sorting{"wait",
            [](const ReportJob& job) {
              return job.waited ? std::optional(static_cast<double>(job.waited->count()))
                                : std::nullopt;
            }},
    Sorting{"gpu_hours", [](const ReportJob& job) { return std::optional(job.use.gpu_hours); }},
    Sorting{"time_eff", [](const ReportJob& job) { return low(job.use.limit_pct); }},
    Sorting{"cpu_eff", [](const ReportJob& job) { return low(job.use.cpu_pct); }},
    Sorting{"mem_eff", [](const ReportJob& job) { return low(job.use.memory_pct); }},
    Sorting{"gpu_eff", [](const ReportJob& job) { return low(job.use.gpu_util_pct); }},
    Sorting{"user", [](const ReportJob&) { return std::optional(0.0); }},
    Sorting{"job", [](const ReportJob&) { return std::optional(0.0); }},
};

constexpr auto sorting_names = [] {
  std::array<std::string_view, sortings.size()> names;
  for (std::size_t i = 0; i < sortings.size(); ++i) names[i] = sortings[i].name;
  return names;
}();

void sort_jobs(const std::string& by, std::vector<ReportJob>& jobs) {
  const auto row = std::ranges::find(sortings, by.empty() ? "waste" : by, &Sorting::name);
  constexpr double nothing = std::numeric_limits<double>::infinity();
  std::ranges::stable_sort(jobs, {}, [&](const ReportJob& job) {
    const auto value = row->value(job);
    return std::tuple(value ? -*value : nothing,
                      row->name == "user" ? std::string_view(job.record.user) : std::string_view(),
                      job.record.id.size(), std::string_view(job.record.id));
  });
}

/// A sum, and the means that come of it.
struct Sum {
  ReportGroup group;
  double util = 0, util_hours = 0, cpu = 0, cpu_hours = 0;

  void add(const ReportJob& job, double share) {
    const JobUse& use = job.use;
    const EndState state = job.record.outcome->state;
    ++group.jobs;
    if (state == EndState::completed)
      ++group.completed;
    else if (state == EndState::timeout)
      ++group.timeout;
    else if (state == EndState::cancelled || state == EndState::preempted ||
             state == EndState::requeued)
      ++group.cancelled;
    else
      ++group.failed;
    group.gpu_hours += share * use.gpu_hours;
    group.idle_gpu_hours += share * use.idle_gpu_hours.value_or(0);
    group.lost_gpu_hours += share * use.lost_gpu_hours;
    if (job.record.outcome->energy_j) {
      group.energy_j += share * *job.record.outcome->energy_j;
      ++group.energy_jobs;
    }
    if (use.gpu_util_pct) {
      util += *use.gpu_util_pct * use.gpu_hours;
      util_hours += use.gpu_hours;
    }
    const double hours = static_cast<double>(job.record.outcome->duration.count()) *
                         static_cast<double>(job.record.cpus);
    if (use.cpu_pct) {
      cpu += *use.cpu_pct * hours;
      cpu_hours += hours;
    }
  }
  [[nodiscard]] ReportGroup done(std::string key) const {
    ReportGroup made = group;
    made.key = std::move(key);
    if (util_hours > 0) made.gpu_util_pct = util / util_hours;
    if (cpu_hours > 0) made.cpu_pct = cpu / cpu_hours;
    return made;
  }
};

std::string day_of(SimTime time) {
  const auto days = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(seconds_of(time))));
  const std::chrono::year_month_day date(days);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::vector<std::string> last_hosts(const ReportJob& job) {
  const auto& attempts = job.record.outcome->attempts;
  return attempts.empty() ? std::vector<std::string>() : hosts_of(attempts.back().nodes);
}

/// A job on several nodes counts for each of them, its hours in equal parts.
std::vector<std::string> keys_of(const ReportJob& job, std::string_view by) {
  const auto or_unknown = [](const std::string& key) {
    return key.empty() ? std::string("unknown") : key;
  };
  if (by == "user") return {or_unknown(job.record.user)};
  if (by == "day") return {day_of(job.end)};
  if (by == "cause") return {or_unknown(job.cause)};
  auto hosts = last_hosts(job);
  if (hosts.empty()) hosts.emplace_back("unknown");
  return hosts;
}

std::vector<ReportGroup> groups_of(const std::vector<ReportJob>& jobs, std::string_view by) {
  std::map<std::string, Sum> sums;
  for (const ReportJob& job : jobs) {
    const auto keys = keys_of(job, by);
    for (const std::string& key : keys) sums[key].add(job, 1.0 / static_cast<double>(keys.size()));
  }
  std::vector<ReportGroup> groups;
  for (const auto& [key, sum] : sums) groups.push_back(sum.done(key));
  if (by != "day")
    std::ranges::stable_sort(groups, std::ranges::greater(), [](const ReportGroup& group) {
      return std::pair(group.gpu_hours, group.jobs);
    });
  return groups;
}

std::vector<ReportCause> causes_of(const std::vector<ReportJob>& jobs) {
  std::map<std::string, ReportCause> all;
  ReportCause earlier{.cause = std::string(earlier_attempts)};
  for (const ReportJob& job : jobs) {
    if (job.record.outcome->state == EndState::completed) {
      if (job.use.lost_gpu_hours > 0) ++earlier.jobs;
      earlier.lost_gpu_hours += job.use.lost_gpu_hours;
      continue;
    }
    ReportCause& cause = all[job.cause];
    cause.cause = job.cause;
    ++cause.jobs;
    cause.lost_gpu_hours += job.use.lost_gpu_hours;
  }
  std::vector<ReportCause> causes;
  for (auto& [name, cause] : all) causes.push_back(std::move(cause));
  std::ranges::stable_sort(causes, std::ranges::greater(), &ReportCause::jobs);
  if (earlier.jobs > 0) causes.push_back(std::move(earlier));
  return causes;
}

/// Neither the owner, nor a limit, nor the code alone ended it.
bool may_be_the_node(const ReportJob& job, const Attempt& attempt) {
  const bool failed = attempt.state == EndState::failed || attempt.state == EndState::node_fail;
  return failed && attempt.word != "OUT_OF_MEMORY" &&
         job.record.outcome->log_summary != "user_script";
}

std::vector<ReportNode> nodes_of(const std::vector<ReportJob>& jobs) {
  std::map<std::string, ReportNode> all;
  std::size_t attempts = 0;
  std::size_t failures = 0;
  for (const ReportJob& job : jobs) {
    for (const Attempt& attempt : job.record.outcome->attempts) {
      const bool failed = may_be_the_node(job, attempt);
      for (const std::string& host : hosts_of(attempt.nodes)) {
        ReportNode& node = all[host];
        node.node = host;
        ++node.jobs;
        ++attempts;
        if (failed) ++node.failed, ++failures;
      }
    }
  }
  std::vector<ReportNode> nodes;
  for (auto& [name, node] : all) {
    if (node.failed == 0) continue;
    constexpr std::size_t few = 3;
    node.suspect = node.failed >= few && node.failed * attempts >= 2 * failures * node.jobs;
    nodes.push_back(std::move(node));
  }
  std::ranges::stable_sort(nodes, std::ranges::greater(), [](const ReportNode& node) {
    return std::tuple(node.suspect, node.failed,
                      static_cast<double>(node.failed) / static_cast<double>(node.jobs));
  });
  return nodes;
}

}  // namespace

std::span<const std::string_view> report_groupings() { return groupings; }
std::span<const std::string_view> report_sortings() { return sorting_names; }

std::vector<std::string> hosts_of(const std::string& list) {
  auto hosts = trace::expand_hosts(list);
  if (hosts) return *std::move(hosts);
  return {list};
}

void add_sums(const ReportQuestion& question, UsageReport& report) {
  Sum total;
  for (const ReportJob& job : report.jobs) total.add(job, 1);
  report.total = total.done("all");
  report.causes = causes_of(report.jobs);
  report.nodes = nodes_of(report.jobs);
  if (question.by.empty()) return sort_jobs(question.sort, report.jobs);
  report.groups = groups_of(report.jobs, question.by);
  report.jobs.clear();
}

}  // namespace schedmate::service
