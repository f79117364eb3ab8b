// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Traces and clusters small enough to work out by hand, for tests of every module.

#include <cstring>
#include <memory>
#include <schedmate/cluster.hpp>
#include <schedmate/job.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedmate::testing {

constexpr std::int64_t day_s = 86'400;

/// The i-th job of a trace.
constexpr JobId job(std::uint32_t i) { return static_cast<JobId>(i); }

/// One job; named members say what a test is about.
struct SmallJob {
  std::int64_t submit_s = 0;
  std::int32_t gpus = 1;
  std::int64_t duration_s = 10;
  std::uint32_t vc = 0;
  std::uint32_t user = 0;
  std::uint32_t profile = no_index;
};

/// Copies `text` into the trace, which owns all text.
inline std::string_view keep(Trace& trace, std::string_view text) {
  auto buffer = std::make_unique<char[]>(text.size());
  std::memcpy(buffer.get(), text.data(), text.size());
  const std::string_view kept(buffer.get(), text.size());
  trace.text.push_back(std::move(buffer));
  return kept;
}

/// Jobs "j0", "j1", ... of VCs "vc0", "vc1", ... and users "u0", "u1", ...; give them by
/// submission.
inline Trace small_trace(const std::vector<SmallJob>& jobs) {
  Trace trace;
  for (const SmallJob& small : jobs) {
    Job job;
    job.id = keep(trace, "j" + std::to_string(trace.jobs.size()));
    job.user = small.user;
    job.vc = small.vc;
    job.gpus = small.gpus;
    job.profile = small.profile;
    job.submit = at(small.submit_s);
    job.duration = Seconds(small.duration_s);
    trace.jobs.push_back(job);
    while (trace.vcs.size() <= job.vc) trace.vcs.push_back("vc" + std::to_string(trace.vcs.size()));
    while (trace.users.size() <= job.user) {
      trace.users.push_back("u" + std::to_string(trace.users.size()));
    }
  }
  return trace;
}

/// VCs "vc0", "vc1", ... with that many nodes each.
inline ClusterSpec small_cluster(const std::vector<int>& nodes, int gpus_per_node = 8) {
  ClusterSpec cluster;
  for (const int count : nodes) {
    PartitionSpec vc;
    vc.name = "vc" + std::to_string(cluster.partitions.size());
    vc.nodes = count;
    vc.gpus_per_node = gpus_per_node;
    cluster.partitions.push_back(vc);
  }
  return cluster;
}

}  // namespace schedmate::testing
