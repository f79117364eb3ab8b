// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace schedmate::slurm {
namespace {

ClusterQueue recorded_queue() {
  std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto queue = read_queue(text);
  REQUIRE(queue);
  return *std::move(queue);
}

JobBelief as_limited(const QueuedJob& job) {
  const double seconds = job.limit ? static_cast<double>(job.limit->count()) : 600;
  return {{.curve = nullptr, .known_s = seconds}, 0, RunTimeSource::site};
}

}  // namespace

TEST_CASE("a recorded cluster is one pool with the jobs in order of priority") {
  const ClusterQueue queue = recorded_queue();
  const auto made = snapshot_of(queue, as_limited);
  REQUIRE(made);
  const QueueSnapshot& snapshot = made->snapshot;
  REQUIRE(snapshot.pools.size() == 1);
  CHECK(snapshot.pools[0].nodes == 6);
  CHECK(snapshot.pools[0].gpus_per_node == 8);
  CHECK(snapshot.pools[0].name.contains("gpu"));
  const auto named = [&](std::string_view name) -> const SnapshotJob& {
    for (std::size_t i = 0; i < snapshot.jobs.size(); ++i)
      if (queue.jobs[made->queued[i]].name == name) return snapshot.jobs[i];
    FAIL("no job " << name);
    return snapshot.jobs.front();
  };
  for (const char* const name : {"held", "dep", "q2", "t2", "down"}) {
    CAPTURE(name);
    CHECK(named(name).kept_out);
  }
  for (const char* const name :
       {"gpus", "three", "arr", "g3", "gpt", "multi", "later", "drained"}) {
    CAPTURE(name);
    CHECK_FALSE(named(name).kept_out);
  }
  CHECK(named("later").eligible.has_value());
  CHECK(named("g3").submit < named("gpus").submit);  // a higher tier goes first
  CHECK(named("prio or fit").where.size() == 1);
  int held = 0;
  for (const SnapshotJob& job : snapshot.jobs) held += job.started ? job.gpus : 0;
  CHECK(held == 33);
  // n5 is drained, n3 will be reserved for an hour.
  REQUIRE(snapshot.changes.size() == 3);
  CHECK(snapshot.changes[0].state == NodeState::drained);
  REQUIRE(snapshot.outages.size() == 1);
  CHECK(snapshot.outages[0].node == 5);
  CHECK(snapshot.now - snapshot.outages[0].since == Seconds(8));
  CHECK(snapshot.changes[2].when - snapshot.changes[1].when == Seconds(3600));
  CHECK(std::ranges::count_if(made->notes, [](const std::string& note) {
          return note == "left out: 1 job without GPUs";
        }) == 1);
}

TEST_CASE("a node comes back when the last of its reservations ends") {
  ClusterQueue queue = recorded_queue();
  const SimTime now = queue.now;
  const auto reserved = [&](std::int64_t from_s, std::int64_t until_s, const char* node) {
    return Reservation{"r", {node}, now + Seconds(from_s), now + Seconds(until_s)};
  };
  queue.reservations = {reserved(-100, 1000, "n3"), reserved(500, 3000, "n3"),
                        reserved(3000, 4000, "n3"), reserved(-100, 600, "n4"),
                        reserved(5000, 6000, "n4"), reserved(-100, 700, "n5")};
  const auto made = snapshot_of(queue, as_limited);
  REQUIRE(made);
  std::vector<std::pair<std::uint32_t, std::int64_t>> back;
  for (const NodeChange& change : made->snapshot.changes)
    if (change.state == NodeState::up)
      back.emplace_back(change.node, seconds_of(change.when) - seconds_of(now));
  const decltype(back) wanted{{4, 600}, {3, 4000}, {4, 6000}};
  CHECK(back == wanted);  // n5 is drained besides
}

TEST_CASE("jobs at a limit that they share wait for it, not for ever") {
  ClusterQueue queue = recorded_queue();
  const auto at = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(queue.jobs, name, &QueuedJob::name) -
                                    queue.jobs.begin());
  };
  queue.limits = {
      {.name = "QOS capped, user bob", .gpus = 2, .jobs = {}, .members = {at("q1"), at("q2")}}};
  const auto made = snapshot_of(queue, as_limited);
  REQUIRE(made);
  const QueueSnapshot& snapshot = made->snapshot;
  REQUIRE(snapshot.limits.size() == 2);
  CHECK(snapshot.limits[0].name == "QOS capped, user bob");
  CHECK(snapshot.limits[0].gpus == 2);
  CHECK(snapshot.limits[1].name == "array 13");
  CHECK(snapshot.limits[1].jobs == 1);
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    const std::string& name = queue.jobs[made->queued[i]].name;
    CAPTURE(name);
    const bool capped = name == "q1" || name == "q2";
    const auto wanted = capped          ? std::vector<std::uint32_t>{0}
                        : name == "arr" ? std::vector<std::uint32_t>{1}
                                        : std::vector<std::uint32_t>{};
    CHECK(snapshot.jobs[i].limits == wanted);
    if (capped) CHECK_FALSE(snapshot.jobs[i].kept_out);
    if (name == "t2") CHECK(snapshot.jobs[i].kept_out);  // its limit is not shown
  }
}

TEST_CASE("Slurm's reasons in plain words") {
  const auto kind = [](std::string_view reason) { return reason_in_words(reason, "").kind; };
  CHECK(kind("Priority") == "priority");
  CHECK(kind("Resources") == "resources");
  CHECK(kind("QOSMaxGRESPerUser") == "qos_limit");
  CHECK(kind("AssocGrpGRES") == "account_limit");
  CHECK(kind("JobHeldUser") == "held");
  CHECK(kind("ReqNodeNotAvail,_UnavailableNodes:n5") == "nodes");
  CHECK(kind("Whatever") == "other");
  CHECK(reason_in_words("QOSMaxGRESPerUser", "").text ==
        "a limit of its QOS: the GPUs of one user");
  CHECK(reason_in_words("AssocGrpGRES", "").text ==
        "a limit of its account: the GPUs of all of it together");
  CHECK(reason_in_words("Dependency", "afterok:10(unfulfilled)").text ==
        "it waits for other jobs: afterok:10(unfulfilled)");
  CHECK(reason_in_words("ReqNodeNotAvail,_UnavailableNodes:n5", "").text.ends_with(": n5"));
}

}  // namespace schedmate::slurm
