// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Interference-aware packing cancellation (paper 4.1): some time after job B was packed onto the
/// running job A, A's log shows how fast A still is; when it suffers too much, B has to go. Where a
/// log shows it later, or shows another speed, the pair is judged again.

#include <map>
#include <optional>
#include <queue>
#include <schedmate/policy.hpp>
#include <schedmate/result.hpp>
#include <schedmate/scheduler.hpp>
#include <vector>

namespace schedmate::policy {

enum class CancelRule : std::uint8_t {
  off,
  slowdown,  ///< A's speed is below the threshold (the paper's)
  gain,      ///< ours: both end sooner in sum when B starts again elsewhere
};

struct CancelOptions {
  CancelRule rule = CancelRule::off;
  double threshold = 0.65;  ///< of A's speed, relative to alone
  Seconds after{60};        ///< "several tens of training steps"
  bool both = false;        ///< B's speed counts too, where similar jobs show how fast it would be
};

/// Takes cancel (off, slowdown, gain), threshold, cancel_after_s, check_both. Errors: unsupported.
[[nodiscard]] Result<CancelOptions> take_cancel_options(PolicyOptions& settings);

class PackingWatch {
 public:
  explicit PackingWatch(CancelOptions options) : options_(options) {}

  void packed(const View& view, JobId newcomer, JobId resident);
  /// A job has started alone after it waited: how long an evicted one might.
  void started_alone(const View& view, JobId id);
  struct Pair {
    JobId newcomer{}, resident{};
  };
  /// It is nobody's resident any more.
  void ended(JobId id) { checked_.erase(id); }
  /// A pair whose newcomer has to go now; call it until there is none. The caller evicts.
  [[nodiscard]] std::optional<Pair> next_to_cancel(const View& view);
  /// When to look again, or `never`.
  [[nodiscard]] SimTime next() const { return checks_.empty() ? never : checks_.top().at; }

 private:
  struct Check {
    SimTime at;
    Pair pair;
    bool operator<(const Check& other) const {
      return std::tie(at, pair.newcomer) > std::tie(other.at, other.pair.newcomer);
    }
  };
  [[nodiscard]] static bool still_shares(const View& view, const Check& check);
  [[nodiscard]] bool has_to_go(const View& view, const Pair& pair) const;
  [[nodiscard]] bool gains(const View& view, const Pair& pair, double speed) const;

  CancelOptions options_;
  std::priority_queue<Check> checks_;
  std::map<JobId, Check> checked_;  // by resident: judged once, and its log goes on
  double usual_wait_s_ = 0;         // of jobs that started alone, decaying mean
};

}  // namespace schedmate::policy
