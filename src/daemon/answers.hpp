// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the routes of http/routes.def give, from the state of the loop. Called by its thread.

#include <memory>
#include <optional>
#include <schedmate/caller.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/first_forecasts.hpp"
#include "daemon/forecasts.hpp"
#include "daemon/history.hpp"
#include "daemon/history_ends.hpp"
#include "daemon/probe_desk.hpp"
#include "daemon/worker_desk.hpp"
#include "http/events.hpp"
#include "http/metrics.hpp"
#include "http/request.hpp"
#include "live/loop.hpp"

namespace schedmate::daemon {

/// What is told of each job but for its `eta`, as text, made once for each change of it.
class JobTexts {
 public:
  /// A JSON object without its closing bracket. Valid until the job changes.
  const std::string& of(const SeenJob& job, const live::Lives& lives);
  void forget(const std::string& id) { texts_.erase(id); }
  /// Of jobs that are gone.
  void keep_at_most(std::size_t jobs) {
    if (texts_.size() > 2 * jobs + 1000) texts_.clear();
  }

 private:
  std::unordered_map<std::string, std::string> texts_;
};

struct State {
  const live::Loop& loop;
  JobTexts& texts;
  const ClusterHistory& history;
  const JobActions& job_actions;
  SimTime now;
  std::string journal;                 ///< its file
  const Forecast* forecast = nullptr;  ///< the last one; null: there is none yet
  FirstForecasts::Counts foretold{};   ///< starts
  const ProbeDesk* desk = nullptr;     ///< null: probes are not heard
  std::int64_t wall_s = 0;             ///< since 1970, by this machine's clock
  bool starts_jobs = false;            ///< the cluster starts none itself
  HistoryEnds ends{};                  ///< of jobs
  WorkerDesk::Counts readings{};       ///< for which workers are configured
  std::string trouble{};          ///< why the cluster is not seen, so all this is old; "": it is
  std::string stopped{};          ///< why nothing is called; "": there is no such reason
  std::uint64_t loop_number = 0;  ///< of `loop`: each reload begins another one
};

/// Whose jobs there are, by id: for other threads.
struct JobOwner {
  std::string user;
  SimTime submitted;
};
using JobOwners = std::unordered_map<std::string, JobOwner>;

/// Which actions a caller may see, by the jobs that were there when he asked.
class SeenActions {
 public:
  /// `owners` null: no job is known to be anybody's. An operator needs none.
  SeenActions(Caller caller, std::shared_ptr<const JobOwners> owners)
      : caller_(std::move(caller)), owners_(std::move(owners)) {}
  [[nodiscard]] bool all() const { return caller_.role == Role::cluster_operator; }
  [[nodiscard]] bool holds(const Action& action) const;

 private:
  Caller caller_;
  std::shared_ptr<const JobOwners> owners_;
};

/// What an operator has decided; nothing where the request is no such. Errors: invalid.
[[nodiscard]] std::optional<Result<live::Decided>> decision_of(const http::Request& request);

/// The answer where the action has come to its end; nothing where it is open, or there is none.
[[nodiscard]] std::optional<http::Reply> past_decision(const live::Decided& asked,
                                                       const State& state);

[[nodiscard]] http::Reply answer_to(const http::Request& request, const State& state,
                                    const std::shared_ptr<http::EventLog>& events);
/// Of the route `job`, but for actions that have ended and what the history knows (archive.hpp);
/// nothing: there is no such job, or not for the caller.
[[nodiscard]] std::optional<Document> whole_job(const http::Request& request, const State& state);
/// The last ones about a job, of those that the loop has no more.
[[nodiscard]] std::vector<std::int64_t> ended_actions(const std::string& job, const State& state);
// Each from the journal's file alone, by any thread; of the route:
/// `audit`,
[[nodiscard]] http::Reply audit_reply(const http::Request& request, const std::string& journal);
/// `actions`,
[[nodiscard]] http::Reply actions_reply(const http::Request& request, const SeenActions& seen,
                                        const std::string& journal);
/// `action`; `open`: as it is, where it is not at its end.
[[nodiscard]] http::Reply one_action_reply(const http::Request& request, const SeenActions& seen,
                                           const std::string& journal,
                                           const Action* open = nullptr);
/// `job`: adds those of these actions that are about it to its open ones, oldest first.
void add_ended_actions(const std::vector<std::int64_t>& ids, const Caller& caller,
                       const std::string& journal, Document& job);
[[nodiscard]] http::Reply action_reply(std::int64_t id, const State& state);

/// For the document of the cluster: its name, who asks, the modes, what waits for an operator.
void put_overview(Document& cluster, const http::Request& request, const State& state);

/// For /metrics.
[[nodiscard]] std::vector<http::Metric> metrics_of(const State& state);
/// What it has seen and done, in one line.
[[nodiscard]] std::string summary_of(const State& state);

/// For the stream; nothing when it is gone.
[[nodiscard]] std::optional<http::Event> event_of(const live::Noted& noted, const State& state);

}  // namespace schedmate::daemon
