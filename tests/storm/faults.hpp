// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What may go wrong in a storm, by name. A seed draws which of them occur in its run and how
/// often; each has random numbers of its own, so that leaving one out changes little else.

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace schedmate::storm {

enum class Fault : std::uint8_t {
  // Between the daemon and the cluster.
  call_lost,
  reply_lost,
  call_late,
  call_twice,
  says_refused,
  says_done,
  reply_slow,
  reply_twice,
  list_fails,
  list_stale,
  list_slow,
  list_garbled,
  list_partial,
  controller_restarts,
  // The cluster.
  node_dies,
  node_flaps,
  node_bad,
  probe_silent,
  ids_reused,
  short_memory,
  jobs_fail,
  job_hangs,
  // People on the cluster.
  human_drains,
  human_undrains,
  human_takes_over,
  human_requeues,
  human_cancels,
  human_holds,
  human_releases,
  human_starts,
  human_orders,
  human_notes,
  // Who proposes.
  false_witness,
  old_witness,
  proposer_floods,
  proposer_late,
  proposer_careless,
  proposer_packs,
  // Who reads code, logs and failures.
  study_lost,
  study_late,
  study_fails,
  study_lies,
  log_truncated,
  log_rotated,
  log_lies,
  // Tests of nodes.
  test_lies,
  test_hangs,
  // Operators.
  operator_approves,
  operator_rejects,
  operator_undoes,
  operator_closes_breaker,
  // The disk.
  sync_error,
  lost_sync,
  write_error,
  read_error,
  disk_full,
  power_cut,
  torn_writes,
  // The daemon and its machine.
  kill,
  kill_in_append,
  kill_in_compaction,
  kill_on_error,
  long_absence,
  rival,
  new_modes,
  clock_forward,
  clock_back,
  // Another daemon with a state folder of its own.
  other_instance,
};
inline constexpr std::size_t fault_kinds = 68;
inline constexpr std::array<Fault, fault_kinds> all_faults = [] {
  std::array<Fault, fault_kinds> all{};
  for (std::size_t i = 0; i < fault_kinds; ++i) all[i] = static_cast<Fault>(i);
  return all;
}();
[[nodiscard]] std::string_view name_of(Fault fault);
[[nodiscard]] std::string_view text_of(Fault fault);

using FaultSet = std::bitset<fault_kinds>;
/// "all", "none", or names with commas; "-NAME" takes one away from all. Errors: not_found.
[[nodiscard]] Result<FaultSet> fault_set_of(std::string_view list);
[[nodiscard]] std::string text_of(const FaultSet& faults);

/// The dice of one run.
class Dice {
 public:
  Dice(std::uint64_t seed, const FaultSet& allowed);

  [[nodiscard]] bool on(Fault fault) const { return on_.test(static_cast<std::size_t>(fault)); }
  /// Whether it strikes at this opportunity; `often` is its chance where the seed makes it common.
  bool strikes(Fault fault, double often);
  /// 0 where it does not occur in this run, else up to 1.
  [[nodiscard]] double rate(Fault fault) const {
    return on(fault) ? rate_.at(static_cast<std::size_t>(fault)) : 0;
  }
  Random& of(Fault fault) { return streams_.at(static_cast<std::size_t>(fault)); }
  /// Random numbers for anything else, by name.
  [[nodiscard]] Random stream(std::string_view name) const;
  /// From now on nothing strikes any more.
  void calm() { on_.reset(); }
  [[nodiscard]] const FaultSet& drawn() const { return on_; }

 private:
  std::uint64_t seed_;
  FaultSet on_;
  std::array<double, fault_kinds> rate_{};
  std::vector<Random> streams_;
};

}  // namespace schedmate::storm
