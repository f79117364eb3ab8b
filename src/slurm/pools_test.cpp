// SPDX-License-Identifier: Apache-2.0
#include "slurm/pools.hpp"

#include <doctest/doctest.h>

#include "slurm/ranks.hpp"
#include "tests/support/near.hpp"

namespace schedmate::slurm {
namespace {

using testing::near;
using Names = std::vector<std::string>;

/// n0 to n3 of 8 GPUs; partition all has them, part n0 and n1. n3 has other GPUs and features.
ClusterQueue four_nodes() {
  ClusterQueue queue;
  queue.now = at(1'000'000);
  for (const char* const name : {"n0", "n1", "n2", "n3"}) {
    ClusterNode& node = queue.nodes.emplace_back();
    node.name = name;
    node.gpus = 8;
    node.gpu_type = node.name == "n3" ? "v100" : "a100";
    node.features = node.name == "n3" ? Names{"old", "ib"} : Names{"new", "ib"};
    node.partitions = {"all"};
  }
  queue.partitions = {{.name = "all", .nodes = {"n0", "n1", "n2", "n3"}},
                      {.name = "part", .nodes = {"n0", "n1"}, .tier = 1}};
  return queue;
}

QueuedJob asks(Names partitions) {
  QueuedJob job;
  job.partitions = std::move(partitions);
  job.gpus = 1;
  return job;
}

/// "0123" are all.
std::string usable(const QueuedJob& job) {
  const ClusterQueue queue = four_nodes();
  Pools pools(queue);
  const auto nodes = pools.usable(job, 0);
  if (!nodes) return "all";
  std::string text;
  for (std::uint32_t node = 0; node < 4; ++node)
    if (nodes->has(node)) text += std::to_string(node);
  return text;
}

template <class Change>
std::string usable_with(const Change& change) {
  QueuedJob job = asks({"all"});
  change(job);
  return usable(job);
}

}  // namespace

TEST_CASE("the nodes that a job may use") {
  CHECK(usable(asks({"all"})) == "all");
  CHECK(usable(asks({"part"})) == "01");
  CHECK(usable(asks({"part", "all"})) == "all");
  CHECK(usable_with([](QueuedJob& job) { job.required_nodes = {"n2"}; }) == "2");
  CHECK(usable_with([](QueuedJob& job) {
          job.required_nodes = {"n2"};
          job.nodes = 2;  // it takes another besides
        }) == "all");
  CHECK(usable_with([](QueuedJob& job) { job.excluded_nodes = {"n0", "n2"}; }) == "13");
  CHECK(usable_with([](QueuedJob& job) { job.features = "old"; }) == "3");
  CHECK(usable_with([](QueuedJob& job) { job.features = "ib&new"; }) == "012");
  CHECK(usable_with([](QueuedJob& job) { job.features = "[old|new]&ib"; }) == "all");
  CHECK(usable_with([](QueuedJob& job) { job.features = "gone"; }).empty());
  CHECK(usable_with([](QueuedJob& job) { job.features = "old*2"; }) == "all");
  CHECK(usable_with([](QueuedJob& job) { job.gpu_types = "a100"; }) == "012");
}

TEST_CASE("jobs that may use the same nodes share them") {
  const ClusterQueue queue = four_nodes();
  Pools pools(queue);
  CHECK(pools.usable(asks({"part"}), 0) == pools.usable(asks({"part"}), 0));
}

// Age gives 1000 in 1,000,000 s.
TEST_CASE("a submission comes in where the other jobs of its user are") {
  ClusterQueue queue = four_nodes();
  queue.settings = {{"PriorityType", "priority/multifactor"},
                    {"PriorityWeightAge", "1000"},
                    {"PriorityMaxAge", "11-13:46:40"}};
  const auto add = [&](const char* user, std::int64_t priority, std::int64_t waited_s) {
    QueuedJob& job = queue.jobs.emplace_back(asks({"part"}));
    job.user = user;
    job.state = "PENDING";
    job.priority = priority;
    job.submit = queue.now - Seconds(waited_s);
    return &job;
  };
  add("ann", 5500, 500'000);
  add("ann", 0, 1000);  // held
  add("bob", 2000, 0);
  QueuedJob* const ran = add("col", 3250, 600'000);
  ran->state = "RUNNING";
  ran->start = ran->submit + Seconds(250'000);
  const Ranks ranks(queue);
  constexpr double tier = 1e10;
  CHECK(near(ranks.of(queue.jobs[0])->priority, tier + 5500, 0, 0.01));
  CHECK(ranks.of(queue.jobs[0])->since == queue.jobs[0].submit);
  CHECK_FALSE(ranks.of(queue.jobs[1]));
  const auto of = [&](const char* user) { return ranks.of({user, "part", 1})->priority - tier; };
  CHECK(near(of("ann"), 5000, 0, 0.01));
  CHECK(near(of("bob"), 2000, 0, 0.01));
  CHECK(near(of("col"), 3000, 0, 0.01));
  CHECK(near(of("dan"), 3000, 0, 0.01));  // the one in the middle
  SUBCASE("or behind all, where the order is that of submission") {
    queue.settings["PriorityType"] = "priority/basic";
    CHECK(near(Ranks(queue).of({"ann", "part", 1})->priority - tier, 1, 0, 0.01));
  }
}

}  // namespace schedmate::slurm
