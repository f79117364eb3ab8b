// SPDX-License-Identifier: Apache-2.0

/// Heterogeneous jobs: Slurm shows one for each of their parts, starts, holds, requeues and cancels
/// them together, and takes what is said of the first for all (tried on 22.05).

#include <algorithm>
#include <map>
#include <utility>

#include "slurm_live/rows.hpp"

namespace schedmate::slurm_live {
namespace {

void join_nodes(std::vector<NodeGpus>& nodes, const std::vector<NodeGpus>& others) {
  for (const NodeGpus& other : others) {
    const auto same = std::ranges::find(nodes, other.node, &NodeGpus::node);
    if (same == nodes.end()) {
      nodes.push_back(other);
      continue;
    }
    for (const std::int32_t gpu : other.gpus)
      if (std::ranges::find(same->gpus, gpu) == same->gpus.end()) same->gpus.push_back(gpu);
    std::ranges::sort(same->gpus);
  }
}

/// How the whole is: it runs while any part does, and has ended when all have.
void join_phases(SeenJob& whole, const SeenJob& part) {
  using enum JobPhase;
  if (whole.phase == ended && part.phase == ended) {
    if (whole.end_state == EndState::completed) {
      whole.end_state = part.end_state;
      whole.exit_code = part.exit_code;
      whole.exit_signal = part.exit_signal;
    }
    whole.ended = std::max(whole.ended, part.ended);
  } else if (whole.phase != part.phase) {
    const bool waits = whole.phase == queued || part.phase == queued;
    const bool runs = whole.phase == running || part.phase == running;
    whole.phase = runs || !waits ? running : queued;
    if (whole.phase == queued && whole.started) whole.started.reset();
    whole.end_state = EndState::unknown;
    whole.ended.reset();
  }
  if (whole.phase != queued && part.started)
    whole.started = whole.started ? std::min(whole.started, part.started) : part.started;
}

void join(Row& whole, Row& part) {
  whole.seen.gpus += part.seen.gpus;
  join_nodes(whole.seen.nodes, part.seen.nodes);
  join_phases(whole.seen, part.seen);
  whole.seen.held = whole.seen.held || part.seen.held;
  whole.seen.limit = std::max(whole.seen.limit, part.seen.limit);
  std::ranges::move(part.wanted, std::back_inserter(whole.wanted));
  whole.may_requeue = whole.may_requeue && part.may_requeue;
}

}  // namespace

void join_het_jobs(std::vector<Row>& rows) {
  // The first part has the number of the whole; it may have been forgotten before the others.
  std::map<std::string, std::size_t> wholes;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].of_job.empty() &&
        (rows[i].of_job == rows[i].number || !wholes.contains(rows[i].of_job)))
      wholes.insert_or_assign(rows[i].of_job, i);
  if (wholes.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].of_job.empty()) continue;
    Row& whole = rows[wholes.at(rows[i].of_job)];
    if (&whole == &rows[i]) continue;
    join(whole, rows[i]);
  }
  for (const auto& [id, place] : wholes) rows[place].seen.id = id;
  std::erase_if(rows,
                [](const Row& row) { return !row.of_job.empty() && row.seen.id != row.of_job; });
}

}  // namespace schedmate::slurm_live
