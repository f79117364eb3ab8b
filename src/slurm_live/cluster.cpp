// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/cluster.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace schedmate::slurm_live {

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
  abilities_ = abilities_of(*site, rights, user_);
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
  if (!rows || !site_->has_factors) return rows;
  const auto orders = tools_.run({"sprio", "-h", "-o", "%i|%S"}, until);
  if (!orders) return unread(orders.error());
  if (auto added = add_orders(*orders, *rows); !added) return tl::unexpected(added.error());
  return rows;
}

Result<std::vector<SeenNode>> CommandLine::list_nodes(Until until) const {
  // From 23.02 on sinfo shows groups of nodes, and scontrol can print JSON.
  const bool is_old = site_->version < "23";
  const auto shown = is_old ? tools_.run({"sinfo", "--json", "--all"}, until)
                            : tools_.run({"scontrol", "show", "nodes", "--json"}, until);
  if (!shown) return unread(shown.error());
  return read_nodes(*shown);
}

Result<Listing> CommandLine::list(SimTime ended_since, Deadline within) {
  const Until until = tools_.from_now(within);
  const Turn turn = std::exchange(turn_, Turn::both);  // after an error, too
  if (auto known = know_site(until); !known) return tl::unexpected(known.error());
  SimTime now = std::max(now_, tools_.wall());
  bool is_news = version_ < 0;
  if (turn != Turn::nodes) {
    const auto rows = read_jobs(until);
    if (!rows) return tl::unexpected(rows.error());
    std::vector<SeenJob> jobs;
    std::ranges::transform(*rows, std::back_inserter(jobs), &Row::seen);
    kept_ = kept_of(*rows);
    is_news = is_news || jobs != jobs_;
    jobs_ = std::move(jobs);
  }
  if (turn != Turn::jobs) {
    auto nodes = list_nodes(until);
    if (!nodes) return tl::unexpected(nodes.error());
    is_news = is_news || *nodes != nodes_;
    nodes_ = std::move(*nodes);
  }
  turn_ = turn == Turn::jobs ? Turn::nodes : Turn::jobs;
  for (const SeenJob& job : jobs_)
    now = std::max({now, job.submitted, job.started.value_or(now), job.ended.value_or(now)});
  now_ = now;
  // Later than that of an earlier process, which changed less often than a thousand times a second.
  constexpr std::int64_t in_a_second = 1000;
  if (is_news) version_ = std::max(version_ + 1, seconds_of(now) * in_a_second);
  Listing made{.version = version_, .now = now, .jobs = {}, .ended_since = {}, .nodes = nodes_};
  made.ended_since = std::max(ended_since, now - site_->remembers);
  std::ranges::copy_if(jobs_, std::back_inserter(made.jobs), [&](const SeenJob& job) {
    return job.phase != JobPhase::ended || *job.ended >= ended_since;
  });
  return made;
}

Result<std::optional<SeenJob>> CommandLine::job(const std::string& id, Deadline within) {
  const Until until = tools_.from_now(within);
  if (auto known = know_site(until); !known) return tl::unexpected(known.error());
  auto rows = read_jobs(until);
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

void CommandLine::know(const std::string& id, SimTime submitted, std::int64_t restarts) {
  kept_.try_emplace(id, Kept{.submitted = submitted, .restarts = restarts});
}

}  // namespace schedmate::slurm_live
