// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What probes have told of their nodes (docs/probe.md): the latest state of each, what each job
/// made of its GPUs, and who says that a node is bad. No I/O, no clock; the loop's thread.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "live/actions.hpp"
#include "live/jobs.hpp"
#include "probe/job_use.hpp"
#include "probe/report.hpp"

namespace schedmate::daemon {

class Probes {
 public:
  /// One instant on two clocks.
  struct Now {
    std::int64_t wall_s = 0;  ///< since 1970, by this machine's clock
    SimTime cluster;
  };

  /// Where a job runs, or that it runs no more, as is seen now.
  void follow(const SeenJob& job, SimTime now);
  /// Jobs that the cluster shows no more are forgotten: one, and all others.
  void forget(const std::string& job);
  void keep_only(const live::Jobs& jobs);

  /// Uses of jobs, for a file, and back into an empty one: what is none is left out. Jobs are
  /// followed again after that.
  [[nodiscard]] Document kept() const;
  void restore(const Document& kept);

  /// A report of that node: samples go to the jobs that had its GPUs at their time. Gives what
  /// speaks against the node.
  std::vector<live::NodeWitness> take(const std::string& name, const probe::Report& report,
                                      const Now& now);

  /// Whether it has not spoken for three of its intervals, or never. What it said before says
  /// nothing of now.
  [[nodiscard]] bool is_silent(const std::string& node, std::int64_t wall_s) const;
  /// {gpus_state: [...] or null while it is silent, probe: {last_s, silent, ...}}.
  [[nodiscard]] Document state_of(const std::string& name, std::int64_t wall_s) const;

  /// Whether all GPUs of a running job do nothing; nothing: of one of them it is not known.
  [[nodiscard]] std::optional<bool> is_idle(const SeenJob& job, std::int64_t wall_s) const;
  /// Of its present or last run; null: nothing was measured.
  [[nodiscard]] const probe::JobUse* use_of(const SeenJob& job) const;
  /// Of this very run, so far.
  [[nodiscard]] probe::GpuSpans spans(const SeenJob& job) const;
  /// What was measured while nobody shared its GPUs, in this or an earlier run; null: too little.
  /// It stays where it is for ever: equal ones, rounded, are one.
  const Profile* profile(const SeenJob& job);

 private:
  struct Place {
    std::string job;
    SimTime submitted;
    std::int64_t restarts = 0;
    SimTime started;
    std::optional<SimTime> ended;
    std::vector<std::int32_t> gpus;  ///< empty: it is not known which
  };
  struct Xid {
    unsigned code = 0;
    std::optional<unsigned> gpu;
    std::int64_t at_s = 0;
    probe::Severity severity = probe::Severity::note;
  };
  struct Node {
    std::optional<std::int64_t> heard_s;
    std::int64_t every_s = 10;
    probe::Sample last;
    bool had_gpus = false;
    std::deque<Xid> xids;
    std::string kernel_error;
    std::uint64_t dropped = 0;
    std::vector<Place> places;
  };
  struct Use {
    SimTime submitted;
    std::int64_t restarts = 0;
    std::vector<std::string> nodes;
    probe::JobUse use;
    const Profile* profile = nullptr;
  };
  using Witnesses = std::vector<live::NodeWitness>;

  void leave(const SeenJob& job, const Use& use, SimTime now);
  void place(const SeenJob& job, Use& use);
  void share_out(const Node& node, const probe::Sample& sample, SimTime when);
  static void put_span(const Node& node, std::int64_t at_s, const probe::GpuSample& gpu,
                       probe::UseReading& reading);
  static void compare(const probe::GpuSample& before, const probe::GpuSample& now,
                      std::vector<std::string>& says);
  void judge(Node& node, const probe::Sample& sample, live::NodeWitness witness,
             Witnesses& witnesses);
  static void hear(Node& node, const probe::KernelEvent& event);
  [[nodiscard]] const Profile* interned(const probe::UseSummary& measured);

  std::map<std::string, Node, std::less<>> nodes_;
  std::map<std::string, Use, std::less<>> uses_;  // by job
  std::map<std::array<std::int64_t, 3>, Profile> profiles_;
};

}  // namespace schedmate::daemon
