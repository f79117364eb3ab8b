// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <schedmate/report.hpp>

#include "report/sample.hpp"

namespace schedmate::report {
namespace {

std::string summary_of(const Trace& trace, RunLabel label) {
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  record.run = std::move(label);
  const std::vector<RunSummary> runs = {summarise(record)};
  return summary_json({.trace_spec = "lucid:folder",
                       .cluster_spec = "",
                       .commit = "abc",
                       .trace = trace,
                       .cluster = cluster},
                      runs);
}

}  // namespace

TEST_CASE("summary.json has one object per label with the documented keys") {
  const auto json = nlohmann::json::parse(
      summary_of(sample::trace(), {.label = "a", .policy = "fifo:x=1", .settings = {{"x", "1"}}}));
  CHECK(json["schema"] == "schedmate.simulation.v1");
  CHECK(json["commit"] == "abc");
  CHECK(json["trace"]["dropped"]["no GPUs"] == 1);
  CHECK(json["cluster"]["gpus"] == 8);
  const auto& label = json["labels"]["a"];
  CHECK(label["policy"] == "fifo:x=1");
  CHECK(label["settings"]["x"] == "1");
  CHECK(label["avg_jct_s"] == 88.75);
  CHECK(label["p999_queue_s"] == 50);
  CHECK(label["avg_bounded_slowdown"] == 2.25);
  CHECK(label["makespan_s"] == 300);
  CHECK(label["gpu_seconds_wasted"] == 320);
  CHECK(label["finish_time_fairness"]["share_above_1"] == 0.5);
  CHECK(label["by_size"]["2-4"]["n"] == 2);
  CHECK(label["by_size"][">32"]["avg_jct_s"].is_null());
  CHECK(label["by_user"]["ada"]["avg_bounded_slowdown"] == 3.25);
  CHECK(label["utilisation"].get<double>() == (250.0 + 240.0) / 1600);  // to the last bit
}

TEST_CASE("equal inputs give equal bytes whatever the run cost") {
  const std::string cheap = summary_of(sample::trace(), {.label = "a", .cpu_ms = 1});
  CHECK(cheap == summary_of(sample::trace(), {.label = "a", .cpu_ms = 99}));
  CHECK(cheap != summary_of(sample::trace(), {.label = "b", .cpu_ms = 1}));
}

TEST_CASE("names of any bytes keep the summary valid and apart") {
  Trace trace = sample::trace();
  trace.users = {"\xff", "\xfe"};
  const auto json = nlohmann::json::parse(summary_of(trace, {.label = "a\"\\\x01"}));
  const auto& label = json["labels"]["a\"\\\x01"];
  CHECK(label["by_user"].size() == 2);
  CHECK(label["by_user"]["\\xff"]["n"] == 2);
}

}  // namespace schedmate::report
