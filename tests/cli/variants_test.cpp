// SPDX-License-Identifier: Apache-2.0
/// A variant that is given nothing, or is under its host's settings, is its host.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>
#include <schedmate/trace.hpp>

#include "base/random.hpp"
#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

struct Pair {
  std::string variant, host;
};

std::vector<Pair> variants() {
  std::vector<Pair> pairs;
  const auto rows = policy_rows();
  for (const PolicyRow& row : rows) {
    const auto is_host = [&](const PolicyRow& other) {
      return other.preset.empty() && other.make == row.make;
    };
    if (!row.preset.empty())
      pairs.push_back(
          {std::string(row.name), std::string(std::ranges::find_if(rows, is_host)->name)});
  }
  return pairs;
}

/// Jobs that a few users submit again and again and that crowd 3 nodes, all with this end state.
std::string crowd(std::string_view state) {
  std::string text = "job_id,user,vc,gpu_num,state,submit_s,duration_s\n";
  Random random(7);
  std::int64_t now = 0;
  for (int i = 1; i <= 600; ++i) {
    now += random.below(400);
    const auto user = static_cast<int>(random.below(6));
    const std::int64_t gpus = user < 4 ? std::int64_t{1} << user : 1 + random.below(2);
    text +=
        fmt::format("{},u{},{},{},{},{},{}\n", i, user, user % 3 == 0 ? "q" : "p", gpus, state, now,
                    300 * std::int64_t{user + 1} + random.below(std::int64_t{100} << user));
  }
  return text;
}

constexpr std::string_view three_nodes =
    "[[vc]]\nname = \"p\"\nnodes = 2\ngpus_per_node = 8\n"
    "[[vc]]\nname = \"q\"\nnodes = 1\ngpus_per_node = 8\n";

/// A folder with the crowd, once with an end of each job and once without.
struct Crowd : Scratch {
  Crowd() {
    write("cluster.toml", three_nodes);
    // The Advisor learns from no job of which nobody knows how it ended.
    write("silent.csv", crowd("UNKNOWN"));
    write("answered.csv", crowd("COMPLETED"));
  }
  /// Whether host and variant write the same jobs.csv, which has all jobs.
  [[nodiscard]] bool equal(const Pair& names, std::vector<std::string> arguments) const {
    const std::vector<std::string> more{"--policy",  names.host + "@host",
                                        "--policy",  names.variant + "@sm",
                                        "--cluster", "cluster.toml",
                                        "--set",     "workload=heavy",
                                        "--report",  "none",
                                        "--out",     "out"};
    arguments.insert(arguments.begin(), "simulate");
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
    const std::string host = read("out/host.jobs.csv");
    CHECK(std::ranges::count(host, '\n') == 601);
    return read("out/sm.jobs.csv") == host;
  }
};

const std::vector<std::string> silent{"--trace", "helios:silent.csv", "--set",
                                      "cost.tracked_pct=0"};
const std::vector<std::string> answered{"--trace", "helios:answered.csv", "--set",
                                        "cost.tracked_pct=0"};

TEST_CASE("a policy decides alike under all estimates just when it says that it uses none") {
  const Crowd here;
  const ClusterSpec cluster = read_cluster(here.path("cluster.toml")).value();
  for (const PolicyRow& row : policy_rows()) {
    if (!row.preset.empty()) continue;
    const std::string name(row.name);
    CAPTURE(name);
    const Ran ran = here.run({"simulate", "--trace", "helios:answered.csv", "--cluster",
                              "cluster.toml", "--policy", name + ":estimate=oracle@a", "--policy",
                              name + ":estimate=typical@b", "--report", "none", "--out", "out"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    const bool alike = here.read("out/a.jobs.csv") == here.read("out/b.jobs.csv");
    CHECK(make_scheduler(row, {cluster}, {}).value().uses_estimates == !alike);
    CHECK(ran.out.contains("a: looks into the future (estimate oracle)") == !alike);
  }
}

/// The part of lucid+sm that needs no advice, for its host; and what takes it back.
constexpr std::string_view queue_levers =
    "reserve=true,horizon_s=3600,pack=pays,ageing=0.5,estimate=gbdt";
constexpr std::string_view no_levers = "reserve=false,pack=first,ageing=0,estimate=last_k";

TEST_CASE("with an Advisor that has no answer and no log a variant writes its host's jobs.csv") {
  const Crowd here;
  REQUIRE(variants().size() >= 7);
  for (const auto& [variant, plain] : variants()) {
    CAPTURE(variant);
    const std::string host =
        variant == "lucid+sm" ? fmt::format("{}:{}", plain, queue_levers) : plain;
    const std::string blind = variant + ":cap=none";
    CHECK(here.equal({blind, host}, silent));
    // All that the Advisor says counts: nothing without answers, much with them.
    CHECK(here.equal({blind + ",shrink=false", host}, silent));
    CHECK_FALSE(here.equal({blind + ",shrink=false", host}, answered));
  }
}

TEST_CASE("of pairs that nobody tracks lucid+sm cancels none, and writes lucid's jobs.csv") {
  const Crowd here;
  const std::string crowded = ":packing=on,score_limit=4";
  const Pair names{fmt::format("lucid+sm{},threshold=1,{}", crowded, no_levers), "lucid" + crowded};
  CHECK(here.equal(names, silent));
  CHECK_FALSE(here.equal(names, {"--trace", "helios:silent.csv"}));
}

TEST_CASE("without advice and logs a variant writes its host's jobs.csv on real rows") {
  const Scratch here;
  for (const auto& [variant, host] : variants()) {
    CAPTURE(variant);
    const std::string lucid_back = fmt::format(",cancel=off,{}", no_levers);
    const std::string silent_policy =
        fmt::format("{}:advice=none{}@sm", variant, variant == "lucid+sm" ? lucid_back : "");
    const Ran ran = here.run({"simulate", "--trace", venus(), "--policy", host + "@host",
                              "--policy", silent_policy, "--report", "none", "--out", "out"});
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
    const std::string jobs = here.read("out/host.jobs.csv");
    CHECK(jobs.size() > 500'000);
    CHECK((here.read("out/sm.jobs.csv") == jobs));
  }
}

}  // namespace
}  // namespace schedmate
