// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Slurm's accounting (`sacct --parsable2`, `sacct --json`) tells of past jobs, down to the
/// nodes they had and the limits they asked for. trace.hpp reads the same files for the simulator
/// alone; this is for who wants to compare with what really happened. docs/formats/whatif.md.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// What a job's time limit was.
enum class LimitKind : std::uint8_t {
  given,      ///< `limit` is the job's own
  unlimited,  ///< UNLIMITED
  partition,  ///< Partition_Limit: the job asked for none and sacct does not say which it got
  unknown,    ///< the dump has no such field
};

/// One attempt of one job: from its submission until it ended, was requeued, or the dump ends.
/// Only attempts that started are kept. Times are Unix seconds, or local ones read as UTC.
struct AccountedJob {
  std::string id;  ///< "17", "12_3" of an array; a requeued job's later attempts are "17#2", ...
  std::string user, partition, qos;
  std::string name, work_dir, submit_line;  ///< what the user wrote; "" when the dump lacks them
  std::string state;                        ///< Slurm's word, "NODE_FAIL"
  std::string reason;                       ///< the last one why it had to wait
  std::string exit_code;                    ///< "CODE:SIGNAL"
  SimTime submit;
  SimTime eligible;  ///< from when on it could have started; waits are counted from it
  SimTime start;
  SimTime end;           ///< of a running job: the end of the dump
  bool running = false;  ///< when the dump was made
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  std::string gpu_type;  ///< of gres/gpu:TYPE; "" when untyped, "a,b" for two
  LimitKind limit_kind = LimitKind::unknown;
  Seconds limit{0};
  std::vector<std::uint32_t> nodes;  ///< indices into AccountingDump::nodes
  std::int64_t restarts = 0;         ///< as Slurm counts them, 0 when the dump does not say
};

struct AccountingDump {
  std::vector<AccountedJob> jobs;  ///< by eligible time, equal times by job number
  std::vector<std::string> nodes;  ///< names, in order of first appearance
  bool has_eligible = true;        ///< else eligible = submit
  SimTime first_end = never;       ///< from here on every job that held GPUs is in the dump
  SimTime last;                    ///< latest time in the dump
  ReadReport report;               ///< dropped: steps, never started, bad rows, ...
};

struct AccountingOptions {
  bool strict = false;                          ///< a bad row is an error
  std::function<void(double done)> progress{};  ///< share of the file, from this thread
};

/// Reads a dump; .gz and .zst alike. Bad rows are counted and skipped while they are at most one in
/// ten. Errors: invalid when the file is absent, is not such a dump, lacks a field that is needed,
/// has no job that started, or has too many bad rows; the message says where and how to mend it.
[[nodiscard]] Result<AccountingDump> read_accounting(const std::string& path,
                                                     const AccountingOptions& options);

}  // namespace schedmate
