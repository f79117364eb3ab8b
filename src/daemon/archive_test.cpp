// SPDX-License-Identifier: Apache-2.0
#include "daemon/archive.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/need.hpp"

namespace schedmate::daemon {
namespace {

/// Job 9 of ann, and the runs that its advice stood on: 1 of hers, 2 of bob's; 3 is gone.
struct History {
  std::unique_ptr<Store> store = testing::need(open_store("memory"));
  History() {
    for (const char* const id : {"1", "2"}) {
      JobRecord run;
      run.id = id;
      run.user = run.id == "1" ? "ann" : "bob";
      run.submit = at(100);
      testing::need(store->put(run));
      Outcome outcome;
      outcome.state = EndState::completed;
      outcome.duration = Seconds(500);
      testing::need(store->finish(id, outcome));
    }
    JobRecord job;
    job.id = "9";
    job.user = "ann";
    job.submit = at(1000);
    job.facts_json = R"({"schema":"schedmate.facts.v1","facts":{"epochs":{"value":20}}})";
    job.advice = GivenAdvice{};
    job.advice->neighbours = {{"1", 0.99}, {"2", 0.95}, {"3", 0.92}};
    testing::need(store->put(job));
  }
  Document shown(const Caller& caller, std::int64_t submitted_s = 1000) const {
    Document job{{"id", "9"}, {"submitted_s", submitted_s}, {"advice", {{"source", "similar"}}}};
    testing::need(add_history(*store, caller, job));
    return job;
  }
};

TEST_CASE("a job is shown with its facts and the past runs behind its advice") {
  const Document job = History().shown({.user = "ann", .role = Role::cluster_operator});
  CHECK(job["facts"]["facts"]["epochs"]["value"] == 20);
  CHECK(job["advice"]["neighbours"].dump() ==
        R"([{"job_id":"1","score":0.99,"duration_s":500,"state":"completed"},)"
        R"({"job_id":"2","score":0.95,"duration_s":500,"state":"completed"}])");
  CHECK(job["advice"]["neighbours_of_others"] == 0);
}

TEST_CASE("of runs of others an owner sees the number") {
  const Document job = History().shown({.user = "ann"});
  REQUIRE(job["advice"]["neighbours"].size() == 1);
  CHECK(job["advice"]["neighbours"][0]["job_id"] == "1");
  CHECK(job["advice"]["neighbours_of_others"] == 1);
}

TEST_CASE("an earlier job of the same id is another job") {
  const Document job = History().shown({.user = "ann"}, 2000);
  CHECK(!job.contains("facts"));
  CHECK(!job["advice"].contains("neighbours"));
}

}  // namespace
}  // namespace schedmate::daemon
