// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace schedmate::storm {
namespace {

struct Row {
  Fault fault;
  std::string_view name, text;
};

using enum Fault;
constexpr std::array<Row, fault_kinds> rows = {{
    {call_lost, "call_lost", "a call never arrives"},
    {reply_lost, "reply_lost", "a call is carried out, its answer is lost"},
    {call_late, "call_late", "a call is carried out after its deadline"},
    {call_twice, "call_twice", "a call is delivered twice"},
    {says_refused, "says_refused", "a call is carried out, the answer says refused"},
    {says_done, "says_done", "a call is not carried out, the answer says done"},
    {reply_slow, "reply_slow", "an answer comes several readings later"},
    {reply_twice, "reply_twice", "an answer comes a second time, some time later"},
    {list_fails, "list_fails", "a reading fails"},
    {list_stale, "list_stale", "a reading shows an older version"},
    {list_slow, "list_slow", "a reading takes seconds"},
    {list_garbled, "list_garbled", "a reading is cut off: an error"},
    {list_partial, "list_partial", "a reading lacks jobs and nodes, and does not say so"},
    {controller_restarts, "controller_restarts", "the cluster answers nothing for a while"},
    {node_dies, "node_dies", "a node dies, and comes back later"},
    {node_flaps, "node_flaps", "a node goes and comes within seconds, several times"},
    {node_bad, "node_bad", "a node is truly bad, and two witnesses say so"},
    {probe_silent, "probe_silent", "no witness says so: only logs and tests show it"},
    {ids_reused, "ids_reused", "a new job has the id of one that is gone"},
    {short_memory, "short_memory", "the cluster soon forgets jobs that ended"},
    {jobs_fail, "jobs_fail", "jobs fail"},
    {job_hangs, "job_hangs", "a long job makes no steps any more"},
    {human_drains, "human_drains", "a human drains a node"},
    {human_undrains, "human_undrains", "a human puts a node back, whosever drain it is"},
    {human_takes_over, "human_takes_over", "a human puts a mark of theirs on a drain or hold"},
    {human_requeues, "human_requeues", "a human sends a job back to the queue"},
    {human_cancels, "human_cancels", "a human cancels a job"},
    {human_holds, "human_holds", "a human holds a job"},
    {human_releases, "human_releases", "a human releases a job, whosever hold it is"},
    {human_starts, "human_starts", "a human starts a job"},
    {human_orders, "human_orders", "a human changes a job's order"},
    {human_notes, "human_notes", "a human changes a job's note"},
    {false_witness, "false_witness", "one source says, again and again, that a good node is bad"},
    {old_witness, "old_witness", "the second witness is hours old"},
    {proposer_floods, "proposer_floods", "many proposals at once"},
    {proposer_late, "proposer_late", "a proposal rests on a reading from minutes ago"},
    {proposer_careless, "proposer_careless", "a proposal breaks a rule of acting"},
    {proposer_packs, "proposer_packs", "a proposal lets a job start on GPUs of a running one"},
    {study_lost, "study_lost", "whoever reads code, logs or failures never answers"},
    {study_late, "study_late", "it answers when nobody waits any more"},
    {study_fails, "study_fails", "it cannot read them, for now or for good"},
    {study_lies, "study_lies", "the log of a failed job lies about its cause"},
    {log_truncated, "log_truncated", "a log is cut while it is written"},
    {log_rotated, "log_rotated", "a log is moved away while it is written"},
    {log_lies, "log_lies", "a log shows senseless progress"},
    {test_lies, "test_lies", "a test says the opposite, but of no node that a log blames wrongly"},
    {test_hangs, "test_hangs", "a test of nodes does not come to its end"},
    {operator_approves, "operator_approves", "an operator approves"},
    {operator_rejects, "operator_rejects", "an operator rejects"},
    {operator_undoes, "operator_undoes", "an operator undoes"},
    {operator_closes_breaker, "operator_closes_breaker", "an operator closes the breaker"},
    {sync_error, "sync_error", "fsync fails"},
    {lost_sync, "lost_sync", "fsync succeeds, and nothing is kept until a later one"},
    {write_error, "write_error", "a write fails half done"},
    {read_error, "read_error", "a read fails"},
    {disk_full, "disk_full", "the disk is full for a while"},
    {power_cut, "power_cut", "the power goes at a kill: what was not synced is gone"},
    {torn_writes, "torn_writes", "the power goes at a kill: writes are torn and reordered"},
    {kill, "kill", "the daemon is killed before or after an append, a call, an answer, a reading"},
    {kill_in_append, "kill_in_append", "the daemon is killed at a write of an append"},
    {kill_in_compaction, "kill_in_compaction", "it is killed at a write of a compaction"},
    {kill_on_error, "kill_on_error", "the daemon is killed as soon as an append fails"},
    {long_absence, "long_absence", "the daemon is away for minutes after a kill"},
    {rival, "rival", "a second daemon opens the journal"},
    {new_modes, "new_modes", "other modes after a restart"},
    {clock_forward, "clock_forward", "the daemon's clock jumps forwards"},
    {clock_back, "clock_back", "the daemon's clock jumps backwards"},
    {other_instance, "other_instance", "another SchedMate drains a node"},
}};
static_assert(std::ranges::all_of(all_faults, [](Fault fault) {
  return rows[static_cast<std::size_t>(fault)].fault == fault;
}));

std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0;
  for (const char letter : name) hash = mix(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

}  // namespace

std::string_view name_of(Fault fault) { return rows.at(static_cast<std::size_t>(fault)).name; }
std::string_view text_of(Fault fault) { return rows.at(static_cast<std::size_t>(fault)).text; }

Result<FaultSet> fault_set_of(std::string_view list) {
  FaultSet faults;
  if (list == "none") return faults;
  if (list.starts_with('-')) faults.set();
  for (std::string_view name : split(list, ',')) {
    if (name == "all") {
      faults.set();
      continue;
    }
    const bool away = name.starts_with('-');
    if (away) name.remove_prefix(1);
    const auto* const found = std::ranges::find(rows, name, &Row::name);
    if (found == rows.end())
      return fail(ErrorCode::not_found, fmt::format("no fault is called '{}'", name));
    faults.set(static_cast<std::size_t>(found->fault), !away);
  }
  return faults;
}

std::string text_of(const FaultSet& faults) {
  std::string text;
  for (const Fault fault : all_faults)
    if (faults.test(static_cast<std::size_t>(fault)))
      text += fmt::format("{}{}", text.empty() ? "" : ",", name_of(fault));
  return text.empty() ? "none" : text;
}

Dice::Dice(std::uint64_t seed, const FaultSet& allowed) : seed_(seed) {
  for (const Fault fault : all_faults) {
    Random random(mix(seed ^ hash_of(name_of(fault))));
    const auto index = static_cast<std::size_t>(fault);
    on_.set(index, random.uniform() < 0.5 && allowed.test(index));
    const double draw = random.uniform();
    rate_.at(index) = draw * draw;
    streams_.push_back(random);
  }
}

bool Dice::strikes(Fault fault, double often) {
  if (!on(fault)) return false;
  return of(fault).uniform() < often * rate_.at(static_cast<std::size_t>(fault));
}

Random Dice::stream(std::string_view name) const { return Random(mix(seed_ + hash_of(name))); }

}  // namespace schedmate::storm
