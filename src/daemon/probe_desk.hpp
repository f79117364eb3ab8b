// SPDX-License-Identifier: Apache-2.0
#pragma once

/// POST /api/v1/probe: who may speak, and what becomes of it.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <schedmate/clock.hpp>
#include <schedmate/connector.hpp>
#include <string>
#include <variant>
#include <vector>

#include "daemon/probes.hpp"
#include "http/metrics.hpp"
#include "http/request.hpp"
#include "live/loop_options.hpp"
#include "probe/gate.hpp"
#include "probe/report.hpp"

namespace schedmate::daemon {

/// A report whose node is proved.
struct ProbeMessage {
  probe::Message sealed;  ///< without its body
  probe::Report report;
};

class ProbeDesk {
 public:
  using Nodes = std::map<std::string, SeenNode, std::less<>>;

  /// `session`: hexadecimal digits that no other run has. Without it, or with an empty secret,
  /// nobody is heard.
  ProbeDesk(const std::string& secret, const std::string& session)
      : gate_(session.empty() ? "" : secret, session) {}

  [[nodiscard]] bool is_open() const { return gate_.is_open(); }
  /// What needs no state, the proof above all: from any thread, so that what proves nothing does
  /// not reach the loop. A message, or the refusal.
  [[nodiscard]] std::variant<ProbeMessage, http::Reply> check(const http::Request& request,
                                                              std::int64_t wall_s);

  struct Taken {
    http::Reply reply;
    std::vector<live::NodeWitness> witnesses;
  };
  /// The loop's thread, as all that follows. `nodes`: those of the cluster.
  [[nodiscard]] Taken take(const ProbeMessage& message, const Nodes& nodes, const Probes::Now& now);
  /// What the loop asks of jobs' GPUs is answered from here; measured profiles where `options` knew
  /// none before.
  void answer(live::LoopOptions& options, const Clock& clock);
  [[nodiscard]] Probes& probes() { return probes_; }
  [[nodiscard]] const Probes& probes() const { return probes_; }
  [[nodiscard]] std::vector<http::Metric> metrics(const Nodes& nodes, std::int64_t wall_s) const;

 private:
  [[nodiscard]] http::Reply refuse(const probe::Refusal& refusal, const std::string& node);

  probe::Gate gate_;
  Probes probes_;
  std::array<std::atomic<std::uint64_t>, probe::verdicts> counts_{};
  std::uint64_t witnesses_ = 0;
};

}  // namespace schedmate::daemon
