// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an accounting dump says of a cluster and its jobs, as the simulator takes it: the
/// virtual clusters by the nodes seen in use, the trace, and beside each of its jobs what really
/// happened. docs/decisions/0015-whatif.md gives the reasons.

#include <functional>
#include <schedmate/accounting.hpp>
#include <schedmate/cluster.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::whatif {

/// What jobs compete for.
enum class Resource : std::uint8_t {
  gpus,
  cpus,  ///< of a dump without any GPU job
};

/// The cluster of a dump. VCs are sets of partitions and GPU types that share nodes.
struct InferredCluster {
  ClusterSpec spec;
  Resource resource = Resource::gpus;
  std::vector<std::int64_t> unit;        ///< by VC: CPUs that count as one (1 for GPUs)
  std::vector<std::uint32_t> vc_of_job;  ///< by AccountingDump::jobs; no_index: takes no part
  std::vector<std::string> notes;        ///< what was merged or guessed, as sentences
};

/// GPUs, unless no job of the dump has any.
[[nodiscard]] Resource resource_of(const AccountingDump& dump);
/// GPUs or CPUs of a job.
[[nodiscard]] std::int64_t amount_of(const AccountedJob& job, Resource resource);
/// No VC yet: the resource, and the note about it.
[[nodiscard]] InferredCluster start_cluster(const AccountingDump& dump);

/// The VCs as the dump shows them: nodes by NodeList, GPUs of a node by the most that were in use
/// there at one time. Errors: invalid when no job uses the resource, none of those names its nodes,
/// or a node seems to have more than 64 GPUs.
[[nodiscard]] Result<InferredCluster> infer_cluster(const AccountingDump& dump);

/// The same with a given cluster: its VCs are named like partitions, "a+b" stands for both. Jobs of
/// other partitions take no part. Without GPUs anywhere, gpu_type "N CPUs" says how many count as
/// one; else that follows from the most that were in use on a node.
[[nodiscard]] Result<InferredCluster> map_cluster(const AccountingDump& dump, ClusterSpec spec);

/// What really happened to a job, and how it takes part.
struct PastJob {
  SimTime eligible;
  SimTime start;
  SimTime end;
  bool pinned = false;      ///< ran when the record becomes complete: enters at its real start
  bool censored = false;    ///< ran on when the dump was made: its end is not known
  std::int64_t amount = 0;  ///< GPUs or CPUs, never units of several CPUs
};

struct RecordedCluster {
  Trace trace;
  std::vector<PastJob> past;       ///< parallel to Trace::jobs
  std::vector<std::uint32_t> of;   ///< likewise: index into AccountingDump::jobs
  SimTime complete_from;           ///< from here on all running jobs are in the dump
  std::uint64_t limits_given = 0;  ///< jobs with a time limit of their own
  std::uint64_t limits_unlimited = 0;
  std::uint64_t limits_guessed = 0;  ///< run time rounded up, as the dump names no limit
};

/// The name of the trace's column with the time limits in seconds.
inline constexpr std::string_view limit_column = "limit_s";

/// `rename` gives the name under which a user appears in the trace. Errors: invalid when no job is
/// left.
[[nodiscard]] Result<RecordedCluster> make_world(
    const AccountingDump& dump, const InferredCluster& cluster,
    const std::function<std::string(std::string_view)>& rename);

}  // namespace schedmate::whatif
