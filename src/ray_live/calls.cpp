// SPDX-License-Identifier: Apache-2.0

/// What changes a Ray, or the queue before it. The head is asked first, so that nothing is decided
/// while nobody can see it; each attempt is in the ledger before Ray is asked to start it.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ray_live/cluster.hpp"
#include "replay/submission.hpp"

namespace schedmate::ray_live {
namespace {

using enum ActionKind;

CallReply refuse(std::string why) { return {CallOutcome::refused, std::move(why), {}}; }
CallReply unknown(std::string why) { return {CallOutcome::unknown, std::move(why), {}}; }

/// Of what only the ledger keeps.
CallReply outcome_of(const Result<void>& written) {
  if (written) return {CallOutcome::done, {}, {}};
  return refuse("it could not be kept: " + written.error().message);
}

bool is_ok(const llm::HttpReply& reply) {
  constexpr int ok = 200;
  return reply.status == ok;
}

}  // namespace

CallReply RayCluster::call(const ActionCall& call, Deadline within) {
  const Until until = head_.from_now(within);
  const auto able = abilities(within);
  if (!able) return unknown(able.error().message);
  if (const std::string& lack = able->lack(call.kind); !lack.empty()) return refuse(lack);
  if (call.kind == notify) return {CallOutcome::done, {}, {}};
  if (auto seen = look(until); !seen) return unknown(seen.error().message);
  see_others(now_);
  if (call.kind == ActionKind::submit) {
    CallReply reply = submit(call);
    // A start is to find it there; until then it is a start that begins it.
    if (reply.outcome == CallOutcome::done && options_.start.by_driver && !driver_.server())
      (void)look_at_jobs(true, until);
    return reply;
  }
  if (call.kind == drain_node || call.kind == undrain_node) return change_node(call);
  const Entry* const entry = ledger_.find(call.job);
  if (entry == nullptr) {
    const bool is_foreign = call.job.starts_with("ray-");
    return refuse(is_foreign ? call.job + " was not submitted to SchedMate: it is left alone"
                             : "no job " + call.job);
  }
  if (entry->seen.submitted != call.submitted)
    return refuse(fmt::format("job {} is another one than was meant", call.job));
  return call_job(call, *entry, until);
}

CallReply RayCluster::call_job(const ActionCall& call, const Entry& entry, Until until) {
  const bool is_of_attempt =
      call.kind == ActionKind::start || call.kind == evict || call.kind == requeue_excluding;
  if (is_of_attempt && entry.seen.restarts != call.restarts)
    return refuse(fmt::format("job {} was started again since ({} restarts, not {})", call.job,
                              entry.seen.restarts, call.restarts));
  switch (call.kind) {
    case ActionKind::start:
      return start(call, entry, until);
    case evict:
      if (entry.seen.phase != JobPhase::running) return refuse("it does not run");
      return stop(entry, Ending::evict, until);
    case ActionKind::cancel:
      return cancel(entry, until);
    case requeue_excluding:
      return requeue(call, entry, until);
    default:
      return change_queued(call, entry);
  }
}

CallReply RayCluster::submit(const ActionCall& call) {
  const auto asked = replay::read_submission(call);
  if (!asked) return refuse(asked.error().message);
  if (asked->command.empty()) return refuse("command: it is missing, so nothing would run");
  if (const Entry* const known = ledger_.with_token(call.token); known != nullptr)
    return {CallOutcome::done, {}, known->seen.id};
  const std::string partition = asked->partition.empty() ? "main" : asked->partition;
  std::int64_t gpus = 0;
  for (const KnownNode& each : sight_.nodes)
    if (partition_of(each.name) == partition) gpus += each.gpus;
  if (gpus < asked->gpus)
    return refuse(
        fmt::format("partition {} has {} GPUs, and not {}", partition, gpus, asked->gpus));
  Entry entry;
  entry.seen.submitted = now_;
  entry.seen.name = asked->name;
  entry.seen.user = asked->user;
  entry.seen.partition = partition;
  entry.seen.dir = asked->dir;
  entry.seen.command = asked->command;
  entry.seen.output = asked->output;
  entry.seen.gpus = asked->gpus;
  entry.seen.limit = asked->limit;
  entry.seen.token = call.token;
  const auto id = ledger_.add(std::move(entry));
  if (!id) return refuse("it could not be kept: " + id.error().message);
  show(now_);
  return {CallOutcome::done, {}, *id};
}

/// Why the job cannot be started at all; "": it can.
std::string RayCluster::bars_start(const ActionCall& call, const Entry& entry) const {
  const SeenJob& seen = entry.seen;
  if (entry.stage == Stage::asked) return "Ray was asked to start it, and has not said yet";
  if (seen.phase != JobPhase::queued) return "it does not wait";
  if (seen.held) return "it is held";
  std::size_t gpus = 0;
  std::set<std::string> names;
  for (const NodeGpus& each : call.nodes) {
    gpus += each.gpus.size();
    if (each.gpus.empty() || !names.insert(each.node).second) return "no such GPUs";
    if (std::ranges::find(entry.excluded, each.node) != entry.excluded.end())
      return fmt::format("it is to be kept off {}", each.node);
  }
  if (call.nodes.empty() || std::cmp_not_equal(gpus, seen.gpus))
    return "not as many GPUs as it asks for";
  if (call.shared_with.empty()) return {};
  const Entry* const other = ledger_.find(call.shared_with);
  if (other == nullptr || other->seen.phase != JobPhase::running || other->ending != Ending::none)
    return fmt::format("job {} does not run", call.shared_with);
  return {};
}

/// Why not there.
std::string RayCluster::bars_place(const ActionCall& call, const Entry& entry) const {
  if (std::string bar = bars_start(call, entry); !bar.empty()) return bar;
  for (const NodeGpus& each : call.nodes) {
    const KnownNode* const known = node(each.node);
    if (known == nullptr) return "Ray knows no node " + each.node;
    const SeenNode seen = shown(*known);
    if (seen.state != NodeState::up)
      return fmt::format("node {} is not in service: {}", each.node, seen.reason);
    if (others_.contains(each.node))
      return fmt::format("Ray has given GPUs of {} to others, and does not tell which", each.node);
    std::set<std::int32_t> gpus;
    for (const std::int32_t gpu : each.gpus) {
      if (gpu < 0 || gpu >= known->gpus || !gpus.insert(gpu).second) return "no such GPUs";
      const auto held = holders(each.node, gpu);
      const bool is_shared = held.size() == 1 && held.front() == call.shared_with;
      if (!held.empty() && !is_shared)
        return fmt::format("GPU {} of {} is held by job {}", gpu, each.node, held.front());
    }
  }
  return {};
}

CallReply RayCluster::start(const ActionCall& call, Entry entry, Until until) {
  if (std::string bar = bars_place(call, entry); !bar.empty()) return refuse(std::move(bar));
  if (options_.start.by_driver && !driver_.server()) {
    const auto begun = begin_driver(until);
    if (!begun) return refuse("nothing was started: " + begun.error().message);
  }
  std::vector<KnownNode> nodes;
  for (const NodeGpus& each : call.nodes) nodes.push_back(*node(each.node));
  entry.stage = Stage::asked;
  ++entry.launches;
  entry.session = session(options_.start.by_driver);
  entry.start_by = now_ + options_.start_window;
  entry.where = call.nodes;
  entry.shared_with = call.shared_with;
  entry.counted = call.shared_with.empty();
  if (auto written = ledger_.put(entry); !written) return outcome_of(written);
  return launch(std::move(entry), nodes, until);
}

/// Asks for an attempt; an error of code refused: certainly nothing was asked.
Result<llm::HttpReply> RayCluster::put_to_ray(const Entry& entry,
                                              const std::vector<KnownNode>& nodes, Until until) {
  const std::string id = ledger_.ray_id(entry);
  llm::HttpRequest request{.method = "POST", .path = "/api/jobs/"};
  if (options_.start.by_driver) {
    request.body = driver_submission_of(entry, id, nodes, options_.start);
    return starter_of(entry).ask(request, until);
  }
  const auto package = head_.ask({.method = "PUT",
                                  .path = "/api/packages/gcs/" + package_name(id),
                                  .body = package_of_launcher(),
                                  .content_type = "application/octet-stream"},
                                 until);
  if (!package) return fail(ErrorCode::refused, "nothing was started: " + package.error().message);
  if (!is_ok(*package))
    return fail(ErrorCode::refused, fmt::format("Ray takes no package: status {}: {}",
                                                package->status, said(package->body)));
  request.body = submission_of(entry, id, nodes, options_.start);
  return head_.ask(request, until);
}

CallReply RayCluster::launch(Entry entry, const std::vector<KnownNode>& nodes, Until until) {
  const std::string id = ledger_.ray_id(entry);
  const auto undone = [&](std::string why) {
    if (auto back = give_back(entry, false); !back) return unknown(back.error().message);
    return refuse(std::move(why));
  };
  const auto reply = put_to_ray(entry, nodes, until);
  if (reply && is_ok(*reply)) {
    const auto taken = take(entry, now_);
    show(now_);
    return taken ? CallReply{CallOutcome::done, {}, {}} : unknown(taken.error().message);
  }
  if (!reply && reply.error().code == ErrorCode::refused) return undone(reply.error().message);
  const std::string why = reply ? fmt::format("status {}: {}", reply->status, said(reply->body))
                                : reply.error().message;
  // An answer that is no yes: Ray may have it nevertheless. No answer: it may come to have it yet.
  const auto record = starter_of(entry).ask({.method = "GET", .path = "/api/jobs/" + id}, until);
  constexpr int no_such = 404;
  if (reply && record && record->status == no_such) return undone("Ray: " + why);
  if (!record || !is_ok(*record)) return unknown(why);
  const auto taken = take(entry, now_);
  show(now_);
  return taken ? CallReply{CallOutcome::done, {}, {}} : unknown(taken.error().message);
}

/// What was asked is kept before Ray is: after a crash the end of the attempt is what was meant.
CallReply RayCluster::stop(Entry entry, Ending ending, Until until) {
  const std::string id = ledger_.ray_id(entry), job = entry.seen.id;
  entry.ending = ending;
  if (auto written = ledger_.put(entry); !written) return outcome_of(written);
  const auto reply =
      starter_of(entry).ask({.method = "POST", .path = "/api/jobs/" + id + "/stop"}, until);
  if (!reply) return unknown(reply.error().message);
  constexpr int no_such = 404;
  if (!is_ok(*reply) && reply->status != no_such)
    return unknown(fmt::format("status {}: {}", reply->status, said(reply->body)));
  constexpr std::chrono::milliseconds pause{150};
  do {
    auto record = starter_of(entry).get("/api/jobs/" + id, until).and_then(read_job);
    const bool is_gone = !record && record.error().code == ErrorCode::not_found;
    if (!record && !is_gone) return unknown(record.error().message);
    if (is_gone)
      sight_.jobs.erase(id);
    else
      sight_.jobs.insert_or_assign(id, *record);
    if (!is_gone && !record->is_over()) continue;
    if (auto followed = follow(Entry(*ledger_.find(job)), now_, until); !followed)
      return unknown(followed.error().message);
    show(now_);
    const SeenJob& after = ledger_.find(job)->seen;
    const bool is_so = ending == Ending::cancel ? after.end_state == EndState::cancelled
                                                : after.phase == JobPhase::queued;
    return is_so ? CallReply{CallOutcome::done, {}, {}} : refuse("it had ended by itself");
  } while (head_.wait(pause, until));
  return unknown("Ray was asked to stop it, and it has not ended yet");
}

CallReply RayCluster::cancel(Entry entry, Until until) {
  if (entry.seen.phase == JobPhase::ended) return refuse("it has ended");
  if (entry.stage == Stage::asked)
    return refuse("Ray was asked to start it, and has not said yet; ask again");
  if (entry.seen.phase == JobPhase::running) return stop(std::move(entry), Ending::cancel, until);
  const auto written = end(std::move(entry), EndState::cancelled, now_);
  show(now_);
  return outcome_of(written);
}

CallReply RayCluster::requeue(const ActionCall& call, Entry entry, Until until) {
  if (entry.seen.phase == JobPhase::queued) return refuse("it waits already");
  for (const NodeGpus& each : call.nodes)
    if (std::ranges::find(entry.excluded, each.node) == entry.excluded.end())
      entry.excluded.push_back(each.node);
  if (entry.seen.phase == JobPhase::running) return stop(std::move(entry), Ending::requeue, until);
  entry.unstarted = 0;
  const auto written = give_back(std::move(entry), true);
  show(now_);
  return outcome_of(written);
}

/// What only the queue here knows of a job.
CallReply RayCluster::change_queued(const ActionCall& call, Entry entry) {
  SeenJob& seen = entry.seen;
  const bool waits = seen.phase == JobPhase::queued && entry.stage == Stage::none;
  if (call.kind == annotate) {
    seen.note = call.text;
  } else if (call.kind == set_order) {
    if (!waits) return refuse("it does not wait");
    seen.order = call.order;
  } else if (call.kind == hold) {
    if (!waits || seen.held) return refuse("it does not wait, or is held already");
    seen.held = true;
    seen.mark = call.text;
  } else {
    if (!seen.held || !carries_mark(seen.mark, call.text))
      return refuse("it is not held, or by somebody else");
    seen.held = false;
    seen.mark.clear();
  }
  const auto written = ledger_.put(std::move(entry));
  show(now_);
  return outcome_of(written);
}

/// A drain is SchedMate's own: Ray's cannot be taken back.
CallReply RayCluster::change_node(const ActionCall& call) {
  if (call.nodes.size() != 1) return refuse("nodes are drained one by one");
  const KnownNode* const known = node(call.nodes.front().node);
  if (known == nullptr) return refuse("Ray knows no node " + call.nodes.front().node);
  const auto drained = ledger_.drains().find(known->name);
  const bool is_drained = drained != ledger_.drains().end();
  if (call.kind == drain_node && is_drained)
    return refuse(fmt::format("node {} is drained already: {}", known->name, drained->second));
  if (call.kind == undrain_node && (!is_drained || !carries_mark(drained->second, call.text)))
    return refuse(fmt::format("node {} does not carry this mark", known->name));
  const auto written = ledger_.drain(known->name, call.kind == drain_node ? call.text : "");
  show(now_);
  return outcome_of(written);
}

}  // namespace schedmate::ray_live
