// SPDX-License-Identifier: Apache-2.0

/// What has become of our attempts, by what Ray shows.

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ray_live/cluster.hpp"

namespace schedmate::ray_live {
namespace {

/// By how much clocks of nodes may differ.
constexpr Seconds clocks_apart{15};
/// Attempts in a row that never ran: more, and the job has failed.
constexpr std::int64_t most_unstarted = 5;
constexpr std::int32_t limit_reached = 124;

/// Codes of a process that was ended by the signals of a stop.
bool is_by_signal(std::int32_t code) {
  constexpr std::int32_t term = 15, kill = 9, through_shell = 128;
  return code == -term || code == -kill || code == through_shell + term ||
         code == through_shell + kill;
}

/// When the attempt ended well, as what ran it has noted. Links are not followed.
std::optional<SimTime> noted_end(const std::string& folder, const std::string& ray_id) {
  struct stat seen{};
  if (folder.empty() || ::lstat((folder + '/' + ray_id).c_str(), &seen) != 0) return std::nullopt;
  return S_ISREG(seen.st_mode) ? std::optional(at(seen.st_mtim.tv_sec)) : std::nullopt;
}

}  // namespace

Result<void> RayCluster::follow(SimTime now, Until until) {
  std::vector<std::string> ids;
  for (const auto& [number, entry] : ledger_.entries())
    if (entry.stage != Stage::none) ids.push_back(entry.seen.id);
  for (const std::string& id : ids)
    if (auto followed = follow(Entry(*ledger_.find(id)), now, until); !followed) return followed;
  return ledger_.forget(now - options_.remembers);
}

Result<void> RayCluster::follow(const Entry& entry, SimTime now, Until until) {
  const auto found = sight_.jobs.find(ledger_.ray_id(entry));
  const bool is_too_late = now > entry.start_by + clocks_apart;
  if (found == sight_.jobs.end()) {
    if (const auto when = noted_end(options_.start.ends, ledger_.ray_id(entry)))
      return end_well(entry, std::min(*when, now));
    if (entry.session != session(entry.is_by_driver())) return settle_lost(entry, now);
    // A call that nobody answered may still arrive, and then comes to nothing.
    if (entry.stage == Stage::asked) return is_too_late ? give_back(entry, false) : Result<void>();
    return end(entry, EndState::unknown, now);  // somebody has deleted the record
  }
  const RayJob& record = found->second;
  if (record.is_over()) return settle(entry, record, now, until);
  if (record.status == RayStatus::pending && is_too_late) {
    (void)starter_of(entry).ask({.method = "POST", .path = "/api/jobs/" + record.id + "/stop"},
                                until);
    if (entry.ending == Ending::cancel) return end(entry, EndState::cancelled, now);
    return give_back(entry, entry.stage == Stage::taken);
  }
  if (entry.stage == Stage::taken) return {};
  return take(entry, record.submitted);
}

/// Ray has it: its GPUs are used from now on.
Result<void> RayCluster::take(Entry entry, SimTime started) {
  for (const NodeGpus& each : entry.where) changed_[each.node] = now_;
  entry.stage = Stage::taken;
  entry.seen.phase = JobPhase::running;
  entry.seen.started =
      std::clamp(started, entry.seen.submitted, std::max(now_, entry.seen.submitted));
  entry.seen.nodes = entry.where;
  return ledger_.put(std::move(entry));
}

/// Its attempt is over, before anybody saw that Ray had it.
void RayCluster::show_started(Entry& entry, SimTime when) {
  entry.stage = Stage::taken;
  entry.seen.phase = JobPhase::running;
  entry.seen.started = when;
  entry.seen.nodes = entry.where;
}

/// Ray knows the attempt no more, but it had ended well.
Result<void> RayCluster::end_well(Entry entry, SimTime when) {
  if (entry.stage == Stage::asked) show_started(entry, when);
  entry.seen.exit_code = entry.seen.exit_signal = 0;
  return end(std::move(entry), EndState::completed, when);
}

/// Its attempt is over.
Result<void> RayCluster::settle(Entry entry, const RayJob& record, SimTime now, Until until) {
  const SimTime when = std::min(record.ended.value_or(now), now);
  if (entry.stage == Stage::asked) show_started(entry, std::min(record.submitted, when));
  if (entry.seen.output.empty() && record.exit_code)
    (void)logs_.fetch({entry.seen.id, record.id, record.node, true}, head_, until);
  const std::int32_t code = record.exit_code.value_or(0);
  entry.seen.exit_code = std::max(code, 0);
  entry.seen.exit_signal = std::max(-code, 0);
  AttemptEnd how = end_of(record);
  if (how == AttemptEnd::ended && entry.ending != Ending::none && is_by_signal(code))
    how = AttemptEnd::stopped;
  switch (how) {
    case AttemptEnd::never_ran:
      if (entry.ending == Ending::cancel) return end(std::move(entry), EndState::cancelled, when);
      if (++entry.unstarted > most_unstarted) return end(std::move(entry), EndState::failed, when);
      return give_back(std::move(entry), true);
    case AttemptEnd::stopped:
      if (entry.ending == Ending::evict || entry.ending == Ending::requeue)
        return give_back(std::move(entry), true);
      return end(std::move(entry), EndState::cancelled, when);
    case AttemptEnd::lost:  // what watched it may be there yet, and is to go
      (void)starter_of(entry).ask({.method = "POST", .path = "/api/jobs/" + record.id + "/stop"},
                                  until);
      if (noted_end(options_.start.ends, record.id)) return end_well(std::move(entry), when);
      return end(std::move(entry), EndState::node_fail, when);
    case AttemptEnd::ended:
      break;
  }
  const bool is_timeout = code == limit_reached && entry.seen.limit > Seconds(0) &&
                          when - entry.seen.started.value_or(when) >= entry.seen.limit;
  return end(std::move(entry),
             is_timeout                                           ? EndState::timeout
             : code == 0 && record.status == RayStatus::succeeded ? EndState::completed
                                                                  : EndState::failed,
             when);
}

/// The head has begun anew and knows no attempt of before.
Result<void> RayCluster::settle_lost(Entry entry, SimTime now) {
  if (entry.stage == Stage::asked && now <= entry.start_by + clocks_apart) return {};
  if (entry.stage == Stage::asked) return give_back(std::move(entry), false);
  if (entry.ending == Ending::cancel) return end(std::move(entry), EndState::cancelled, now);
  if (entry.ending != Ending::none) return give_back(std::move(entry), true);
  return end(std::move(entry), EndState::node_fail, now);
}

/// To the queue; `is_attempt`: it was shown as started.
Result<void> RayCluster::give_back(Entry entry, bool is_attempt) {
  for (const NodeGpus& each : entry.where) changed_[each.node] = now_;
  SeenJob& seen = entry.seen;
  if (is_attempt) ++seen.restarts;
  seen.phase = JobPhase::queued;
  seen.end_state = EndState::unknown;
  seen.started.reset();
  seen.ended.reset();
  seen.nodes.clear();
  seen.exit_code = seen.exit_signal = 0;
  entry.stage = Stage::none;
  entry.ending = Ending::none;
  entry.where.clear();
  entry.shared_with.clear();
  entry.counted = false;
  return ledger_.put(std::move(entry));
}

Result<void> RayCluster::end(Entry entry, EndState state, SimTime when) {
  for (const NodeGpus& each : entry.where) changed_[each.node] = now_;
  logs_.forget(entry.seen.id);
  SeenJob& seen = entry.seen;
  seen.phase = JobPhase::ended;
  seen.end_state = state;
  seen.ended = std::max(when, seen.started.value_or(seen.submitted));
  entry.stage = Stage::none;
  entry.ending = Ending::none;
  return ledger_.put(std::move(entry));
}

}  // namespace schedmate::ray_live
