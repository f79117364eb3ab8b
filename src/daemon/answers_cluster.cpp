// SPDX-License-Identifier: Apache-2.0
/// The cluster, and what became of its GPU time.
#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "daemon/parts.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::daemon {
namespace {

/// Nodes about which an action is open or in force, and why it was planned. Its lines may be those
/// of somebody's job, so that they are for operators.
std::map<std::string, Document> suspects_of(const live::Actions& actions, const Caller& caller) {
  std::map<std::string, Document> suspects;
  for (const auto& [id, action] : actions.all()) {
    using enum ActionKind;
    const ActionKind kind = action.call.kind;
    if (kind != drain_node && kind != test_nodes && kind != requeue_excluding) continue;
    std::string why;
    for (const std::string& line : action.why)
      why += (why.empty() ? "" : "; ") + secrets::redacted(line);
    if (why.empty() || caller.role != Role::cluster_operator) why = name_of(kind);
    for (const NodeGpus& node : action.call.nodes)
      suspects[node.node] = {{"why", why}, {"action", id}};
  }
  return suspects;
}

/// A witness of the last hour speaks of the node; null: none does.
Document suspect_by_witness(const std::string& node, const Caller& caller, const State& state) {
  constexpr Seconds fresh{3600};
  std::string why;
  for (const live::NodeWitness& each : state.loop.witnesses().of(node, state.now - fresh))
    why +=
        fmt::format("{}{}: {}", why.empty() ? "" : "; ", each.source, secrets::redacted(each.says));
  if (why.empty()) return nullptr;
  return {{"why", caller.role == Role::cluster_operator ? why : "a witness speaks of it"},
          {"action", nullptr}};
}

std::string shown_reason(const SeenNode& node, const Caller& caller) {
  const bool sees_all = caller.role == Role::cluster_operator;
  return secrets::redacted(sees_all ? node.reason : live::told_to_all(node.reason));
}

Document history_of(const ClusterHistory& history) {
  Document samples = Document::array();
  for (const ClusterHistory::Sample& each : history.samples()) {
    Document sample;
    put_instant(sample, "at", each.when);
    sample["gpus_used"] = each.gpus_used;
    sample["gpus"] = each.gpus;
    sample["waiting"] = each.waiting;
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

/// Jobs of others are counted, not named.
http::Reply cluster_reply(const http::Request& request, const State& state) {
  std::map<std::string, std::pair<std::set<std::int32_t>, Document>> held;  // by node
  std::int64_t pending = 0, running = 0;
  for (const auto& [id, attempt] : state.loop.jobs().all()) {
    const SeenJob& seen = attempt.seen;
    if (seen.phase == JobPhase::queued) ++pending;
    if (seen.phase != JobPhase::running) continue;
    ++running;
    for (const NodeGpus& node : seen.nodes) {
      auto& [gpus, jobs] = held[node.node];
      gpus.insert(node.gpus.begin(), node.gpus.end());
      if (request.caller.may_see_jobs_of(seen.user))
        jobs.push_back({{"id", id}, {"user", seen.user}, {"gpus", node.gpus}});
    }
  }
  std::map<std::string, Document> suspects = suspects_of(state.loop.actions(), request.caller);
  Document nodes = Document::array();
  constexpr std::array<std::string_view, 3> words = {"up", "drained", "down"};
  for (const auto& [name, node] : state.loop.actions().nodes()) {
    auto& [gpus, jobs] = held[name];
    if (!suspects.contains(name)) suspects[name] = suspect_by_witness(name, request.caller, state);
    nodes.push_back({{"name", name},
                     {"partition", node.partition},
                     {"gpus", node.gpus},
                     {"held", gpus.size()},
                     {"state", words.at(static_cast<std::size_t>(node.state))},
                     {"reason", shown_reason(node, request.caller)},
                     {"suspect", std::move(suspects[name])},
                     {"jobs", jobs.is_null() ? Document::array() : jobs}});
    if (state.desk == nullptr)
      nodes.back().update({{"gpus_state", nullptr}, {"probe", nullptr}});
    else
      nodes.back().update(state.desk->probes().state_of(name, state.wall_s));
  }
  Document made{{"schema", "schedmate.cluster.v1"},
                {"nodes", std::move(nodes)},
                {"queue", {{"pending", pending}, {"running", running}}},
                {"breaker_open", state.loop.actions().breaker_open()},
                {"history", history_of(state.history)}};
  put_instant(made, "now", state.now);
  put_overview(made, request, state);
  return http::json_reply(made);
}

}  // namespace schedmate::daemon
