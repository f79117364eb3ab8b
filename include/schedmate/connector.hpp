// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The seam of a cluster that SchedMate reads and acts on: Slurm, Ray, or a replay. Values in and
/// out; each operation ends by its deadline. A connector decides nothing, repeats nothing and
/// remembers nothing of what it was asked: what a call that was lost has done is seen by reading
/// again (docs/actions.md). Tests hold every connector against the same suite
/// (tests/support/connector_suite.hpp). One thread at a time calls one.

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/job.hpp>
#include <schedmate/policy.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Why the cluster says that a job waits, where that is not just its turn.
struct HostBlock {
  std::string word;  ///< the cluster's own: "Dependency"
  std::string kind;  ///< as in schedmate.why.v1: held, dependency, qos_limit, begin_time, ...
  std::string text;  ///< for people
  /// It waits for that instant alone. Nothing: for a person, a limit, another job.
  std::optional<SimTime> until{};
  bool operator==(const HostBlock&) const = default;
};

/// A job at one reading. What the cluster does not tell is empty or 0.
struct SeenJob {
  std::string id;
  /// With the id: which job it is, since ids come again.
  SimTime submitted;
  /// Times it was sent back to the queue: which attempt.
  std::int64_t restarts = 0;
  std::string name, user, partition;
  /// Where it was submitted, what runs, and its log; "" = the cluster does not tell.
  std::string dir{}, command{}, output{};
  /// The whole gang, at least 1 for a job that a policy may start.
  std::int32_t gpus = 0;
  /// What it may run at most; 0: no limit, or it is not known.
  Seconds limit{0};
  JobPhase phase = JobPhase::queued;
  /// Once it has ended.
  EndState end_state = EndState::unknown;
  /// Of the present attempt, or of the last one of a job that has ended. One that ended without
  /// `started` never ran.
  std::optional<SimTime> started{}, ended{};
  /// How its script ended, once it has; 0: well, or the cluster does not tell.
  std::int32_t exit_code = 0, exit_signal = 0;
  /// Of the present or last run.
  std::vector<NodeGpus> nodes;
  /// By anybody; `mark`: of the hold, where it was made with one.
  bool held = false;
  std::string mark;
  /// Somebody has said outright when it comes, so that no order would change that.
  bool fixed = false;
  /// What set_order, annotate and submit have left.
  std::int64_t order = 0;
  std::string note, token;
  /// Of one that waits.
  std::optional<HostBlock> blocked{};
  bool operator==(const SeenJob&) const = default;
};

/// A part of a job that has ended: what its script started (srun), or the script itself.
struct SeenStep {
  std::string id{};    ///< "0", "batch"; "+1.0" of the second part of a heterogeneous job
  std::string name{};  ///< by its user
  EndState end_state = EndState::unknown;
  std::int32_t exit_code = 0, exit_signal = 0;
  /// All that it had: the cluster does not tell which of them failed. Empty: too many.
  std::vector<std::string> nodes{};
  std::optional<SimTime> started{}, ended{};
  bool operator==(const SeenStep&) const = default;
};

/// A node at one reading. One that serves several partitions is shown with the first of them.
struct SeenNode {
  std::string name, partition;
  std::int32_t gpus = 0;
  NodeState state = NodeState::up;
  /// Why it is drained or down. It begins with the mark of whoever drained it, where that was
  /// SchedMate (docs/actions.md).
  std::string reason;
  /// Kept back, for release_spare.
  bool spare = false;
  /// The site's own check took it out of service, and no person; `reason` is what it said.
  bool failed_check = false;
  bool operator==(const SeenNode&) const = default;
};

/// The cluster at one instant.
struct Listing {
  /// Never falls. Readings of one version are the same but for `now`.
  std::int64_t version = 0;
  SimTime now;  ///< on the cluster's clock
  /// All that wait or run, in order of submission, and of those that ended the ones that did so
  /// at `ended_since` or later.
  std::vector<SeenJob> jobs;
  SimTime ended_since;  ///< as asked, or later where the cluster remembers less
  std::vector<SeenNode> nodes;
  /// Tokens of tests of nodes for which the cluster still keeps others away (end_test()).
  std::vector<std::string> tests{};
  /// When the cluster's controller began, which may have forgotten what happened just before; never
  /// earlier than that where an effect that was there is gone. Nothing: it does not tell.
  std::optional<SimTime> began{};
  /// What the cluster's own scheduler makes of jobs that wait, by id, SeenJob::order left out;
  /// empty: it does not tell. It changes without a new version.
  std::map<std::string, Rank, std::less<>> ranks{};
};

/// What a call came to, as far as whoever made it can tell.
enum class CallOutcome : std::uint8_t {
  /// The cluster says so.
  done,
  /// It says that it did not do it, and why.
  refused,
  /// No answer, or none that could be read: it may have done it, or do it yet.
  unknown,
};
struct CallReply {
  CallOutcome outcome = CallOutcome::unknown;
  std::string text{};  ///< refused, unknown: why
  std::string job{};   ///< submit: its id, when done
};

/// What this cluster lets the caller do. A kind that it cannot carry out says why.
struct Abilities {
  std::array<std::string, action_kinds> lacks{};  ///< by kind; "": it can
  [[nodiscard]] const std::string& lack(ActionKind kind) const {
    return lacks[static_cast<std::size_t>(kind)];
  }
};

class Connector {
 public:
  using Deadline = std::chrono::milliseconds;  ///< from now on

  virtual ~Connector() = default;

  /// Errors: unavailable.
  virtual Result<Abilities> abilities(Deadline within) = 0;
  /// All of it or an error. A part that is taken for the whole is noticed by what it lacks
  /// (live/doubts.hpp), at the price of a reading. Errors: unavailable; invalid for an answer that
  /// cannot be read.
  virtual Result<Listing> list(SimTime ended_since, Deadline within) = 0;
  /// As in list(); nothing where the cluster does not know it (any more). Errors: as in list().
  virtual Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) = 0;
  /// Once. A kind that it cannot carry out is refused.
  virtual CallReply call(const ActionCall& call, Deadline within) = 0;
  /// The job that was submitted with this token. Errors: as in list().
  virtual Result<std::optional<std::string>> find_submission(const std::string& token,
                                                             Deadline within) = 0;
  /// Whatever a test of nodes with this token has left: its job if it still runs, and what keeps
  /// others away from its nodes. One that was drained for its test stays drained. Harmless twice.
  virtual CallReply end_test(const std::string& /*token*/, Deadline /*within*/) {
    return {CallOutcome::done, {}, {}};
  }
};

}  // namespace schedmate
