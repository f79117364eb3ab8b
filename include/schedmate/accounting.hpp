// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Slurm's accounting (`sacct --parsable2`, `sacct --json`) reports of past jobs, down to the
/// nodes they had and the limits they asked for. trace.hpp reads the same files for the simulator
/// alone; this header serves whoever compares with what really happened, as `whatif` does
/// (docs/formats/whatif.md; the fields are in docs/formats/sacct.md).
///
/// Plain values without threads of their own. Times are whole seconds since 1970; a dump with
/// local times is read as if they were UTC, which leaves all differences right.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/job.hpp>
#include <schedmate/node_use.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// What a job's time limit was.
enum class LimitKind : std::uint8_t {
  given,      ///< `limit` is the job's own
  unlimited,  ///< UNLIMITED
  partition,  ///< Partition_Limit: the job asked for none and sacct does not say which it got
  unknown,    ///< the dump has no such field
};

/// What a job used, as far as the dump says; over all nodes. GPU figures are means over its GPUs.
struct AccountedUse {
  std::optional<FractionalSeconds> cpu_time;
  /// All processes together at their highest, of the step that needed most.
  std::optional<double> memory_mib;
  std::optional<double> gpu_util_pct, gpu_memory_mib, gpu_memory_total_mib;
  /// Joules, as the nodes' meters counted them.
  std::optional<double> energy_j;
  std::vector<UsedNode> nodes;
};

/// One attempt of one job: from its submission until it ended, was requeued, or the dump ends.
/// The dump keeps only attempts that started.
struct AccountedJob {
  /// "17", or "12_3" of an array. Later attempts of a requeued job are "17#2", "17#3", ...
  std::string id;
  std::string user, group, partition, qos;
  /// What the user wrote; "" when the dump lacks the field.
  std::string name, work_dir, submit_line;
  /// Where its output went, as given: with %j and the like. "" when the dump lacks the field.
  std::string log;
  std::string account, cluster;
  std::string state;      ///< Slurm's word, "NODE_FAIL"
  std::string reason;     ///< the last one why it had to wait
  std::string exit_code;  ///< "CODE:SIGNAL"
  SimTime submit;
  /// From then on it could have started (dependencies, begin times); waits count from here.
  SimTime eligible;
  SimTime start;
  /// Of a job that still ran when the dump was made: the end of the dump.
  SimTime end;
  bool running = false;
  /// Totals over all nodes.
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  /// As it was given to the job.
  std::optional<double> memory_mib;
  AccountedUse use;
  /// Why the summary of use in AdminComment was not read in full: "not read: it is no base64 (cut
  /// off?)"; "" = it was, or there is none.
  std::string unread;
  /// The run time as Slurm counts it, without suspension; empty when the dump lacks the field.
  std::optional<Seconds> elapsed;
  /// Of gres/gpu:TYPE; "" when untyped, "a,b" for two types.
  std::string gpu_type;
  /// `limit` means something only when the kind is `given`.
  LimitKind limit_kind = LimitKind::unknown;
  Seconds limit{0};
  /// Indices into AccountingDump::nodes.
  std::vector<std::uint32_t> nodes;
  /// The same as the dump has them, "n[1-4]".
  std::string node_list;
  /// As Slurm counts them, 0 when the dump does not say.
  std::int64_t restarts = 0;
};

struct AccountingDump {
  /// By eligible time, equal times by job number.
  std::vector<AccountedJob> jobs;
  /// Host names in order of first appearance.
  std::vector<std::string> nodes;
  /// False: the dump has no such field, and `eligible` equals `submit`.
  bool has_eligible = true;
  /// From here on every job that held GPUs is in the dump; before, only those that ended later.
  SimTime first_end = never;
  /// The latest time in the dump.
  SimTime last;
  /// Counts of dropped rows by reason: steps, jobs that never started, bad rows, ...
  ReadReport report;
};

struct AccountingOptions {
  /// A bad row is an error instead of a counted skip.
  bool strict = false;
  /// For readers of single jobs, who need no whole picture of the cluster: User, Partition and
  /// State may be missing, and End where the run time is there; any share of the rows may be bad,
  /// and no job at all is no error.
  bool lenient = false;
  /// Called with the share of the file that is read, 0 to 1, by the thread that reads.
  std::function<void(double done)> progress{};
};

/// Reads a dump in one pass, .gz and .zst alike. It counts and skips bad rows while they are at
/// most one in ten. Errors: invalid when the file is absent, is not such a dump, lacks a field that
/// is needed, has no job that started, or has too many bad rows; the message says where and how to
/// fix it.
[[nodiscard]] Result<AccountingDump> read_accounting(const std::string& path,
                                                     const AccountingOptions& options);
/// The same of a text; `name` is what messages call it.
[[nodiscard]] Result<AccountingDump> read_accounting_text(std::string_view text,
                                                          const std::string& name,
                                                          const AccountingOptions& options);

/// The fields of the dump that serve every command best, for `sacct --format`.
[[nodiscard]] std::string_view accounting_fields();

}  // namespace schedmate
