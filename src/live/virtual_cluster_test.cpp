// SPDX-License-Identifier: Apache-2.0
/// A pool and its policy, which here starts in order of arrival whatever fits, and tells what it
/// was told.
#include "live/virtual_cluster.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <schedmate/scheduler.hpp>

#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::live {
namespace {

using Where = std::vector<NodeGpus>;

/// What a policy was told, call by call: "+1 -2 !3" for arrived, ended or withdrawn, adopted.
using Told = std::shared_ptr<std::vector<std::string>>;

class InOrder {
 public:
  explicit InOrder(Told told) : told_(std::move(told)) {}
  void operator()(const View& view, Plan& plan) {
    std::string words;
    const auto add = [&](const char* sign, std::span<const JobId> jobs) {
      for (const JobId id : jobs) words += sign + std::string(view.job(id).id) + " ";
    };
    add("!", view.adopted);
    add("-", view.ended);
    add("~", view.withdrawn);
    add("+", view.arrived);
    for (const std::uint32_t node : view.nodes) words += "n" + std::to_string(node) + " ";
    told_->push_back(words);
    for (const JobId id : view.withdrawn) std::erase(queue_, id);
    for (const JobId id : view.arrived) queue_.push_back(id);
    while (!queue_.empty() && plan.start(queue_.front(), view.job(queue_.front()).gpus))
      queue_.pop_front();
  }

 private:
  Told told_;
  std::deque<JobId> queue_;
};

struct Pool {
  Told told = std::make_shared<std::vector<std::string>>();
  std::unique_ptr<VirtualCluster> cluster;

  explicit Pool(int nodes, Seconds round = Seconds(1)) {
    std::vector<VirtualCluster::Node> all;
    for (int i = 0; i < nodes; ++i) all.push_back({"a-" + std::to_string(i), 4, NodeState::up});
    make(all, round);
  }
  explicit Pool(const std::vector<VirtualCluster::Node>& nodes) { make(nodes, Seconds(1)); }
  void make(const std::vector<VirtualCluster::Node>& nodes, Seconds round) {
    VirtualCluster::Setup setup;
    setup.name = "a";
    setup.policy = InOrder(told);
    setup.round = round;
    cluster = std::make_unique<VirtualCluster>(setup, nodes);
  }
  /// "1 on a-0 0123; 2 on ..." of what is to be started.
  std::string decide(std::int64_t now_s) const {
    std::string words;
    for (const VirtualCluster::Decision& each : cluster->decide(at(now_s))) {
      words += std::to_string(each.job) + " on";
      for (const NodeGpus& node : each.where) {
        words += " " + node.node + " ";
        for (const std::int32_t gpu : node.gpus) words += std::to_string(gpu);
      }
      words += "; ";
    }
    return words;
  }
};

KnownJob job(std::uint64_t number, std::int32_t gpus) {
  static const std::vector<std::string> names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  return {.number = number, .id = names.at(number), .gpus = gpus, .submit = at(0)};
}

TEST_CASE("jobs that fit are started where the policy says") {
  Pool pool(2);
  CHECK(pool.cluster->enter({job(1, 4)}, at(0)));
  CHECK(pool.cluster->enter({job(2, 2)}, at(0)));
  CHECK(pool.cluster->enter({job(3, 4)}, at(0)));
  CHECK(pool.decide(0) == "1 on a-0 0123; 2 on a-1 01; ");
  CHECK(*pool.told == std::vector<std::string>{"+1 +2 +3 "});
  CHECK(pool.decide(0).empty());  // nothing new
  CHECK(pool.told->size() == 1);
  CHECK(pool.cluster->next_call() == never);
}

TEST_CASE("a job that ends makes room") {
  Pool pool(1);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.cluster->enter({job(2, 4)}, at(0));
  pool.decide(0);
  pool.cluster->ended(1, at(5), nullptr);
  CHECK(pool.decide(5) == "2 on a-0 0123; ");
  CHECK(pool.told->back() == "-1 ");
  CHECK(!pool.cluster->knows(1));
}

TEST_CASE("a job larger than the pool does not enter, nor one without GPUs") {
  Pool pool(2);
  CHECK(!pool.cluster->enter({job(1, 9)}, at(0)));
  CHECK(!pool.cluster->enter({job(2, 0)}, at(0)));
  CHECK(!pool.cluster->knows(1));
  CHECK(pool.cluster->enter({job(3, 8)}, at(0)));
}

TEST_CASE("a job that is withdrawn before anybody was told is never told") {
  Pool pool(1);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.cluster->withdraw(1, at(0));
  pool.cluster->withdraw(7, at(0));  // nobody knows it
  CHECK(pool.decide(0).empty());
  CHECK(pool.told->back().empty());
}

TEST_CASE("a job that waits and is withdrawn is told once") {
  Pool pool(1);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.cluster->enter({job(2, 4)}, at(0));
  pool.decide(0);
  pool.cluster->withdraw(2, at(1));
  CHECK(pool.decide(1).empty());
  CHECK(pool.told->back() == "~2 ");
  pool.cluster->ended(1, at(2), nullptr);
  CHECK(pool.decide(2).empty());
}

TEST_CASE("decisions fall in rounds only") {
  Pool pool(1, Seconds(10));
  pool.cluster->enter({job(1, 4)}, at(3));
  CHECK(pool.cluster->next_call() == at(10));
  CHECK(pool.decide(3).empty());
  CHECK(pool.decide(9).empty());
  CHECK(pool.decide(10) == "1 on a-0 0123; ");
}

TEST_CASE("who was not asked in time is asked at the next round") {
  Pool pool(1, Seconds(10));
  pool.cluster->enter({job(1, 4)}, at(3));
  CHECK(pool.decide(13).empty());
  CHECK(pool.decide(20) == "1 on a-0 0123; ");
}

// Nodes ------------------------------------------------------------------------------------------

TEST_CASE("a drained node takes no job, and what runs there goes on") {
  Pool pool(2);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.decide(0);
  pool.cluster->see({"a-0", 4, NodeState::drained}, at(1));
  pool.cluster->see({"a-1", 4, NodeState::drained}, at(1));
  pool.cluster->enter({job(2, 4)}, at(1));
  CHECK(pool.decide(1).empty());
  CHECK(pool.told->back() == "+2 n0 n1 ");
  CHECK(pool.cluster->runs_on(1, {{"a-0", {0, 1, 2, 3}}}));
  pool.cluster->see({"a-1", 4, NodeState::up}, at(2));
  CHECK(pool.decide(2) == "2 on a-1 0123; ");
}

TEST_CASE("a node that goes down takes its jobs with it") {
  Pool pool(2);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.decide(0);
  pool.cluster->see({"a-0", 4, NodeState::down}, at(1));
  CHECK(pool.decide(1).empty());
  CHECK(pool.told->back() == "-1 n0 ");
  CHECK(!pool.cluster->knows(1));
}

TEST_CASE("a node that was not there before serves, too") {
  Pool pool(1);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.decide(0);
  pool.cluster->see({"new", 4, NodeState::up}, at(1));
  pool.cluster->enter({job(2, 4)}, at(1));
  CHECK(pool.decide(1) == "2 on new 0123; ");
  pool.cluster->see({"odd", 8, NodeState::up}, at(2));
  pool.cluster->enter({job(3, 4)}, at(2));
  CHECK(pool.decide(2).empty());  // another number of GPUs
}

/// Under lucid+sm, without its profiler: job 2 was packed onto job 1 at 100.
struct Pair {
  Profile light;
  std::unique_ptr<VirtualCluster> cluster;
  Pair() {
    light.gpu_util_pct = light.memory_util_pct = 10;
    light.memory_mib = 1000;
    const ClusterSpec spec = testing::small_cluster({1});
    PolicyOptions options;
    options.add_defaults("profiler=false,packing=on,cancel=slowdown");
    VirtualCluster::Setup setup;
    setup.name = "a";
    setup.policy = testing::need(make_scheduler("lucid", {spec}, std::move(options))).decide;
    setup.packs = true;
    cluster = std::make_unique<VirtualCluster>(
        setup, std::vector<VirtualCluster::Node>{{"a-0", 4, NodeState::up}});
    for (const std::uint64_t each : {1U, 2U}) {
      KnownJob known = job(each, 4);
      known.profile = &light;
      cluster->enter({known, true}, at(each == 1 ? 0 : 100));
      const auto decided = cluster->decide(at(each == 1 ? 0 : 100));
      REQUIRE(decided.size() == 1);
      CHECK(decided.front().beside.value_or(0) == each - 1);
      cluster->confirm(each, at(each == 1 ? 2 : 103));  // a start takes its time
    }
  }
  /// Of the next five minutes; the log of the first shows these speeds at these seconds.
  std::string evicted(const std::map<std::int64_t, double>& shown) const {
    std::string words;
    for (std::int64_t now_s = 101; now_s < 400; ++now_s) {
      if (shown.contains(now_s)) cluster->tell_speed(1, shown.at(now_s), at(now_s));
      for (const VirtualCluster::Decision& each : cluster->decide(at(now_s)))
        if (each.kind == Plan::Decision::Kind::evict)
          words += std::to_string(each.job) + " at " + std::to_string(now_s) + " ";
    }
    return words;
  }
};

TEST_CASE("a packing ends when the log of who was there first shows that it has become too slow") {
  CHECK(Pair().evicted({{101, 0.5}}) == "2 at 160 ");
  CHECK(Pair().evicted({{101, 0.9}}).empty());
  CHECK(Pair().evicted({}).empty());
}

TEST_CASE("a log that shows it later, or first shows the steps from before, ends a packing, too") {
  CHECK(Pair().evicted({{250, 0.5}}) == "2 at 250 ");
  CHECK(Pair().evicted({{110, 1.0}, {190, 0.5}}) == "2 at 190 ");
  CHECK(Pair().evicted({{110, 0.5}, {140, 0.9}, {250, 0.8}}).empty());
}

TEST_CASE("those that share are known as such when the policy begins anew") {
  Pair pair;
  std::vector<VirtualCluster::Running> both;
  for (const std::uint64_t each : {1U, 2U}) {
    KnownJob known = job(each, 4);
    known.profile = &pair.light;
    both.push_back({known, at(each == 1 ? 2 : 103), {{"a-0", {0, 1, 2, 3}}}});
  }
  pair.cluster->restart(both, {}, at(110));
  CHECK(pair.evicted({{130, 0.5}}) == "2 at 170 ");
}

TEST_CASE("a node that comes back is not free where somebody runs who could not be placed") {
  Pool pool(1);
  pool.cluster->restart({{job(1, 4), at(0), {{"new", {0, 1, 2, 3}}}, nullptr, 0}}, {}, at(5));
  CHECK(!pool.cluster->is_outdated());
  pool.cluster->see({"new", 4, NodeState::up}, at(6));
  CHECK(pool.cluster->is_outdated());
  pool.cluster->restart({{job(1, 4), at(0), {{"new", {0, 1, 2, 3}}}, nullptr, 0}},
                        {{job(2, 4)}, {job(3, 4)}}, at(6));
  CHECK(pool.decide(6) == "2 on a-0 0123; ");
}

TEST_CASE("who runs on a node that is not known, too, keeps its GPUs on those that are") {
  Pool pool(2);
  const VirtualCluster::Running both{
      job(1, 8), at(0), {{"a-0", {0, 1, 2, 3}}, {"new", {0, 1, 2, 3}}}, nullptr, 0};
  pool.cluster->restart({both}, {{job(2, 8)}, {job(3, 4)}}, at(5));
  CHECK(pool.decide(5).empty());  // in order, and 8 GPUs are not free
  pool.cluster->withdraw(2, at(6));
  CHECK(pool.decide(6) == "3 on a-1 0123; ");
  pool.cluster->see({"new", 4, NodeState::up}, at(7));
  CHECK(pool.cluster->is_outdated());
  pool.cluster->restart({both}, {{job(4, 4)}, {job(5, 4)}}, at(8));
  CHECK(pool.decide(8) == "4 on a-1 0123; ");
}

TEST_CASE("who was larger than the pool enters once nodes have come") {
  Pool pool(1);
  pool.cluster->restart({}, {}, at(5));
  CHECK(!pool.cluster->enter({job(1, 8)}, at(5)));
  CHECK(!pool.cluster->is_outdated());
  pool.cluster->see({"new", 4, NodeState::up}, at(6));
  CHECK(pool.cluster->is_outdated());
  pool.cluster->restart({}, {{job(1, 8)}}, at(6));
  CHECK(pool.decide(6) == "1 on a-0 0123 new 0123; ");
}

TEST_CASE("GPUs that another start on its way waits for as well are not free once one is gone") {
  Pool pool(1);
  const std::vector<NodeGpus> node{{"a-0", {0, 1, 2, 3}}};
  pool.cluster->restart(
      {{job(1, 4), at(0), node, nullptr, 0}, {job(2, 4), at(0), node, nullptr, 0}}, {}, at(5));
  CHECK(!pool.cluster->is_outdated());
  pool.cluster->withdraw(1, at(6));
  CHECK(pool.cluster->is_outdated());
  pool.cluster->restart({{job(2, 4), at(0), node, nullptr, 0}}, {{job(3, 4)}}, at(6));
  CHECK(!pool.cluster->is_outdated());
  CHECK(pool.decide(6).empty());
}

/// In order of submission; asks for a node more while anybody waits, and gives it back when idle.
struct Growing {
  InOrder in_order;
  std::optional<std::uint32_t> extra{};
  std::size_t waiting = 0;
  void operator()(const View& view, Plan& plan) {
    waiting += view.arrived.size() - view.withdrawn.size();
    in_order(view, plan);
    waiting -= plan.decisions().size();
    if (!extra && waiting > 0) {
      extra = plan.add_node(9999);
    } else if (extra && waiting == 0 && view.cluster.jobs_on(*extra).empty()) {
      plan.remove_node(*extra);
      extra.reset();
    }
    if (waiting > 0) plan.wake_at(view.now + Seconds(1));
  }
};

/// Node a-0, and the spare a-1.
struct GrowingPool {
  VirtualCluster cluster;
  GrowingPool()
      : cluster({.name = "a",
                 .policy = Growing{InOrder(std::make_shared<std::vector<std::string>>())},
                 .estimator = {},
                 .spares = {"a-1"}},
                {{"a-0", 4, NodeState::up}, {"a-1", 4, NodeState::up}}) {}
  std::string decide(std::int64_t now_s) {
    std::string words;
    for (const VirtualCluster::Decision& each : cluster.decide(at(now_s)))
      words += std::to_string(each.job) + " on " +
               (each.where.empty() ? "nothing" : each.where.front().node) + "; ";
    return words;
  }
};

TEST_CASE("a spare node serves while the policy wants one more") {
  GrowingPool pool;
  CHECK(pool.cluster.gpus() == 4);
  for (const std::uint64_t each : {1U, 2U}) pool.cluster.enter({job(each, 4)}, at(0));
  CHECK(pool.decide(0) == "1 on a-0; ");
  CHECK(pool.decide(1) == "2 on a-1; ");
  CHECK(pool.cluster.gpus() == 4);
  CHECK(pool.cluster.runs_on(2, {{"a-1", {}}}));
  pool.cluster.ended(2, at(5), nullptr);
  CHECK(pool.decide(5).empty());  // it has given it back
  for (const std::uint64_t each : {3U, 4U}) pool.cluster.enter({job(each, 4)}, at(6));
  pool.cluster.ended(1, at(6), nullptr);
  CHECK(pool.decide(6) == "3 on a-0; ");
  CHECK(pool.decide(7) == "4 on a-1; ");  // and has it again
}

TEST_CASE("a spare that is out of service, or that somebody else uses, is not given") {
  GrowingPool pool;
  pool.cluster.see({"a-1", 4, NodeState::down}, at(0));
  for (const std::uint64_t each : {1U, 2U}) pool.cluster.enter({job(each, 4)}, at(0));
  CHECK(pool.decide(0) == "1 on a-0; ");
  CHECK(pool.decide(1).empty());

  GrowingPool other;
  other.cluster.restart({{job(7, 4), at(0), {{"a-1", {0, 1, 2, 3}}}}}, {{job(1, 4)}, {job(2, 4)}},
                        at(1));
  CHECK(other.decide(1) == "1 on a-0; ");
  CHECK(other.decide(2).empty());
}

TEST_CASE("a policy that begins anew has no spare, and may ask for one again") {
  GrowingPool pool;
  for (const std::uint64_t each : {1U, 2U}) pool.cluster.enter({job(each, 4)}, at(0));
  CHECK(pool.decide(0) == "1 on a-0; ");
  CHECK(pool.decide(1) == "2 on a-1; ");
  pool.cluster.restart({{job(1, 4), at(0), {{"a-0", {0, 1, 2, 3}}}}}, {{job(3, 4)}}, at(9));
  CHECK(pool.decide(9).empty());
  CHECK(pool.decide(10) == "3 on a-1; ");
  pool.cluster.see({"a-1", 4, NodeState::down}, at(11));
  CHECK(!pool.cluster.runs_on(3, {{"a-1", {}}}));
}

TEST_CASE("nodes of another size, or out of service at first, take no job") {
  Pool pool({{"a-0", 4, NodeState::drained}, {"a-1", 8, NodeState::up}, {"a-2", 4, NodeState::up}});
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.cluster->enter({job(2, 4)}, at(0));
  CHECK(pool.decide(0) == "1 on a-2 0123; ");
}

TEST_CASE("nodes without GPUs do not decide what a node of the pool is") {
  Pool pool({{"login", 0, NodeState::up}, {"a-0", 4, NodeState::up}});
  CHECK(pool.cluster->enter({job(1, 4)}, at(0)));
  CHECK(pool.decide(0) == "1 on a-0 0123; ");
}

// Restart ----------------------------------------------------------------------------------------

TEST_CASE("after a restart the policy adopts what runs, and hears of who waits in order") {
  Pool pool(2);
  pool.cluster->restart({{job(2, 4), at(-50), {{"a-1", {0, 1, 2, 3}}}}}, {{job(3, 4)}, {job(1, 4)}},
                        at(0));
  CHECK(pool.decide(0) == "3 on a-0 0123; ");
  CHECK(*pool.told == std::vector<std::string>{"!2 +3 +1 "});
}

TEST_CASE("what runs on GPUs that are not there is left out") {
  Pool pool(2);
  pool.cluster->see({"a-1", 4, NodeState::down}, at(0));
  const Where none, gone{{"x", {0}}}, high{{"a-0", {4}}}, down{{"a-1", {0}}}, unsaid{{"a-0", {}}};
  std::uint64_t number = 1;
  std::vector<VirtualCluster::Running> running;
  for (const Where& where : {none, gone, high, down, unsaid})
    running.push_back({job(number++, 1), at(0), where});
  pool.cluster->restart(running, {}, at(0));
  pool.decide(0);
  CHECK(pool.told->back().empty());
  for (std::uint64_t i = 1; i < number; ++i) CHECK(!pool.cluster->knows(i));
}

TEST_CASE("what runs on a drained node is adopted, and the node stays drained") {
  Pool pool(1);
  pool.cluster->see({"a-0", 4, NodeState::drained}, at(0));
  pool.cluster->restart({{job(1, 2), at(-5), {{"a-0", {0, 1}}}}}, {{job(2, 2)}}, at(0));
  CHECK(pool.decide(0).empty());
  CHECK(pool.told->back() == "!1 +2 ");
  CHECK(pool.cluster->cluster().state(0) == NodeState::drained);
}

TEST_CASE("a job is adopted once, whatever is said of it") {
  Pool pool(2);
  pool.cluster->restart({{job(1, 1), at(-5), {{"a-0", {0}}}}, {job(1, 1), at(-5), {{"a-1", {0}}}}},
                        {}, at(0));
  pool.decide(0);
  CHECK(pool.told->back() == "!1 ");
  CHECK(pool.cluster->runs_on(1, {{"a-0", {0}}}));
}

TEST_CASE("a job that was adopted and ends before the policy was asked is never told") {
  Pool pool(1, Seconds(10));
  pool.cluster->restart({{job(1, 4), at(-5), {{"a-0", {0, 1, 2, 3}}}}}, {}, at(1));
  pool.cluster->ended(1, at(5), nullptr);
  pool.decide(10);
  CHECK(pool.told->back().empty());
}

TEST_CASE("each policy bears a job that was adopted and ends before it was asked") {
  for (const PolicyRow& row : policy_rows()) {
    INFO(row.name);
    ClusterSpec spec;
    spec.partitions.resize(1);
    spec.partitions.front().nodes = 2;
    spec.partitions.front().gpus_per_node = 4;
    const auto scheduler = make_scheduler(row, {spec}, {});
    if (!scheduler) continue;
    VirtualCluster::Setup setup;
    setup.policy = scheduler->decide;
    setup.round = Seconds(10);
    VirtualCluster cluster(setup, {{"a-0", 4, NodeState::up}, {"a-1", 4, NodeState::up}});
    cluster.restart({{job(1, 4), at(-5), {{"a-0", {0, 1, 2, 3}}}}}, {{job(2, 4)}, {job(3, 4)}},
                    at(1));
    cluster.ended(1, at(5), nullptr);
    CHECK_NOTHROW(cluster.decide(at(10)));
    CHECK_NOTHROW(cluster.decide(at(20)));
  }
}

TEST_CASE("a restart forgets all that was believed") {
  Pool pool(1);
  pool.cluster->enter({job(1, 4)}, at(0));
  pool.decide(0);
  pool.cluster->restart({}, {{job(1, 4)}}, at(1));
  CHECK(!pool.cluster->runs_on(1, {{"a-0", {0, 1, 2, 3}}}));
  CHECK(pool.decide(1) == "1 on a-0 0123; ");
}

TEST_CASE("where a job runs is the same in any order, and without the numbers of GPUs") {
  Pool pool(2);
  pool.cluster->enter({job(1, 8)}, at(0));
  pool.decide(0);
  CHECK(pool.cluster->runs_on(1, {{"a-1", {3, 2, 1, 0}}, {"a-0", {0, 1, 2, 3}}}));
  CHECK(pool.cluster->runs_on(1, {{"a-1", {}}, {"a-0", {}}}));
  CHECK(!pool.cluster->runs_on(1, {{"a-0", {0, 1, 2, 3}}}));
  CHECK(!pool.cluster->runs_on(1, {{"a-0", {0, 1, 2, 3}}, {"a-2", {0, 1, 2, 3}}}));
  CHECK(!pool.cluster->runs_on(2, {}));
}

}  // namespace
}  // namespace schedmate::live
