// SPDX-License-Identifier: Apache-2.0

/// How a Ray is read, and what is shown of it.

#include "ray_live/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace schedmate::ray_live {
namespace {

/// Ray tells what is in use up to 5 s late.
constexpr Seconds usage_lag{8};
constexpr double hardly_used = 0.01;

EndState state_of(const RayJob& record) {
  switch (record.status) {
    case RayStatus::succeeded:
      return EndState::completed;
    case RayStatus::stopped:
      return EndState::cancelled;
    case RayStatus::failed:
      return record.exit_code ? EndState::failed : EndState::node_fail;
    default:
      return EndState::unknown;
  }
}

}  // namespace

RayCluster::RayCluster(Head head, Ledger ledger, Options options)
    : head_(std::move(head)),
      ledger_(std::move(ledger)),
      options_(std::move(options)),
      driver_(head_, ledger_.instance(), options_.start),
      logs_(options_.log_folder) {}

Result<Abilities> RayCluster::abilities(Deadline within) {
  if (auto seen = look_at_version(head_.from_now(within)); !seen)
    return tl::unexpected(seen.error());
  Abilities made;
  const auto lack = [&](ActionKind kind, const char* why) {
    made.lacks[static_cast<std::size_t>(kind)] = why;
  };
  lack(ActionKind::release_spare, "a Ray has no spare nodes");
  lack(ActionKind::test_nodes, "nodes of a Ray are not tested yet");
  return made;
}

Result<void> RayCluster::look_at_version(Until until) {
  auto version = head_.get("/api/version", until).and_then(read_version);
  if (!version) return unread(version.error());
  sight_.version = std::move(*version);
  return {};
}

/// All of it, or what was seen before stays.
Result<void> RayCluster::look(Until until) {
  if (auto seen = look_at_version(until); !seen) return seen;
  auto nodes = head_.get("/api/v0/nodes?limit=10000", until).and_then(read_nodes);
  if (!nodes) return unread(nodes.error());
  auto used = head_.get("/api/cluster_status", until).and_then([&](const std::string& body) {
    return read_usage(body, options_.start.gpu_resource);
  });
  if (!used) return unread(used.error());
  sight_.nodes = name_nodes(*nodes, sight_.version.ray, options_.start);
  sight_.used = std::move(*used);
  // The driver is begun anew only for attempts that this Ray may have from one.
  const bool has_started = std::ranges::any_of(ledger_.entries(), [&](const auto& each) {
    const Entry& entry = each.second;
    return entry.holds_gpus() && entry.session.starts_with(sight_.version.session + '/');
  });
  if (auto seen = look_at_jobs(has_started, until); !seen) return seen;
  now_ = std::max(now_, head_.wall());
  return follow(now_, until);
}

/// Ray's, and those of the driver.
Result<void> RayCluster::look_at_jobs(bool needs_driver, Until until) {
  auto listed = head_.get("/api/jobs/", until).and_then(read_jobs);
  if (!listed) return unread(listed.error());
  std::map<std::string, RayJob> jobs;
  for (RayJob& each : *listed) jobs.insert_or_assign(each.id, std::move(each));
  std::string session;
  if (options_.start.by_driver || needs_driver) {
    if (auto found = driver_.find(jobs, needs_driver, until); !found) return found;
    if (driver_.server()) {
      auto named = driver_.list(jobs, until);
      if (!named) return tl::unexpected(named.error());
      session = std::move(*named);
    }
  }
  sight_.driver = std::move(session);
  sight_.jobs = std::move(jobs);
  return {};
}

/// By which an attempt that is asked for now is known to be of this head, or of this driver.
std::string RayCluster::session(bool by_driver) const {
  return by_driver ? sight_.version.session + '/' + sight_.driver : sight_.version.session;
}

/// Who was asked for its attempt.
const Head& RayCluster::starter_of(const Entry& entry) const {
  return entry.is_by_driver() && driver_.server() ? *driver_.server() : head_;
}

/// Begins the driver, and waits for it as long as there is time.
Result<void> RayCluster::begin_driver(Until until) {
  constexpr std::chrono::milliseconds pause{200};
  auto seen = look_at_jobs(true, until);
  while (!seen && head_.wait(pause, until)) {
    auto again = look_at_jobs(true, until);
    // That time runs out says less than why it was waited for.
    if (again || head_.left(until) > pause) seen = std::move(again);
  }
  return seen;
}

const KnownNode* RayCluster::node(const std::string& name) const {
  const auto found = std::ranges::find(sight_.nodes, name, &KnownNode::name);
  return found == sight_.nodes.end() ? nullptr : &*found;
}

std::string RayCluster::node_of_id(const std::string& id) const {
  const auto found =
      std::ranges::find(sight_.nodes, id, [](const KnownNode& each) { return each.ray.id; });
  return found == sight_.nodes.end() ? "" : found->name;
}

std::string RayCluster::partition_of(const std::string& node) const {
  const auto found = options_.partitions.find(node);
  return found == options_.partitions.end() ? "main" : found->second;
}

std::vector<std::string> RayCluster::holders(const std::string& node, std::int32_t gpu) const {
  std::vector<std::string> made;
  for (const auto& [number, entry] : ledger_.entries())
    if (entry.holds_gpus())
      for (const NodeGpus& each : entry.where)
        if (each.node == node && std::ranges::find(each.gpus, gpu) != each.gpus.end())
          made.push_back(entry.seen.id);
  return made;
}

std::vector<std::int32_t> RayCluster::free_gpus(const KnownNode& node) const {
  std::vector<std::int32_t> made;
  for (std::int32_t gpu = 0; gpu < node.gpus; ++gpu)
    if (holders(node.name, gpu).empty()) made.push_back(gpu);
  return made;
}

/// GPUs in use that are not ours. Which ones Ray does not tell: all that we do not hold.
void RayCluster::see_others(SimTime now) {
  std::map<std::string, Others, std::less<>> seen;
  for (const KnownNode& node : sight_.nodes) {
    const auto before = others_.find(node.name);
    const auto changed = changed_.find(node.name);
    const bool is_old = changed == changed_.end() || now - changed->second >= usage_lag;
    double ours = 0;
    for (const auto& [number, entry] : ledger_.entries())
      if (entry.holds_gpus() && entry.counted)
        for (const NodeGpus& each : entry.where)
          if (each.node == node.name) ours += static_cast<double>(each.gpus.size());
    const auto used = sight_.used.find(node.ray.id);
    const bool is_used = used != sight_.used.end() && used->second > ours + hardly_used;
    const bool are_there = is_old ? is_used : before != others_.end();
    if (!node.ray.is_alive || !are_there) continue;
    seen[node.name] = {before == others_.end() ? now : before->second.since, free_gpus(node)};
  }
  others_ = std::move(seen);
}

SeenJob RayCluster::shown(const Entry& entry) const {
  SeenJob made = entry.seen;
  if (made.output.empty()) made.output = logs_.path_of(made.id);
  return made;
}

/// What somebody gave to Ray himself: no policy starts it.
SeenJob RayCluster::foreign(const RayJob& record, SimTime now) const {
  const auto first = first_seen_.find(record.id);
  SeenJob made;
  made.id = "ray-" + record.id;
  made.submitted = record.submitted > at(0)     ? record.submitted
                   : first != first_seen_.end() ? first->second
                                                : now;
  made.name = record.name;
  made.user = record.user;
  made.partition = "ray";
  made.command = record.entrypoint;
  if (const std::string node = node_of_id(record.node); !node.empty()) {
    made.nodes.push_back({node, {}});
    made.partition = partition_of(node);
  }
  if (record.status == RayStatus::pending) return made;
  made.phase = JobPhase::running;
  made.started = made.submitted;
  if (!record.is_over()) return made;
  made.phase = JobPhase::ended;
  made.ended =
      std::clamp(record.ended.value_or(now), made.submitted, std::max(now, made.submitted));
  made.end_state = state_of(record);
  const std::int32_t code = record.exit_code.value_or(0);
  (code < 0 ? made.exit_signal : made.exit_code) = std::abs(code);
  return made;
}

SeenNode RayCluster::shown(const KnownNode& node) const {
  SeenNode made{.name = node.name,
                .partition = partition_of(node.name),
                .gpus = node.gpus,
                .state = NodeState::up,
                .reason = {}};
  const auto drain = ledger_.drains().find(node.name);
  if (drain != ledger_.drains().end()) {
    made.state = NodeState::drained;
    made.reason = drain->second;
  }
  if (!node.ray.is_alive) {
    made.state = NodeState::down;
    if (made.reason.empty()) made.reason = node.ray.why.empty() ? "Ray: dead" : node.ray.why;
  } else if (node.pin.empty() && made.state == NodeState::up) {
    made.state = NodeState::down;
    made.reason = "Ray cannot be told to start a job just there: setting cluster.ray.pin";
  }
  return made;
}

/// From what Ray and the ledger say.
void RayCluster::show(SimTime now) {
  see_others(now);
  std::vector<SeenJob> jobs;
  std::set<std::string> ours;
  for (const auto& [number, entry] : ledger_.entries()) {
    jobs.push_back(shown(entry));
    ours.insert(ledger_.ray_id(entry));
  }
  const std::string prefix = fmt::format("sm-{}-", ledger_.instance());
  std::map<std::string, SimTime, std::less<>> first;
  for (const auto& [id, record] : sight_.jobs) {
    if (id.starts_with(prefix)) continue;  // also of our earlier attempts
    if (const auto known = first_seen_.find(id); known != first_seen_.end())
      first.insert(*known);
    else if (record.submitted <= at(0))
      first.emplace(id, now);
    jobs.push_back(foreign(record, now));
  }
  first_seen_ = std::move(first);
  for (const auto& [name, others] : others_) {
    if (others.gpus.empty()) continue;
    SeenJob made;
    made.id = "ray-others-" + name;
    made.submitted = others.since;
    made.name = "GPUs that Ray has given to others";
    made.partition = partition_of(name);
    made.gpus = static_cast<std::int32_t>(others.gpus.size());
    made.phase = JobPhase::running;
    made.started = others.since;
    made.nodes = {{name, others.gpus}};
    jobs.push_back(std::move(made));
  }
  std::ranges::stable_sort(jobs, {}, &SeenJob::submitted);
  std::vector<SeenNode> nodes;
  for (const KnownNode& each : sight_.nodes) nodes.push_back(shown(each));
  if (version_ >= 0 && jobs == jobs_ && nodes == nodes_) return;
  jobs_ = std::move(jobs);
  nodes_ = std::move(nodes);
  // Later than that of an earlier process, which changed less often than a thousand times a second.
  constexpr std::int64_t in_a_second = 1000;
  version_ = std::max(version_ + 1, seconds_of(now) * in_a_second);
}

Result<Listing> RayCluster::list(SimTime ended_since, Deadline within) {
  const Until until = head_.from_now(within);
  if (auto seen = look(until); !seen) return tl::unexpected(seen.error());
  fetch_logs(until);
  drop_records(until);
  show(now_);
  Listing made{.version = version_, .now = now_, .jobs = {}, .ended_since = {}, .nodes = nodes_};
  made.ended_since = std::max(ended_since, now_ - options_.remembers);
  std::ranges::copy_if(jobs_, std::back_inserter(made.jobs), [&](const SeenJob& job) {
    return job.phase != JobPhase::ended || *job.ended >= made.ended_since;
  });
  return made;
}

Result<std::optional<SeenJob>> RayCluster::job(const std::string& id, Deadline within) {
  if (auto seen = look(head_.from_now(within)); !seen) return tl::unexpected(seen.error());
  show(now_);
  const auto found = std::ranges::find(jobs_, id, &SeenJob::id);
  return found == jobs_.end() ? std::nullopt : std::optional(*found);
}

Result<std::optional<std::string>> RayCluster::find_submission(const std::string& token,
                                                               Deadline within) {
  if (auto seen = look_at_version(head_.from_now(within)); !seen)
    return tl::unexpected(seen.error());
  const Entry* const entry = ledger_.with_token(token);
  return entry == nullptr ? std::nullopt : std::optional(entry->seen.id);
}

/// As many as there is time for; those that had to wait come first the next time.
void RayCluster::fetch_logs(Until until) {
  constexpr std::chrono::milliseconds at_most{500};
  const Until enough = std::min(until, head_.from_now(at_most));
  std::vector<Logs::Attempt> due;
  for (const auto& [number, entry] : ledger_.entries())
    if (entry.stage == Stage::taken && entry.seen.output.empty())
      if (const auto record = sight_.jobs.find(ledger_.ray_id(entry)); record != sight_.jobs.end())
        due.push_back({entry.seen.id, record->first, record->second.node, false});
  if (due.empty()) return;
  for (std::size_t i = 0; i < due.size(); ++i) {
    if (head_.left(enough) <= std::chrono::milliseconds(0)) return;
    (void)logs_.fetch(due[log_turns_++ % due.size()], head_, enough);  // else the next time
  }
}

/// Of attempts that are over and were followed: Ray keeps them for ever.
void RayCluster::drop_records(Until until) {
  constexpr std::size_t kept = 100;
  const std::string prefix = fmt::format("sm-{}-", ledger_.instance());
  std::vector<std::pair<SimTime, std::string>> over;
  for (const auto& [id, record] : sight_.jobs)
    if (id.starts_with(prefix) && record.is_over())
      over.emplace_back(record.ended.value_or(at(0)), id);
  if (over.size() <= kept) return;
  std::ranges::sort(over);
  constexpr std::size_t at_a_time = 4;
  for (std::size_t i = 0; i < std::min(at_a_time, over.size() - kept); ++i) {
    const llm::HttpRequest request{.method = "DELETE", .path = "/api/jobs/" + over[i].second};
    if (driver_.server()) (void)driver_.server()->ask(request, until);
    (void)head_.ask(request, until);  // whose it is, is not known here any more
  }
}

}  // namespace schedmate::ray_live
