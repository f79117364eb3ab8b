// SPDX-License-Identifier: Apache-2.0
#include "slurm/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace schedmate::slurm {
namespace {

struct Row {
  std::string_view begins;  ///< with which the reason begins; the first row that fits counts
  Waits waits;
  std::string_view kind;
  std::string_view text;
};

// Slurm's reason codes (job_reason_codes of its manual of resource limits and of squeue).
constexpr auto rows = std::to_array<Row>({
    {"Priority", Waits::for_its_turn, "priority", "jobs of higher priority go first"},
    {"Resources", Waits::for_its_turn, "resources", "what it asks for is not free yet"},
    {"Prolog", Waits::for_its_turn, "resources", "its node is being prepared"},
    {"Cleaning", Waits::for_its_turn, "resources", "its last attempt is still being cleaned up"},
    {"JobArrayTaskLimit", Waits::kept_out, "array_limit",
     "as many tasks of its array run as its owner allows at a time"},
    {"BeginTime", Waits::for_a_time, "begin_time", "its owner, or a requeue, lets it begin later"},
    {"JobHeldUser", Waits::kept_out, "held", "its owner holds it (scontrol release)"},
    {"JobHeldAdmin", Waits::kept_out, "held", "an administrator holds it"},
    {"JobHoldMaxRequeue", Waits::kept_out, "held", "it was requeued too often and is held"},
    {"launch_failed_requeued_held", Waits::kept_out, "held", "its start failed; it is held"},
    {"job_requeued_in_held_state", Waits::kept_out, "held", "it was requeued and is held"},
    {"DependencyNeverSatisfied", Waits::kept_out, "dependency",
     "what it depends on can never come true; it never starts"},
    {"Dependency", Waits::kept_out, "dependency", "it waits for other jobs"},
    {"PartitionDown", Waits::kept_out, "partition", "its partition is down"},
    {"PartitionInactive", Waits::kept_out, "partition", "its partition starts no jobs now"},
    {"PartitionNodeLimit", Waits::kept_out, "partition_limit",
     "it asks for more nodes than its partition gives, or for nodes that are not up"},
    {"PartitionTimeLimit", Waits::kept_out, "partition_limit",
     "its time limit is longer than its partition allows"},
    {"PartitionConfig", Waits::kept_out, "partition_limit",
     "its partition does not allow what it asks for"},
    {"AccountingPolicy", Waits::kept_out, "account_limit", "a limit of accounting"},
    {"AccountNotAllowed", Waits::kept_out, "partition_limit",
     "its partition does not take its account"},
    {"ReqNodeNotAvail,_May_be_reserved_for_other_job", Waits::for_its_turn, "priority",
     "what is free is kept for jobs of higher priority"},
    {"ReqNodeNotAvail,_Reserved_for_maintenance", Waits::for_its_turn, "reservation",
     "a reservation begins before it would end"},
    {"ReqNodeNotAvail", Waits::for_its_turn, "nodes",
     "a node that it names, or one that it could have, is down, drained or reserved"},
    {"Nodes_required_for_job_are_DOWN", Waits::for_its_turn, "nodes",
     "nodes that it could have are down, drained or reserved"},
    {"NodeDown", Waits::kept_out, "nodes", "a node that it needs is down"},
    {"BadConstraints", Waits::kept_out, "request", "no node has what it asks for"},
    {"FrontEndDown", Waits::kept_out, "nodes", "no front end is up"},
    {"Reservation", Waits::kept_out, "reservation", "its reservation has not begun or is full"},
    {"InvalidAccount", Waits::kept_out, "account", "its account is not valid"},
    {"InvalidQOS", Waits::kept_out, "account", "its QOS is not valid"},
    {"AssociationJobLimit", Waits::kept_out, "account_limit", "its account has too many jobs"},
    {"Licenses", Waits::kept_out, "licenses", "the licences that it asks for are in use"},
    {"SystemFailure", Waits::kept_out, "system", "Slurm, a file system or the network failed"},
    {"OutOfMemory", Waits::kept_out, "system", "the controller is out of memory"},
});

/// "MaxGRESPerUser" of "QOSMaxGRESPerUser".
std::string limit_in_words(std::string_view limit) {
  struct Word {
    std::string_view part, words;
  };
  constexpr auto what = std::to_array<Word>({{"GRES", "GPUs"},
                                             {"Cpu", "CPUs"},
                                             {"CPU", "CPUs"},
                                             {"Mem", "memory"},
                                             {"Node", "nodes"},
                                             {"Submit", "submitted jobs"},
                                             {"Jobs", "jobs"},
                                             {"Wall", "run time"},
                                             {"Billing", "billing units"},
                                             {"Time", "run time"}});
  constexpr auto whose = std::to_array<Word>({{"PerUser", "one user"},
                                              {"PerAccount", "one account"},
                                              {"PerJob", "one job"},
                                              {"PerNode", "one node"},
                                              {"MaxJobs", "one user"},
                                              {"Grp", "all of it together"}});
  std::string text;
  for (const auto& [part, words] : what)
    if (text.empty() && limit.contains(part)) text = words;
  if (text.empty()) return std::string(limit);
  for (const auto& [part, words] : whose)
    if (limit.contains(part)) return fmt::format("the {} of {}", text, words);
  return "the " + text;
}

}  // namespace

WaitReason reason_in_words(std::string_view reason, std::string_view dependency) {
  if (reason.empty() || reason == "None")
    return {Waits::for_its_turn, "new", "Slurm has not looked at it yet"};
  const auto row =
      std::ranges::find_if(rows, [&](const Row& each) { return reason.starts_with(each.begins); });
  if (row != rows.end()) {
    WaitReason made{row->waits, std::string(row->kind), std::string(row->text)};
    if (row->begins == "Dependency" && !dependency.empty())
      made.text += fmt::format(": {}", dependency);
    const std::size_t colon = reason.find(':');
    if (row->kind == "nodes" && colon != std::string_view::npos)
      made.text += fmt::format(": {}", reason.substr(colon + 1));
    return made;
  }
  for (const auto& [begins, of, kind] :
       {std::tuple("QOS", "QOS", "qos_limit"), std::tuple("Assoc", "account", "account_limit")})
    if (reason.starts_with(begins))
      return {Waits::kept_out, kind,
              fmt::format("a limit of its {}: {}", of,
                          limit_in_words(reason.substr(std::string_view(begins).size())))};
  return {Waits::kept_out, "other", fmt::format("Slurm says {}", reason)};
}

}  // namespace schedmate::slurm
