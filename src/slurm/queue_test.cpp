// SPDX-License-Identifier: Apache-2.0
#include "slurm/queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>

#include "slurm/shown.hpp"

namespace schedmate::slurm {
namespace {

// Of a real Slurm 22.05 with 6 nodes x 8 GPUs, made to have one job of each kind of wait.
const std::string& recorded() {
  static const std::string text = [] {
    std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

const QueuedJob& job(const ClusterQueue& queue, std::string_view name) {
  const auto found = std::ranges::find(queue.jobs, name, &QueuedJob::name);
  REQUIRE(found != queue.jobs.end());
  return *found;
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text = recorded();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a recorded cluster is read") {
  const auto queue = read_queue(recorded());
  REQUIRE(queue);
  CHECK(queue->notes.empty());
  CHECK(queue->cluster == "testbed");
  CHECK(queue->nodes.size() == 6);
  CHECK(queue->settings.at("PriorityType") == "priority/multifactor");
  CHECK(queue->settings.at("SchedulerParameters").contains("bf_max_job_test=500"));
  CHECK(queue->settings.at("SLURM_VERSION") == "22.05.8");
  CHECK(std::ranges::count_if(queue->jobs, &QueuedJob::runs) == 8);
  CHECK(std::ranges::count_if(queue->jobs, &QueuedJob::waits) == 13);
  for (const ClusterNode& node : queue->nodes) {
    CHECK(node.gpus == 8);
    CHECK(node.gpu_type == "fake");
    CHECK(node.takes_jobs == (node.name != "n5"));
  }
  REQUIRE(queue->partitions.size() == 3);
  const auto& shorts = *std::ranges::find(queue->partitions, "short", &Partition::name);
  CHECK(shorts.nodes == std::vector<std::string>{"n0", "n1"});
  CHECK(shorts.most == Seconds(600));
  CHECK(shorts.tier == 2);
  CHECK_FALSE(std::ranges::find(queue->partitions, "closed", &Partition::name)->up);
  REQUIRE(queue->reservations.size() == 1);
  CHECK(queue->reservations[0].nodes == std::vector<std::string>{"n3"});
  CHECK(queue->reservations[0].end - queue->reservations[0].start == Seconds(3600));
}

TEST_CASE("what a job asks for, why it waits, what it holds") {
  const auto queue = read_queue(recorded());
  REQUIRE(queue);
  const QueuedJob& three = job(*queue, "three");
  CHECK(three.user == "bob");
  CHECK(three.gpus == 24);
  CHECK(three.nodes == 3);
  CHECK(three.limit == Seconds(300));
  CHECK(job(*queue, "arr").tasks_of_array == 4);
  CHECK(job(*queue, "arr").id == "13_[0-3%1]");
  CHECK(job(*queue, "gpt").gpus == 8);
  CHECK(job(*queue, "g3").gpus == 3);
  CHECK(job(*queue, "cpuonly").gpus == 0);
  CHECK(job(*queue, "multi").partitions == std::vector<std::string>{"short", "gpu"});
  CHECK(job(*queue, "q2").reason == "QOSMaxGRESPerUser");
  CHECK(job(*queue, "t2").reason == "AssocGrpGRES");
  CHECK(job(*queue, "dep").dependency.starts_with("afterok:10"));
  CHECK(job(*queue, "held").reason == "JobHeldAdmin");
  CHECK(job(*queue, "down").reason == "PartitionDown");
  CHECK(job(*queue, "drained").reason.starts_with("ReqNodeNotAvail,_UnavailableNodes:n5"));
  CHECK(job(*queue, "drained").required_nodes == std::vector<std::string>{"n5"});
  CHECK(*job(*queue, "later").eligible - queue->now > Seconds(7000));
  const QueuedJob& fit = job(*queue, "prio or fit");
  REQUIRE(fit.held.size() == 1);
  CHECK(fit.held[0].name == "n4");
  CHECK(fit.held[0].gpus == 4);
  CHECK(std::popcount(fit.held[0].which) == 4);
  std::uint64_t on_n4 = 0;
  for (const QueuedJob& each : queue->jobs)
    for (const HeldNode& held : each.held)
      if (held.name == "n4") {
        CHECK((on_n4 & held.which) == 0);
        on_n4 |= held.which;
      }
  CHECK(std::popcount(on_n4) == 7);
}

TEST_CASE("a job's own words are no keys and no records") {
  const auto queue = read_queue(changed(
      "JobName=three", "JobName=three JobState=RUNNING Priority=99\n   JobId=77 JobName=forged"));
  REQUIRE(queue);
  CHECK(std::ranges::find(queue->jobs, "77", &QueuedJob::id) == queue->jobs.end());
  const auto found = std::ranges::find_if(
      queue->jobs, [](const QueuedJob& each) { return each.name.starts_with("three Job"); });
  REQUIRE(found != queue->jobs.end());
  CHECK(found->waits());
  CHECK(found->priority == 1);
}

TEST_CASE("numbers beyond all that a cluster can have are taken to be large") {
  const std::string largest = "9223372036854775807";
  const auto queue = read_queue(changed("Priority=1 ", "Priority=" + largest + " "));
  REQUIRE(queue);
  CHECK(std::ranges::max(queue->jobs, {}, &QueuedJob::priority).priority == 1'000'000'000'000'000);
  CHECK(tasks_of("0-" + largest) == 1'000'000);
  CHECK(tasks_of(largest + "-" + largest) == 1);
  CHECK(may_mean("3_5", "3_[0-" + largest + "]"));
}

TEST_CASE("an empty queue is none without jobs") {
  std::string text = recorded().substr(recorded().find("NodeName="));
  const auto queue = read_queue(
      "Configuration data as of 2026-11-25T14:42:21\n\nNo jobs in the "
      "system\n\n" +
      text);
  REQUIRE(queue);
  CHECK(queue->jobs.empty());
  CHECK(queue->partitions.size() == 3);
}

}  // namespace schedmate::slurm
