// SPDX-License-Identifier: Apache-2.0
#include "slurm/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "slurm/queue.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm {
namespace {

/// What is given, of GPUs and of jobs.
struct Most {
  std::optional<std::int64_t> gpus, jobs;
  [[nodiscard]] bool given() const { return gpus || jobs; }
};

struct Qos {
  Most in_all, per_user, per_account;
};

struct Association {
  std::string account, user, partition, parent;
  Most in_all, per_job_set;  ///< Grp..., and Max... of its user
};

struct Known {
  std::map<std::string, Qos, std::less<>> qos;
  std::vector<Association> associations;
};

/// "2" of "2(1)"; nothing of "N(1)" and "".
std::optional<std::int64_t> limit_of(std::string_view value) {
  const auto limit = parse_number<std::int64_t>(value.substr(0, value.find('(')));
  return limit && *limit >= 0 ? limit : std::nullopt;
}

std::string without_number(std::string_view name) {
  return std::string(name.substr(0, name.find('(')));
}

class LimitReader {
 public:
  void take(std::string_view line) {
    const std::string_view words = trim(line);
    if (words.starts_with("QOS=")) {
      qos_ = &known.qos[without_number(words.substr(4))];
      association_ = false;
      return;
    }
    if (words.starts_with("ClusterName=")) {
      known.associations.emplace_back();
      association_ = true;
      qos_ = nullptr;
    }
    if (!association_ && qos_ == nullptr) return;
    for (const std::string_view pair : split(words, ' ')) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      const auto key = pair.substr(0, equals);
      const auto value = pair.substr(equals + 1);
      association_ ? put(known.associations.back(), key, value) : put(*qos_, key, value);
    }
  }

  Known known;

 private:
  static std::optional<std::int64_t> gpus_of(std::string_view tres) {
    return limit_of(trace::tres_value(tres, "gres/gpu"));
  }
  static void put(Qos& qos, std::string_view key, std::string_view value) {
    if (key == "GrpTRES") qos.in_all.gpus = gpus_of(value);
    if (key == "GrpJobs") qos.in_all.jobs = limit_of(value);
    // Said once for each user and account that has jobs, always the same.
    if (key == "MaxTRESPU") qos.per_user.gpus = gpus_of(value);
    if (key == "MaxJobsPU") qos.per_user.jobs = limit_of(value);
    if (key == "MaxTRESPA") qos.per_account.gpus = gpus_of(value);
    if (key == "MaxJobsPA") qos.per_account.jobs = limit_of(value);
  }
  static void put(Association& of, std::string_view key, std::string_view value) {
    if (key == "Account") of.account = value;
    if (key == "UserName") of.user = without_number(value);
    if (key == "Partition") of.partition = value;
    if (key == "ParentAccount") of.parent = without_number(value);
    if (key == "GrpTRES") of.in_all.gpus = gpus_of(value);
    if (key == "GrpJobs") of.in_all.jobs = limit_of(value);
    if (key == "MaxJobs" && !of.user.empty()) of.per_job_set.jobs = limit_of(value);
  }

  Qos* qos_ = nullptr;
  bool association_ = false;
};

/// The lines of the section, wherever it is.
Known known_limits(std::string_view text) {
  constexpr std::string_view begin = "Current Association Manager state";
  LimitReader reader;
  std::size_t at = text.starts_with(begin) ? 0 : text.find(fmt::format("\n{}", begin));
  if (at > 0 && at < text.size()) ++at;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("JobId=") || line.starts_with("NodeName=") || line.starts_with('{')) break;
    reader.take(line);
    at = end + 1;
  }
  return std::move(reader.known);
}

class Groups {
 public:
  Groups(const Known& known, const ClusterQueue& queue) : queue_(queue) {
    for (const Association& each : known.associations)
      if (each.user.empty()) parents_[each.account] = each.parent;
    for (std::size_t i = 0; i < queue.jobs.size(); ++i) add_qos(known, i);
    for (const Association& each : known.associations) add_association(each);
  }

  std::vector<GroupLimit> finish() && {
    std::vector<GroupLimit> limits;
    for (auto& [name, group] : groups_) limits.push_back(std::move(group));
    return limits;
  }

 private:
  void add(std::string name, const Most& most, std::size_t job) {
    if (!most.given()) return;
    const auto [group, fresh] = groups_.try_emplace(name);
    if (fresh) group->second = {std::move(name), most.gpus, most.jobs, {}};
    auto& members = group->second.members;
    if (members.empty() || members.back() != job) members.push_back(job);
  }

  void add_qos(const Known& known, std::size_t i) {
    const QueuedJob& job = queue_.jobs[i];
    std::set<std::string_view> names{job.qos};
    for (const Partition& partition : queue_.partitions)
      if (std::ranges::find(job.partitions, partition.name) != job.partitions.end())
        names.insert(partition.own_qos);
    for (const std::string_view name : names) {
      const auto found = known.qos.find(name);
      if (found == known.qos.end()) continue;
      add(fmt::format("QOS {}", name), found->second.in_all, i);
      add(fmt::format("QOS {}, user {}", name, job.user), found->second.per_user, i);
      add(fmt::format("QOS {}, account {}", name, job.account), found->second.per_account, i);
    }
  }

  void add_association(const Association& of) {
    if (!of.in_all.given() && !of.per_job_set.given()) return;
    Most most = of.in_all;
    if (of.per_job_set.jobs)
      most.jobs = std::min(*of.per_job_set.jobs, most.jobs.value_or(*of.per_job_set.jobs));
    std::string name = fmt::format("account {}", of.account);
    if (!of.user.empty()) name += fmt::format(", user {}", of.user);
    if (!of.partition.empty()) name += fmt::format(", partition {}", of.partition);
    for (std::size_t i = 0; i < queue_.jobs.size(); ++i) {
      const QueuedJob& job = queue_.jobs[i];
      const bool there = of.user.empty() ? is_below(job.account, of.account)
                                         : job.account == of.account && job.user == of.user;
      const bool in_it = of.partition.empty() ||
                         std::ranges::find(job.partitions, of.partition) != job.partitions.end();
      if (there && in_it) add(name, most, i);
    }
  }

  [[nodiscard]] bool is_below(const std::string& account, const std::string& above) const {
    std::string_view at = account;
    for (std::size_t steps = 0; steps <= parents_.size(); ++steps) {
      if (at == above) return true;
      const auto parent = parents_.find(at);
      if (parent == parents_.end() || parent->second.empty()) return false;
      at = parent->second;
    }
    return false;
  }

  const ClusterQueue& queue_;
  std::map<std::string, std::string, std::less<>> parents_;
  std::map<std::string, GroupLimit> groups_;
};

}  // namespace

std::vector<GroupLimit> read_limits(std::string_view text, const ClusterQueue& queue) {
  const auto enforced = queue.settings.find("AccountingStorageEnforce");
  if (enforced != queue.settings.end()) {
    const auto words = split(enforced->second, ',');
    const auto is_one = [](std::string_view word) {
      return word == "limits" || word == "safe" || word == "all";
    };
    if (std::ranges::none_of(words, is_one)) return {};
  }
  return Groups(known_limits(text), queue).finish();
}

}  // namespace schedmate::slurm
