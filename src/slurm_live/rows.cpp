// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "slurm/job_log.hpp"
#include "slurm/json.hpp"
#include "slurm/reasons.hpp"
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

std::vector<NodeGpus> nodes_held(const std::vector<slurm::HeldNode>& held) {
  std::vector<NodeGpus> nodes;
  for (const slurm::HeldNode& each : held) {
    NodeGpus& made = nodes.emplace_back(NodeGpus{each.name, {}});
    for (std::int32_t gpu = 0; gpu < slurm::most_gpus_of_node; ++gpu)
      if ((each.which >> static_cast<unsigned>(gpu) & 1U) != 0) made.gpus.push_back(gpu);
  }
  return nodes;
}

/// The library tells GPUs of each node in the order of NodeList, the programs with the node.
Result<std::vector<slurm::HeldNode>> held_of(const Shown& shown, std::int64_t gpus) {
  const auto details = shown.texts("GresDetail");
  const auto names = trace::expand_hosts(shown.text("NodeList"));
  if (details.empty() || !names || names->size() != details.size())
    return slurm::held_by(shown, gpus);
  Shown placed;
  for (std::size_t i = 0; i < details.size(); ++i) {
    placed.put("Nodes", (*names)[i]);
    placed.put("GRES", details[i]);
  }
  return slurm::held_by(placed, gpus);
}

std::string log_of(const Row& row, std::string_view pattern) {
  if (!row.is_batch) return {};
  const SeenJob& seen = row.seen;
  slurm::ScheduledJob job;
  job.record.id = seen.id;
  job.record.user = seen.user;
  job.record.name = seen.name;
  job.record.root = seen.dir;
  if (!seen.nodes.empty()) job.attempts.emplace_back().nodes = seen.nodes.front().node;
  const bool of_array = seen.id.contains('_');
  const std::string_view usual = of_array ? "slurm-%A_%a.out" : "slurm-%j.out";
  return slurm::log_by_pattern(pattern.empty() ? usual : pattern, job, row.number);
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
    if (shown.whole("HetJobId") > 0) row.of_job = shown.text("HetJobId");
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
      auto held = held_of(shown, *gpus);
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
    const auto factor = parse_number<std::int64_t>(shown.text("SiteFactor"));
    row.shows_order = seen.phase == JobPhase::queued && factor;
    seen.fixed = row.shows_order && shown.has("DirectPriority");
    if (row.shows_order && !seen.fixed) seen.order = *factor;
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
    row.priority = shown.whole("Priority");
    row.since = std::max(seen.submitted, shown.when("EligibleTime").value_or(seen.submitted));
    row.is_batch = shown.text("BatchFlag") != "0";
    row.may_requeue = shown.text("Requeue") != "0";
    row.excluded = shown.text("ExcNodeList");
    row.comment = shown.text("Comment");
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
      read_exit(shown.text("ExitCode"), seen);
    } else if (job.waits() || comes_again) {
      seen.phase = JobPhase::queued;
      read_hold(shown, seen);
      read_block(shown, seen);
    } else {
      seen.phase = JobPhase::running;
    }
  }

  static void read_exit(std::string_view text, SeenJob& seen) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    seen.exit_code = parse_number<std::int32_t>(text.substr(0, colon)).value_or(0);
    if (colon < text.size())
      seen.exit_signal = parse_number<std::int32_t>(text.substr(colon + 1)).value_or(0);
  }

  /// A begin time that is over, or not told, blocks nothing any more.
  void read_block(const Shown& shown, SeenJob& seen) const {
    const std::string_view word = shown.text("Reason");
    slurm::WaitReason reason = slurm::reason_in_words(word, shown.text("Dependency"));
    if (reason.waits == slurm::Waits::for_its_turn) return;
    HostBlock block{std::string(word), std::move(reason.kind), std::move(reason.text)};
    if (reason.waits == slurm::Waits::for_a_time) {
      block.until = shown.when("EligibleTime");
      if (!block.until || *block.until <= now_) return;
    }
    seen.blocked = std::move(block);
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

struct ShownPriority {
  std::int64_t order = 0;
  bool fixed = false;
};

/// Of a job whose priority was said outright, sprio shows that and no part of it.
bool is_said_outright(const std::vector<std::string_view>& columns) {
  constexpr std::size_t whole = 2, nice = 3, first = 4, last = 10;
  if (columns.size() <= last) return false;
  const auto number = [&](std::size_t i) {
    return parse_number<std::int64_t>(trim(columns[i])).value_or(0);
  };
  for (std::size_t i = first; i < last; ++i)
    if (number(i) != 0) return false;
  if (number(1) != 0 || columns[last].find_first_of("123456789") != std::string_view::npos)
    return false;
  return number(whole) > std::max<std::int64_t>(1, -number(nice));
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

/// Slurm's own words of a node that its prolog, its epilog or its count of GPUs took out of
/// service, and those of LBNL Node Health Check. What a person drains for is nobody's verdict.
bool is_of_a_check(std::string_view reason) {
  const auto begins = [&](std::string_view words) { return reason.starts_with(words); };
  return begins("Prolog error") || begins("Prolog/Epilog failure") || begins("Epilog error") ||
         begins("NHC") || reason.contains("count too low") ||
         reason.contains("count reported lower than configured");
}

}  // namespace

Result<std::vector<Row>> read_rows(std::string_view squeue, const KeptJobs& kept, SimTime now) {
  const auto records = records_of(squeue, "JobId");
  if (!records) return tl::unexpected(records.error());
  return rows_of(*records, kept, now);
}

Result<std::vector<Row>> rows_of(const std::vector<Shown>& jobs, const KeptJobs& kept,
                                 SimTime now) {
  const RowReader reader(kept, now);
  std::vector<Row> rows;
  rows.reserve(jobs.size());
  for (const Shown& shown : jobs)
    if (auto taken = reader.take(shown, rows); !taken) return tl::unexpected(taken.error());
  join_het_jobs(rows);
  sort_rows(rows);
  return rows;
}

Result<void> add_orders(std::string_view sprio, std::vector<Row>& rows) {
  std::map<std::string_view, ShownPriority> shown;
  for (const std::string_view line : split(sprio, '\n')) {
    // Of one that runs, is held or has ended it says that it finds none.
    if (trim(line).empty() || line.starts_with("Unable to find jobs")) continue;
    const auto columns = split(line, '|');
    const auto order =
        columns.size() < 2 ? std::nullopt : parse_number<std::int64_t>(trim(columns[1]));
    if (!order) return fail(ErrorCode::invalid, "sprio printed what is no priority");
    // So it shows factors that the controller has not computed yet.
    if (*order != std::numeric_limits<std::int32_t>::min())
      shown[trim(columns[0])] = {*order, is_said_outright(columns)};
  }
  for (Row& row : rows) {
    const auto found = shown.find(row.number);
    if (found == shown.end() || row.seen.phase != JobPhase::queued) continue;
    row.seen.fixed = found->second.fixed;
    if (!row.seen.fixed) row.seen.order = found->second.order;
    row.shows_order = true;
  }
  return {};
}

std::map<std::string, Rank, std::less<>> ranks_of(const std::vector<Row>& rows, SimTime now) {
  std::map<std::string, Rank, std::less<>> ranks;
  for (const Row& row : rows)
    if (row.seen.phase == JobPhase::queued && row.priority > 0)
      ranks[row.seen.id] = {static_cast<double>(row.priority - row.seen.order), now,
                            row.seen.fixed ? at(0) : row.since};  // it gains no more
  return ranks;
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
  return nodes_of(*records);
}

Result<std::vector<SeenNode>> nodes_of(const std::vector<Shown>& shown_nodes) {
  std::vector<SeenNode> nodes;
  nodes.reserve(shown_nodes.size());
  for (const Shown& shown : shown_nodes) {
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
    node.failed_check = is_of_a_check(node.reason);
  }
  return nodes;
}

bool is_mark(std::string_view text) {
  constexpr std::string_view begin = "schedmate:";
  const std::size_t slash = text.rfind('/');
  if (!text.starts_with(begin) || slash == std::string_view::npos || slash <= begin.size())
    return false;
  const std::string_view name = text.substr(begin.size(), slash - begin.size());
  return !name.contains(' ') && parse_number<std::int64_t>(text.substr(slash + 1)).has_value();
}

std::string comment_of(std::string_view mark, std::string_view note) {
  if (mark.empty()) return std::string(note);
  return note.empty() ? std::string(mark) : fmt::format("{}\n{}", mark, note);
}

}  // namespace schedmate::slurm_live
