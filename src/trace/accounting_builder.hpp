// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From the rows of an accounting dump to jobs that can be compared with: what the text and the
/// JSON form have in common. Steps are skipped, rows are checked, het jobs are joined, attempts of
/// requeued jobs get names of their own.

#include <map>
#include <schedmate/accounting.hpp>
#include <set>
#include <string_view>

namespace schedmate::trace {

/// The fields whose values are checked, for naming the place of a bad one.
enum class RowField : std::uint8_t {
  id,
  state,
  submit,
  eligible,
  start,
  end,
  limit,
  gpus,
  cpus,
  nodes
};

/// One row as it was read. Text need only live until `add` returns.
struct AccountingRow {
  std::string_view id, user, group, partition, qos, name, work_dir, submit_line, account, log;
  std::string_view state, reason, exit_code;
  std::string_view cluster;  ///< "" = the dump does not say
  std::string_view nodes;    ///< a host list
  bool allocated = false;    ///< resources are in the row that the job was given
  std::optional<std::int64_t> submit_s, eligible_s, start_s, end_s, elapsed_s;
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  std::optional<double> memory_mib;
  AccountedUse use;
  std::string unread;  ///< as AccountedJob::unread
  std::string_view gpu_type;
  LimitKind limit_kind = LimitKind::unknown;
  std::int64_t limit_s = 0;
  std::int64_t restarts = 0;
};

/// Joules as Slurm counted them; it writes zero, nothing or its greatest numbers where nobody did.
[[nodiscard]] std::optional<double> known_energy(std::optional<double> joules);

/// What is wrong with a row, and in which field.
struct RowFault {
  RowField field = RowField::id;
  std::string what;  ///< follows the field's name: "lies before Start: ..."
};

class AccountingBuilder {
 public:
  /// `name` of the file, for messages.
  AccountingBuilder(std::string name, const AccountingOptions& options);

  /// Takes the row or skips it with a reason. A fault leaves it to the caller to call `reject`.
  [[nodiscard]] std::optional<RowFault> add(const AccountingRow& row);
  /// What a step of the job that was added last used; other steps are only counted.
  void add_step(std::string_view job, const AccountedUse& use);
  /// The same of a step that has no row of its own.
  void use_step(std::string_view job, const AccountedUse& use);
  /// `column` 0: not known.
  void reject(std::string_view reason, std::uint64_t line, std::size_t column);
  void skip(std::string_view reason);
  [[nodiscard]] bool stopped() const { return stopped_; }  ///< `strict` has met a bad row
  void lacks_eligible() { dump_.has_eligible = false; }

  /// Errors: invalid when no job started, more than one row in ten is bad, or the rows are of
  /// several clusters.
  [[nodiscard]] Result<AccountingDump> finish() &&;

 private:
  [[nodiscard]] std::optional<RowFault> take_nodes(std::string_view list, AccountedJob& job);
  void note_cluster(std::string_view cluster);
  void note_times(const AccountedJob& job);
  void end_running();
  void drop_repeats();
  void join_het_jobs();
  void name_attempts();
  [[nodiscard]] std::string why_empty() const;

  [[nodiscard]] std::optional<RowFault> check_row(const AccountingRow& row) const;

  std::string name_;
  bool strict_, lenient_;
  bool stopped_ = false;
  std::uint64_t bad_ = 0;
  std::uint64_t jobs_ = 0;  // rows that are no steps
  std::uint64_t node_uses_ = 0;
  std::uint64_t units_ = 0;  // nodes and GPUs whose use is kept
  std::set<std::string, std::less<>> clusters_;
  std::map<std::string, std::uint32_t, std::less<>> node_index_;
  std::string last_list_;  // neighbours often ran on the same nodes
  std::vector<std::uint32_t> last_nodes_;
  std::string last_job_;  // its steps follow it; "" = it was left out
  bool job_has_cpu_time_ = false;
  AccountingDump dump_;
};

}  // namespace schedmate::trace
