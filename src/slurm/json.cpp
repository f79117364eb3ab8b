// SPDX-License-Identifier: Apache-2.0
#include "slurm/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "trace/hostlist.hpp"

namespace schedmate::slurm {
namespace {

using Json = nlohmann::json;

/// A member of an object; null where it has none, or is no object.
const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}
const Json& member(const Json& object, std::string_view key, std::string_view below) {
  return member(member(object, key), below);
}

std::optional<std::int64_t> number_of(const Json& value) {
  if (value.is_object()) {
    const Json& set = member(value, "set");
    if (set.is_boolean() && !set.get<bool>()) return std::nullopt;
    const Json& infinite = member(value, "infinite");
    if (infinite.is_boolean() && infinite.get<bool>()) return std::nullopt;
    const Json& number = member(value, "number");
    return number.is_object() ? std::nullopt : number_of(number);
  }
  constexpr std::int64_t most = std::int64_t{1} << 53U;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > most) return std::nullopt;
  if (value.is_number_float() && !(value.get<double>() > -most && value.get<double>() < most))
    return std::nullopt;
  return value.is_number() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

/// A word, a number, or a list of them with `between` them.
std::string text_of(const Json& value, std::string_view between = ",") {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string all;
    for (const Json& each : value) {
      if (each.is_structured()) continue;
      if (!all.empty()) all += between;
      all += text_of(each);
    }
    return all;
  }
  const auto number = number_of(value);
  return number ? fmt::format("{}", *number) : "";
}

class Maker {
 public:
  explicit Maker(std::size_t line) : line_(line) {}

  void take(std::string_view section, const Json& value) {
    if ((section == "meta" || section == "jobs") && cluster_.empty())
      cluster_ = text_of(member(value, "cluster"));
    if (section == "jobs") job(value);
    if (section == "nodes") node(value);
    if (section == "sinfo") group(value);
    if (section == "partitions") partition(value);
    if (section == "reservations") reservation(value);
    if (section == "errors") error(value);
  }
  void no_jobs() { add("NoJobs", ""); }
  void cluster() {
    if (!cluster_.empty()) add("Cluster", cluster_);
  }
  void last_update(const Json& value) {
    if (const auto when = number_of(value)) add("LastUpdate", fmt::format("{}", *when));
  }

  std::vector<ShownRecord> records;

 private:
  Shown& add(std::string_view kind, std::string_view name) {
    records.push_back({line_, std::string(kind), {}, true, true});
    records.back().values.put(kind, name);
    return records.back().values;
  }

  static void put(Shown& shown, std::string_view key, std::string_view text) {
    if (!text.empty()) shown.put(key, text);
  }
  static void put_number(Shown& shown, std::string_view key, const Json& value,
                         std::int64_t unit = 1) {
    constexpr std::int64_t most = std::int64_t{1} << 40U;
    const auto number = number_of(value);
    if (number && *number > -most && *number < most)
      put(shown, key, fmt::format("{}", *number * unit));
  }

  static void put_flag(Shown& shown, std::string_view key, const Json& value) {
    if (value.is_boolean()) put(shown, key, value.get<bool>() ? "1" : "0");
  }

  /// As scontrol says it in one word: a flag that takes the place of the state, else the state.
  static std::string job_state(const Json& value) {
    constexpr std::array<std::string_view, 10> flags = {
        "COMPLETING",   "STAGE_OUT", "CONFIGURING", "REQUEUED",      "REQUEUE_HOLD",
        "SPECIAL_EXIT", "STOPPED",   "REVOKED",     "RESV_DEL_HOLD", "SIGNALING"};
    if (!value.is_array()) return text_of(value);
    for (const Json& each : value)
      if (std::ranges::find(flags, text_of(each)) != flags.end()) return text_of(each);
    return value.empty() ? "" : text_of(value.front());
  }

  void job(const Json& value) {
    Shown& shown = add("JobId", text_of(member(value, "job_id")));
    if (number_of(member(value, "array_job_id")).value_or(0) > 0) {
      put_number(shown, "ArrayJobId", member(value, "array_job_id"));
      put(shown, "ArrayTaskId", text_of(member(value, "array_task_string")));
      if (!shown.has("ArrayTaskId"))
        put_number(shown, "ArrayTaskId", member(value, "array_task_id"));
    }
    if (number_of(member(value, "het_job_id")).value_or(0) > 0)
      put_number(shown, "HetJobId", member(value, "het_job_id"));
    put(shown, "JobState", job_state(member(value, "job_state")));
    std::string reason = text_of(member(value, "state_description"));
    if (reason.empty()) reason = text_of(member(value, "state_reason"));
    std::ranges::replace(reason, ' ', '_');
    put(shown, "Reason", reason);
    std::string user = text_of(member(value, "user_name"));
    if (user.empty()) user = text_of(member(value, "user_id"));
    put(shown, "UserId", user);
    constexpr auto words = std::to_array<std::pair<const char*, const char*>>(
        {{"JobName", "name"},
         {"Account", "account"},
         {"QOS", "qos"},
         {"Dependency", "dependency"},
         {"Partition", "partition"},
         {"Reservation", "resv_name"},
         {"ReqNodeList", "required_nodes"},
         {"ExcNodeList", "excluded_nodes"},
         {"Features", "features"},
         {"NodeList", "nodes"},
         {"TRES", "tres_alloc_str"},
         {"TRES", "tres_req_str"},
         {"TresPerJob", "tres_per_job"},
         {"TresPerNode", "tres_per_node"},
         {"TresPerTask", "tres_per_task"},
         {"WorkDir", "current_working_directory"},
         {"Command", "command"},
         {"AdminComment", "admin_comment"},
         {"StdOut", "standard_output"}});
    for (const auto& [key, name] : words) put(shown, key, text_of(member(value, name)));
    constexpr auto numbers = std::to_array<std::pair<const char*, const char*>>(
        {{"SubmitTime", "submit_time"},
         {"EligibleTime", "eligible_time"},
         {"StartTime", "start_time"},
         {"EndTime", "end_time"},
         {"Restarts", "restart_cnt"},
         {"LastSchedEval", "last_sched_evaluation"},
         {"Priority", "priority"},
         {"NumNodes", "node_count"},
         {"NumTasks", "tasks"},
         {"NumCPUs", "cpus"}});
    for (const auto& [key, name] : numbers) put_number(shown, key, member(value, name));
    put_number(shown, "TimeLimit", member(value, "time_limit"), 60);
    if (!shown.has("AdminComment"))  // from 23.02 on
      put(shown, "AdminComment", text_of(member(value, "comment", "administrator")));
    put_comment(shown, member(value, "comment"));
    put_exit(shown, member(value, "exit_code"));
    put_flag(shown, "Requeue", member(value, "requeue"));
    put_flag(shown, "BatchFlag", member(value, "batch_flag"));
    held(shown, member(value, "gres_detail"));
  }

  /// From 23.02 on the owner's is one of three.
  static void put_comment(Shown& shown, const Json& value) {
    put(shown, "Comment", value.is_object() ? text_of(member(value, "job")) : text_of(value));
  }

  /// "CODE:SIGNAL", as scontrol has it; a number is that of wait().
  static void put_exit(Shown& shown, const Json& value) {
    constexpr std::int64_t codes = 256, signals = 128;
    if (value.is_number())
      return put(shown, "ExitCode",
                 fmt::format("{}:{}", number_of(value).value_or(0) / codes,
                             number_of(value).value_or(0) % signals));
    if (!value.is_object()) return;
    const Json& signal = member(value, "signal");
    const auto number = number_of(member(signal, "id")),
               id = number_of(member(signal, "signal_id"));
    put(shown, "ExitCode",
        fmt::format("{}:{}", number_of(member(value, "return_code")).value_or(0),
                    number ? *number : id.value_or(0)));
  }

  /// One text for each node, in their order.
  static void held(Shown& shown, const Json& gres) {
    if (!gres.is_array() || gres.empty()) return;
    const auto nodes = trace::expand_hosts(shown.text("NodeList"));
    if (!nodes || nodes->size() != gres.size()) return;
    for (std::size_t i = 0; i < nodes->size(); ++i) {
      shown.put("Nodes", (*nodes)[i]);
      shown.put("GRES", text_of(gres[i]));
    }
  }

  void node(const Json& value) {
    Shown& shown = add("NodeName", text_of(member(value, "name")));
    std::string state = text_of(member(value, "state"), "+");
    const std::string flags = text_of(member(value, "state_flags"), "+");
    if (!flags.empty()) state += "+" + flags;
    std::ranges::transform(state, state.begin(), upper);
    put(shown, "State", state);
    put(shown, "Gres", text_of(member(value, "gres")));
    put(shown, "GresUsed", text_of(member(value, "gres_used")));
    put(shown, "CfgTRES", text_of(member(value, "tres")));
    put(shown, "AllocTRES", text_of(member(value, "tres_used")));
    put(shown, "Partitions", text_of(member(value, "partitions")));
    put_number(shown, "CPUTot", member(value, "cpus"));
    put_number(shown, "CPUAlloc", member(value, "alloc_cpus"));
    put_number(shown, "RealMemory", member(value, "real_memory"));
    put_number(shown, "AllocMem", member(value, "alloc_memory"));
    put(shown, "Reason", text_of(member(value, "reason")));
    put_number(shown, "ReasonTime", member(value, "reason_changed_at"));
    put(shown, "AvailableFeatures", text_of(member(value, "features")));
  }
  static char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

  /// sinfo's from 23.02 on: nodes of a partition that are in one state and have the same of all.
  void group(const Json& value) {
    const Json& of = member(value, "partition");
    const std::string name = text_of(member(of, "name"));
    if (!name.empty() && partitions_.insert(name).second) partition(of);
    std::string state = text_of(member(value, "node", "state"), "+");
    for (const Json& each : member(value, "nodes", "nodes")) {
      const std::string host = text_of(each);
      const auto [known, fresh] = nodes_.try_emplace(host, records.size());
      if (!fresh) {
        Shown& shown = records[known->second].values;
        const std::string partitions = fmt::format("{},{}", shown.text("Partitions"), name);
        shown.replace("Partitions", partitions);
        continue;
      }
      Shown& shown = add("NodeName", host);
      put(shown, "State", state);
      put(shown, "Gres", text_of(member(value, "gres", "total")));
      if (member(value, "nodes", "nodes").size() == 1) {  // else sums of them
        put(shown, "GresUsed", text_of(member(value, "gres", "used")));
        put_number(shown, "CPUTot", member(value, "cpus", "total"));
        put_number(shown, "CPUAlloc", member(value, "cpus", "allocated"));
      }
      put(shown, "Partitions", name);
    }
  }

  void partition(const Json& value) {
    Shown& shown = add("PartitionName", text_of(member(value, "name")));
    put(shown, "Nodes", text_of(member(value, "nodes", "configured")));
    put(shown, "State", text_of(member(value, "partition", "state"), "+"));
    put(shown, "QoS", text_of(member(value, "qos", "assigned")));
    put(shown, "AllowAccounts", text_of(member(value, "accounts", "allowed")));
    put(shown, "DenyAccounts", text_of(member(value, "accounts", "deny")));
    put(shown, "AllowQos", text_of(member(value, "qos", "allowed")));
    put(shown, "DenyQos", text_of(member(value, "qos", "deny")));
    put(shown, "AllowGroups", text_of(member(value, "groups", "allowed")));
    put_number(shown, "MaxNodes", member(value, "maximums", "nodes"));
    put_number(shown, "MaxTime", member(value, "maximums", "time"), 60);
    put_number(shown, "PriorityTier", member(value, "priority", "tier"));
  }

  void reservation(const Json& value) {
    Shown& shown = add("ReservationName", text_of(member(value, "name")));
    put(shown, "Nodes", text_of(member(value, "node_list")));
    put_number(shown, "StartTime", member(value, "start_time"));
    put_number(shown, "EndTime", member(value, "end_time"));
  }

  void error(const Json& value) {
    std::string words = text_of(member(value, "description"));
    if (words.empty()) words = text_of(member(value, "error"));
    add("Error", words.empty() ? value.dump(-1, ' ', true, Json::error_handler_t::replace) : words);
  }

  std::size_t line_;
  std::string cluster_;
  std::set<std::string> partitions_;
  std::map<std::string, std::size_t> nodes_;
};

/// Keys of jobs and nodes whose values are of use; most are not, and a document as a tree takes ten
/// times its text.
constexpr std::string_view keys_read =
    " job_id het_job_id array_job_id array_task_string array_task_id job_state state_description "
    "state_reason user_name user_id name account qos dependency partition resv_name "
    "required_nodes excluded_nodes nodes tres_alloc_str tres_req_str tres_per_job "
    "tres_per_node tres_per_task current_working_directory standard_output "
    "submit_time eligible_time start_time last_sched_evaluation priority node_count tasks "
    "time_limit restart_cnt command comment admin_comment exit_code requeue batch_flag reason "
    "cpus cluster alloc_cpus real_memory alloc_memory groups "
    "gres_detail state state_flags gres gres_used tres tres_used partitions node "
    "features reason_changed_at maximums defaults node_list end_time accounts error description ";

bool is_read(std::string_view key) {
  return !key.contains(' ') && keys_read.contains(fmt::format(" {} ", key));
}

}  // namespace

std::size_t end_of_object(std::string_view text) {
  constexpr int most_nested = 64;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    i = text.find_first_of("{}[]\"", i);
    if (i == std::string_view::npos) return i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (text[i] == '{' || text[i] == '[') {
      if (++depth > most_nested) return std::string_view::npos;
    } else if (--depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

Result<std::vector<ShownRecord>> read_json(std::string_view document, std::size_t line) {
  Maker maker(line);
  std::string section;
  bool any_job = false;
  // Each record is taken when it ends, and does not become a part of the tree.
  const auto keep = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth == 1 && event == Event::key) section = value.get<std::string>();
    if (depth == 3 && event == Event::key)
      return section == "sinfo" || is_read(value.get<std::string>());
    if (depth == 2 && event == Event::object_end) {
      any_job = any_job || section == "jobs";
      maker.take(section, value);
      return section == "last_update";
    }
    return true;
  };
  try {
    // Names may be of any bytes, and Slurm prints them as they are.
    const Json rest = Json::parse(with_valid_utf8(document), keep);
    if (member(rest, "jobs").is_array() && !any_job) maker.no_jobs();
    maker.cluster();
    maker.last_update(member(rest, "last_update"));
  } catch (const Json::parse_error& error) {
    const auto before = document.substr(0, error.byte);
    line += static_cast<std::size_t>(std::ranges::count(before, '\n'));
    return fail(ErrorCode::invalid, fmt::format("{}: is no JSON here", line));
  } catch (const Json::exception&) {
    return fail(ErrorCode::invalid, fmt::format("{}: has a number that is none", line));
  }
  return std::move(maker.records);
}

}  // namespace schedmate::slurm
