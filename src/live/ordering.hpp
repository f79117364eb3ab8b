// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who should go first where the cluster starts jobs itself: an order for each waiting job
/// (ActionKind::set_order) by the work that is expected of it and by how long it has waited.
///
/// - An order only raises: 0 is neutral, `span` the most. The least work (a GPU minute) or less
///   gets all of it, the most (1,000 GPU hours) nothing, and between them the logarithm decides.
///   What a job has once it keeps.
/// - Waiting raises, too: by all of the span in a week, so that nobody starves by others' orders.
/// - A job without advice, of a user of whom none has ended yet, stands in the middle of the known
///   ones that wait. While nobody is known in a pool, nothing is ordered there.
/// - Few changes: by at least a fiftieth of the span, looked for every ten minutes (of a week).
/// - An order that somebody else has set, changed or taken back is left alone, for good; a job
///   whose priority somebody has fixed, until that is taken back.
///
/// Values; no I/O, no clock. One thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/policy.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/jobs.hpp"

namespace schedmate::live {

class Ordering {
 public:
  struct Setup {
    /// Scheduler::expected_work: seconds, or GPU seconds.
    double (*work)(const JobInfo& job) = nullptr;
    Estimator estimator{};  ///< copied for each pool; empty: nothing is known of anybody
    std::int64_t span = 1000;
    double least_work = 60, most_work = 1000.0 * 3600;  ///< as `work` gives it
    Seconds ageing{7 * 86'400};     ///< so long a wait raises by all of the span
    std::size_t most_at_once = 20;  ///< wishes of one call of wishes()
  };
  explicit Ordering(Setup setup) : setup_(std::move(setup)) {}

  /// What an earlier process set and left alone: a value of text() by its key().
  void restore(std::string_view key, std::string_view text);
  [[nodiscard]] static std::string key(const std::string& id) { return "order " + id; }

  /// It waits; `job` names it by the number of its attempt.
  void enter(const KnownJob& job, const SeenJob& seen, SimTime now);
  /// It waits as before, but for what is seen of it.
  void alter(std::uint64_t number, const SeenJob& before, const SeenJob& seen);
  void leave(std::uint64_t number) { waiting_.erase(number); }
  /// It has ended in that pool.
  void learn(const std::string& pool, const FinishedJob& job);
  /// The cluster knows it no more.
  void forget(const std::string& id);
  /// An operator has taken back or refused an order.
  void leave_alone(const ActionCall& call);

  /// What its code says of a job; null: nothing.
  using Advice = std::function<const Prediction*(const std::string& id)>;
  struct Wish {
    std::uint64_t number = 0;  ///< of the attempt
    std::string id{};
    std::int64_t order = 0;
    std::string why{};
    bool known = false;  ///< it is by the work that is expected
  };
  /// Orders to be set, those that are due first. Whether one is proposed or not, it comes again
  /// only after a while, and if it is not what is seen.
  std::vector<Wish> wishes(SimTime now, const Advice& advice = {});
  /// A wish goes out to the cluster: what is seen of it then is known as our own.
  void sets(const std::string& id, SimTime submitted, std::int64_t order);

  /// Among those that wait in its pool, from 1 on, by order and then by submission.
  struct Place {
    std::int64_t now = 0, would_be = 0, of = 0;
  };
  [[nodiscard]] std::optional<Place> place(std::uint64_t number) const;

  /// What it would have if its wish were granted. `known`: by the work that is expected of it.
  struct WouldBe {
    std::int64_t order = 0;
    bool known = false;
  };
  /// Nothing where it does not wait, or was not looked at yet.
  [[nodiscard]] std::optional<WouldBe> would_be(std::uint64_t number) const;

  /// To be kept for another process, by key; "": nothing any more.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> take_kept() {
    return std::exchange(kept_, {});
  }

 private:
  struct Pool {
    Estimator estimator;
    std::set<std::uint32_t> users;  // of whom a job has ended
  };
  struct Waiting {
    std::string id, pool;
    KnownJob job;
    std::int64_t seen = 0, wish = 0;
    std::int64_t by_work = -1;  // of the order; -1: not known
    std::string why{};
    bool looked_at = false, fixed = false;
  };
  struct Own {
    SimTime submitted;
    std::int64_t last = 0, before = 0;  // orders that were set
    bool left_alone = false;
  };
  [[nodiscard]] Pool& pool(const std::string& name);
  using Middles = std::map<std::string, std::int64_t>;  // by pool
  void expect(Waiting& job, SimTime now, const Prediction* advice);
  void look(Waiting& job, SimTime now, Middles& middles);
  [[nodiscard]] std::optional<Prediction> expected(const Waiting& job, SimTime now,
                                                   const Prediction* advice);
  [[nodiscard]] std::int64_t by_work(double work) const;
  [[nodiscard]] std::int64_t middle(const std::string& pool) const;
  [[nodiscard]] std::int64_t step() const;
  [[nodiscard]] bool is_left_alone(const Waiting& job) const;
  Own& own(const std::string& id, SimTime submitted);
  void keep(const std::string& id);

  Setup setup_;
  std::map<std::string, Pool, std::less<>> pools_;
  std::map<std::uint64_t, Waiting> waiting_;         // by the number of the attempt
  std::set<std::pair<SimTime, std::uint64_t>> due_;  // to be looked at
  std::deque<std::uint64_t> fresh_;                  // with wishes that were not told yet
  std::map<std::string, Own> own_;                   // by id
  std::vector<std::pair<std::string, std::string>> kept_;
};

}  // namespace schedmate::live
