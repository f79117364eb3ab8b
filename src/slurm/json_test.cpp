// SPDX-License-Identifier: Apache-2.0
#include "slurm/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "slurm/snapshot.hpp"

namespace schedmate::slurm {
namespace {

// queue_22_05.txt, squeue_22_05.json and sinfo_22_05.json are of one moment of a real Slurm 22.05.
// The files of 23.02 and 24.05 are written by hand: the same cluster in the layouts of its
// data_parser plugins v0.0.39 and v0.0.41, without the fields that nobody reads here. Those
// of 25.11 are the recorded values with the names and types that the source of its data_parser
// v0.0.44 lists (slurm-25-11-1-1), nodes as scontrol prints them. By its source 21.08 (openapi
// v0.0.37) prints what 22.05 does, but for three members.
std::string fixture(const std::string& name) {
  std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string squeue_21_08() {
  auto document = nlohmann::json::parse(fixture("squeue_22_05.json"));
  for (auto& job : document["jobs"])
    for (const char* const later : {"container", "group_name", "prefer"}) job.erase(later);
  return document.dump() + "\n";
}

/// The part of the recorded text from one kind of record to another.
std::string part(std::string_view from, std::string_view to) {
  const std::string text = fixture("queue_22_05.txt");
  const std::size_t begin = text.find(from);
  const std::size_t end = to.empty() ? text.size() : text.find(to);
  REQUIRE(begin < end);
  return text.substr(begin, end - begin);
}

std::vector<std::string> words_of(const QueuedJob& job) {
  return {job.id,         job.user, job.account, job.qos, job.state,      job.reason,
          job.dependency, job.name, job.workdir, job.log, job.reservation};
}

void check_same(const QueuedJob& a, const QueuedJob& b) {
  CAPTURE(a.id);
  CHECK(words_of(a) == words_of(b));
  CHECK(a.partitions == b.partitions);
  CHECK(a.gpus == b.gpus);
  CHECK(a.nodes == b.nodes);
  CHECK(a.tasks_of_array == b.tasks_of_array);
  CHECK(a.priority == b.priority);
  CHECK(a.required_nodes == b.required_nodes);
  CHECK(a.excluded_nodes == b.excluded_nodes);
  CHECK(a.submit == b.submit);
  CHECK(a.eligible == b.eligible);
  CHECK(a.start == b.start);
  CHECK(a.limit == b.limit);
  REQUIRE(a.held.size() == b.held.size());
  for (std::size_t i = 0; i < a.held.size(); ++i) {
    CHECK(a.held[i].name == b.held[i].name);
    CHECK(a.held[i].gpus == b.held[i].gpus);
    CHECK(a.held[i].which == b.held[i].which);
  }
}

void check_same_snapshot(const ClusterQueue& a, const ClusterQueue& b) {
  const auto belief = [](const QueuedJob&) { return JobBelief{{nullptr, 600}, 0, {}}; };
  const auto of_a = snapshot_of(a, belief);
  const auto of_b = snapshot_of(b, belief);
  REQUIRE(of_a);
  REQUIRE(of_b);
  CHECK(of_a->notes == of_b->notes);
  CHECK(of_a->snapshot.now == of_b->snapshot.now);
  REQUIRE(of_a->snapshot.pools.size() == of_b->snapshot.pools.size());
  CHECK(of_a->snapshot.pools[0].nodes == of_b->snapshot.pools[0].nodes);
  CHECK(of_a->snapshot.changes.size() == of_b->snapshot.changes.size());
  REQUIRE(of_a->snapshot.jobs.size() == of_b->snapshot.jobs.size());
  for (std::size_t i = 0; i < of_a->snapshot.jobs.size(); ++i) {
    const SnapshotJob& x = of_a->snapshot.jobs[i];
    const SnapshotJob& y = of_b->snapshot.jobs[i];
    CHECK(x.id == y.id);
    CHECK(x.submit == y.submit);
    CHECK(x.started == y.started);
    CHECK(x.eligible == y.eligible);
    CHECK(x.kept_out == y.kept_out);
    CHECK(x.planned == y.planned);
    CHECK(x.where.size() == y.where.size());
  }
}

}  // namespace

TEST_CASE("text and JSON of the same moment are the same queue") {
  const auto text = read_queue(fixture("queue_22_05.txt"));
  REQUIRE(text);
  const std::string settings = part("Configuration", "JobId=");
  const std::string partitions = part("PartitionName=", "");
  for (const auto& [squeue, sinfo] : {std::pair("squeue_22_05.json", "sinfo_22_05.json"),
                                      std::pair("squeue_23_02.json", "sinfo_24_05.json"),
                                      std::pair("squeue_24_05.json", "sinfo_24_05.json"),
                                      std::pair("squeue_25_11.json", "nodes_25_11.json"),
                                      std::pair("21.08", "sinfo_22_05.json")}) {
    CAPTURE(squeue);
    std::string shown = settings;
    shown.append(squeue == std::string("21.08") ? squeue_21_08() : fixture(squeue))
        .append(fixture(sinfo))
        .append(partitions);
    const auto json = read_queue(shown);
    REQUIRE_MESSAGE(json, json.error().message);
    REQUIRE(json->jobs.size() == text->jobs.size());
    for (std::size_t i = 0; i < json->jobs.size(); ++i) check_same(json->jobs[i], text->jobs[i]);
    REQUIRE(json->nodes.size() == text->nodes.size());
    for (const ClusterNode& node : json->nodes) {
      const auto& same = *std::ranges::find(text->nodes, node.name, &ClusterNode::name);
      CHECK(node.gpus == same.gpus);
      CHECK(node.gpu_type == same.gpu_type);
      CHECK(node.state == same.state);
      CHECK(node.takes_jobs == same.takes_jobs);
      if (node.used) CHECK(node.used == same.used);
    }
    check_same_snapshot(*json, *text);
  }
}

TEST_CASE("documents alone say when it is and which partitions there are, from 23.02 on") {
  const auto queue = read_queue(fixture("squeue_24_05.json") + fixture("sinfo_24_05.json"));
  REQUIRE_MESSAGE(queue, queue.error().message);
  CHECK(seconds_of(queue->now) == 1'795'617'741);
  CHECK(queue->notes.empty());
  CHECK(queue->cluster == "testbed");
  REQUIRE(queue->partitions.size() == 3);
  const auto& shorts = *std::ranges::find(queue->partitions, "short", &Partition::name);
  CHECK(shorts.most == Seconds(600));
  CHECK(shorts.tier == 2);
  CHECK(shorts.nodes == std::vector<std::string>{"n0", "n1"});
  CHECK_FALSE(std::ranges::find(queue->partitions, "closed", &Partition::name)->up);
  const auto alone = read_queue(fixture("squeue_22_05.json") + fixture("sinfo_22_05.json"));
  REQUIRE(alone);
  CHECK(alone->cluster == "testbed");
  CHECK(alone->partitions.size() == 3);
  CHECK(queue->now - alone->now < Seconds(10));
}

TEST_CASE("scontrol's own JSON of partitions and reservations") {
  const auto queue = read_queue(
      fixture("squeue_24_05.json") + fixture("sinfo_22_05.json") +
      R"({"partitions": [{"name": "gpu", "nodes": {"configured": "n[0-5]"},
          "qos": {"assigned": "q"},
          "maximums": {"time": {"set": true, "infinite": false, "number": 60}},
          "partition": {"state": ["UP"]}, "priority": {"tier": 3}}]}
)"
      R"({"reservations": [{"name": "maint", "node_list": "n3", "start_time": {"set": true,
          "infinite": false, "number": 1795621334}, "end_time": 1795624934, "users": "root",
          "flags": ["MAINT", "SPEC_NODES"]}]}
)");
  REQUIRE_MESSAGE(queue, queue.error().message);
  REQUIRE(queue->partitions.size() == 1);
  CHECK(queue->partitions[0].most == Seconds(3600));
  CHECK(queue->partitions[0].tier == 3);
  CHECK(queue->partitions[0].own_qos == "q");
  REQUIRE(queue->reservations.size() == 1);
  CHECK(queue->reservations[0].end - queue->reservations[0].start == Seconds(3600));
}

TEST_CASE("numbers, flags and GPUs in every layout") {
  const auto one = [](const std::string& job) {
    const auto records = read_json(R"({"jobs": [{"job_id": 5, )" + job + "}]}", 1);
    REQUIRE_MESSAGE(records, records.error().message);
    REQUIRE(records->size() == 1);
    return records->front().values;
  };
  CHECK(one(R"("job_state": ["RUNNING", "COMPLETING"])").text("JobState") == "COMPLETING");
  CHECK(one(R"("job_state": ["RUNNING", "POWER_UP_NODE"])").text("JobState") == "RUNNING");
  CHECK(one(R"("job_state": [])").text("JobState").empty());
  CHECK(one(R"("time_limit": 5)").duration("TimeLimit") == Seconds(300));
  CHECK_FALSE(one(R"("time_limit": null)").duration("TimeLimit"));
  CHECK_FALSE(
      one(R"("time_limit": {"set": false, "infinite": true, "number": 0})").has("TimeLimit"));
  CHECK_FALSE(one(R"("submit_time": 1e300)").when("SubmitTime"));
  CHECK_FALSE(one(R"("submit_time": 18446744073709551615)").when("SubmitTime"));
  CHECK_FALSE(one(R"("submit_time": {"number": {"number": 5}})").when("SubmitTime"));
  CHECK(one(R"("submit_time": 1795617734.0)").when("SubmitTime") == at(1'795'617'734));
  CHECK(one(R"("array_job_id": {"set": true, "number": 7},
             "array_task_id": {"set": true, "number": 2})")
            .text("ArrayTaskId") == "2");
  CHECK_FALSE(one(R"("array_job_id": 0, "array_task_id": null)").has("ArrayJobId"));
  const Shown held =
      one(R"JSON("nodes": "n[0-1]", "gres_detail": ["gpu:2(IDX:0-1)", "gpu:1(IDX:7)"])JSON");
  REQUIRE(held.texts("Nodes").size() == 2);
  CHECK(held.texts("Nodes")[1] == "n1");
  CHECK(held.texts("GRES")[1] == "gpu:1(IDX:7)");
  CHECK(one("\"name\": \"caf\xe9\"").text("JobName") == "caf?");
}

TEST_CASE("where an object ends") {
  CHECK(end_of_object(R"({"a": "}\"}", "b": [{}]} rest)") == 24);
  CHECK(end_of_object(R"({"a": "}\"}", "b": [{}])") == std::string_view::npos);
  CHECK(end_of_object(std::string(100'000, '{')) == std::string_view::npos);
  CHECK(end_of_object("{\"a\\") == std::string_view::npos);
}

}  // namespace schedmate::slurm
