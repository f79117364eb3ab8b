// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The jobs of a live cluster as they are followed from reading to reading, attempt by attempt:
/// what has happened to whom since the last one. Each attempt's life is told once, also across
/// restarts of the program: what was told is kept (text()) until the cluster shows the job no more.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::live {

/// An attempt before the present one.
struct PastRun {
  std::int64_t restarts = 0;
  std::optional<SimTime> started{}, ended{};
  EndState end_state = EndState::unknown;
  std::vector<NodeGpus> nodes{};  ///< the first ones, where there are many
};

/// One attempt of a job.
struct Attempt {
  std::uint64_t number = 0;     ///< never used again in this process; 0: not read yet by this one
  SeenJob seen;                 ///< at the last reading that showed it
  std::uint64_t starts = 0;     ///< in which place it started, among all; 0: it has not
  std::vector<PastRun> past{};  ///< of this job, oldest first; the last ones
  std::size_t place = 0;        ///< among the jobs of the last reading that showed it
};

struct Change {
  enum class Kind : std::uint8_t {
    arrived,   ///< in the queue (again): a new attempt
    started,   ///< runs now
    ended,     ///< for good, or its attempt ended (restarts rose)
    vanished,  ///< the cluster knows it no more, and never showed its end
    altered,   ///< waits or runs as before: held or released, another order, request or place
  };
  Kind kind;
  Attempt attempt;  ///< as it is now
  SeenJob before;   ///< as it was; of `arrived` empty
};
[[nodiscard]] std::string_view name_of(Change::Kind kind);
/// Into the order in which policies are told: ends (by time, then start), what vanished, starts,
/// arrivals, the rest.
void sort_for_policies(std::vector<Change>& changes);

class Jobs {
 public:
  /// Continues where an earlier process was: a value of text(). Errors: invalid.
  Result<void> restore(std::string_view text);

  /// What is new. A job of which several things are seen at once has them all told, in their order.
  /// Nothing for a reading of a version that was taken, unless it shows more jobs.
  std::vector<Change> take(const Listing& listing);
  /// Older than what was taken, here or before a restart: it tells of nothing.
  [[nodiscard]] bool is_old(const Listing& listing) const;

  [[nodiscard]] const Attempt* find(const std::string& id) const;
  /// By id, those that ended included as long as the cluster shows them.
  [[nodiscard]] const std::map<std::string, Attempt>& all() const { return jobs_; }
  [[nodiscard]] std::size_t waiting() const;
  /// Ends are asked for from here on.
  [[nodiscard]] SimTime ended_since() const { return ended_since_; }
  /// What was read so far, for another process; and from its text.
  [[nodiscard]] std::string read_text() const;
  void know_what_was_read(std::string_view text);

  /// What restore() takes: the attempt and how far its life was told.
  [[nodiscard]] static std::string text(const Attempt& attempt);
  [[nodiscard]] static std::string key(const std::string& id) { return "job " + id; }
  /// Ids of those that the last take() has forgotten: nobody needs their text any more.
  [[nodiscard]] const std::vector<std::string>& forgotten() const { return forgotten_; }

 private:
  [[nodiscard]] static bool is_new_attempt(const SeenJob& before, const SeenJob& seen);
  void follow(Attempt& attempt, const SeenJob& seen, SimTime now, std::vector<Change>& changes);
  void arrive(Attempt& attempt, const SeenJob& seen, std::vector<Change>& changes);
  static void remember(Attempt& attempt);
  using Known = std::map<std::string, Attempt>;
  /// What is known of it; jobs_.end(): nothing. The last one that was asked for stood before
  /// `next`.
  Known::iterator find(const std::string& id, std::size_t& next);
  Known::iterator forget(Known::iterator job, std::vector<Change>& changes);

  Known jobs_;
  std::vector<Known::iterator> shown_;  // by the last reading, in its order; end(): not followed
  std::uint64_t numbers_ = 0, starts_ = 0;
  std::int64_t version_ = -1, version_before_ = -1;  // before the restart
  SimTime ended_since_ = SimTime::min();
  std::vector<std::string> forgotten_;
};

}  // namespace schedmate::live
