// SPDX-License-Identifier: GPL-2.0-or-later

/// schedmate_slurm.so: Slurm's library as src/slurm_live/module.hpp offers it. It is built against
/// the Slurm that is installed, since structures differ from release to release, and is no part of
/// SchedMate's programs: whoever loads it does that in a process of its own.

#include <pwd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "slurm_live/module.hpp"

namespace schedmate::slurm_live {
namespace {

/// Tells the values of one record.
class Teller {
 public:
  Teller(SchedmateSlurmTake take, void* whose) : take_(take), whose_(whose) {}

  void text(const char* name, const char* value) const {
    if (value != nullptr && *value != '\0') take_(whose_, name, value);
  }
  void number(const char* name, long long value) const {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "%lld", value);
    take_(whose_, name, digits.data());
  }
  /// Nothing for Slurm's "no value" and "infinite".
  void count(const char* name, std::uint32_t value, long long unit = 1) const {
    if (value != NO_VAL && value != INFINITE) number(name, value * unit);
  }
  void count(const char* name, std::uint16_t value) const {
    if (value != NO_VAL16 && value != INFINITE16) number(name, value);
  }
  void time(const char* name, time_t value) const {
    if (value > 0) number(name, value);
  }

 private:
  SchedmateSlurmTake take_;
  void* whose_;
};

using Flags = std::pair<std::uint32_t, const char*>;

/// In one word: a flag that takes the place of the state, else the state.
const char* state_of_job(std::uint32_t state) {
  constexpr std::array<const char*, JOB_END> words = {
      "PENDING", "RUNNING",   "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED",
      "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY"};
  constexpr std::array flags = {
      Flags{JOB_COMPLETING, "COMPLETING"},     Flags{JOB_STAGE_OUT, "STAGE_OUT"},
      Flags{JOB_CONFIGURING, "CONFIGURING"},   Flags{JOB_RESIZING, "RESIZING"},
      Flags{JOB_REQUEUE, "REQUEUED"},          Flags{JOB_REQUEUE_HOLD, "REQUEUE_HOLD"},
      Flags{JOB_SPECIAL_EXIT, "SPECIAL_EXIT"}, Flags{JOB_STOPPED, "STOPPED"},
      Flags{JOB_REVOKED, "REVOKED"},           Flags{JOB_RESV_DEL_HOLD, "RESV_DEL_HOLD"},
      Flags{JOB_SIGNALING, "SIGNALING"}};
  const std::uint32_t base = state & JOB_STATE_BASE;
  // It has been requeued, and its last attempt is being cleared away: it waits.
  if (base == JOB_PENDING && (state & JOB_COMPLETING) != 0) state &= ~JOB_COMPLETING;
  for (const auto& [flag, word] : flags)
    if ((state & flag) != 0) return word;
  return base < words.size() ? words[base] : "";
}

/// "IDLE+DRAIN": the words that say whether it serves.
std::string state_of_node(std::uint32_t state) {
  constexpr std::array<const char*, NODE_STATE_END> words = {
      "UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE"};
  const std::uint32_t base = state & NODE_STATE_BASE;
  std::string all = base < words.size() ? words[base] : "UNKNOWN";
  if ((state & NODE_STATE_DRAIN) != 0) all += "+DRAIN";
  if ((state & NODE_STATE_FAIL) != 0) all += "+FAIL";
  if ((state & NODE_STATE_INVALID_REG) != 0) all += "+INVALID_REG";
  if ((state & NODE_STATE_NO_RESPOND) != 0) all += "+NOT_RESPONDING";
  return all;
}

/// Who holds it; others are told apart by nobody here.
const char* reason_of(std::uint32_t reason) {
  if (reason == WAIT_HELD) return "JobHeldAdmin";
  return reason == WAIT_HELD_USER ? "JobHeldUser" : "";
}

std::string name_of(uid_t user) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(user);
}

std::uint32_t number_of(const slurm_job_info_t& job) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  return job.step_id.job_id;
#else
  return job.job_id;
#endif
}

void tell_request(const Teller& tell, const slurm_job_info_t& job) {
  tell.text("JobName", job.name);
  tell.text("Partition", job.partition);
  tell.text("ReqNodeList", job.req_nodes);
  tell.text("ExcNodeList", job.exc_nodes);
  tell.text("TRES", job.tres_alloc_str);
  tell.text("TRES", job.tres_req_str);
  tell.text("TresPerJob", job.tres_per_job);
  tell.text("TresPerNode", job.tres_per_node);
  tell.text("TresPerTask", job.tres_per_task);
  tell.text("WorkDir", job.work_dir);
  tell.text("Command", job.command);
  tell.text("AdminComment", job.admin_comment);
  tell.text("Comment", job.comment);
  tell.text("Comment", job.comment);
  tell.text("StdOut", job.std_out);
  tell.count("NumNodes", job.num_nodes);
  tell.count("NumTasks", job.num_tasks);
  constexpr long long seconds = 60;
  tell.count("TimeLimit", job.time_limit, seconds);
  tell.count("Requeue", job.requeue);
  tell.count("BatchFlag", job.batch_flag);
}

/// "CODE:SIGNAL", of what wait() gave.
std::string exit_of(std::uint32_t status) {
  constexpr std::uint32_t codes = 256, signals = 128;
  return std::to_string(status / codes) + ":" + std::to_string(status % signals);
}

/// Those that wait and have priorities, by number; true: one that was said outright.
using Priorities = std::map<std::uint32_t, bool>;

/// Later releases have no filters.
template <class List, class Partitions>
int load_all(int (*load)(priority_factors_response_msg_t**, List, Partitions, List, std::uint16_t),
             priority_factors_response_msg_t** found) {
  return load(found, nullptr, nullptr, nullptr, 0);
}
[[maybe_unused]] int load_all(int (*load)(priority_factors_response_msg_t**, std::uint16_t),
                              priority_factors_response_msg_t** found) {
  return load(found, 0);
}

int load_priorities(Priorities& priorities) {
  priority_factors_response_msg_t* found = nullptr;
  if (load_all(&slurm_load_job_prio, &found) != SLURM_SUCCESS) return schedmate_slurm_failed;
  if (found->priority_factors_list != nullptr) {
    auto* const each = slurm_list_iterator_create(found->priority_factors_list);
    while (const auto* job = static_cast<priority_factors_object_t*>(slurm_list_next(each)))
      priorities[job->job_id] = priorities[job->job_id] || job->direct_prio > 0;
    slurm_list_iterator_destroy(each);
  }
  slurm_free_priority_factors_response_msg(found);
  return schedmate_slurm_news;
}

/// As sprio shows orders: of those that wait and could start.
void tell_order(const Teller& tell, const slurm_job_info_t& job, const Priorities& priorities) {
  const auto known = priorities.find(number_of(job));
  if (known == priorities.end() || job.site_factor == NO_VAL) return;
  tell.number("SiteFactor", static_cast<long long>(job.site_factor) - NICE_OFFSET);
  if (known->second) tell.number("DirectPriority", job.priority);
}

void tell_job(const Teller& tell, const slurm_job_info_t& job) {
  tell.number("JobId", number_of(job));
  if (job.array_job_id != 0) {
    tell.number("ArrayJobId", job.array_job_id);
    if (job.array_task_str != nullptr && *job.array_task_str != '\0')
      tell.text("ArrayTaskId", job.array_task_str);
    else
      tell.count("ArrayTaskId", job.array_task_id);
  }
  if (job.het_job_id != 0) tell.number("HetJobId", job.het_job_id);
  tell.text("JobState", state_of_job(job.job_state));
  if (job.state_desc != nullptr && *job.state_desc != '\0')
    tell.text("Reason", job.state_desc);
  else
    tell.text("Reason", reason_of(job.state_reason));
  const bool has_name = job.user_name != nullptr && *job.user_name != '\0';
  tell.text("UserId", has_name ? job.user_name : name_of(job.user_id).c_str());
  tell_request(tell, job);
  tell.time("SubmitTime", job.submit_time);
  tell.time("EligibleTime", job.eligible_time);
  tell.time("StartTime", job.start_time);
  tell.time("EndTime", job.end_time);
  tell.time("EligibleTime", job.eligible_time);
  const int status = static_cast<int>(job.exit_code);
  if (job.exit_code != NO_VAL)
    tell.text("ExitCode", (std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 0) + ":" +
                           std::to_string(WIFSIGNALED(status) ? WTERMSIG(status) : 0))
                              .c_str());
  tell.count("Restarts", job.restart_cnt);
  tell.count("Priority", job.priority);
  tell.text("ExitCode", exit_of(job.exit_code).c_str());
  tell.text("NodeList", job.nodes);
  for (std::uint32_t i = 0; i < job.gres_detail_cnt && job.gres_detail_str != nullptr; ++i) {
    const char* const detail = job.gres_detail_str[i];  // one for each node
    tell.text("GresDetail", detail != nullptr && *detail != '\0' ? detail : "none");
  }
}

int failed() {
  return slurm_get_errno() == ESLURM_INVALID_JOB_ID ? schedmate_slurm_none : schedmate_slurm_failed;
}

int tell_jobs(job_info_msg_t* found, bool with_orders, const Teller& tell) {
  Priorities priorities;
  const int outcome = with_orders ? load_priorities(priorities) : schedmate_slurm_news;
  for (std::uint32_t i = 0; i < found->record_count && outcome == schedmate_slurm_news; ++i) {
    tell_job(tell, found->job_array[i]);
    tell_order(tell, found->job_array[i], priorities);
  }
  slurm_free_job_info_msg(found);
  return outcome;
}

int jobs(std::int64_t* changed, int with_orders, SchedmateSlurmTake take, void* whose) {
  job_info_msg_t* found = nullptr;
  if (slurm_load_jobs(*changed, &found, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
    return slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA ? schedmate_slurm_unchanged
                                                        : schedmate_slurm_failed;
  *changed = found->last_update;
  return tell_jobs(found, with_orders != 0, {take, whose});
}

int job(std::uint32_t number, int with_orders, SchedmateSlurmTake take, void* whose) {
  job_info_msg_t* found = nullptr;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  slurm_step_id_t which = SLURM_STEP_ID_INITIALIZER;
  which.job_id = number;
  if (slurm_load_job(&found, &which, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) return failed();
#else
  if (slurm_load_job(&found, number, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) return failed();
#endif
  return tell_jobs(found, with_orders != 0, {take, whose});
}

/// Slurm's controller does not tell with a node in which partitions it is.
int nodes(std::int64_t* changed, SchedmateSlurmTake take, void* whose) {
  node_info_msg_t* found = nullptr;
  if (slurm_load_node(*changed, &found, SHOW_ALL) != SLURM_SUCCESS)
    return slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA ? schedmate_slurm_unchanged
                                                        : schedmate_slurm_failed;
  partition_info_msg_t* partitions = nullptr;
  if (slurm_load_partitions(0, &partitions, SHOW_ALL) != SLURM_SUCCESS) {
    slurm_free_node_info_msg(found);
    return schedmate_slurm_failed;
  }
  slurm_populate_node_partitions(found, partitions);
  *changed = found->last_update;
  const Teller tell(take, whose);
  for (std::uint32_t i = 0; i < found->record_count; ++i) {
    const node_info_t& node = found->node_array[i];
    if (node.name == nullptr || *node.name == '\0') continue;
    tell.text("NodeName", node.name);
    tell.text("State", state_of_node(node.node_state).c_str());
    tell.text("Partitions", node.partitions);
    tell.text("Gres", node.gres);
    tell.text("Reason", node.reason);
  }
  slurm_free_partition_info_msg(partitions);
  slurm_free_node_info_msg(found);
  return schedmate_slurm_news;
}

void begin() { slurm_init(nullptr); }

const char* why() { return slurm_strerror(slurm_get_errno()); }

/// Each release of the library has a soname of its own, so that this is the one that is loaded.
std::string version_text() {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%02d.%02d.%d", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
                SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
  return text.data();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const SchedmateSlurm* schedmate_slurm() {
  static const std::string version = version_text();
  static const SchedmateSlurm offer{
      schedmate_slurm_interface, version.c_str(), begin, jobs, nodes, job, why};
  return &offer;
}

}  // namespace schedmate::slurm_live
