// SPDX-License-Identifier: Apache-2.0
#include "slurm/held.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/words.hpp"
#include "slurm/queue.hpp"

namespace schedmate::slurm {
namespace {

/// A job that is suspended or ends may hold GPUs on paper that another one has.
bool surely_holds(const QueuedJob& job) { return job.state == "RUNNING"; }

struct NodeUse {
  const ClusterNode* node = nullptr;
  std::int64_t held = 0, surely = 0;
  std::vector<std::pair<std::uint64_t, const QueuedJob*>> by_index;
};

class HeldCheck {
 public:
  explicit HeldCheck(ClusterQueue& queue) : queue_(queue) {
    for (const ClusterNode& node : queue.nodes) uses_[node.name].node = &node;
  }

  /// Jobs that the nodes, which were read after them, no longer have.
  void take_out_ended() {
    std::vector<std::string> ended;
    std::erase_if(queue_.jobs, [&](const QueuedJob& job) {
      const bool gone = surely_holds(job) && std::ranges::any_of(job.held, [&](const auto& each) {
                          const auto use = uses_.find(each.name);
                          return use != uses_.end() && use->second.node->which_used &&
                                 each.gpus <= use->second.node->gpus &&
                                 (each.which & ~*use->second.node->which_used) != 0;
                        });
      if (gone) ended.push_back(job.id);
      return gone;
    });
    if (ended.empty()) return;
    queue_.moved = true;
    queue_.notes.push_back(fmt::format(
        "while the queue was read, {} ended (the first: {}): their GPUs are free again, "
        "and they are left out",
        counted(std::ssize(ended), "job"), ended.front()));
  }

  Result<void> add_jobs() {
    std::string stranger, where;
    std::size_t strangers = 0;
    for (const QueuedJob& job : queue_.jobs)
      for (const HeldNode& each : job.held) {
        const auto use = uses_.find(each.name);
        if (use == uses_.end()) {
          if (++strangers == 1) stranger = job.id, where = each.name;
        } else if (auto added = add(job, each, use->second); !added) {
          return added;
        }
      }
    if (strangers > 0)
      queue_.notes.push_back(fmt::format(
          "job {} runs on {}, which is not among the nodes{}: where it frees GPUs is not known",
          stranger, where, strangers > 1 ? fmt::format(", and {} likewise", strangers - 1) : ""));
    return {};
  }

  /// GPUs that a node says are in use, and no job that is shown has; or the other way round.
  void note_others() {
    std::int64_t more = 0, fewer = 0;
    std::string first;
    for (const auto& [name, use] : uses_) {
      if (!use.node->used || *use.node->used == use.held) continue;
      const bool is_more = *use.node->used > use.held;
      if (!is_more && *use.node->used >= use.surely) continue;
      if (more + fewer == 0)
        first = fmt::format("{}: {} in use, {} held", name, *use.node->used, use.held);
      ++(is_more ? more : fewer);
    }
    if (more + fewer == 0) return;
    queue_.moved = true;
    queue_.notes.push_back(fmt::format(
        "on {} other GPUs are in use than the jobs hold ({}): jobs began or ended while the queue "
        "was read{}",
        counted(more + fewer, "node"), first,
        more > 0 ? ", or not all of them are shown (PrivateData, another user's squeue)" : ""));
  }

 private:
  static Result<void> add(const QueuedJob& job, const HeldNode& each, NodeUse& use) {
    use.held += each.gpus;
    if (!surely_holds(job)) return {};
    use.surely += each.gpus;
    if (use.surely > use.node->gpus)
      return fail(ErrorCode::invalid,
                  fmt::format("job {}: with it {} GPUs of {} are held, which has {}", job.id,
                              use.surely, each.name, use.node->gpus));
    for (const auto& [which, other] : use.by_index)
      if ((which & each.which) != 0)
        return fail(ErrorCode::invalid,
                    fmt::format("jobs {} and {} both have GPU {} of {}", other->id, job.id,
                                std::countr_zero(which & each.which), each.name));
    use.by_index.emplace_back(each.which, &job);
    return {};
  }

  ClusterQueue& queue_;
  std::map<std::string, NodeUse, std::less<>> uses_;
};

}  // namespace

Result<void> check_held(ClusterQueue& queue, bool nodes_after_jobs) {
  HeldCheck check(queue);
  if (nodes_after_jobs) check.take_out_ended();
  if (auto added = check.add_jobs(); !added) return added;
  check.note_others();
  return {};
}

}  // namespace schedmate::slurm
