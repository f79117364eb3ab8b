// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What tiresias and schedmate_preemptive share: jobs by level in a queue with a quota
/// (quota_queue.hpp), and changes of level that time alone brings.

#include <cstdint>
#include <optional>
#include <queue>
#include <schedmate/policy.hpp>
#include <tuple>

#include "policy/quota_queue.hpp"

namespace schedmate::policy {

/// `Track`: what a policy keeps of each job; it begins as Track{}.
template <class Track>
class LeveledQueue {
 public:
  QuotaQueue queue;

  [[nodiscard]] Track& track(JobId id) { return tracks_.at(id).own; }
  [[nodiscard]] const Track& track(JobId id) const { return tracks_.at(id).own; }

  /// Who was adopted (`adopted` is told of each), has gone and has come, each under `key(id)`.
  template <class Key, class Adopted>
  void take_in(const View& view, const Key& key, const Adopted& adopted) {
    for (const JobId id : view.adopted) {
      tracks_[id] = {};
      queue.run(id, view.job(id).gpus, key(id));
      adopted(id);
    }
    for (const auto gone : {view.ended, view.withdrawn})
      for (const JobId id : gone) {
        queue.remove(id);
        tracks_.erase(id);
      }
    for (const JobId id : view.arrived) {
      tracks_[id] = {};
      queue.wait(id, view.job(id).gpus, key(id));
    }
    pending_ = pending_ || !view.ended.empty() || !view.arrived.empty() || !view.nodes.empty() ||
               !view.withdrawn.empty() || !view.adopted.empty();
  }

  /// Something has changed since the last decision.
  [[nodiscard]] bool pending() const { return pending_; }
  void set_pending(bool pending) { pending_ = pending; }

  void run(JobId id, int gpus, double key) {
    queue.remove(id);
    queue.run(id, gpus, key);
    ++tracks_.at(id).version;
  }
  void wait(JobId id, int gpus, double key) {
    queue.remove(id);
    queue.wait(id, gpus, key);
    ++tracks_.at(id).version;
  }

  /// Changes of one kind; one is stale once its job has started or stopped since.
  class Changes {
   public:
    void expect(const LeveledQueue& queue, JobId id, SimTime at) {
      dues_.push({at, id, queue.tracks_.at(id).version});
    }
    /// When the first that is not stale is due.
    [[nodiscard]] std::optional<SimTime> next(const LeveledQueue& queue) {
      while (!dues_.empty() && is_stale(queue, dues_.top())) dues_.pop();
      return dues_.empty() ? std::nullopt : std::optional(dues_.top().at);
    }
    /// Those that are due; `action` may expect more.
    template <class Action>
    void take(const LeveledQueue& queue, SimTime now, const Action& action) {
      for (auto at = next(queue); at && *at <= now; at = next(queue)) {
        const JobId id = dues_.top().id;
        dues_.pop();
        action(id);
      }
    }

   private:
    struct Due {
      SimTime at;
      JobId id;
      std::uint32_t version;
      bool operator<(const Due& other) const {
        return std::tie(at, id) > std::tie(other.at, other.id);
      }
    };
    static bool is_stale(const LeveledQueue& queue, const Due& due) {
      const Known* known = queue.tracks_.find(due.id);
      return known == nullptr || known->version != due.version;
    }
    std::priority_queue<Due> dues_;
  };

 private:
  struct Known {
    std::uint32_t version = 0;  // counts starts and stops
    Track own{};
  };
  bool pending_ = false;
  JobMap<Known> tracks_;
};

}  // namespace schedmate::policy
