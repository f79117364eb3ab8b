// SPDX-License-Identifier: Apache-2.0
#include "slurm/blocker.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

namespace schedmate::slurm {
namespace {

constexpr SimTime now = at(1'000'000);

/// Three nodes of eight GPUs, of which `busy` are taken on each; Slurm says `reason` of job 9.
struct Site {
  ClusterQueue queue;

  explicit Site(std::string reason, std::vector<std::int64_t> busy = {0, 0, 0}) {
    queue.now = now;
    for (std::size_t i = 0; i < busy.size(); ++i) {
      ClusterNode& node = queue.nodes.emplace_back();
      node.name = "n" + std::to_string(i);
      node.state = "IDLE";
      node.gpus = 8;
      node.cpus = node.free_cpus = 64;
      node.memory_mib = node.free_memory_mib = 1000;
      if (busy[i] == 0) continue;
      QueuedJob& job = queue.jobs.emplace_back();
      job.id = std::to_string(i + 1);
      job.state = "RUNNING";
      job.user = "ann";
      job.held = {{node.name, busy[i], 0}};
    }
    queue.partitions = {{.name = "gpu", .nodes = {"n0", "n1", "n2"}},
                        {.name = "old", .nodes = {"n0"}, .up = false}};
    QueuedJob& job = queue.jobs.emplace_back();
    job.id = "9";
    job.state = "PENDING";
    job.user = "bob";
    job.partitions = {"gpu"};
    job.reason = std::move(reason);
    job.gpus = 8;
    job.cpus = 4;
    job.memory_mib = 100;
    job.priority = 10;
    job.limit = Seconds(3600);
  }
  QueuedJob& job() { return queue.jobs.back(); }
  [[nodiscard]] Blocker blocker() const { return Blockers(queue).of(queue.jobs.back()); }
  [[nodiscard]] std::string kind() const { return blocker().kind; }
};

TEST_CASE("what lacks is looked up where Slurm says Resources") {
  CHECK(Site("Resources", {8, 8, 8}).blocker().text == "it needs 8 GPUs, 0 are free");
  const Site split("Resources", {4, 4, 4});
  CHECK(split.kind() == "fragmentation");
  CHECK(split.blocker().text == "12 GPUs are free, but not 8 on one node");
  Site few("Resources", {8, 0, 8});
  CHECK(few.kind() == "resources");  // all that is counted is there: Slurm's word stands
  few.queue.nodes[1].free_cpus = 3;
  CHECK(few.kind() == "cpus");
  few.queue.nodes[1].free_cpus = 4;
  few.queue.nodes[1].free_memory_mib = 99;
  CHECK(few.kind() == "memory");
  Site wide("Resources", {8, 0, 4});
  wide.job().nodes = 2;
  wide.job().gpus = 16;
  CHECK(wide.kind() == "gpus");
  wide.job().gpus = 12;
  CHECK(wide.kind() == "fragmentation");  // six on each of two nodes
  wide.job().gpus = 8;
  CHECK(wide.kind() == "resources");
}

TEST_CASE("others go first only where there is room") {
  for (const auto* reason :
       {"Priority", "Resources", "", "ReqNodeNotAvail,_May_be_reserved_for_other_job"}) {
    CAPTURE(reason);
    Site site(reason);
    QueuedJob other = site.job();
    other.id = "8";
    other.reason = "Resources";
    other.nodes = 3;
    other.gpus = 24;
    other.priority = 11;
    site.queue.jobs.insert(site.queue.jobs.begin(), other);
    CHECK(site.kind() == "priority");
    site.queue.jobs.front().reason = "JobHeldUser";  // it stands in nobody's way
    CHECK(site.kind() != "priority");
    site.queue.jobs.front().reason = "Resources";
    site.queue.jobs.front().priority = 9;
    CHECK(site.kind() != "priority");
    site.queue.partitions[0].tier = 1;
    site.queue.partitions.push_back({.name = "high", .nodes = {"n2"}, .tier = 2});
    site.queue.jobs.front().partitions = {"high"};
    CHECK(site.kind() == "priority");
  }
  CHECK(Site("Priority").kind() == "none");
  CHECK(Site("Priority", {8, 8, 8}).kind() == "gpus");
}

TEST_CASE("nodes that are down, drained or named") {
  // Slurm names a drained node that the job does not need.
  Site site("ReqNodeNotAvail,_UnavailableNodes:n2", {8, 8, 0});
  site.queue.nodes[2].takes_jobs = false;
  CHECK(site.kind() == "gpus");
  CHECK(site.blocker().waits == Waits::for_its_turn);
  site.job().required_nodes = {"n2"};
  CHECK(site.kind() == "nodes");
  CHECK(site.blocker().waits == Waits::kept_out);
  site.job().required_nodes = {"n1"};
  CHECK(site.kind() == "node_busy");
  CHECK(site.blocker().jobs == std::vector<std::string>{"2"});
  site.job().required_nodes.clear();
  site.job().excluded_nodes = {"n0", "n1"};
  CHECK(site.kind() == "nodes");
  site.job().excluded_nodes.clear();
  site.job().gpus = 9;
  CHECK(site.kind() == "too_large");
}

TEST_CASE("partitions") {
  Site site("Priority");
  site.job().partitions = {"old"};
  CHECK(site.kind() == "partition");
  site.job().partitions = {"old", "gpu"};
  CHECK(site.kind() == "none");
  site.queue.partitions[0].most = Seconds(60);
  CHECK(site.kind() == "partition_limit");
  site.job().limit = Seconds(60);
  CHECK(site.kind() == "none");
  CHECK(site.queue.partitions[0].takes(site.job()));
  CHECK_FALSE(site.queue.partitions[1].takes(site.job()));
  site.queue.partitions[0].accounts = {"lab"};
  CHECK_FALSE(site.queue.partitions[0].takes(site.job()));
}

TEST_CASE("reservations that have begun, or will before the job ends") {
  Site site("Priority");
  site.queue.reservations = {{.name = "maint",
                              .nodes = {"n0", "n1", "n2"},
                              .start = now + Seconds(600),
                              .end = now + Seconds(7200)}};
  Blocker ahead = site.blocker();
  CHECK(ahead.kind == "reservation");
  CHECK(ahead.waits == Waits::for_a_time);
  CHECK(ahead.until == now + Seconds(7200));
  CHECK(ahead.limit_to_start_now == Seconds(600));
  site.job().limit = Seconds(600);
  CHECK(site.kind() == "none");
  site.job().limit = Seconds(3600);
  site.job().reservation = "maint";
  CHECK(site.kind() == "none");
  site.job().reservation = "";
  site.queue.reservations[0].nodes = {"n0"};  // it goes to another node
  CHECK(site.kind() == "none");
  site.queue.reservations[0].nodes = {"n0", "n1", "n2"};
  site.queue.reservations[0].start = now;
  Blocker inside = site.blocker();
  CHECK(inside.kind == "reservation");
  CHECK(inside.until == now + Seconds(7200));
  CHECK_FALSE(inside.limit_to_start_now.has_value());
}

TEST_CASE("Slurm's own reasons name the jobs that they are about") {
  Site site("QOSMaxGRESPerUser", {4, 4, 4});
  site.queue.jobs[1].user = "bob";
  CHECK(site.kind() == "qos_limit");
  CHECK(site.blocker().jobs == std::vector<std::string>{"2"});
  site.job().reason = "QOSGrpGRES";
  CHECK(site.blocker().jobs.size() == 3);
  site.job().reason = "AssocGrpGRES";
  site.queue.jobs[2].account = "other";
  CHECK(site.blocker().jobs == std::vector<std::string>{"1", "2"});
  site.job().reason = "Dependency";
  site.job().dependency = "afterok:3(unfulfilled),afterany:77(unfulfilled)";
  CHECK(site.blocker().jobs == std::vector<std::string>{"3"});
  site.job().reason = "JobArrayTaskLimit";
  site.job().id = "5_[1-3%1]";
  site.queue.jobs[0].id = "5_0";
  CHECK(site.kind() == "array_limit");
  CHECK(site.blocker().jobs == std::vector<std::string>{"5_0"});
  site.job().reason = "BeginTime";
  site.job().eligible = now + Seconds(60);
  CHECK(site.blocker().until == now + Seconds(60));
}

TEST_CASE("which job of an array a user means") {
  CHECK(may_mean("13", "13"));
  CHECK(may_mean("13", "13_[0-3%1]"));
  CHECK(may_mean("13", "13_4"));
  CHECK(may_mean("13_2", "13_[0-3%1]"));
  CHECK(may_mean("13_8", "13_[1,4-9:2]"));
  CHECK_FALSE(may_mean("13_7", "13_[1,4-9:2]"));
  CHECK_FALSE(may_mean("13_4", "13_[0-3%1]"));
  CHECK_FALSE(may_mean("1", "13_[0-3%1]"));
  CHECK_FALSE(may_mean("13_", "13_[0-3]"));
  CHECK_FALSE(may_mean("", "13_[0-3]"));
}

}  // namespace
}  // namespace schedmate::slurm
