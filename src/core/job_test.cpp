// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/job.hpp>
#include <set>

namespace schedmate {
namespace {

TEST_CASE("the pair table is read by newcomer and resident") {
  PackingTables tables;
  tables.profiles.resize(2);
  tables.pairs = {{0.9, 0.9}, {0.8, 0.7}, {0.6, 0.5}, {1.0, 1.0}};
  CHECK(tables.rate(0, 1).newcomer == 0.8);
  CHECK(tables.rate(0, 1).resident == 0.7);
  CHECK(tables.rate(1, 0).newcomer == 0.6);
}

TEST_CASE("a pair runs at full speed when a member is free of interference or unknown") {
  PackingTables tables;
  tables.profiles.resize(2);
  tables.profiles[1].interference_free = true;
  tables.pairs.assign(4, {0.5, 0.5});
  CHECK(tables.rate(0, 0).newcomer == 0.5);
  CHECK(tables.rate(0, 1).newcomer == 1);
  CHECK(tables.rate(1, 0).resident == 1);
  CHECK(tables.rate(no_index, 0).newcomer == 1);
  CHECK(tables.rate(0, no_index).resident == 1);
}

TEST_CASE("every end state has a name of its own") {
  CHECK(to_string(EndState::completed) == "COMPLETED");
  CHECK(to_string(EndState::cancelled) == "CANCELLED");
  CHECK(to_string(EndState::failed) == "FAILED");
  CHECK(to_string(EndState::timeout) == "TIMEOUT");
  CHECK(to_string(EndState::node_fail) == "NODE_FAIL");
  CHECK(to_string(EndState::unknown) == "UNKNOWN");
  CHECK(to_string(EndState::preempted) == "PREEMPTED");
  CHECK(to_string(EndState::requeued) == "REQUEUED");
  CHECK(to_string(EndState::out_of_memory) == "OUT_OF_MEMORY");
  std::set<std::string_view> names;
  for (const EndState state : known_end_states) names.insert(to_string(state));
  CHECK(names.size() == 8);
  CHECK(!names.contains("UNKNOWN"));
}

}  // namespace
}  // namespace schedmate
