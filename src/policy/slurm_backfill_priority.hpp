// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The waiting jobs in the order of Slurm's priority/multifactor plugin: a weighted sum of factors
/// between 0 and 1, cut to a whole number; then submission, then entry. As there, priorities are
/// kept and made again only every calculation period. Jobs of one user that are alike keep their
/// order, so a calculation costs the users, and the order what is asked of it. Factors:
/// - age: time since submission / max_age, at most 1;
/// - job size: the mean of the job's share of the nodes and of the GPUs of the VC, or with
///   favor_small one minus that;
/// - fairshare, classic: 2^-(used / due). Used is the user's part of all GPU time used so far,
///   of which half is forgotten every half_life; due is one over the users seen so far. 1 for a
///   user who has used nothing; in an account of its users, which answers for what they used
///   together, 2^-(1 + used * (users - 1)), so 1/2 for him;
/// - shortness (ours, for slurm_backfill+sm): 1 for a job that is expected to last a minute or
///   less, falling with the logarithm to 0 at a week; 1/2 without advice.
/// An order that was set from outside (JobInfo::order) is added, as a site factor is there.
///
/// A job that another scheduler has ranked (JobInfo::rank) keeps that priority, with what age adds
/// to it, and what its user's fairshare has gained or lost since the second calculation that knew
/// of him; all else in it stays as it was.

#include <compare>
#include <map>
#include <optional>
#include <queue>
#include <schedmate/policy.hpp>
#include <set>
#include <vector>

namespace schedmate::policy {

struct MultifactorWeights {
  std::int64_t age = 1000;  ///< the weights of the example in Slurm's documentation
  std::int64_t job_size = 1000;
  std::int64_t fairshare = 10'000;
  std::int64_t shortness = 0;
  bool favor_small = false;
  bool in_account = false;  ///< fairshare among the users of one account
  Seconds max_age{7 * 86'400};
  Seconds half_life{7 * 86'400};  ///< 0 = nothing is forgotten
  Seconds calc_period{300};       ///< at multiples of it on the trace's clock
};

class MultifactorQueue {
 public:
  explicit MultifactorQueue(const MultifactorWeights& weights) : weights_(weights) {}

  /// Makes the priorities again if a calculation was due since the last call; true if it may have
  /// changed the order. Comes before what else happens at that instant.
  bool calculate(const View& view);
  /// The next calculation that may change the order; never if none can.
  [[nodiscard]] SimTime next_calculation(SimTime now) const;

  void push(const View& view, JobId id);
  void remove(JobId id);
  /// Runs already; what its user used before this run is not known.
  void adopt(const View& view, JobId id);
  void started(const View& view, JobId id) { use(view, id, view.job(id).gpus); }
  void ended(const View& view, JobId id) { use(view, id, -view.job(id).gpus); }

  [[nodiscard]] bool empty() const { return gangs_.empty(); }
  /// Of those that wait; there must be one.
  [[nodiscard]] int smallest_gang() const { return gangs_.begin()->first; }

  struct Entry {
    std::uint64_t priority = 0;
    SimTime submit;
    JobId job{};
    auto operator<=>(const Entry& other) const {
      if (const auto order = other.priority <=> priority; order != 0) return order;
      if (const auto order = submit <=> other.submit; order != 0) return order;
      return job <=> other.job;
    }
    bool operator==(const Entry&) const = default;
  };
  /// The first is to start first; there must be one.
  [[nodiscard]] JobId first();

 private:
  /// By whom it is ranked: here, or before; then by whether it still gains by waiting.
  enum class Ranked : std::uint8_t { here, gains, in_full };
  /// What makes priorities differ besides submission.
  struct Kind {
    std::uint32_t user = 0;
    int gpus = 0;
    double shortness = 0;
    Ranked ranked = Ranked::here;  // before: gpus and shortness are 0
    std::int64_t order = 0;
    auto operator<=>(const Kind&) const = default;
  };
  struct Waiting {
    double behind = 0;  // ranked before: minus its priority without age; if it gains, at time 0
    SimTime submit;
    JobId job{};
    auto operator<=>(const Waiting&) const = default;
  };
  struct Line {
    std::vector<Waiting> jobs;  // in order
    Ranked ranked = Ranked::here;
    // Of the factors by kind, weighted; since the order was first asked for.
    double size = 0, fairshare = 0, shortness = 0, order = 0;
  };

 public:
  /// One by one from the first on, until the queue changes.
  class InOrder {
   public:
    [[nodiscard]] std::optional<Entry> next();

   private:
    friend MultifactorQueue;
    explicit InOrder(const MultifactorQueue& queue)
        : queue_(queue), leader_(queue.leaders_.begin()) {}
    struct Follower {
      Entry entry;
      const Line* line;
      std::size_t place;
      bool operator<(const Follower& other) const { return entry > other.entry; }
    };
    void follow(const Line& line, std::size_t place);

    const MultifactorQueue& queue_;
    std::set<Entry>::const_iterator leader_;
    std::priority_queue<Follower> followers_;
  };
  [[nodiscard]] InOrder in_order();

 private:
  struct User {
    double used_gpu_s = 0;  // as of `known`, what is forgotten left out
    SimTime known;
    int gpus = 0;              // in use since
    double counted_gpu_s = 0;  // used_gpu_s at the last calculation
    int calculations = 0;      // that knew of him: 0 to 2
    double base = 0;           // his fairshare at the second
  };
  [[nodiscard]] User& user_of(const JobInfo& job, SimTime known);
  [[nodiscard]] double fairshare_gained(const User& user) const;
  /// When priorities are made, and the size of the VC then.
  struct Moment {
    SimTime when;
    int nodes = 0;
    int gpus = 0;
    int gpus_per_node = 1;
    [[nodiscard]] double size_of(int gang) const;
  };
  [[nodiscard]] static Moment moment(const View& view, SimTime when);
  struct Place {
    Kind kind;
    Waiting job;
    int gang = 0;
    std::uint64_t priority = 0;  // of a newcomer alone
    SimTime in_full = never;     // ranked before: gains no more from then on
    bool is_new = true;          // since the last calculation
    [[nodiscard]] Entry entry() const { return {priority, job.submit, job.job}; }
  };
  [[nodiscard]] Place place_of(const View& view, JobId id) const;
  void take_rank(Place& place, const Rank& rank, SimTime now) const;
  /// Those that have gained in full by then.
  void move_on(SimTime when);
  void weigh(Line& line, const Kind& kind, const Moment& moment) const;
  [[nodiscard]] std::uint64_t priority(const Line& line, const Waiting& job, SimTime when) const;
  [[nodiscard]] Entry entry_of(const Line& line, const Waiting& job) const {
    return {priority(line, job, calculated_.when), job.submit, job.job};
  }
  [[nodiscard]] double fairshare(const User& user) const;
  void line_up();
  void use(const View& view, JobId id, int gpus);
  void settle(User& user, SimTime when);
  void share_out(SimTime when);

  MultifactorWeights weights_;
  JobMap<Place> places_;
  std::map<int, int> gangs_;    // how many wait, by gang
  std::map<Kind, Line> lines_;  // of all but the newcomers; none is empty
  // The newcomers and, once the order is asked for, the first of each line.
  std::set<Entry> leaders_;
  bool lined_up_ = true;
  std::map<std::uint32_t, User> users_;
  Moment calculated_;
  double all_gpu_s_ = 0;  // used by all then
  double users_then_ = 0;
  SimTime next_ = SimTime::min();
  bool gain_apart_ = false;       // by waiting: some were ranked before, or have an order
  SimTime next_in_full_ = never;  // of those that gain
  Seconds passed_{0};             // of what was used so long ago,
  double kept_ = 1;               // so much counts
};

}  // namespace schedmate::policy
