// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "secrets/outgoing.hpp"
#include "slurm_live/ended_away.hpp"
#include "trace/hostlist.hpp"
#include "trace/sacct_rows.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm_live {
namespace {

/// "" of the job itself, "0" of 12_3.0, "batch", "+1.0" of 12+1.0; nothing of another job.
std::optional<std::string> step_in(std::string_view id, const std::string& job) {
  if (!id.starts_with(job)) return std::nullopt;
  std::string_view rest = id.substr(job.size());
  if (rest.starts_with("+0")) rest.remove_prefix(2);
  if (rest.empty() || (rest.starts_with('+') && !rest.contains('.'))) return "";
  if (rest.starts_with('.')) return std::string(rest.substr(1));
  return rest.starts_with('+') ? std::optional(std::string(rest)) : std::nullopt;
}

void read_exit(std::string_view text, SeenStep& step) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  step.exit_code = parse_number<std::int32_t>(text.substr(0, colon)).value_or(0);
  if (colon < text.size())
    step.exit_signal = parse_number<std::int32_t>(text.substr(colon + 1)).value_or(0);
}

class StepReader {
 public:
  explicit StepReader(const trace::SacctRows& rows)
      : rows_(rows),
        id_(rows.find("jobid")),
        state_(rows.find("state")),
        exit_(rows.find("exitcode")),
        start_(rows.find("start")),
        end_(rows.find("end")),
        nodes_(rows.find("nodelist")),
        name_(rows.find("jobname")) {}

  [[nodiscard]] bool is_whole() const {
    return std::max({id_, state_, exit_, start_, end_, nodes_, name_}) != trace::SacctRows::none;
  }
  [[nodiscard]] std::optional<std::string> step_of(const SeenJob& job) const {
    return step_in(rows_.field(id_), job.id);
  }
  [[nodiscard]] bool is_over() const {
    return trace::run_state(rows_.field(state_)) == trace::RunState::ended;
  }
  [[nodiscard]] SeenStep step(const std::string& id) const {
    constexpr std::size_t longest = 100, most_nodes = 1024;
    SeenStep made{.id = secrets::safe_line(id), .name = secrets::safe_line(rows_.field(name_))};
    if (made.name.size() > longest) made.name = with_valid_utf8(made.name.substr(0, longest));
    if (is_over()) made.end_state = trace::parse_state(rows_.field(state_));
    read_exit(rows_.field(exit_), made);
    made.started = sacct_time(rows_.field(start_));
    made.ended = sacct_time(rows_.field(end_));
    if (auto names = trace::expand_hosts(rows_.field(nodes_)); names && names->size() <= most_nodes)
      made.nodes = std::move(*names);
    return made;
  }

 private:
  const trace::SacctRows& rows_;
  trace::SacctRows::Column id_, state_, exit_, start_, end_, nodes_, name_;
};

/// An attempt's steps begin within it; those of a later one are told under the same number.
bool is_within(const SeenStep& step, const SeenJob& job) {
  if (job.started && (!step.started || *step.started < *job.started)) return false;
  return !job.ended || !step.started || *step.started <= *job.ended;
}

void keep_the_worst(std::vector<SeenStep>& steps) {
  if (steps.size() <= most_steps) return;
  std::ranges::stable_partition(
      steps, [](const SeenStep& each) { return each.end_state != EndState::completed; });
  steps.resize(most_steps);
}

}  // namespace

/// The name last: it may hold anything.
std::vector<std::string> sacct_for_steps(const std::string& id) {
  return {"sacct", "--parsable2", "--format=JobID,State,ExitCode,Start,End,NodeList,JobName",
          "--jobs=" + id};
}

Result<ToldSteps> read_steps(std::string_view sacct, const SeenJob& job) {
  auto rows = trace::SacctRows::open(sacct, "sacct");
  if (!rows) return tl::unexpected(rows.error());
  const StepReader reader(*rows);
  if (!reader.is_whole()) return fail(ErrorCode::invalid, "sacct printed other columns");
  ToldSteps told;
  while (rows->next()) {
    if (!rows->fault().empty()) continue;
    const auto id = reader.step_of(job);
    if (!id) continue;
    if (id->empty()) {
      told.is_over = reader.is_over();
      continue;
    }
    SeenStep step = reader.step(*id);
    if (is_within(step, job)) told.steps.push_back(std::move(step));
  }
  keep_the_worst(told.steps);
  return told;
}

Result<ToldSteps> Steps::ask(const SeenJob& job, Tools::Until until) {
  constexpr std::chrono::milliseconds apart{50};
  tools_.wait_until(next_);
  next_ = tools_.from_now(apart);
  const auto printed = tools_.run(sacct_for_steps(job.id), until);
  if (!printed) return unread(printed.error());
  return read_steps(*printed, job);
}

Result<std::vector<SeenStep>> Steps::read(const SeenJob& job, Connector::Deadline within,
                                          const OthersWait& others_wait) {
  constexpr std::size_t most_kept = 256;
  constexpr std::chrono::milliseconds late{1000};
  constexpr std::chrono::minutes rest{1};
  const std::string key = fmt::format("{} {} {}", job.id, seconds_of(job.submitted), job.restarts);
  if (const auto known = read_.find(key); known != read_.end()) return known->second;
  if (job.id.empty() || !is_digit(job.id.front()) ||
      job.id.find_first_not_of("0123456789_") != std::string::npos)
    return fail(ErrorCode::invalid, "Slurm has no job of such a number");
  if (tools_.from_now(std::chrono::milliseconds(0)) < silent_until_)
    return fail(ErrorCode::unavailable, "sacct did not answer a while ago");
  const Tools::Until until = tools_.from_now(within);
  auto told = ask(job, until);
  if (!told) {
    silent_until_ = tools_.from_now(rest);
    return tl::unexpected(told.error());
  }
  if (!told->is_over && !others_wait() && tools_.wait(late, until))
    if (auto again = ask(job, until)) told = std::move(again);
  if (!told->is_over) return std::move(told->steps);
  if (read_.size() >= most_kept) read_.clear();
  return read_.emplace(key, std::move(told->steps)).first->second;
}

}  // namespace schedmate::slurm_live
