// SPDX-License-Identifier: Apache-2.0

/// What the kernels of the job's nodes said while it ran. A node's name comes from the caller or
/// from the lines of a journal, and counts only when it is of the allocation.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"
#include "log/witness/kernel_lines.hpp"
#include "log/witness/kernel_rules.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_undated_findings =
    400;  ///< findings of one file that wait for the boot time
constexpr std::size_t most_message_text = 400;
constexpr std::size_t most_pids = 10'000;

/// The text behind a mark up to one of `ends`; "" when it is not there.
std::string_view behind(std::string_view text, std::string_view mark, std::string_view ends) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + mark.size());
  return rest.substr(0, rest.find_first_of(ends));
}

/// "17" of "/slurm/uid_1000/job_17/step_0"; "" for a group that is no Slurm job's.
std::string_view job_of_group(std::string_view group) { return behind(group, "/job_", "/"); }

struct Waiting {
  witness::WitnessFinding finding;
  std::optional<lines::WallTime> time;
  std::optional<double> uptime_s;
};

class KernelWitness {
 public:
  KernelWitness(const witness::WitnessCase& what, const witness::KernelRules& rules)
      : what_(what), rules_(rules) {
    if (!what.job) return;
    window_ = {lines::read_job_time(what.job->start), lines::read_job_time(what.job->end)};
  }

  Result<void> read(const KernelLog& log) {
    waiting_.clear();
    boot_.reset();
    std::string scratch;
    auto done = lines::each_line({log.path, what_.access}, [&](const lines::Line& line) {
      take(log, lines::without_escapes(line.text, scratch));
      return true;
    });
    if (!done) return done;
    for (Waiting& each : waiting_) settle(std::move(each));
    return {};
  }

  witness::WitnessReport report() {
    witness::WitnessReport made;
    made.asked = lines_ > 0;
    for (auto& [key, finding] : found_) made.findings.push_back(std::move(finding));
    witness::sort_findings(made.findings);
    made.complete = made.asked && untimed_ == 0 && read_all_nodes();
    made.says = witness::in_words(made.findings);
    if (made.findings.empty())
      made.says = lines_ == 0       ? "no line is from a node of the job"
                  : window_.known() ? "nothing during the job"
                                    : "nothing";
    if (untimed_ > 0)
      made.says += fmt::format("; {} of unknown time (dmesg -T or journalctl -k print it)",
                               counted(untimed_, "event"));
    if (other_lines_ > 0 && lines_ == 0) made.says += "; its hosts are not in the allocation";
    return made;
  }

 private:
  /// Where the line is from; nothing: not from a node of the job.
  std::optional<std::string> place_of(const KernelLog& log, const witness::KernelLine& line) const {
    if (!log.node.empty() && !line.host.empty()) {
      JobContext named;
      named.nodes = {log.node};
      if (witness::node_of(named, line.host).empty()) return std::nullopt;
    }
    const auto host = log.node.empty() ? std::string(line.host) : log.node;
    if (!what_.job || what_.job->nodes.empty()) return "";
    if (host.empty()) return what_.job->nodes.size() == 1 ? what_.job->nodes.front() : "";
    auto node = witness::node_of(*what_.job, host);
    return node.empty() ? std::nullopt : std::optional(std::move(node));
  }

  void take(const KernelLog& log, std::string_view text) {
    const auto line = witness::read_kernel_line(text);
    if (!line) return;
    const auto node = place_of(log, *line);
    if (!node) {
      ++other_lines_;
      return;
    }
    ++lines_;
    nodes_read_.insert(*node);
    if (const auto boot = witness::boot_time(*line)) boot_ = boot;
    // Of months of a journal few lines are of the job's time.
    if (line->time && window_.place(line->time) == lines::InWindow::outside &&
        !names_process(*line))
      return;
    auto finding = rules_.judge(line->message, what_.xids);
    if (!finding || is_of_another_job(line->message)) return;
    finding->node = *node;
    finding->when = line->when;
    finding->text = line->message.substr(0, most_message_text);
    add_process(line->message, *finding);
    Waiting each{*std::move(finding), line->time, line->uptime_s};
    const bool may_be_placed_later = !line->time && line->uptime_s && !boot_ && window_.known();
    if (!may_be_placed_later)
      settle(std::move(each));
    else if (waiting_.size() < most_undated_findings)
      waiting_.push_back(std::move(each));
  }

  /// The OOM killer's record, whose next line may be of a later second.
  static bool names_process(const witness::KernelLine& line) {
    return line.message.starts_with("oom-kill:");
  }

  /// A record of the OOM killer that names the cgroup of another Slurm job, or the process of such
  /// a record.
  bool is_of_another_job(std::string_view message) {
    const auto group = job_of_group(behind(message, "task_memcg=", ","));
    const bool known = what_.job && !what_.job->job_id.empty();
    if (!group.empty()) {
      const bool other = known && group != what_.job->job_id;
      if (other && other_pids_.size() < most_pids)
        other_pids_.emplace(behind(message, ",pid=", ","));
      return other;
    }
    const auto pid = behind(message, "Killed process ", " ,");
    return !pid.empty() && other_pids_.contains(pid);
  }

  static void add_process(std::string_view message, witness::WitnessFinding& finding) {
    const auto group = behind(message, "task_memcg=", ",");
    auto pid = behind(message, ",pid=", ",");
    if (pid.empty()) pid = behind(message, "Killed process ", " ,");
    if (!pid.empty()) finding.means.reason += fmt::format(", process {}", pid);
    if (!group.empty()) finding.means.reason += fmt::format(", cgroup {}", group);
  }

  void settle(Waiting each) {
    auto time = each.time;
    if (!time && each.uptime_s && boot_)
      time = lines::WallTime{boot_->seconds + *each.uptime_s, boot_->offset_s, true};
    const auto placed = window_.place(time);
    if (placed == lines::InWindow::unknown) ++untimed_;
    if (placed != lines::InWindow::inside) return;
    auto key = std::pair(each.finding.means.rule, each.finding.node);
    found_.try_emplace(std::move(key), std::move(each.finding));  // the first one is shown
  }

  [[nodiscard]] bool read_all_nodes() const {
    if (!what_.job || what_.job->nodes.empty()) return true;
    return std::ranges::all_of(what_.job->nodes,
                               [&](const std::string& node) { return nodes_read_.contains(node); });
  }

  const witness::WitnessCase& what_;
  const witness::KernelRules& rules_;
  lines::JobWindow window_;
  std::vector<Waiting> waiting_;
  std::optional<lines::WallTime> boot_;
  std::map<std::pair<std::string, std::string>, witness::WitnessFinding> found_;
  std::set<std::string, std::less<>> nodes_read_, other_pids_;
  std::uint64_t lines_ = 0, other_lines_ = 0, untimed_ = 0;
};

}  // namespace

KernelLog read_kernel_log_name(std::string_view text) {
  const auto equals = text.find('=');
  const auto node = text.substr(0, equals);
  if (equals == std::string_view::npos || node.empty() || node.contains('/'))
    return {std::string(text), ""};
  return {std::string(text.substr(equals + 1)), std::string(node)};
}

Result<witness::WitnessReport> witness::consult_kernel(const witness::WitnessCase& what) {
  if (what.kernel_logs.empty()) {
    witness::WitnessReport missing;
    missing.says = "no --kernel-log was given";
    return missing;
  }
  const auto rules = witness::KernelRules::load(what.folder);
  if (!rules) return tl::unexpected(rules.error());
  KernelWitness witness(what, *rules);
  for (const KernelLog& log : what.kernel_logs)
    if (auto done = witness.read(log); !done) return tl::unexpected(done.error());
  return witness.report();
}

}  // namespace schedmate
