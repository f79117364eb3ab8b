// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A Slurm cluster at one instant: jobs, nodes, partitions, reservations, limits and settings, as
/// its tools tell them, in text or JSON. Foreign text: nothing in it is believed further than it
/// can be checked, and what contradicts itself is an error that names the line.

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/limits.hpp"

namespace schedmate::slurm {

/// Of one node that a job has: its GPUs by index, as far as Slurm says which.
struct HeldNode {
  std::string name;
  std::int64_t gpus = 0;
  std::uint64_t which = 0;  ///< bit g: GPU g; 0 = not said
};

struct QueuedJob {
  std::string id;  ///< "12", "12_3"; of an array that waits "12_[0-3%1]"
  std::string user, account, qos;
  std::vector<std::string> partitions;  ///< that it may run in
  std::string state, reason, dependency, reservation;
  std::string name, command, workdir, log;
  std::int64_t gpus = 0;            ///< in all; 0: it asks for none
  std::int64_t nodes = 1;           ///< at least
  std::int64_t tasks_of_array = 1;  ///< that wait behind this one record, itself included
  std::int64_t priority = 0;
  std::vector<std::string> required_nodes, excluded_nodes;
  SimTime submit;
  std::optional<SimTime> eligible;  ///< not before; nothing: not known yet
  std::optional<SimTime> start;     ///< of a running job; of a waiting one what Slurm plans
  std::optional<Seconds> limit;
  std::vector<HeldNode> held;  ///< of a running job

  [[nodiscard]] bool runs() const;
  [[nodiscard]] bool waits() const;
};

struct ClusterNode {
  std::string name, gpu_type, state, reason;
  std::int64_t gpus = 0;
  std::vector<std::string> partitions;
  /// Jobs may be started there; else it is down, drained, reserved for maintenance or the like.
  bool takes_jobs = true;
  /// GPUs in use; nothing: not said.
  std::optional<std::int64_t> used{};
  /// Which of them, if all of `used` are; bit g: GPU g.
  std::optional<std::uint64_t> which_used{};
};

struct Partition {
  std::string name, qos;
  std::vector<std::string> nodes;
  bool up = true;
  std::optional<Seconds> most, usual;  ///< time limits
  std::int64_t tier = 1;
};

struct Reservation {
  std::string name, users, accounts, flags;
  std::vector<std::string> nodes;
  SimTime start, end;
};

struct ClusterQueue {
  SimTime now;                  ///< on the cluster's clock
  std::vector<QueuedJob> jobs;  ///< those that wait or run, in order of submission
  std::vector<ClusterNode> nodes;
  std::vector<Partition> partitions;
  std::vector<Reservation> reservations;
  std::vector<GroupLimit> limits;
  std::map<std::string, std::string, std::less<>> settings;  ///< slurm.conf; empty: not given
  /// What could not be read or does not fit together, one sentence each.
  std::vector<std::string> notes;
  /// Jobs began or ended between the reading of the jobs and that of the nodes.
  bool moved = false;
};

/// From the outputs of `scontrol show config`, `job -d`, `node`, `partition`, `reservation` and
/// `assoc_mgr`, of `squeue --json` and of `sinfo --json`, in any order. What is there both as text
/// and as JSON is read from what comes first. Errors: invalid where jobs or nodes are missing, are
/// cut off or named twice, where jobs have more GPUs than there are or the same, and where no
/// instant is known; the message begins with "LINE: " where there is one.
[[nodiscard]] Result<ClusterQueue> read_queue(std::string_view text);

}  // namespace schedmate::slurm
