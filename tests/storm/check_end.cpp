// SPDX-License-Identifier: Apache-2.0

/// What is checked once everything has settled: nothing is open, and journal, cluster and loop say
/// the same.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "tests/storm/inspector.hpp"

namespace schedmate::storm {
namespace {

constexpr std::string_view own_mark = "schedmate:storm/";

/// The action that a mark of ours names; 0: none.
std::int64_t marked(std::string_view text) {
  if (!text.starts_with(own_mark)) return 0;
  std::int64_t number = 0;
  for (const char digit : text.substr(own_mark.size())) {
    if (digit < '0' || digit > '9') break;
    number = number * 10 + (digit - '0');
  }
  return number;
}

bool is_of_hang(const Action& action) {
  return !action.why.empty() && action.why.front().starts_with("rule hung");
}

}  // namespace

std::string Inspector::unsettled(const Daemon& daemon) const {
  const auto& actions = daemon.loop().actions().all();
  for (const auto& [id, action] : actions)
    if (is_in_flight(action.state()))
      return fmt::format("action {} ({}) is still {}", id, text_of(action.call),
                         name_of(action.state()));
  // An earlier state of the journal does not know of later actions.
  const auto stands = [&](std::string_view mark) {
    if (lied_) return true;
    const auto found = actions.find(marked(mark));
    return found != actions.end() && found->second.state() == ActionState::verified;
  };
  for (const ModelCluster::Node& node : cluster_.nodes())
    if (marked(node.drain) != 0 && !stands(node.drain))
      return fmt::format("node {} is drained with the mark \"{}\" of an action that has ended",
                         node.name, node.drain);
  // Own drains may leave too little room for the first in a line.
  const bool all_fit = std::ranges::all_of(cluster_.jobs(), [&](const ModelCluster::Job& job) {
    return job.seen.phase != JobPhase::queued || !job.tests.empty() || cluster_.could_run(job);
  });
  const Mode order = daemon.modes().order;
  const bool starts =
      cluster_.starts_jobs() || (all_fit && (order == Mode::act || order == Mode::approve));
  for (const ModelCluster::Job& job : cluster_.jobs()) {
    if (marked(job.seen.mark) != 0 && !lied_)
      return fmt::format("job {} is held with the mark \"{}\"", job.seen.id, job.seen.mark);
    if (job.seen.phase == JobPhase::running) return fmt::format("job {} still runs", job.seen.id);
    const bool is_held = job.seen.held && lied_;
    if (job.seen.phase == JobPhase::queued && (starts || !job.tests.empty()) && !is_held &&
        cluster_.could_run(job))
      return fmt::format("job {} does not start", job.seen.id);
  }
  if (auto failure = unhandled_failure(daemon); !failure.empty()) return failure;
  if (daemon.loop().actions().breaker_open()) return "the breaker is open";
  if (!daemon.listing() || daemon.listing()->version != cluster_.version())
    return "the daemon has not read the cluster as it is";
  return {};
}

bool Inspector::read(Records& records) {
  if (!archive()) {
    accuse("chain", "the journal cannot be read");
    return false;
  }
  for (const auto& [id, action] : archive_.actions) records.actions.push_back(action);
  records.events = archive_.events;
  records.entries = archive_.entries;
  return true;
}

void Inspector::at_end(Daemon& daemon) {
  if (lied_) return;
  check_chain();
  Records records;
  if (!read(records)) return;
  check_compacted(daemon);
  check_calls_on_record(records);
  check_approvals(records);
  check_lives(records);
  check_truth_of_lives(records);
  check_witnesses(records);
  check_caps(records);
  check_breaker(records);
  check_lifted(records);
  check_outcomes(records);
  check_undone(records);
  check_failures(daemon, records);
  check_hangs(records);
  check_views(daemon, records);
}

void Inspector::check_calls_on_record(const Records& records) {
  for (std::size_t i = 0; i < records.actions.size(); ++i)
    if (records.actions[i].id != static_cast<std::int64_t>(i + 1))
      return accuse("chain", fmt::format("action {} is not in the journal", i + 1));
  for (const Sent& sent : book_.sent) {
    const Action* const action = records.find(sent.action);
    if (action == nullptr)
      return accuse("record_first", fmt::format("{} was called as action {}, of which the journal "
                                                "knows nothing",
                                                text_of(sent.call), sent.action));
    if (!(action->call == sent.call))
      return accuse("record_first",
                    fmt::format("{} was called as action {}, which the journal knows as {}",
                                text_of(sent.call), sent.action, text_of(action->call)));
  }
}

/// Of all whose end was told and that came back to no queue.
void Inspector::check_no_failure_forgotten(const Records& records,
                                           const std::set<AttemptKey>& told) {
  std::map<std::pair<std::string, SimTime>, std::int64_t> failed;
  for (const journal::Event& each : records.events) {
    const auto body = nlohmann::json::parse(each.body);
    const std::pair job{each.subject, at(body.value("submitted_s", std::int64_t{0}))};
    const std::string state = body.value("state", "");
    if (each.kind == "job ended" && (state == "failed" || state == "node_fail"))
      failed[job] = body.value("restarts", std::int64_t{0});
    else
      failed.erase(job);
  }
  for (const auto& [job, restarts] : failed)
    if (!is_test(job) && !told.contains({job.first, job.second, restarts}))
      return accuse("failures", fmt::format("the failure of job {} was forgotten", job.first));
}

/// Of jobs that are shown; "": none.
std::string Inspector::unhandled_failure(const Daemon& daemon) {
  for (const auto& [id, attempt] : daemon.loop().jobs().all()) {
    const EndState state = attempt.seen.end_state;
    if (attempt.seen.phase != JobPhase::ended || attempt.seen.token.starts_with(own_mark) ||
        (state != EndState::failed && state != EndState::node_fail))
      continue;
    const live::Life* const life = daemon.loop().lives().find(id);
    if (life == nullptr || !life->is_handled)
      return fmt::format("nobody has dealt with the failure of job {}", id);
  }
  return {};
}

/// Own tests of nodes are nobody's jobs.
bool Inspector::is_test(const JobKey& job) const {
  return std::ranges::any_of(book_.lives, [&](const Life& life) {
    return life.is_test && life.id == job.first && life.submitted == job.second;
  });
}

/// Each failure is dealt with, and none twice.
void Inspector::check_failures(const Daemon& daemon, const Records& records) {
  std::set<AttemptKey> told;
  for (const Action& action : records.actions) {
    if (!action.call.job.empty() && !action.why.empty() &&
        action.why.front().starts_with("rule ") &&
        is_test({action.call.job, action.call.submitted}))
      return accuse("failures", fmt::format("action {} ({}) is about a test of nodes", action.id,
                                            text_of(action.call)));
    const bool of_failure = action.call.kind == ActionKind::notify && !action.why.empty() &&
                            action.why.front().starts_with("rule ") && !is_of_hang(action);
    if (of_failure &&
        !told.insert({action.call.job, action.call.submitted, action.call.restarts}).second)
      return accuse("failures", fmt::format("the failure of job {} is dealt with twice (action {})",
                                            action.call.job, action.id));
  }
  if (expects_answers_) check_no_failure_forgotten(records, told);
  if (auto failure = unhandled_failure(daemon); !failure.empty()) accuse("failures", failure);
}

/// Owners are told of a hang once, and a job is restarted once, while its log truly shows no steps.
void Inspector::check_hangs(const Records& records) {
  std::map<std::pair<AttemptKey, ActionKind>, int> seen;
  for (const Action& action : records.actions) {
    if (!is_of_hang(action)) continue;
    const AttemptKey attempt{action.call.job, action.call.submitted, action.call.restarts};
    const bool tells = action.call.kind == ActionKind::notify;
    ++(tells ? book_.hangs : book_.restarted);
    const auto log = book_.logs.find(attempt);
    if (log == book_.logs.end())
      return accuse("hangs",
                    fmt::format("nobody has read the log of job {}, and it is said to hang "
                                "(action {})",
                                action.call.job, action.id));
    const Written& written = log->second;
    if (!book_.clock_jumped && !written.lied &&
        action.steps.front().when < Timeline::clock_at(written.stands_from))
      return accuse("hangs", fmt::format("job {} makes steps, and is said to hang (action {})",
                                         action.call.job, action.id));
    if (++seen[{attempt, action.call.kind}] > 1 && !book_.clock_jumped && !written.damaged)
      return accuse("hangs", fmt::format("the hang of job {} is dealt with twice (action {})",
                                         action.call.job, action.id));
  }
}

/// The loop's views against a scan of the cluster and of the journal.
void Inspector::check_views(Daemon& daemon, const Records& records) {
  const live::Loop& loop = daemon.loop();
  const auto& shown = loop.actions().all();
  for (const Action& action : records.actions) {
    const bool open = !is_end(action.call.kind, action.state());
    const auto found = shown.find(action.id);
    if (open != (found != shown.end()))
      return accuse("views", fmt::format("action {} is {} in the journal, and the loop {}",
                                         action.id, name_of(action.state()),
                                         open ? "does not know it" : "still has it"));
    if (open && !(found->second == action))
      return accuse("views", fmt::format("action {} is another one in the journal", action.id));
  }
  auto listing = cluster_.list(loop.jobs().ended_since(), Connector::Deadline(1));
  if (!listing) return;
  std::map<std::string, SeenJob> scan;
  for (const SeenJob& job : listing->jobs) scan[job.id] = job;
  for (const auto& [id, attempt] : loop.jobs().all())
    if (scan.contains(id) && !(attempt.seen == scan.at(id)))
      return accuse("views", fmt::format("the loop shows job {} as it is not", id));
  for (const auto& [id, job] : scan)
    if (loop.jobs().find(id) == nullptr)
      return accuse("views", fmt::format("the loop does not show job {}", id));
  for (const auto& [id, attempt] : loop.jobs().all())
    if (!scan.contains(id) && attempt.seen.phase != JobPhase::ended)
      return accuse("views", fmt::format("the loop shows job {}, which is gone", id));
}

}  // namespace schedmate::storm
