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
#include <span>
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
  std::string name, workdir, log;
  std::int64_t gpus = 0;            ///< in all; 0: it asks for none
  std::int64_t nodes = 1;           ///< at least
  std::int64_t cpus = 0;            ///< in all
  double memory_mib = 0;            ///< in all
  std::int64_t tasks_of_array = 1;  ///< that wait behind this one record, itself included
  std::int64_t priority = 0;
  std::vector<std::string> required_nodes, excluded_nodes;
  std::string features;   ///< that its nodes must have, as Slurm writes them: "a&b"
  std::string gpu_types;  ///< that it asks for, "a100,v100"
  SimTime submit;
  std::optional<SimTime> eligible;  ///< not before; nothing: not known yet
  std::optional<SimTime> start;     ///< of a running job; of a waiting one what Slurm plans
  std::optional<Seconds> limit;
  std::vector<HeldNode> held;  ///< of a running job

  [[nodiscard]] bool runs() const;
  [[nodiscard]] bool waits() const;
};

struct ClusterNode {
  std::string name, gpu_type, state;
  std::int64_t gpus = 0;
  std::int64_t cpus = 0, free_cpus = 0;
  double memory_mib = 0, free_memory_mib = 0;
  std::vector<std::string> partitions, features;
  /// Jobs may be started there; else it is down, drained, reserved for maintenance or the like.
  bool takes_jobs = true;
  bool only_maintenance = false;       ///< nothing but that keeps jobs off
  std::optional<SimTime> out_since{};  ///< when it was drained or went down, if that is said
  /// GPUs in use; nothing: not said.
  std::optional<std::int64_t> used{};
  /// Which of them, if all of `used` are; bit g: GPU g.
  std::optional<std::uint64_t> which_used{};
};

struct Partition {
  std::string name;
  std::string own_qos{};  ///< whose limits its jobs share
  std::vector<std::string> nodes;
  bool up = true;
  std::optional<Seconds> most{};  ///< time limit
  std::int64_t most_nodes = 0;    ///< of a job; 0: no limit
  std::int64_t tier = 1;
  /// Who may use it: nobody in particular is named in any of these, or the job's own is.
  std::vector<std::string> accounts{}, qos{};
  bool for_all = true;  ///< but for these: no groups are named, and no reservation is needed

  /// Whether the job may wait here, as far as the partition says.
  [[nodiscard]] bool takes(const QueuedJob& job) const;
};

struct Reservation {
  std::string name;
  std::vector<std::string> nodes;
  SimTime start, end;
};

struct ClusterQueue {
  std::string cluster;          ///< its name; "" = not said
  SimTime now;                  ///< on the cluster's clock
  std::vector<QueuedJob> jobs;  ///< those that wait or run, in order of submission
  /// Those that have ended and are still shown: their state by id.
  std::map<std::string, std::string, std::less<>> ended;
  std::vector<ClusterNode> nodes;
  std::vector<Partition> partitions;
  std::vector<Reservation> reservations;
  std::vector<GroupLimit> limits;
  std::map<std::string, std::string, std::less<>> settings;  ///< slurm.conf; empty: not given
  /// What could not be read or does not fit together, one sentence each.
  std::vector<std::string> notes;
  /// Times are those of text, in the zone of whoever recorded it, and taken as UTC.
  bool text_times = false;
  /// Jobs began or ended between the reading of the jobs and that of the nodes.
  bool moved = false;
};

/// How many tasks such a list names, "0-3%1" or "1,5-9:2"; at least one, at most a million.
[[nodiscard]] std::int64_t tasks_of(std::string_view list);

/// What Slurm takes a job's run time to be: its limit, else the lowest of its partitions, else a
/// year.
[[nodiscard]] Seconds planned_run_time(const ClusterQueue& queue,
                                       const std::optional<Seconds>& limit,
                                       std::span<const std::string> partitions);

/// "13" of "13_2" and "13_[4-9]"; of what is no array itself.
[[nodiscard]] std::string_view array_of(std::string_view id);

/// Whether a user who writes `wanted` may mean the job `id`: the array that it is of, or a task
/// that it stands for ("13" and "13_2" of "13_[0-3%1]").
[[nodiscard]] bool may_mean(std::string_view wanted, std::string_view id);

/// From the outputs of `scontrol show config`, `job -d`, `node`, `partition`, `reservation` and
/// `assoc_mgr`, of `squeue --json` and of `sinfo --json`, in any order. What is there both as text
/// and as JSON is read from what comes first. Errors: invalid where jobs or nodes are missing, are
/// cut off or named twice, where jobs have more GPUs than there are or the same, and where no
/// instant is known; the message begins with "LINE: " where there is one.
[[nodiscard]] Result<ClusterQueue> read_queue(std::string_view text);

}  // namespace schedmate::slurm
