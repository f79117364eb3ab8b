// SPDX-License-Identifier: Apache-2.0
/// Jobs of a replay that its trace lacks: those that are submitted, and tests of nodes.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "replay/cluster.hpp"

namespace schedmate::replay {

/// Each call is a job of its own, whatever its token.
std::uint32_t ReplayCluster::add(Submission submission, const std::string& token) {
  std::size_t number = submitted_.size() + 1;
  while (rows_.contains(fmt::format("s{}", number))) ++number;
  const std::string id = fmt::format("s{}", number);
  const std::uint32_t row = add_job(trace_, id, submission, now_);
  outcomes_.resize(trace_.jobs.size());
  for (Vc& each : vcs_)
    if (each.is_for_all) each.guests.resize(trace_.jobs.size());
  rows_[id] = row;
  if (!token.empty()) tokens_.emplace(token, row);
  submitted_[row] = {std::move(submission), token};
  return row;
}

/// It enters its queue at once.
CallReply ReplayCluster::submit(const ActionCall& call) {
  auto submission = read_submission(call);
  if (!submission) return refused(submission.error().message);
  const auto vc = submission->partition.empty()
                      ? vcs_.begin()
                      : std::ranges::find(vcs_, submission->partition, &Vc::name);
  if (vc == vcs_.end()) return refused(fmt::format("no partition {}", submission->partition));
  submission->partition = vc->name;
  if (submission->gpus > vc->partition.nodes * vc->partition.gpus_per_node)
    return refused(fmt::format("{} has fewer GPUs than {}", vc->name, submission->gpus));
  const std::uint32_t row = add(std::move(*submission), call.token);
  vc->engine->admit({.row = row, .enters = now_, .work = trace_.jobs[row].duration});
  vc->engine->step(now_);
  return {CallOutcome::done, {}, std::string(trace_.jobs[row].id)};
}

/// It begins at once, beside whatever runs there, and holds no GPUs.
CallReply ReplayCluster::test(const ActionCall& call) {
  const Vc* vc = nullptr;
  for (const NodeGpus& each : call.nodes) {
    std::uint32_t number = 0;
    vc = vc_of_node(each.node, number);
    if (vc == nullptr) return refused(fmt::format("no node {}", each.node));
  }
  if (vc == nullptr) return refused("a test needs nodes");
  constexpr Seconds minute{60};
  const std::uint32_t row = add({.user = "schedmate",
                                 .name = "test of nodes",
                                 .partition = vc->name,
                                 .gpus = 0,
                                 .run = minute},
                                call.token);
  Shown& job = jobs_[row];
  job.home = job.vc = static_cast<std::size_t>(vc - vcs_.data());
  job.version = version_;
  job.seen.id = trace_.jobs[row].id;
  job.seen.submitted = now_;
  job.seen.user = submitted_.at(row).submission.user;
  job.seen.partition = vc->name;
  job.seen.phase = JobPhase::running;
  job.seen.started = now_;
  for (const NodeGpus& each : call.nodes) job.seen.nodes.push_back({each.node, {}});
  show(submitted_.at(row), job);
  present_.insert(row);
  tests_[row] = now_ + minute;
  return done;
}

void ReplayCluster::end_tests() {
  while (!tests_.empty() && tests_.begin()->second <= now_) {
    const auto [row, when] = *tests_.begin();
    tests_.erase(tests_.begin());
    end(row, when);
  }
}

}  // namespace schedmate::replay
