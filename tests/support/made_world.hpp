// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A world for tests of the live loop: one pool of nodes of 4 GPUs, and jobs that do what the test
/// says.

#include <algorithm>
#include <schedmate/connector.hpp>
#include <string>
#include <utility>
#include <vector>

namespace schedmate::testing {

class MadeWorld {
 public:
  explicit MadeWorld(int nodes) {
    listing_.now = at(1000);
    for (int i = 0; i < nodes; ++i)
      listing_.nodes.push_back({"a-" + std::to_string(i), "a", 4, NodeState::up, ""});
  }

  // What happens in the world.
  SeenJob& submit(const std::string& id, std::int32_t gpus = 4) {
    SeenJob job;
    job.id = id;
    job.submitted = listing_.now;
    job.user = "ann";
    job.partition = "a";
    job.gpus = gpus;
    changed();
    return listing_.jobs.emplace_back(std::move(job));
  }
  void begin(const std::string& id, std::vector<NodeGpus> where) {
    SeenJob& seen = job_of(id);
    seen.phase = JobPhase::running;
    seen.started = listing_.now;
    seen.nodes = std::move(where);
    changed();
  }
  void finish(const std::string& id, EndState how = EndState::completed) {
    SeenJob& seen = job_of(id);
    seen.phase = JobPhase::ended;
    seen.end_state = how;
    seen.ended = listing_.now;
    changed();
  }
  void requeue(const std::string& id) {
    SeenJob& seen = job_of(id);
    seen.phase = JobPhase::queued;
    ++seen.restarts;
    seen.nodes.clear();
    seen.started.reset();
    seen.ended.reset();
    changed();
  }
  void forget(const std::string& id) {
    std::erase_if(listing_.jobs, [&](const SeenJob& each) { return each.id == id; });
    changed();
  }
  /// For whatever else somebody changes.
  SeenJob& change(const std::string& id) {
    changed();
    return job_of(id);
  }
  SeenNode& change_node(const std::string& name) {
    changed();
    return node_of(name);
  }
  void pass(Seconds time) { listing_.now += time; }

  [[nodiscard]] SimTime now() const { return listing_.now; }
  [[nodiscard]] Listing& listing() { return listing_; }
  [[nodiscard]] const SeenJob& see(const std::string& id) { return job_of(id); }
  [[nodiscard]] const SeenNode& see_node(const std::string& name) { return node_of(name); }

 protected:
  void changed() { ++listing_.version; }
  SeenJob& job_of(const std::string& id) {
    const auto last = std::find_if(listing_.jobs.rbegin(), listing_.jobs.rend(),
                                   [&](const SeenJob& each) { return each.id == id; });
    return last == listing_.jobs.rend() ? missing_job_ : *last;
  }
  SeenNode& node_of(const std::string& name) {
    const auto found = std::ranges::find(listing_.nodes, name, &SeenNode::name);
    return found == listing_.nodes.end() ? missing_node_ : *found;
  }

 private:
  Listing listing_;
  SeenJob missing_job_;
  SeenNode missing_node_;
};

}  // namespace schedmate::testing
