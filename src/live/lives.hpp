// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is known of each job beside what the cluster shows: what its code says, how far its log
/// is, whether it hangs, and why it failed. Follows the jobs' changes, says which studies are due
/// and takes what they found.

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "live/jobs.hpp"
#include "live/study_queue.hpp"

namespace schedmate::live {

enum class Health : std::uint8_t { unknown, ok, slow, hung, failed };
[[nodiscard]] std::string_view name_of(Health health);

/// A failure of an earlier attempt of the same job.
struct EarlierFailure {
  std::string fingerprint;
  std::optional<double> step;
  std::int64_t restarts = 0;  ///< of that attempt
  std::string reason{};       ///< for people, the first 200 bytes
};

/// Of one attempt, and what earlier ones left.
struct Life {
  std::uint64_t attempt = 0;
  SimTime submitted{};
  std::int64_t restarts = 0;
  std::optional<CodeFound> code{};
  std::optional<LogFound> log{};
  std::optional<SimTime> looked{};  ///< at its log, last
  struct Point {
    SimTime when;
    double step = 0;
    std::optional<double> loss;
  };
  std::vector<Point> points{};             ///< rising steps, thinned evenly
  std::optional<double> fastest_step_s{};  ///< the lowest median step time so far, in all attempts
  std::optional<CauseFound> cause{};
  bool cause_is_due = false, is_handled = false;  ///< of its failure
  /// When its end was shown first; clusters may show it much later than it was.
  std::optional<SimTime> end_shown{};
  std::vector<EarlierFailure> earlier{};
  std::string note{};  ///< what could not be read, for people
  /// It makes no steps, and what was done about that.
  struct Hang {
    SimTime since;
    std::optional<double> step{};  ///< that it stands at
    bool told = false, restarted = false;
  };
  std::optional<Hang> hang{};
  bool is_alone = false;  ///< it was evicted from GPUs that it shared, and shares no more

  /// At the last look at its log.
  [[nodiscard]] Health health() const;
};

struct LifeOptions {
  StudyQueue::Options queue{};
  Seconds follow{30};  ///< between two looks at a log
  std::size_t most_points = 240;
  /// The cluster keeps what was submitted, so that jobs without a command can be read as well.
  bool keeps_scripts = false;
};

class Lives {
 public:
  Lives() = default;
  explicit Lives(const LifeOptions& options) : options_(options), queue_(options.queue) {}

  /// A value of text(), of an earlier process. Errors: invalid.
  Result<void> restore(const std::string& id, std::string_view text);
  /// What text() leaves out, of the same attempt in an earlier loop. After restore(), before the
  /// first job is resumed or followed.
  void recall(const std::string& id, const Life& earlier);
  /// Goes on with a job that an earlier process knew, or that was there before this one.
  void resume(const Attempt& attempt, SimTime now);
  void follow(const Change& change, SimTime now);
  /// It ended well, and yet why it ended is to be known.
  void doubt(const Attempt& attempt, SimTime now);
  /// The cluster shows it no more.
  void forget(const std::string& id);

  /// Studies to be made now, of jobs as `jobs` has them.
  std::vector<Study> take(const Jobs& jobs, SimTime now);
  /// The id of the job of which something else is known now; nothing where all is as it was, or
  /// nobody waited for it.
  std::optional<std::string> returned(std::uint64_t number, const Result<Finding>& finding,
                                      SimTime now);

  /// Studies that nobody has answered in time are given up or made again later: of these jobs.
  std::vector<std::string> give_up(SimTime now);

  [[nodiscard]] const Life* find(const std::string& id) const;
  [[nodiscard]] const std::map<std::string, Life>& all() const { return lives_; }  ///< by id
  /// Jobs that hang, by id.
  [[nodiscard]] const std::set<std::string>& hanging() const { return hanging_; }
  /// What was done about one of them.
  void note_hang(const std::string& id, const Life::Hang& hang);
  /// It is evicted from GPUs that it shares.
  void shares_no_more(const std::string& id) { lives_[id].is_alone = true; }
  /// Its failure has been dealt with.
  void handled(const std::string& id);
  /// Failed attempts whose cause is known, or will not be, and that nobody has dealt with: by id.
  [[nodiscard]] std::vector<std::string> unhandled() const;
  /// What restore() takes; "": nothing that must be kept.
  [[nodiscard]] std::string text(const std::string& id) const;
  /// What the journal's row of it is to hold, as text(); nothing where it has none and needs none.
  std::optional<std::string> row(const std::string& id);
  [[nodiscard]] static std::string key(const std::string& id) { return "life " + id; }
  /// The fingerprint of an earlier attempt that hung and was restarted for that.
  static constexpr std::string_view hung = "hung";

  [[nodiscard]] SimTime next() const { return queue_.next(); }
  [[nodiscard]] const StudyQueue::Counts& counts() const { return queue_.counts(); }

 private:
  Life& begin(const Attempt& attempt);
  void want(const Attempt& attempt, SimTime now);
  void take(Life& life, const LogFound& found, SimTime looked) const;
  void see_hang(const std::string& id, Life& life);
  std::optional<std::string> settle(const StudyQueue::Answered& study,
                                    const Result<Finding>& finding, SimTime now);

  LifeOptions options_;
  StudyQueue queue_;
  std::map<std::string, Life> lives_;
  std::map<std::uint64_t, std::string> ids_;  // by attempt
  std::set<std::string> unhandled_, hanging_;
  std::set<std::string> rows_;  // that stand in the journal
};

/// Whether its end is a failure of which something can be known.
[[nodiscard]] bool wants_cause(const SeenJob& job);

}  // namespace schedmate::live
