// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "service/job_log.hpp"
#include "slurm/json.hpp"
#include "slurm/shown_parts.hpp"
#include "trace/hostlist.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm_live {
namespace {

using slurm::Shown;
using slurm::ShownRecord;

/// The records of one kind; none is an error unless the document says that there are none.
Result<std::vector<Shown>> records_of(std::string_view document, std::string_view kind) {
  const std::size_t begin = document.find('{');
  if (begin == std::string_view::npos)
    return fail(ErrorCode::invalid, "Slurm printed no JSON (is it built without?)");
  auto records = slurm::read_json(document.substr(begin), 1);
  if (!records)
    return fail(ErrorCode::invalid,
                "what Slurm printed cannot be read: " + records.error().message);
  std::vector<Shown> found;
  bool says_none = false;
  for (ShownRecord& record : *records) {
    if (record.kind == "Error")
      return fail(ErrorCode::unavailable,
                  fmt::format("Slurm says: {}", record.values.text("Error").substr(0, 200)));
    says_none = says_none || (record.kind == "NoJobs" && kind == "JobId");
    if (record.kind == kind) found.push_back(std::move(record.values));
  }
  if (found.empty() && !says_none)
    return fail(ErrorCode::invalid, fmt::format("what Slurm printed has no {}", kind));
  return found;
}

/// "schedmate:INSTANCE/ACTION"
bool is_mark(std::string_view line) {
  constexpr std::string_view begin = "schedmate:";
  const std::size_t slash = line.rfind('/');
  if (!line.starts_with(begin) || slash == std::string_view::npos || slash <= begin.size())
    return false;
  const std::string_view name = line.substr(begin.size(), slash - begin.size());
  return !name.contains(' ') && parse_number<std::int64_t>(line.substr(slash + 1)).has_value();
}

std::vector<NodeGpus> nodes_held(const std::vector<slurm::HeldNode>& held) {
  std::vector<NodeGpus> nodes;
  for (const slurm::HeldNode& each : held) {
    NodeGpus& made = nodes.emplace_back(NodeGpus{each.name, {}});
    for (std::int32_t gpu = 0; gpu < slurm::most_gpus_of_node; ++gpu)
      if ((each.which >> static_cast<unsigned>(gpu) & 1U) != 0) made.gpus.push_back(gpu);
  }
  return nodes;
}

std::string log_of(const Row& row, std::string_view pattern) {
  if (!row.is_batch) return {};
  const SeenJob& seen = row.seen;
  service::ScheduledJob job;
  job.record.id = seen.id;
  job.record.user = seen.user;
  job.record.name = seen.name;
  job.record.root = seen.dir;
  if (!seen.nodes.empty()) job.attempts.emplace_back().nodes = seen.nodes.front().node;
  const bool of_array = seen.id.contains('_');
  const std::string_view usual = of_array ? "slurm-%A_%a.out" : "slurm-%j.out";
  std::string path =
      service::expand_log_pattern(pattern.empty() ? usual : pattern, job, row.number);
  // Below these are no logs.
  for (const std::string_view not_a_log : {"/dev/", "/proc/", "/sys/"})
    if (path.starts_with(not_a_log)) return {};
  return path.starts_with('/') ? path : "";
}

class RowReader {
 public:
  RowReader(const KeptJobs& kept, SimTime now) : kept_(kept), now_(now) {}

  /// The tasks that the record stands for, or the one job.
  Result<void> take(const Shown& shown, std::vector<Row>& rows) const {
    const std::string id = slurm::id_of(shown);
    const std::size_t list = id.find('[');
    if (list == std::string::npos) return take(shown, id, rows);
    for (const std::int64_t task : slurm::tasks_in(shown.text("ArrayTaskId"), most_tasks))
      if (auto taken = take(shown, fmt::format("{}{}", id.substr(0, list), task), rows); !taken)
        return taken;
    return {};
  }

 private:
  Result<void> take(const Shown& shown, const std::string& id, std::vector<Row>& rows) const {
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::invalid, fmt::format("what squeue printed of job {}: {}", id, what));
    };
    Row row;
    SeenJob& seen = row.seen;
    seen.id = id;
    row.number = shown.text("JobId");
    const auto submit = shown.when("SubmitTime");
    if (!submit) return wrong("no time of submission");
    seen.submitted = *submit;
    seen.restarts = shown.whole("Restarts");
    read_request(shown, row);
    auto gpus = slurm::gpus_asked_for(
        shown, std::clamp<std::int64_t>(shown.whole("NumNodes"), 1, trace::most_hosts));
    if (!gpus) return wrong(gpus.error().message);
    read_state(shown, seen);
    const auto known = kept_.find(id);
    const Kept* const before = known == kept_.end() ? nullptr : &known->second;
    if (before != nullptr && seen.restarts > 0 && before->submitted < seen.submitted)
      seen.submitted = before->submitted;
    const bool is_same = before != nullptr && before->submitted == seen.submitted &&
                         before->restarts == seen.restarts;
    if (seen.phase != JobPhase::queued) {
      auto held = slurm::held_by(shown, *gpus);
      if (!held && seen.phase == JobPhase::running) return wrong(held.error().message);
      if (held && *gpus == 0)
        for (const slurm::HeldNode& each : *held) *gpus += each.gpus;
      if (held) seen.nodes = nodes_held(*held);
      // Of one that ends or has ended Slurm no longer says which GPUs it had.
      const bool says_which =
          std::ranges::any_of(seen.nodes, [](const NodeGpus& each) { return !each.gpus.empty(); });
      if (is_same && !says_which && !before->nodes.empty()) seen.nodes = before->nodes;
      if (!seen.nodes.empty()) seen.started = shown.when("StartTime");
    }
    seen.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(*gpus, trace::most_gpus));
    seen.order = is_same ? before->order : 0;
    seen.output = log_of(row, shown.text("StdOut"));
    rows.push_back(std::move(row));
    return {};
  }

  static void read_request(const Shown& shown, Row& row) {
    SeenJob& seen = row.seen;
    const std::string_view user = shown.text("UserId");
    seen.user = user.substr(0, user.find('('));
    seen.name = shown.text("JobName");
    const std::string_view partitions = shown.text("Partition");
    seen.partition = partitions.substr(0, partitions.find(','));
    seen.dir = shown.text("WorkDir");
    seen.command = shown.text("Command");
    seen.limit = shown.duration("TimeLimit").value_or(Seconds(0));
    seen.note = shown.text("AdminComment");
    row.is_batch = shown.text("BatchFlag") != "0";
    row.may_requeue = shown.text("Requeue") != "0";
    row.excluded = shown.text("ExcNodeList");
    if (auto wanted = trace::expand_hosts(shown.text("ReqNodeList")))
      row.wanted = std::move(*wanted);
  }

  void read_state(const Shown& shown, SeenJob& seen) const {
    slurm::QueuedJob job;
    job.state = shown.text("JobState");
    const auto end = shown.when("EndTime");
    // One that is requeued while its last attempt is cleared away has its expected end.
    constexpr Seconds clocks_apart{5};
    const bool comes_again =
        job.state.starts_with("COMPLETING") && end && *end > now_ + clocks_apart;
    if (slurm::has_ended(job.state)) {
      seen.phase = JobPhase::ended;
      seen.end_state = trace::parse_state(job.state);
      seen.ended = end ? *end : seen.submitted;
    } else if (job.waits() || comes_again) {
      seen.phase = JobPhase::queued;
      read_hold(shown, seen);
    } else {
      seen.phase = JobPhase::running;
    }
  }

  static void read_hold(const Shown& shown, SeenJob& seen) {
    const std::string_view reason = shown.text("Reason");
    seen.held = shown.text("Priority") == "0" || reason.contains("Held") || reason.contains("held");
    const std::string_view first =
        std::string_view(seen.note).substr(0, std::min(seen.note.find('\n'), seen.note.size()));
    if (reason != "JobHeldAdmin" || !is_mark(first)) return;
    seen.mark = first;
    seen.note.erase(0, std::min(first.size() + 1, seen.note.size()));
  }

  const KeptJobs& kept_;
  SimTime now_;
};

/// By submission, tasks of an array by their numbers.
void sort_rows(std::vector<Row>& rows) {
  const auto place = [](const Row& row) {
    const std::string_view id = row.seen.id;
    const std::size_t line = std::min(id.find('_'), id.size());
    const auto number = [](std::string_view text) {
      return parse_number<std::int64_t>(text).value_or(0);
    };
    return std::tuple(row.seen.submitted, number(id.substr(0, line)),
                      line < id.size() ? number(id.substr(line + 1)) : 0);
  };
  std::ranges::stable_sort(rows, {}, place);
}

NodeState state_of(std::string_view words) {
  const auto has = [&](std::initializer_list<std::string_view> any) {
    return std::ranges::any_of(any,
                               [&](std::string_view word) { return slurm::has_word(words, word); });
  };
  if (has({"DOWN", "ERROR", "FUTURE"})) return NodeState::down;
  if (has({"DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "INVAL", "INVALID_REG"}))
    return NodeState::drained;
  return NodeState::up;
}

}  // namespace

Result<std::vector<Row>> read_rows(std::string_view squeue, const KeptJobs& kept, SimTime now) {
  const auto records = records_of(squeue, "JobId");
  if (!records) return tl::unexpected(records.error());
  const RowReader reader(kept, now);
  std::vector<Row> rows;
  rows.reserve(records->size());
  for (const Shown& shown : *records)
    if (auto taken = reader.take(shown, rows); !taken) return tl::unexpected(taken.error());
  sort_rows(rows);
  return rows;
}

Result<void> add_orders(std::string_view sprio, std::vector<Row>& rows) {
  std::map<std::string_view, std::int64_t> orders;
  for (const std::string_view line : split(sprio, '\n')) {
    if (trim(line).empty()) continue;
    const std::size_t bar = line.find('|');
    const auto order = bar == std::string_view::npos
                           ? std::nullopt
                           : parse_number<std::int64_t>(trim(line.substr(bar + 1)));
    if (!order) return fail(ErrorCode::invalid, "sprio printed what is no priority");
    orders[trim(line.substr(0, bar))] = *order;
  }
  for (Row& row : rows) {
    const auto found = orders.find(row.number);
    if (found == orders.end() || row.seen.phase != JobPhase::queued) continue;
    row.seen.order = found->second;
    row.shows_order = true;
  }
  return {};
}

KeptJobs kept_of(const std::vector<Row>& rows) {
  KeptJobs kept;
  for (const Row& row : rows)
    kept.insert_or_assign(
        row.seen.id, Kept{row.seen.submitted, row.seen.restarts, row.seen.order, row.seen.nodes});
  return kept;
}

Result<std::vector<SeenNode>> read_nodes(std::string_view document) {
  const auto records = records_of(document, "NodeName");
  if (!records) return tl::unexpected(records.error());
  std::vector<SeenNode> nodes;
  for (const Shown& shown : *records) {
    SeenNode& node = nodes.emplace_back();
    node.name = shown.text("NodeName");
    const std::string_view partitions = shown.text("Partitions");
    node.partition = partitions.substr(0, partitions.find(','));
    const auto gpus = slurm::gpus_in(shown.text("Gres"));
    if (!gpus || node.name.empty())
      return fail(ErrorCode::invalid,
                  fmt::format("what Slurm printed of node {} cannot be read", node.name));
    node.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(*gpus, trace::most_gpus));
    node.state = state_of(shown.text("State"));
    if (node.state != NodeState::up) node.reason = shown.text("Reason");
  }
  return nodes;
}

std::string comment_of(std::string_view mark, std::string_view note) {
  if (mark.empty()) return std::string(note);
  return note.empty() ? std::string(mark) : fmt::format("{}\n{}", mark, note);
}

}  // namespace schedmate::slurm_live
