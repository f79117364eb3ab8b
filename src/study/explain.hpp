// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Why one job waited (docs/formats/explain.md). The simulator's observer shows every decision
/// point; two passes over the same replay are needed: in the first one the explainer looks at when
/// the other VCs had room, in the second it follows the job itself.

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/report.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.hpp"

namespace schedmate::study {

enum class WaitReason : std::uint8_t {
  gpus_busy,      ///< fewer free GPUs in its VC than it needs
  fragmentation,  ///< enough free GPUs, but no placement
  jobs_ahead,     ///< it could be placed if the order allowed, or but for jobs served before it
  vc_limit,       ///< its VC had no room, another one had
  round,          ///< until the next scheduling round
  profiler,       ///< in front of Lucid's profiler
};
[[nodiscard]] std::string_view to_string(WaitReason reason);

/// A job that held GPUs of the VC while the explained one waited.
struct Holder {
  std::uint32_t row = 0;  ///< index into Trace::jobs
  int gpus = 0;
  SimTime since;           ///< start of its run
  std::int64_t gpu_s = 0;  ///< GPUs x seconds within the interval
  bool overtook = false;   ///< started while the explained job waited
};

struct Wait {
  SimTime from;
  SimTime to;
  WaitReason reason = WaitReason::gpus_busy;
  std::vector<Holder> holders;         ///< those that overtook first, then largest gpu_s
  std::vector<std::string> elsewhere;  ///< VCs with room, for vc_limit
};

struct Explanation {
  std::string label;
  std::uint32_t row = 0;
  JobOutcome outcome;
  std::vector<Wait> waits;  ///< by begin
  int profiler_gpus = 0;    ///< of the job's VC, which a profiler holds all the time
};

class Explainer {
 public:
  struct Subject {
    const Trace& trace;
    const ClusterSpec& cluster;
    Placer placer;
    std::uint32_t row;      ///< index into Trace::jobs
    int profiler_gpus = 0;  ///< of the job's VC, lent to a profiler all the time
  };
  explicit Explainer(const Subject& subject);
  void look_around(const SimOptions::Moment& moment);  ///< first pass
  void follow(const SimOptions::Moment& moment);       ///< second pass
  [[nodiscard]] Explanation finish(const RunRecord& record) &&;

 private:
  /// A queue the job stands in: that of its VC or of the profiler.
  struct Queue {
    JobId scanned{};  // jobs of the VC seen so far
    std::optional<JobId> job;
    bool waiting = false;
    SimTime since;    // begin of this wait
    SimTime checked;  // last decision point of it
    WaitReason reason = WaitReason::gpus_busy;
    std::vector<Holder> holders;
  };
  void find(const SimOptions::Moment& moment, Queue& queue);
  void judge(const SimOptions::Moment& moment, Queue& queue);
  [[nodiscard]] WaitReason reason(const SimOptions::Moment& moment, const Queue& queue) const;
  void close(SimTime until, Queue& queue);
  void add(Wait wait);
  void settle();
  [[nodiscard]] std::vector<std::string> room_at(SimTime time) const;
  [[nodiscard]] SimTime next_change(SimTime after) const;

  std::uint32_t row_;
  int gpus_;
  int profiler_gpus_;
  std::set<std::string, std::less<>> vcs_;
  std::map<std::string, std::map<SimTime, bool>, std::less<>>
      room_;                                          // other VCs: room from then on
  std::map<std::string, Queue, std::less<>> queues_;  // by VC, or the profiler
  std::vector<Wait> waits_;
  std::map<std::pair<std::uint32_t, SimTime>, Holder> held_;  // in the last of waits_
};

/// The part of a document that is about this job.
[[nodiscard]] Document explanation_document(const Explanation& explanation, const Trace& trace);

}  // namespace schedmate::study
