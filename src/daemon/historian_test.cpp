// SPDX-License-Identifier: Apache-2.0
#include "daemon/historian.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "advisor/advice_document.hpp"
#include "core/facts_json.hpp"
#include "service/facts.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/ended_jobs.hpp"
#include "tests/support/need.hpp"

namespace schedmate::daemon {
namespace {

SeenJob training(const std::string& id, std::int64_t submitted_s) {
  SeenJob job = testing::training_job(id, submitted_s);
  job.command = "python train.py --epochs 10";
  return job;
}

SeenJob ended(SeenJob job, Seconds ran) {
  job.phase = JobPhase::ended;
  job.end_state = EndState::completed;
  job.started = job.submitted + Seconds(60);
  job.ended = *job.started + ran;
  return job;
}

/// What the history has of it, as others read it.
std::optional<JobRecord> kept(const testing::ClusterSite& site, const std::string& id) {
  const auto history = testing::need(service::find_history(site.session()));
  return history ? testing::need(history->store->get(id)) : std::nullopt;
}

/// As the reader would give them.
Document facts() {
  Facts made;
  return facts_document(made);
}

TEST_CASE("a job that comes again is expected to run as long as it did") {
  testing::ClusterSite site;
  Historian historian(site.session());
  CHECK(testing::need(historian.advise(training("1", 1000), facts())).source == "none");
  for (int i = 1; i <= 4; ++i) {
    const SeenJob job = training(std::to_string(i), std::int64_t{1000} * i);
    (void)testing::need(historian.advise(job, facts()));
    testing::keep_ends(historian, {{ended(job, Seconds(500 + i))}});
  }
  const live::CodeFound again = testing::need(historian.advise(training("9", 9000), facts()));
  CHECK(again.source == "resubmission");
  REQUIRE(again.prediction);
  CHECK(again.prediction->run_time.count() > 400);
  CHECK(again.prediction->run_time.count() < 600);
}

TEST_CASE("whoever asks for advice is told what the command line tells, by his rights") {
  testing::ClusterSite site;
  Historian historian(site.session());
  (void)site.write("work/train.py", "import torch\nfor epoch in range(20):\n  pass\n");
  service::AdviseRequest asked;
  asked.job.root = site.here.path("work");
  asked.job.command = "python train.py";
  asked.job.gpus = 4;
  asked.user = "ann";
  asked.submit_s = 10'000;
  const Facts read = testing::need(service::read_facts(site.session(), asked.job));
  for (int i = 1; i <= 4; ++i) {
    SeenJob run = testing::training_job(std::to_string(i), std::int64_t{1000} * i);
    run.dir = asked.job.root;
    (void)testing::need(historian.advise(run, facts_document(read)));
    testing::keep_ends(historian, {{ended(run, Seconds(500 + i))}});
  }
  for (const Role role : {Role::owner, Role::cluster_operator})
    for (const char* const user : {"ann", "bo"}) {
      asked.role = role;
      asked.user = user;
      const Document told = testing::need(historian.advise(asked, facts_document(read)));
      if (asked.user == "ann") CHECK(told["source"] == "resubmission");
      CHECK(told ==
            advisor::advice_document(testing::need(service::advise(site.session(), asked))));
      const bool is_named = asked.user == "ann" || role == Role::cluster_operator;
      CHECK((asked.user != "ann" || !told["similar"].empty()));
      for (const Document& each : told["similar"]) CHECK(each["job_id"].is_string() == is_named);
    }
  CHECK_FALSE(kept(site, ""));
  asked.time_limit_s = -1;
  CHECK(historian.advise(asked, facts_document(read)).error().code == ErrorCode::unsupported);
}

TEST_CASE("jobs that were submitted alike have the same advice, and each its record") {
  testing::ClusterSite site;
  Historian historian(site.session());
  const std::vector<SeenJob> alike{training("1", 1000), training("2", 1001), training("3", 1002)};
  CHECK(testing::need(historian.advise(alike, facts())).source == "none");
  for (const SeenJob& job : alike) {
    const auto record = kept(site, job.id);
    REQUIRE(record.has_value());
    CHECK(record->id == job.id);
    CHECK(record->submit == job.submitted);
    CHECK(record->command == job.command);
    CHECK(record->name == job.name);
    CHECK(record->advice.has_value());
  }
}

TEST_CASE("how a job ended is kept with its progress and cause, once however often it is told") {
  testing::ClusterSite site;
  Historian historian(site.session());
  SeenJob job = ended(training("7", 5000), Seconds(300));
  job.end_state = EndState::failed;
  job.exit_code = 3;
  live::Life life;
  life.points = {{at(5100), 10, 2.5}, {at(5200), 20, 1.5}};
  life.log = live::LogFound{.step = 20, .total_steps = 90, .step_time_s = 5};
  life.cause =
      live::CauseFound{.verdict = FailureClass::user_script, .reason = "x", .fingerprint = "f7"};
  probe::UseSummary use;
  use.gpu_pct_mean = 87.5;
  use.memory_mib_max = 30'000;
  job.output = "/r/7.log";
  job.nodes = {{"n1", {0, 1}}, {"n2", {}}};
  const std::vector<live::PastRun> earlier{
      {0, at(5010), at(5020), EndState::node_fail, {{"n3", {}}}}};
  for (int i = 0; i < 2; ++i) testing::keep_ends(historian, {{job, earlier, life, use}});
  const auto record = kept(site, "7");
  REQUIRE(record);
  REQUIRE(record->outcome);
  CHECK(record->outcome->state == EndState::failed);
  CHECK(record->outcome->duration == Seconds(300));
  CHECK(record->outcome->fingerprint == "f7");
  CHECK(record->outcome->gpu_util_pct == 87.5);
  CHECK(record->outcome->gpu_memory_mib == 30'000);
  REQUIRE(record->outcome->progress.size() == 2);
  CHECK(record->outcome->progress.front().since_start == Seconds(40));
  REQUIRE(record->outcome->attempts.size() == 2);
  CHECK(record->outcome->attempts[0].state == EndState::node_fail);
  CHECK(record->outcome->attempts[0].exit_code.empty());
  CHECK(record->outcome->attempts[1].nodes == "n1,n2");
  CHECK(record->outcome->attempts[1].exit_code == "3:0");
  const auto summary = Document::parse(record->outcome->log_summary);
  CHECK(summary["log"] == "/r/7.log");
  CHECK(summary["progress"]["step_time_s"] == 5);
  CHECK(summary["diagnosis"]["class"] == "user_script");
  CHECK(!kept(site, "8"));
  // A daemon that begins knows less of what ended before; what nobody had time to remember it does.
  testing::keep_ends(historian, {{.job = job, .is_old = true}});
  CHECK(kept(site, "7")->outcome->fingerprint == "f7");
  job.id = "8";
  testing::keep_ends(historian, {{.job = job, .is_old = true}});
  CHECK(kept(site, "8")->outcome->state == EndState::failed);
}

TEST_CASE("what is known less of an end does not replace it, also where both come at once") {
  testing::ClusterSite site;
  Historian historian(site.session());
  SeenJob job = ended(training("7", 5000), Seconds(100));
  std::vector<EndRecord> both{testing::need(Historian::end_record({.job = job}))};
  job.command.clear();
  job.end_state = EndState::unknown;
  both.push_back(testing::need(Historian::end_record({.job = job, .is_old = true})));
  testing::need(historian.keep(both));
  CHECK(kept(site, "7")->command == training("7", 5000).command);
}

TEST_CASE("an end that has waited does not take away what its log said") {
  testing::ClusterSite site;
  Historian historian(site.session());
  const SeenJob job = ended(training("7", 5000), Seconds(100));
  EndRecord waited = testing::need(Historian::end_record({.job = job}));
  waited.place = 1;
  live::Life life;
  life.cause = live::CauseFound{.fingerprint = "f7"};
  testing::keep_ends(historian, {{.job = job, .life = life}});
  testing::need(historian.keep(std::span(&waited, 1)));
  CHECK(kept(site, "7")->outcome->fingerprint == "f7");
}

TEST_CASE("an end that has waited replaces no later one") {
  testing::ClusterSite site;
  Historian historian(site.session());
  const auto keep = [&](const SeenJob& job, std::int64_t place) {
    EndRecord end = testing::need(Historian::end_record({.job = job}));
    end.place = place;
    testing::need(historian.keep(std::span(&end, 1)));
  };
  const auto ran = [&] { return kept(site, "7")->outcome->duration; };
  const SeenJob first = training("7", 5000), again = training("7", 9000);
  keep(ended(first, Seconds(100)), 1);
  CHECK(ran() == Seconds(100));
  keep(ended(first, Seconds(300)), 1);
  CHECK(ran() == Seconds(300));
  keep(ended(first, Seconds(100)), 1);
  CHECK(ran() == Seconds(300));
  keep(ended(first, Seconds(200)), 0);  // the cluster says so now
  CHECK(ran() == Seconds(200));
  // An id that came again.
  keep(ended(again, Seconds(50)), 0);
  keep(ended(first, Seconds(400)), 1);
  CHECK(ran() == Seconds(50));
  CHECK(kept(site, "7")->submit == at(9000));
}

TEST_CASE("advice that comes after the end leaves that as it is") {
  testing::ClusterSite site;
  Historian historian(site.session());
  const std::vector<SeenJob> alike{training("1", 1000), training("2", 1001), training("3", 1002)};
  testing::keep_ends(historian, {{ended(alike[0], Seconds(10))}});
  testing::keep_ends(historian, {{ended(alike[1], Seconds(20))}});
  (void)testing::need(historian.advise(alike, facts()));
  CHECK(kept(site, "1")->advice);
  CHECK(kept(site, "1")->outcome->duration == Seconds(10));
  CHECK(kept(site, "2")->advice);
  CHECK(kept(site, "2")->outcome->duration == Seconds(20));
  CHECK(!kept(site, "3")->outcome);
}

TEST_CASE("advice on a script that is read after the end leaves that as it is, too") {
  testing::ClusterSite site;
  Historian historian(site.session());
  SeenJob job = ended(training("1", 1000), Seconds(10));
  job.command.clear();  // the cluster does not tell it
  testing::keep_ends(historian, {{job}});
  (void)testing::need(historian.advise(training("1", 1000), facts()));
  CHECK(kept(site, "1")->command == "python train.py --epochs 10");
  REQUIRE(kept(site, "1")->outcome);
  CHECK(kept(site, "1")->outcome->duration == Seconds(10));
}

TEST_CASE("many ends are kept at once, whether their jobs were advised on or not") {
  testing::ClusterSite site;
  Historian historian(site.session());
  (void)testing::need(historian.advise(training("1", 1000), facts()));
  std::vector<Ended> ends{{ended(training("1", 1000), Seconds(10))}};
  for (int i = 2; i <= 50; ++i) {
    SeenJob job = ended(training(std::to_string(i), 1000 + i), Seconds(i));
    job.command.clear();
    job.dir.clear();
    ends.push_back({job});
  }
  ends.push_back(ends.back());
  testing::keep_ends(historian, ends);
  CHECK(kept(site, "1")->command == "python train.py --epochs 10");
  CHECK(kept(site, "1")->outcome->duration == Seconds(10));
  CHECK(kept(site, "50")->outcome->duration == Seconds(50));
  // An id that comes again is another job.
  testing::keep_ends(historian, {{ended(training("1", 9000), Seconds(20))}});
  CHECK(kept(site, "1")->submit == at(9000));
  CHECK(!kept(site, "1")->advice);
}

TEST_CASE("secrets of a command are not kept") {
  testing::ClusterSite site;
  Historian historian(site.session());
  SeenJob job = training("1", 1000);
  job.command = "python train.py --api-key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
  (void)testing::need(historian.advise(job, facts()));
  SeenJob other = ended(training("2", 1000), Seconds(1));
  other.command = job.command;
  testing::keep_ends(historian, {{other}});
  for (const char* const id : {"1", "2"})
    CHECK(kept(site, id)->command.find("abcdefgh") == std::string::npos);
}

TEST_CASE("facts that are none are an error, and nothing is kept") {
  testing::ClusterSite site;
  Historian historian(site.session());
  for (const char* const text : {"null", "7", "[]", R"({"schema":"another"})"})
    CHECK(!historian.advise(training("1", 1000), Document::parse(text)));
  CHECK(!kept(site, "1"));
}

}  // namespace
}  // namespace schedmate::daemon
