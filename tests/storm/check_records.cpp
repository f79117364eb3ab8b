// SPDX-License-Identifier: Apache-2.0

/// What is checked of batches before they are appended, and of the journal as it is compacted.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/action_json.hpp"
#include "sqlite/database.hpp"
#include "tests/storm/inspector.hpp"

namespace schedmate::storm {
namespace {

/// Of the loop's own ordering of the queue, not of slow work or of an operator.
bool orders_the_queue(const Action& action) {
  return action.call.kind == ActionKind::set_order && action.undoes == 0 && !action.why.empty() &&
         (action.why.front().starts_with("expected to run") ||
          action.why.front().starts_with("nothing is known of it"));
}

bool starts_by_policy(const Action& action) {
  return action.call.kind == ActionKind::start && action.why.empty();
}

using Gpu = std::pair<std::string, std::int32_t>;
using Holders = std::map<Gpu, std::set<std::string>>;

void hold(Holders& holders, const std::vector<NodeGpus>& where, const std::string& job) {
  for (const NodeGpus& each : where)
    for (const std::int32_t gpu : each.gpus) holders[{each.node, gpu}].insert(job);
}

/// Whether nobody holds one of the GPUs of this start but itself, and its partner if that is on the
/// same ones.
bool is_alone(const Holders& holders, const ActionCall& call) {
  std::set<Gpu> own, of_partner;
  for (const NodeGpus& each : call.nodes)
    for (const std::int32_t gpu : each.gpus) own.emplace(each.node, gpu);
  for (const auto& [gpu, jobs] : holders) {
    if (!call.shared_with.empty() && jobs.contains(call.shared_with)) of_partner.insert(gpu);
    if (!own.contains(gpu)) continue;
    for (const std::string& job : jobs)
      if (job != call.job && job != call.shared_with) return false;
  }
  return of_partner == own ||
         std::ranges::none_of(of_partner, [&](const Gpu& gpu) { return own.contains(gpu); });
}

/// Nothing: a damaged one.
std::optional<Records::Entry> entry_of(const std::string& text) {
  const auto entry = nlohmann::json::parse(text, nullptr, false);
  if (!entry.is_object()) return std::nullopt;
  return Records::Entry{
      .action = entry.value("action", std::int64_t{0}),
      .what = entry.contains("what") ? entry.value("what", "") : entry.value("state", ""),
      .when = at(entry.value("when_s", std::int64_t{0}))};
}

}  // namespace

void Inspector::recording(Daemon& daemon, const journal::Batch& batch) {
  if (daemon.journal().epoch() < site_.epoch) return;  // it will be refused
  if (!batch.actions.empty()) planned_ = batch.actions.back().id;
  check_orders(batch);
  check_alone(daemon, batch);
  if (std::ranges::any_of(batch.actions, starts_by_policy)) check_gpus(daemon, batch);
}

/// An order that somebody else has set counts at once for the daemon that reads it, and for all
/// later ones when that daemon reads again: by then it is on record.
void Inspector::reading(const Daemon& daemon) {
  look_for_others(daemon);
  if (std::exchange(read_by_, daemon.life()) == daemon.life()) left_alone_.merge(foreign_);
  foreign_.clear();
  for (const SeenNode& node : daemon.listing()->nodes)
    if (node.state != NodeState::up) lost_[node.name] = planned_;
  for (const SeenJob& job : daemon.listing()->jobs) {
    if (job.phase != JobPhase::queued || job.order == 0) continue;
    const JobKey key{job.id, job.submitted};
    const auto own = own_orders_.find(key);
    if (own == own_orders_.end() || !own->second.contains(job.order)) foreign_.insert(key);
  }
}

/// What a human has ordered the loop's ordering does not order any more.
void Inspector::check_orders(const journal::Batch& batch) {
  for (const Action& action : batch.actions) {
    if (!orders_the_queue(action)) continue;
    const JobKey key{action.call.job, action.call.submitted};
    if (left_alone_.contains(key) || foreign_.contains(key))
      accuse("orders", fmt::format("action {} orders job {}, for which somebody else had set an "
                                   "order",
                                   action.id, action.call.job));
    own_orders_[key].insert(action.call.order);
  }
}

/// A start that a policy decides on is planned for GPUs that nobody holds, in the last reading or
/// by a start on its way, but the job that it says it shares them with. A start counts no more once
/// its job was read as held, its node as out of service, or one of its GPUs as somebody else's: it
/// will be refused.
void Inspector::check_gpus(Daemon& daemon, const journal::Batch& batch) {
  if (!daemon.listing()) return;
  Holders holders;
  std::set<AttemptKey> waiting;
  for (const SeenJob& job : daemon.listing()->jobs) {
    if (job.phase == JobPhase::running) hold(holders, job.nodes, job.id);
    if (job.phase == JobPhase::queued && !job.held)
      waiting.insert({job.id, job.submitted, job.restarts});
  }
  const testing::DiskFaults faults = std::exchange(site_.disk.faults, {});
  const auto open = daemon.journal().open_actions();
  site_.disk.faults = faults;
  if (!open) return;
  const auto ends = [&](const Action& action) {
    return std::ranges::any_of(batch.steps, [&](const journal::NewStep& step) {
      return step.action == action.id && !is_in_flight(step.step.state);
    });
  };
  const auto is_in_service = [&](const Action& action) {
    return std::ranges::all_of(action.call.nodes,
                               [&](const NodeGpus& each) { return action.id > lost_[each.node]; });
  };
  std::vector<const Action*> coming;
  for (const Action& action : *open)
    if (action.call.kind == ActionKind::start && is_in_flight(action.state()) && !ends(action) &&
        waiting.contains({action.call.job, action.call.submitted, action.call.restarts}))
      coming.push_back(&action);
  Holders all = holders;
  for (const Action* const action : coming) hold(all, action->call.nodes, action->call.job);
  for (const Action* const action : coming)
    if (starts_by_policy(*action) && is_in_service(*action) && is_alone(all, action->call))
      hold(holders, action->call.nodes, action->call.job);
  for (const Action& action : batch.actions) {
    if (!starts_by_policy(action) || action.mode == Mode::shadow) continue;
    for (const NodeGpus& each : action.call.nodes)
      for (const std::int32_t gpu : each.gpus)
        for (const std::string& holder : holders[{each.node, gpu}])
          if (holder != action.call.shared_with)
            return accuse(
                "gpus", fmt::format("action {} starts job {} on GPU {} of {}, which job {} holds, "
                                    "and says that it shares with \"{}\"",
                                    action.id, action.call.job, gpu, each.node, holder,
                                    action.call.shared_with));
    hold(holders, action.call.nodes, action.call.job);
  }
}

Result<std::unique_ptr<sqlite::Database>> Inspector::open_to_read() const {
  return sqlite::Database::open(
      {.path = "/j", .what = "journal", .read_only = true, .vfs = site_.disk.vfs()});
}

/// All that the journal holds, before some of it goes: what is new since the last time, read beside
/// whoever has it open.
bool Inspector::archive() {
  const testing::DiskFaults faults = std::exchange(site_.disk.faults, {});
  const auto database = open_to_read();
  const bool read = database && archive(**database);
  site_.disk.faults = faults;
  return read;
}

bool Inspector::archive(sqlite::Database& database) {
  database.run("BEGIN");  // all of one state
  const std::int64_t last = archive_.last_entry;
  {
    sqlite::Query rows(database, "SELECT body FROM actions WHERE sequence > ?");
    for (rows.bind(last); rows.next();) {
      auto action = read_action(rows.text(0));
      if (!action) return false;
      archive_.actions.insert_or_assign(action->id, std::move(*action));
    }
  }
  {
    sqlite::Query rows(database,
                       "SELECT sequence, entry FROM audit WHERE sequence > ? ORDER BY sequence");
    for (rows.bind(last); rows.next(); archive_.last_entry = rows.integer(0)) {
      auto entry = entry_of(rows.text(1));
      if (!entry) return false;
      archive_.entries.push_back(std::move(*entry));
    }
  }
  {
    sqlite::Query rows(database,
                       "SELECT id, kind, subject, body, when_s FROM events WHERE id > ? "
                       "ORDER BY id");
    for (rows.bind(archive_.last_event); rows.next(); archive_.last_event = rows.integer(0))
      archive_.events.push_back(
          {rows.integer(0), rows.text(1), rows.text(2), rows.text(3), at(rows.integer(4))});
  }
  return database.take_error().has_value();
}

/// What compaction removed had ended, and its summary tells of all of it.
void Inspector::check_compacted(Daemon& daemon) {
  const auto summaries = daemon.journal().summaries();
  const auto database = open_to_read();
  if (!summaries || !database) return accuse("chain", "the journal cannot be read");
  std::set<std::int64_t> there;
  std::int64_t told_events = 0;
  {
    sqlite::Query ids(**database, "SELECT id FROM actions");
    while (ids.next()) there.insert(ids.integer(0));
    sqlite::Query events(**database, "SELECT count(*) FROM events");
    if (events.next()) told_events = events.integer(0);
  }
  for (const auto& [id, action] : archive_.actions)
    if (!there.contains(id) && !is_end(action.call.kind, action.state()))
      return accuse("compaction",
                    fmt::format("action {} is gone, and was {}", id, name_of(action.state())));
  std::int64_t told_actions = std::ssize(there);
  for (const journal::Summary& each : *summaries)
    (each.what == "action" ? told_actions : told_events) += each.number;
  if (told_actions != std::ssize(archive_.actions) || told_events != std::ssize(archive_.events))
    accuse("compaction",
           fmt::format("of {} actions and {} events the journal tells of {} and {}",
                       archive_.actions.size(), archive_.events.size(), told_actions, told_events));
}

/// From here on the journal is another one than it was: a disk has lost what it said it kept.
void Inspector::forget_journal() {
  lied_ = true;
  judged_from_ = site_.calls;
  archive_ = {};
  sends_.clear();
  effective_.clear();
  left_alone_.clear();
  foreign_.clear();
  lost_.clear();
}

}  // namespace schedmate::storm
