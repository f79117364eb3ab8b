// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a live loop is told of its site, and where it goes on. Values.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <schedmate/scheduler.hpp>
#include <string>
#include <vector>

#include "live/actions.hpp"
#include "live/ledger.hpp"
#include "live/lives.hpp"
#include "live/ordering.hpp"
#include "live/virtual_cluster.hpp"

namespace schedmate::live {

/// A stage in front of the pools that runs each small job for a short time to measure it
/// (Lucid 3.2). Its first attempt goes there; who does not end in time goes on to its pool.
struct Profiling {
  std::string pool{};  ///< the partition of its nodes; "": there is no such stage
  Seconds time{200};
  std::int32_t max_gpus = 8;
  ProfilerStage::Bypass bypass = ProfilerStage::Bypass::none;
};

struct LoopOptions {
  Settings settings;
  Seconds poll{1};
  /// So much longer than ends may come late are jobs that have ended followed: in that time their
  /// failures are read, and people see them.
  Seconds shown_for{600};
  /// Who decides in a pool of that name; null: nobody starts jobs here.
  std::function<VirtualCluster::Setup(const std::string& name)> pool{};
  Profiling profiling{};
  /// Where the cluster starts jobs itself: who goes first. Nothing: nobody is told.
  std::optional<Ordering::Setup> ordering{};
  LifeOptions lives{};
  /// The cluster shows a job as ended only once its nodes are clear, or lost: one that ended well
  /// and lost a node just then was not as well as its script says.
  bool ends_when_clear = false;
  /// What was measured of its GPU use; null: nothing. It stays where it is. Empty: nothing is
  /// known.
  std::function<const Profile*(const SeenJob& job)> profile{};
  /// What samples of its GPUs say of an attempt that has ended. Empty: there are none.
  std::function<Sampled(const SeenJob& ended)> sampled{};
  /// Whether its GPUs do nothing; nothing, or empty: nobody knows.
  std::function<std::optional<bool>(const SeenJob& job)> is_idle{};
};

/// What the journal holds of an earlier loop.
struct Past {
  std::vector<Action> open{};
  std::int64_t next_action = 1;
  std::map<std::string, std::string> kept{};  ///< by name
};

}  // namespace schedmate::live
