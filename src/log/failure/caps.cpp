// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <schedmate/recovery.hpp>
#include <set>

namespace schedmate {
namespace {

constexpr Seconds hour{3600};

/// A job that was preempted is queued again as often as it takes: nothing failed.
bool restarts(Recommendation recommendation, std::string_view by) {
  return (recommendation == Recommendation::restart_same ||
          recommendation == Recommendation::restart_elsewhere) &&
         !by.ends_with("preemption") && !by.ends_with("state PREEMPTED");
}

bool restarted(const PastFailure& past) { return restarts(past.recommended, past.by); }

/// Within the hour that ended with the job at hand.
bool is_recent(const PastFailure& past, const CapCase& what) {
  return past.ended <= what.ended && what.ended - past.ended < hour;
}

std::int64_t count(const CapCase& what, const auto& counts) {
  return std::ranges::count_if(what.past, counts);
}

/// Nodes given up within the hour, those of the job at hand included.
std::int64_t nodes_given_up(const CapCase& what, const Diagnosis& made) {
  std::set<std::string> nodes(made.nodes.begin(), made.nodes.end());
  for (const PastFailure& each : what.past)
    if (each.recommended == Recommendation::restart_elsewhere && is_recent(each, what))
      nodes.insert(each.blamed.begin(), each.blamed.end());
  return static_cast<std::int64_t>(nodes.size());
}

void take_back(Diagnosis& made, Recommendation instead, const std::string& why) {
  made.advice = fmt::format("{}; without that: {}", why, name_of(made.recommendation)) +
                (made.advice.empty() ? "" : ", " + made.advice);
  made.recommendation = instead;
}

}  // namespace

void apply_caps(const CapCase& what, const RecommendationCaps& caps, Diagnosis& made) {
  if (!restarts(made.recommendation, made.by)) return;
  const auto again = 1 + count(what, [&](const PastFailure& past) {
                       return past.same_job && what.step && past.step == what.step &&
                              !made.fingerprint.empty() && past.fingerprint == made.fingerprint;
                     });
  if (again > 1 && again >= caps.same_cause_same_step)
    return take_back(made, Recommendation::do_not_restart,
                     fmt::format("the same cause at the same step, {} times so far", again));
  const auto of_job =
      count(what, [](const PastFailure& past) { return past.same_job && restarted(past); });
  if (of_job >= caps.restarts_per_job)
    return take_back(
        made, Recommendation::do_not_restart,
        fmt::format("{} restarts of this job were already recommended; the limit is {}", of_job,
                    caps.restarts_per_job));
  const auto of_user = count(what, [&](const PastFailure& past) {
    return past.user == what.user && restarted(past) && is_recent(past, what);
  });
  if (of_user >= caps.restarts_per_user_hour)
    return take_back(
        made, Recommendation::notify,
        fmt::format(
            "{} restarts of this user's jobs were recommended within an hour; the limit is {}",
            of_user, caps.restarts_per_user_hour));
  if (made.recommendation != Recommendation::restart_elsewhere || made.nodes.empty()) return;
  const auto nodes = nodes_given_up(what, made);
  if (nodes > caps.nodes_per_hour)
    take_back(made, Recommendation::notify,
              fmt::format("this would give up {} nodes within an hour; the limit is {}: look for a "
                          "cause that they share",
                          nodes, caps.nodes_per_hour));
}

std::optional<EarlierOccurrences> seen_before(std::span<const PastFailure> past,
                                              std::span<const std::string> allocation,
                                              const Caller& caller) {
  if (past.empty()) return std::nullopt;
  constexpr std::size_t enough = 3;  ///< jobs, for what they have in common to mean something
  constexpr std::size_t most_ids = 10;
  EarlierOccurrences made;
  made.jobs = past.size();
  made.first = made.last = past.front().ended;
  std::set<std::string> users;
  std::size_t placed = 0;
  made.nodes.assign(allocation.begin(), allocation.end());
  for (const PastFailure& each : past) {
    users.insert(each.user);
    made.first = std::min(made.first, each.ended);
    made.last = std::max(made.last, each.ended);
    if (caller.may_see_jobs_of(each.user) && made.job_ids.size() < most_ids)
      made.job_ids.push_back(each.job_id);
    if (each.allocation.empty()) continue;
    ++placed;
    std::erase_if(made.nodes, [&](const std::string& node) {
      return std::ranges::find(each.allocation, node) == each.allocation.end();
    });
  }
  made.users = users.size();
  if (placed < enough) made.nodes.clear();
  return made;
}

}  // namespace schedmate
