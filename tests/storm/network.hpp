// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What lies between a daemon and the cluster: calls and readings are late, lost, doubled or lied
/// about. Each is answered, at its deadline at the latest, whether the daemon still lives or not.

#include <deque>
#include <functional>
#include <memory>
#include <schedmate/connector.hpp>
#include <set>
#include <string>

#include "tests/storm/book.hpp"
#include "tests/storm/faults.hpp"
#include "tests/storm/model_cluster.hpp"
#include "tests/storm/timeline.hpp"

namespace schedmate::storm {

class Network {
 public:
  /// A call ends by then; one that is late arrives at most `lateness` after that.
  static constexpr Millis deadline = 10'000, lateness = 15'000;

  Network(Dice& dice, Timeline& timeline, Book& book, ModelCluster& cluster)
      : dice_(dice),
        timeline_(timeline),
        book_(book),
        cluster_(cluster),
        random_(dice.stream("network")) {}

  void call(const Sent& sent, const std::function<void(CallReply)>& answer);
  using Shown = std::shared_ptr<const Listing>;
  void list(SimTime ended_since, const std::function<void(const Result<Shown>&)>& answer);

 private:
  using Answer = std::function<void(CallReply)>;
  void arrive(const Sent& sent, Millis after, Answer answer);
  Shown part_of(const Shown& whole);
  [[nodiscard]] Millis latency() { return random_.between(2, 200); }

  Dice& dice_;
  Timeline& timeline_;
  Book& book_;
  ModelCluster& cluster_;
  Random random_;
  std::deque<Shown> older_;
  std::set<std::string> left_out_;  // by the last reading
  int parts_ = 0;                   // in a row
};

}  // namespace schedmate::storm
