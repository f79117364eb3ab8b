// SPDX-License-Identifier: Apache-2.0
#include "slurm/limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "slurm/queue.hpp"

namespace schedmate::slurm {
namespace {

std::string recorded_limits(const std::string& name) {
  std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

const GroupLimit* limit_named(const std::vector<GroupLimit>& limits, std::string_view name) {
  const auto found = std::ranges::find(limits, name, &GroupLimit::name);
  return found == limits.end() ? nullptr : &*found;
}

ClusterQueue small_queue() {
  ClusterQueue queue;
  const auto add = [&](std::string id, std::string user, std::string account, std::string qos) {
    QueuedJob job;
    job.id = std::move(id);
    job.user = std::move(user);
    job.account = std::move(account);
    job.qos = std::move(qos);
    job.partitions = {"gpu"};
    queue.jobs.push_back(std::move(job));
  };
  add("1", "ann", "vision", "normal");
  add("2", "bob", "vision", "capped");
  add("3", "bob", "text", "normal");
  Partition& partition = queue.partitions.emplace_back();
  partition.name = "gpu";
  partition.own_qos = "part";
  return queue;
}

constexpr std::string_view made_up = R"(Current Association Manager state

User Records

UserName=ann(1019) DefAccount=lab DefWckey=(null) AdminLevel=Not Set

Association Records

ClusterName=c Account=root UserName= Partition= Priority=0 ID=1
    ParentAccount= Lft=1 DefAssoc=No
    GrpJobs=N(8) GrpJobsAccrue=N(13)
    GrpTRES=cpu=N(8),gres/gpu=N(33)
    MaxJobs= MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=
ClusterName=c Account=lab UserName= Partition= Priority=0 ID=3
    ParentAccount=root(1) Lft=6 DefAssoc=No
    GrpJobs=9(7) GrpJobsAccrue=N(12)
    GrpTRES=cpu=N(7),gres/gpu=32(12)
    MaxJobs=4 MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=
ClusterName=c Account=vision UserName= Partition= Priority=0 ID=4
    ParentAccount=lab(3) Lft=7 DefAssoc=No
    GrpJobs=N(7) GrpJobsAccrue=N(12)
ClusterName=c Account=vision UserName=ann(1019) Partition= Priority=0 ID=5
    ParentAccount= Lft=8 DefAssoc=Yes
    GrpJobs=N(3) GrpJobsAccrue=N(10)
    MaxJobs=4(3) MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=

QOS Records

QOS=normal(1)
    GrpJobs=N(7) GrpJobsAccrue=N(12) GrpSubmitJobs=N(22) GrpWall=N(0.00)
QOS=capped(2)
    GrpJobs=N(1)
    GrpTRES=cpu=N(1),gres/gpu=5(2),gres/gpu:a100=1(0)
    Account Limits
      lab
        MaxJobsPA=2(1) MaxJobsAccruePA=N(1) MaxSubmitJobsPA=N(2)
    User Limits
      1020
        MaxJobsPU=N(1) MaxJobsAccruePU=N(1) MaxSubmitJobsPU=N(2)
        MaxTRESPU=cpu=N(1),gres/gpu=2(2)
QOS=part(3)
    GrpJobs=6(1)
)";

}  // namespace

TEST_CASE("limits of a real Slurm: a QOS for each user, an account") {
  const auto queue =
      read_queue(recorded_limits("queue_22_05.txt") + recorded_limits("assoc_22_05.txt"));
  REQUIRE(queue);
  const GroupLimit* const user = limit_named(queue->limits, "QOS capped, user bob");
  REQUIRE(user != nullptr);
  CHECK(user->gpus == 2);
  CHECK_FALSE(user->jobs);
  std::vector<std::string> names;
  for (const std::size_t i : user->members) names.push_back(queue->jobs[i].name);
  CHECK(names == std::vector<std::string>{"q1", "q2"});
  const GroupLimit* const tight = limit_named(queue->limits, "account tight");
  REQUIRE(tight != nullptr);
  CHECK(tight->gpus == 1);
  CHECK(tight->members.size() == 2);
  CHECK(queue->limits.size() == 2);
}

TEST_CASE("accounts bear on those below them, a partition's QOS on its jobs") {
  const auto limits = read_limits(made_up, small_queue());
  const auto members = [&](std::string_view name) {
    const GroupLimit* const found = limit_named(limits, name);
    REQUIRE_MESSAGE(found != nullptr, name);
    return found->members;
  };
  using Members = std::vector<std::size_t>;
  CHECK(members("account lab") == Members{0, 1});
  CHECK(limit_named(limits, "account lab")->gpus == 32);
  CHECK(limit_named(limits, "account lab")->jobs == 9);  // not the 4, which are each user's
  CHECK(members("account vision, user ann") == Members{0});
  CHECK(limit_named(limits, "account vision, user ann")->jobs == 4);
  CHECK(members("QOS capped") == Members{1});
  CHECK(limit_named(limits, "QOS capped")->gpus == 5);
  CHECK(members("QOS capped, user bob") == Members{1});
  CHECK(members("QOS capped, account vision") == Members{1});
  CHECK(limit_named(limits, "QOS capped, account vision")->jobs == 2);
  CHECK(members("QOS part") == Members{0, 1, 2});
  CHECK(limits.size() == 6);
}

TEST_CASE("limits that are not enforced, or that only a job's name speaks of, are none") {
  ClusterQueue queue = small_queue();
  queue.settings["AccountingStorageEnforce"] = "associations,qos";
  CHECK(read_limits(made_up, queue).empty());
  queue.settings["AccountingStorageEnforce"] = "associations,limits,qos";
  CHECK(read_limits(made_up, queue).size() == 6);
  CHECK(read_limits("JobId=1 JobName=Current Association Manager state\n" + std::string(made_up),
                    queue)
            .size() == 6);
  CHECK(read_limits("nothing", queue).empty());
}

}  // namespace schedmate::slurm
