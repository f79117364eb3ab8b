// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using Settings = std::map<std::string, std::string, std::less<>>;

Result<Scheduler> make(std::string_view name, const Settings& settings,
                       const std::vector<int>& nodes = {3}) {
  static const Trace trace = small_trace({{0, 1, 1}});
  static ClusterSpec cluster;
  cluster = small_cluster(nodes);
  return make_scheduler(name, {cluster, {}, 1, forecast_of(trace)}, PolicyOptions(settings));
}

TEST_CASE("every row makes a scheduler that decides, under its own name only") {
  for (const PolicyRow& row : policy_rows()) {
    CAPTURE(row.name);
    const auto scheduler = make(row.name, {});
    REQUIRE(scheduler.has_value());
    CHECK(scheduler->decide);
    CHECK_FALSE(row.summary.empty());
    CHECK(std::ranges::count(policy_rows(), row.name, &PolicyRow::name) == 1);
  }
}

TEST_CASE("an unknown policy is not found, and the nearest is named") {
  const auto made = make("fifp", {});
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == ErrorCode::not_found);
  CHECK(made.error().message.find("nearest: fifo;") != std::string::npos);
}

TEST_CASE("default estimators: oracle for sjf and srtf, last_k for qssf and lucid") {
  CHECK(make("sjf", {})->estimator == "oracle");
  CHECK(make("srtf", {})->estimator == "oracle");
  CHECK(make("qssf", {})->estimator == "last_k");
  CHECK(make("lucid", {})->estimator == "last_k");
}

TEST_CASE("settings that cannot be are errors that repeat them") {
  const auto refused = [](std::string_view policy, const Settings& settings) {
    const auto made = make(policy, settings);
    return !made && made.error().code == ErrorCode::unsupported &&
           made.error().message.find(settings.begin()->first) != std::string::npos;
  };
  CHECK(refused("tiresias", {{"thresholds", "100+100"}}));
  CHECK(refused("tiresias", {{"thresholds", "0"}}));
  CHECK(refused("tiresias", {{"thresholds", "1,000"}}));
  CHECK(refused("tiresias", {{"interval_s", "0"}}));
  CHECK(refused("tiresias", {{"interval_s", "often"}}));
  CHECK(refused("tiresias", {{"promote", "yes"}}));
  CHECK(refused("lucid", {{"packing", "maybe"}}));
  CHECK(refused("lucid", {{"t_prof_s", "0"}}));
  CHECK(refused("lucid", {{"profiler_nodes", "0"}}));
  CHECK(refused("lucid", {{"lenders", "vc0+vc0"}}));
  CHECK(refused("lucid", {{"elastic", "2"}}));
  CHECK(refused("lucid", {{"score_limit", "x"}}));
}

TEST_CASE("a lender that the cluster has not is answered with the nearest") {
  const auto made = make("lucid", {{"lenders", "vc0+nowhere"}});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::not_found);
  CHECK(made.error().message.find("nowhere") != std::string::npos);
}

TEST_CASE("the largest VCs lend the profiler's nodes, those of one node never") {
  const auto lenders = [](const std::vector<int>& nodes) {
    return make("lucid", {}, nodes)->profiler->lenders;
  };
  CHECK(lenders({2, 5, 5, 4}) == std::vector<std::string>{"vc1", "vc2"});
  CHECK(lenders({1, 3}) == std::vector<std::string>{"vc1"});
  CHECK(lenders({1, 1}).empty());
}

TEST_CASE("lenders may be named, and the profiler's size and time set") {
  const auto lucid = make(
      "lucid", {{"lenders", "vc2+vc0"}, {"profiler_nodes", "1"}, {"t_prof_s", "80"}}, {2, 5, 2});
  CHECK(lucid->profiler->lenders == std::vector<std::string>{"vc2", "vc0"});
  CHECK(lucid->profiler->max_gpus == 4);
  CHECK(lucid->profiler->time == Seconds(80));
  CHECK(lucid->profiler->nodes.nodes == 1);
  CHECK_FALSE(make("lucid", {{"profiler", "off"}})->profiler.has_value());
}

}  // namespace
}  // namespace schedmate::policy
