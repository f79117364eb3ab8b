// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/ended_away.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "trace/hostlist.hpp"
#include "trace/sacct_rows.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm_live {
namespace {

/// No column that users write.
constexpr const char* columns = "--format=JobID,User,State,Submit,Start,End,NodeList";

class EndReader {
 public:
  explicit EndReader(const trace::SacctRows& rows)
      : rows_(rows),
        id_(rows.find("jobid")),
        user_(rows.find("user")),
        state_(rows.find("state")),
        submit_(rows.find("submit")),
        start_(rows.find("start")),
        end_(rows.find("end")),
        nodes_(rows.find("nodelist")) {}

  [[nodiscard]] bool is_whole() const {
    return std::max({id_, user_, state_, submit_, start_, end_, nodes_}) != trace::SacctRows::none;
  }
  /// Parts of a heterogeneous job are "12+0", the first one stands for all.
  [[nodiscard]] std::string_view id() const {
    const std::string_view id = rows_.field(id_);
    return id.ends_with("+0") ? id.substr(0, id.size() - 2) : id;
  }
  /// Nothing: it has not ended, or is another job of that id.
  [[nodiscard]] std::optional<SeenJob> end_of(const SeenJob& job) const {
    const EndState state = trace::parse_state(rows_.field(state_));
    const auto submit = sacct_time(rows_.field(submit_)), ended = sacct_time(rows_.field(end_));
    const bool is_over = trace::run_state(rows_.field(state_)) == trace::RunState::ended;
    if (!is_over || state == EndState::unknown || state == EndState::requeued || !ended || !submit)
      return std::nullopt;
    // A requeue is a submission for Slurm, with a later time.
    const bool is_same = *submit >= job.submitted && rows_.field(user_) == job.user;
    if (!is_same || *ended < *submit) return std::nullopt;
    SeenJob made = job;
    made.phase = JobPhase::ended;
    made.end_state = state;
    made.ended = ended;
    made.held = false;
    made.mark.clear();
    const auto start = sacct_time(rows_.field(start_));
    if (start && *start <= *ended) made.started = start;
    const auto names = trace::expand_hosts(rows_.field(nodes_));
    const bool is_elsewhere = names && std::ranges::none_of(made.nodes, [&](const NodeGpus& node) {
                                return std::ranges::find(*names, node.node) != names->end();
                              });
    if (!is_elsewhere || rows_.field(nodes_).starts_with("None")) return made;
    made.nodes.clear();
    for (const std::string& name : *names) made.nodes.push_back({name, {}});
    return made;
  }

 private:
  const trace::SacctRows& rows_;
  trace::SacctRows::Column id_, user_, state_, submit_, start_, end_, nodes_;
};

}  // namespace

std::optional<SimTime> sacct_time(std::string_view text) {
  const auto seconds = trace::parse_date(text);
  return seconds ? std::optional(at(*seconds)) : std::nullopt;
}

std::vector<std::string> sacct_for(const LostJobs& lost) {
  std::string ids;
  std::size_t count = 0;
  for (const auto& [id, job] : lost) {
    if (++count > most_lost) break;
    ids += (ids.empty() ? "" : ",") + id;
  }
  return {"sacct", "--parsable2", "--allocations", columns, "--jobs=" + ids};
}

Result<std::vector<SeenJob>> read_ended(std::string_view sacct, const LostJobs& lost) {
  auto rows = trace::SacctRows::open(sacct, "sacct");
  if (!rows) return tl::unexpected(rows.error());
  const EndReader reader(*rows);
  if (!reader.is_whole()) return fail(ErrorCode::invalid, "sacct printed other columns");
  LostJobs ended;  // of several records of one the last counts
  while (rows->next()) {
    const auto job = rows->fault().empty() ? lost.find(reader.id()) : lost.end();
    if (job == lost.end()) continue;
    if (auto end = reader.end_of(job->second)) ended.insert_or_assign(job->first, std::move(*end));
  }
  std::vector<SeenJob> made;
  made.reserve(ended.size());
  for (auto& [id, job] : ended) made.push_back(std::move(job));
  return made;
}

}  // namespace schedmate::slurm_live
