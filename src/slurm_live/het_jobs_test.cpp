// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "slurm_live/rows.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::need;

/// A part of job 6, as the library tells it.
slurm::Shown part(int number, const std::string& state, const std::string& gpus = "2") {
  slurm::Shown shown;
  shown.put("JobId", fmt::format("{}", number));
  shown.put("HetJobId", "6");
  shown.put("JobState", state);
  shown.put("UserId", "ann");
  shown.put("JobName", fmt::format("part {}", number));
  shown.put("Partition", "gpu");
  shown.put("SubmitTime", "1000");
  shown.put("WorkDir", "/w");
  shown.put("StartTime", fmt::format("{}", 1000 + number));
  shown.put("EndTime", fmt::format("{}", 2000 + number));
  shown.put("TRES", "cpu=1,gres/gpu=" + gpus);
  shown.put("BatchFlag", number == 6 ? "1" : "0");
  shown.put("SiteFactor", "40");
  shown.put("ExitCode", state == "FAILED" ? "3:0" : "0:0");
  if (state == "PENDING") return shown;
  shown.put("NodeList", fmt::format("n{}", number));
  shown.put("GresDetail", "gpu:fake:2(IDX:0-1)");
  return shown;
}

SeenJob whole(const std::vector<slurm::Shown>& parts, const KeptJobs& kept = {}) {
  const auto rows = need(rows_of(parts, kept, at(5000)));
  REQUIRE(rows.size() == 1);
  return rows[0].seen;
}

TEST_CASE("parts of a heterogeneous job are one job") {
  const SeenJob waits = whole({part(6, "PENDING"), part(7, "PENDING", "1")});
  CHECK(waits.id == "6");
  CHECK(waits.name == "part 6");
  CHECK(waits.gpus == 3);
  CHECK(waits.phase == JobPhase::queued);
  CHECK(waits.order == 40);
  CHECK(waits.nodes.empty());
  const SeenJob runs = whole({part(7, "RUNNING"), part(6, "RUNNING"), part(8, "RUNNING")});
  CHECK(runs.id == "6");
  CHECK(runs.gpus == 6);
  CHECK(runs.started == at(1006));
  CHECK(runs.nodes == std::vector<NodeGpus>{{"n6", {0, 1}}, {"n7", {0, 1}}, {"n8", {0, 1}}});
  CHECK(runs.output == "/w/slurm-6.out");
}

TEST_CASE("it runs while any part does, and ends with the last, as the one that did not go well") {
  const SeenJob runs = whole({part(6, "COMPLETED"), part(7, "RUNNING")});
  CHECK(runs.phase == JobPhase::running);
  CHECK(!runs.ended);
  CHECK(runs.end_state == EndState::unknown);
  const SeenJob begins = whole({part(6, "PENDING"), part(7, "RUNNING")});
  CHECK(begins.phase == JobPhase::running);
  const SeenJob again = whole({part(6, "PENDING"), part(7, "COMPLETED")});
  CHECK(again.phase == JobPhase::queued);
  CHECK(!again.started);
  const SeenJob over = whole({part(6, "COMPLETED"), part(7, "FAILED"), part(8, "COMPLETED")});
  CHECK(over.phase == JobPhase::ended);
  CHECK(over.end_state == EndState::failed);
  CHECK(over.exit_code == 3);
  CHECK(over.ended == at(2008));
}

TEST_CASE("parts whose first one was forgotten keep its number, and what it held counts once") {
  const SeenJob rest = whole({part(7, "COMPLETED"), part(8, "COMPLETED")});
  CHECK(rest.id == "6");
  const KeptJobs kept{{"6", {.submitted = at(1000), .nodes = {{"n6", {0, 1}}, {"n7", {4, 5}}}}}};
  slurm::Shown ended = part(6, "COMPLETED");
  ended.replace("GresDetail", "none");
  slurm::Shown other = part(7, "COMPLETED");
  other.replace("GresDetail", "none");
  CHECK(whole({ended, other}, kept).nodes == std::vector<NodeGpus>{{"n6", {0, 1}}, {"n7", {4, 5}}});
}

TEST_CASE("a priority that was said outright has no order") {
  slurm::Shown said = part(6, "PENDING");
  said.put("DirectPriority", "1000");
  const SeenJob job = whole({said, part(7, "PENDING")});
  CHECK(job.fixed);
  CHECK(job.order == 0);
  CHECK(!whole({part(6, "PENDING"), part(7, "PENDING")}).fixed);
}

TEST_CASE("as squeue prints them") {
  const auto rows = need(read_rows(
      R"({"jobs": [{"job_id": 6, "het_job_id": 6, "submit_time": 1000, "user_name": "ann",)"
      R"( "job_state": "PENDING", "node_count": 1, "tres_req_str": "gres/gpu=2"},)"
      R"( {"job_id": 7, "het_job_id": {"set": true, "infinite": false, "number": 6},)"
      R"( "submit_time": 1000, "user_name": "ann", "job_state": ["PENDING"], "node_count": 1,)"
      R"( "tres_req_str": "gres/gpu=1"}]})",
      {}, at(5000)));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].seen.id == "6");
  CHECK(rows[0].seen.gpus == 3);
}

}  // namespace
}  // namespace schedmate::slurm_live
