// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What must hold of every policy, checked in two independent ways: at every decision point (Watch)
/// and from the outcomes alone.

#include <map>
#include <schedmate/sim.hpp>
#include <string>
#include <vector>

#include "tests/conformance/random_world.hpp"

namespace schedmate::conformance {

/// What mode `reference` excepts from the rules; mode `repaired` excepts nothing. The defects that
/// are not here break none of them.
struct Exceptions {
  Seconds lag{0};            ///< late_end: every run ends this much later
  bool loose_queue = false;  ///< double_counted_queue, entry_at_submission: waits do not add up
  std::string echo_vc;  ///< node_echo: this VC has a node more or less now and then, renumbered
};
[[nodiscard]] Exceptions exceptions_of(const Scheduler& scheduler, const Defects& defects);

using Complaints = std::vector<std::string>;

/// An observer for SimOptions: looks at the cluster and the jobs after every decision.
class Watch {
 public:
  Watch(const World& world, const Scheduler& scheduler, Exceptions exceptions);
  void look(const SimOptions::Moment& moment);
  [[nodiscard]] const Complaints& complaints() const { return complaints_; }
  /// Whether a job was ever seen on a GPU with another.
  [[nodiscard]] bool shared() const { return shared_; }

 private:
  void look_at_job(const SimOptions::Moment& moment, JobId id);
  void look_at_cluster(const SimOptions::Moment& moment);
  void complain(const SimOptions::Moment& moment, const std::string& what);
  const World& world_;
  const Scheduler& scheduler_;
  Exceptions exceptions_;
  Complaints complaints_;
  bool shared_ = false;
};

/// Adds up what each job gets done, from the residents of its GPUs and the pair table alone.
class Progress {
 public:
  explicit Progress(const World& world)
      : world_(world), done_s_(world.trace.jobs.size()), runs_(world.trace.jobs.size()) {}
  void look(const SimOptions::Moment& moment);
  /// Seconds of work at full speed, over all attempts; index into Trace::jobs.
  [[nodiscard]] double done_s(std::size_t row) const { return done_s_[row]; }
  [[nodiscard]] int runs(std::size_t row) const { return runs_[row]; }

 private:
  struct Running {
    std::uint32_t row = 0;
    double rate = 1;
  };
  struct Seen {
    SimTime at;
    std::map<std::uint32_t, Running> running;  // by JobId
  };
  [[nodiscard]] double rate_of(const SimOptions::Moment& moment, JobId id) const;

  const World& world_;
  std::vector<double> done_s_;
  std::vector<int> runs_;
  std::map<std::string, Seen> seen_;  // by VC
};

/// One finished replay.
struct Replay {
  const World& world;
  const Scheduler& scheduler;
  const SimOptions& options;
  const SimResult& result;
};

/// No job lost, infeasible exactly when too large, no start before submission, gangs whole on
/// distinct GPUs, every run as long as its work at its speed, all times of a job add up.
[[nodiscard]] Complaints check_jobs(const Replay& replay, const Exceptions& exceptions);

/// What is done, at the speeds that sharing leaves, is the job's work, what was lost and the
/// overhead, to the second for each run.
[[nodiscard]] Complaints check_progress(const Replay& replay, const Progress& progress);

/// No GPU has more than `most` jobs at an instant, from the start, end and nodes of the jobs that
/// had one run alone.
[[nodiscard]] Complaints check_capacity(const Replay& replay, const Exceptions& exceptions,
                                        std::size_t most);

/// Everything an outcome says, for comparing replays byte by byte.
[[nodiscard]] std::string text_of(const SimResult& result);
/// The jobs alone, as jobs.csv has them.
[[nodiscard]] std::string text_of(std::span<const JobOutcome> outcomes);

}  // namespace schedmate::conformance
