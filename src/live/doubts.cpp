// SPDX-License-Identifier: Apache-2.0
#include "live/doubts.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace schedmate::live {
namespace {

bool ought_to_be_shown(const SeenJob& job, const Listing& listing) {
  return job.phase != JobPhase::ended || (job.ended && *job.ended >= listing.ended_since);
}

void find_missing_jobs(const Listing& listing, const Jobs& jobs, std::set<std::string>& missing) {
  std::unordered_set<std::string_view> shown;
  shown.reserve(listing.jobs.size());
  for (const SeenJob& job : listing.jobs) shown.insert(job.id);
  for (const auto& [id, attempt] : jobs.all())
    if (ought_to_be_shown(attempt.seen, listing) && !shown.contains(id))
      missing.insert("job " + id);
}

/// Nodes on which jobs run, by this very reading.
void find_missing_nodes(const Listing& listing, const std::set<std::string, std::less<>>& nodes,
                        std::set<std::string>& missing) {
  for (const SeenJob& job : listing.jobs)
    if (job.phase == JobPhase::running)
      for (const NodeGpus& on : job.nodes)
        if (!nodes.contains(on.node)) missing.insert("node " + on.node);
}

}  // namespace

bool Doubts::has(const Listing& listing, const Jobs& jobs) {
  std::set<std::string, std::less<>> nodes;
  for (const SeenNode& node : listing.nodes) nodes.insert(nodes.end(), node.name);
  std::set<std::string> missing;
  for (const std::string& name : nodes_)
    if (!nodes.contains(name)) missing.insert("node " + name);
  if (nodes_.empty()) find_missing_nodes(listing, nodes, missing);
  find_missing_jobs(listing, jobs, missing);
  // Gone is what two readings in a row lack, whatever the next ones lack besides.
  std::ranges::set_intersection(missing, missing_, std::inserter(gone_, gone_.end()));
  constexpr int most = 10;
  if (!whole_readings_ || std::ranges::includes(gone_, missing) || in_a_row_ >= most) {
    nodes_ = std::move(nodes);
    missing_.clear();
    gone_.clear();
    in_a_row_ = 0;
    const std::array<std::int64_t, 3> shown = {listing.version, std::ssize(listing.jobs),
                                               std::ssize(listing.nodes)};
    is_news_ = std::exchange(shown_, shown) != shown;
    return false;
  }
  missing_ = std::move(missing);
  ++in_a_row_;
  return true;
}

}  // namespace schedmate::live
