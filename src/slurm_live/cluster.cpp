// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/cluster.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace schedmate::slurm_live {

namespace {

/// An own drain is there no more.
bool misses_mark(const std::vector<SeenNode>& before, const std::vector<SeenNode>& now) {
  return std::ranges::any_of(before, [&](const SeenNode& old) {
    if (old.state != NodeState::drained || !old.reason.starts_with("schedmate:")) return false;
    const auto node = std::ranges::find(now, old.name, &SeenNode::name);
    return node == now.end() || node->reason != old.reason;
  });
}

}  // namespace

Result<void> CommandLine::know_site(Until until) {
  if (site_) return {};
  const auto config = tools_.run({"scontrol", "show", "config"}, until);
  if (!config) return unread(config.error());
  auto site = read_site(*config);
  if (!site) return unread(site.error());
  Rights rights = user_ == "root" || user_ == site->slurm_user ? Rights::all : Rights::own;
  if (rights != Rights::all && site->has_accounting) {
    const auto level =
        tools_.run({"sacctmgr", "-nP", "show", "user", user_, "format=AdminLevel"}, until);
    if (!level) return unread(level.error());
    rights = rights_in(*level);
  }
  abilities_ = abilities_of(*site, care_, rights, user_);
  site_ = std::move(*site);
  return {};
}

Result<Abilities> CommandLine::abilities(Deadline within) {
  site_.reset();
  if (auto known = know_site(tools_.from_now(within)); !known) return tl::unexpected(known.error());
  return abilities_;
}

Result<std::vector<Row>> CommandLine::read_jobs(Until until) const {
  const auto queue = tools_.run({"squeue", "--json", "--all", "--states=all"}, until);
  if (!queue) return unread(queue.error());
  auto rows = read_rows(*queue, kept_, tools_.wall());
  if (!rows) return rows;
  add_tokens(*rows);
  if (!site_->has_factors) return rows;
  const auto orders = tools_.run({"sprio", "-h", "-o", sprio_columns}, until);
  if (!orders) return unread(orders.error());
  if (auto added = add_orders(*orders, *rows); !added) return tl::unexpected(added.error());
  return rows;
}

/// Any user may write a comment.
void CommandLine::add_tokens(std::vector<Row>& rows) const {
  for (Row& row : rows)
    if (row.seen.user == user_ && is_mark(row.comment)) row.seen.token = row.comment;
}

Result<std::vector<SeenNode>> CommandLine::print_nodes(Until until) const {
  // From 23.02 on sinfo shows groups of nodes, and scontrol can print JSON.
  const bool is_old = site_->version < "23";
  const auto shown = is_old ? tools_.run({"sinfo", "--json", "--all"}, until)
                            : tools_.run({"scontrol", "show", "nodes", "--json"}, until);
  if (!shown) return unread(shown.error());
  return read_nodes(*shown);
}

/// Of those that nobody has seen the end of and the controller has forgotten. Where accounting does
/// not tell, they are gone.
std::vector<SeenJob> CommandLine::ended_away(const std::vector<SeenJob>& shown, Until until) const {
  if (!site_->has_accounting || unended_.empty()) return {};
  LostJobs lost = unended_;
  for (const SeenJob& job : shown) lost.erase(job.id);
  if (lost.empty()) return {};
  // A slow database must not cost the reading.
  const auto half = std::chrono::duration_cast<Until>(tools_.left(until)) / 2;
  const auto printed = tools_.run(sacct_for(lost), until - half);
  if (!printed) return {};
  return read_ended(*printed, lost).value_or(std::vector<SeenJob>());
}

bool CommandLine::take(std::vector<Row>& rows, Until until) {
  kept_ = kept_of(rows);
  std::vector<SeenJob> jobs;
  jobs.reserve(rows.size());
  for (Row& row : rows) jobs.push_back(std::move(row.seen));
  std::vector<SeenJob> ended = ended_away(jobs, until);
  unended_.clear();
  for (const SeenJob& job : jobs)
    if (site_->has_accounting && job.phase != JobPhase::ended) unended_.try_emplace(job.id, job);
  if (!ended.empty()) {
    std::ranges::move(ended, std::back_inserter(jobs));
    std::ranges::stable_sort(jobs, {}, &SeenJob::submitted);
  }
  if (jobs == jobs_) return false;
  jobs_ = std::move(jobs);
  return true;
}

Result<Listing> CommandLine::list(SimTime ended_since, Deadline within) {
  const Until until = tools_.from_now(within);
  const Turn turn = std::exchange(turn_, Turn::both);  // after an error, too
  if (auto known = know_site(until); !known) return tl::unexpected(known.error());
  SimTime now = std::max(now_, tools_.wall());
  bool is_news = version_ < 0;
  if (turn != Turn::nodes) {
    auto rows = fresh_jobs(until);
    if (!rows) return tl::unexpected(rows.error());
    if (*rows) ranks_ = ranks_of(**rows, now);
    if (*rows && take(**rows, until)) is_news = true;
  }
  if (turn != Turn::jobs) {
    auto nodes = fresh_nodes(until);
    if (!nodes) return tl::unexpected(nodes.error());
    if (*nodes) shown_nodes_ = std::move(**nodes);
    std::vector<SeenNode> seen = shown_nodes_;
    const std::vector<std::string> tests = tests_;
    if (auto known = see_reservations(seen, until); !known) return tl::unexpected(known.error());
    if (misses_mark(nodes_, seen)) site_.reset();  // the controller may be another one
    is_news = is_news || seen != nodes_ || tests != tests_;
    nodes_ = std::move(seen);
  }
  if (auto known = know_site(until); !known) return tl::unexpected(known.error());
  turn_ = turn == Turn::jobs ? Turn::nodes : Turn::jobs;
  for (const SeenJob& job : jobs_)
    now = std::max({now, job.submitted, job.started.value_or(now), job.ended.value_or(now)});
  now_ = now;
  // Later than that of an earlier process, which changed less often than a thousand times a second.
  constexpr std::int64_t in_a_second = 1000;
  if (is_news) version_ = std::max(version_ + 1, seconds_of(now) * in_a_second);
  Listing made{.version = version_,
               .now = now,
               .jobs = {},
               .ended_since = {},
               .nodes = nodes_,
               .tests = tests_,
               .began = site_->began,
               .ranks = ranks_};
  made.ended_since = std::max(ended_since, now - site_->remembers);
  std::ranges::copy_if(jobs_, std::back_inserter(made.jobs), [&](const SeenJob& job) {
    return job.phase != JobPhase::ended || *job.ended >= ended_since;
  });
  return made;
}

Result<std::optional<SeenJob>> CommandLine::job(const std::string& id, Deadline within) {
  const Until until = tools_.from_now(within);
  if (auto known = know_site(until); !known) return tl::unexpected(known.error());
  auto rows = read_job(id, until);
  if (!rows) return tl::unexpected(rows.error());
  const auto found = std::ranges::find(*rows, id, [](const Row& row) { return row.seen.id; });
  return found == rows->end() ? std::nullopt : std::optional(std::move(found->seen));
}

/// Nothing is submitted with a token.
Result<std::optional<std::string>> CommandLine::find_submission(const std::string& /*token*/,
                                                                Deadline within) {
  if (auto there = abilities(within); !there) return tl::unexpected(there.error());
  return std::nullopt;
}

void CommandLine::know(const SeenJob& job) {
  kept_.try_emplace(job.id, Kept{.submitted = job.submitted, .restarts = job.restarts});
  if (job.phase != JobPhase::ended) unended_.try_emplace(job.id, job);
}

}  // namespace schedmate::slurm_live
