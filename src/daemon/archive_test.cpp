// SPDX-License-Identifier: Apache-2.0
#include "daemon/archive.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/output.hpp"
#include "base/own_files.hpp"
#include "daemon/answers.hpp"
#include "daemon/parts.hpp"
#include "daemon/past_job.hpp"
#include "http/exchange.hpp"
#include "http/options.hpp"
#include "http/routes.hpp"
#include "journal/journal.hpp"
#include "live/loop.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/made_actions.hpp"
#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::daemon {
namespace {

GivenAdvice given(const std::string& source) {
  GivenAdvice made;
  made.source = source;
  made.p50 = FractionalSeconds(450);
  return made;
}

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
      outcome.log_summary = R"({"progress":{"step_time_s":0.5}})";
      outcome.progress = {{Seconds(10), 20, 1.5}, {Seconds(20), 40, 1.25}};
      testing::need(store->finish(id, outcome));
    }
    JobRecord job;
    job.id = "9";
    job.user = "ann";
    job.submit = at(1000);
    job.facts_json = R"({"schema":"schedmate.facts.v1","facts":{"epochs":{"value":20}}})";
    job.vc = "gpu";
    job.gpus = 4;
    job.command = "python train.py";
    job.advice = given("similar");
    job.advice->neighbours = {{"1", 0.99, "same model_name"}, {"2", 0.95}, {"3", 0.92}};
    job.advice->length =
        GivenLength{.source = "similar",
                    .p50 = FractionalSeconds(500),
                    .limit = Seconds(900),
                    .told = true,
                    .risk = 0.05,
                    .early_end = 0.25,
                    .runs_by_state = {{EndState::completed, 3}, {EndState::failed, 1}}};
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
        R"([{"job_id":"1","score":0.99,"why":"same model_name","gpus":0,"duration_s":500,)"
        R"("state":"completed","step_time_s":0.5,"series":[{"since_start_s":10,"step":20.0},)"
        R"({"since_start_s":20,"step":40.0}]},{"job_id":"2","score":0.95,"why":"","gpus":0,)"
        R"("duration_s":500,"state":"completed","step_time_s":0.5,"series":)"
        R"([{"since_start_s":10,"step":20.0},{"since_start_s":20,"step":40.0}]}])");
  CHECK(job["advice"]["neighbours_of_others"] == 0);
}

TEST_CASE("advice is shown as it was given") {
  Document advice = History().shown({.user = "ann"})["advice"];
  for (const char* const part : {"neighbours", "neighbours_of_others"}) advice.erase(part);
  CHECK(advice.dump() ==
        R"({"source":"similar","held_s":{"p10":0.0,"p50":450.0,"p90":0.0},"known":true,)"
        R"("not_known":null,"duration_s":{"p10":0.0,"p50":500.0,"p90":0.0},)"
        R"("time_limit":{"suggested_s":900,"slurm":"0:15:00","risk":0.05},"early_end":0.25,)"
        R"("runs_by_state":{"completed":3,"failed":1}})");
}

TEST_CASE("where its user read that the length is not known no length is shown") {
  GivenAdvice unknown = given("similar");
  unknown.length = GivenLength{.source = "similar",
                               .p50 = FractionalSeconds(500),
                               .limit = Seconds(900),
                               .not_known = "they differ too much"};
  const Document shown = advice_document(unknown);
  CHECK(shown["known"] == false);
  CHECK(shown["not_known"] == "they differ too much");
  CHECK(shown["duration_s"].is_null());
  CHECK(shown["time_limit"].is_null());
  CHECK(advice_document(given("none"))["held_s"].is_null());
}

TEST_CASE("a job that is followed no more is shown to its owner and operators alone") {
  const History history;
  Outcome outcome;
  outcome.state = EndState::failed;
  outcome.start = at(1100);
  outcome.end = at(1500);
  outcome.attempts = {{.start = at(1050),
                       .end = at(1060),
                       .state = EndState::node_fail,
                       .word = "",
                       .exit_code = "",
                       .nodes = "n1"},
                      {.start = at(1100),
                       .end = at(1500),
                       .state = EndState::failed,
                       .word = "",
                       .exit_code = "0:9",
                       .nodes = "n2,n3"}};
  outcome.log_summary = R"({"progress":{"step":30,"total_steps":90},)"
                        R"("diagnosis":{"class":"user_script","reason":"x"}})";
  outcome.progress = {{Seconds(10), 30, 1.5}};
  testing::need(history.store->finish("9", outcome));
  const auto shown = [&](const Caller& caller) {
    return testing::need(past_job(*history.store, caller, "9"));
  };
  CHECK(!shown({.user = "bob"}));
  CHECK(!testing::need(past_job(*history.store, {.user = "ann"}, "8")));
  CHECK(shown({.user = "root", .role = Role::cluster_operator}));
  const auto job = shown({.user = "ann"});
  REQUIRE(job);
  CHECK((*job)["schema"] == "schedmate.job.v1");
  CHECK((*job)["state"] == "failed");
  CHECK((*job)["ended_s"] == 1500);
  CHECK((*job)["exit_code"] == 0);
  CHECK((*job)["exit_signal"] == 9);
  CHECK((*job)["restarts"] == 1);
  CHECK((*job)["nodes"].size() == 2);
  REQUIRE((*job)["attempts"].size() == 2);
  CHECK((*job)["attempts"][0]["state"] == "node_fail");
  CHECK((*job)["attempts"][0]["nodes"][0]["node"] == "n1");
  CHECK((*job)["attempts"][1]["why"] == "x");
  CHECK((*job)["diagnosis"]["class"] == "user_script");
  CHECK((*job)["verdict"] == "user_script");
  CHECK((*job)["progress"]["of"] == 90);
  CHECK((*job)["progress"]["series"][0]["at_s"] == 1110);
  CHECK((*job)["advice"]["neighbours"].size() == 1);
  CHECK((*job)["facts"]["facts"]["epochs"]["value"] == 20);
}

/// What comes by another thread of what is asked for.
template <class Ask>
http::Reply reply_to(const Ask& ask) {
  const auto exchange = std::make_shared<http::Exchange>(http::Admitted(), http::PeerSlot(),
                                                         std::chrono::nanoseconds(0));
  std::optional<http::Reply> reply;
  ask(std::make_shared<http::Answer>(exchange, nullptr));
  REQUIRE(testing::soon([&] { return (reply = exchange->take_reply()).has_value(); }));
  return *reply;
}

/// About job 9, which the daemon does not follow.
http::Reply reply_of_past(const settings::Session& session, const std::string& journal = "") {
  http::Request request;
  request.ids = {"9"};
  request.caller = {.user = "ann"};
  Archive archive(session, journal);
  return reply_to([&](const auto& answer) { archive.past_job(request, answer); });
}

TEST_CASE("a history that cannot be read is no answer that there is no such job") {
  const testing::ClusterSite site;
  const auto session = site.session();
  CHECK(reply_of_past(session).status == 404);  // there is none yet
  testing::need(make_own_folder(session.state_dir()));
  const std::string path = session.state_dir() + "/history.sqlite";
  testing::need(write_file(path, std::string(4096, 'x')));
  const http::Reply reply = reply_of_past(session);
  CHECK(reply.status == 503);
  const Document error = Document::parse(*reply.body);
  CHECK(error["code"] == "unavailable");
  CHECK(error["message"].get<std::string>().contains(path));
}

/// A journal with holds of jobs: each third of ann's job 9, the others of bob's 8; and who reads.
struct Kept {
  static constexpr std::int64_t actions = 3003;
  testing::ClusterSite site;
  testing::Scratch folder;
  std::string path = folder.path("journal.sqlite");
  std::unique_ptr<Archive> archive;
  Kept() {
    journal::Batch batch;
    for (std::int64_t id = 1; id <= actions; ++id) {
      batch.actions.push_back(testing::made_action(
          id, {.kind = ActionKind::hold, .job = id % 3 == 0 ? "9" : "8", .submitted = at(100)},
          Mode::shadow));
      batch.actions.back().steps.push_back(
          {.state = ActionState::shadowed, .when = at(6), .by = "schedmate", .note = ""});
    }
    const auto journal = testing::need(
        journal::Journal::open({.path = path, .instance = "a:1"}, testing::fixed_clock(at(9))));
    testing::need(journal->append(batch));
    archive = std::make_unique<Archive>(site.session(), path);
  }
  static SeenActions seen_by(const Caller& caller) {
    return {caller, std::make_shared<JobOwners>(
                        JobOwners{{"9", {"ann", at(100)}}, {"8", {"bob", at(100)}}})};
  }
  Document page(const Caller& caller, const std::string& limit, const std::string& cursor = "") {
    http::Request request;
    request.caller = caller;
    request.query = {{"limit", limit}, {"cursor", cursor}};
    const auto reply =
        reply_to([&](const auto& answer) { archive->actions(request, answer, seen_by(caller)); });
    REQUIRE(reply.status == 200);
    return Document::parse(*reply.body);
  }
  int status_of(const Caller& caller, const std::string& id) {
    http::Request request;
    request.caller = caller;
    request.ids = {id};
    return reply_to(
               [&](const auto& answer) { archive->past_action(request, answer, seen_by(caller)); })
        .status;
  }
};

/// What is shown to bob where a loop, at the place of the one before, has read that job 9 is this
/// user's.
Document page_for_bob(Kept& kept, std::optional<live::Loop>& loop, std::uint64_t number,
                      const std::string& owner) {
  Listing listing{.version = 1, .now = at(1000), .jobs = {}, .ended_since = {}, .nodes = {}};
  SeenJob& job = listing.jobs.emplace_back();
  job.id = "9";
  job.submitted = at(100);
  job.user = owner;
  job.partition = "a";
  job.gpus = 1;
  listing.nodes.push_back({.name = "a-0", .partition = "a", .gpus = 8, .reason = ""});
  loop.emplace(live::LoopOptions(), live::Past(), at(1000));
  for (const live::Effect& effect : loop->step(live::Ticked{}, at(1000)))
    if (const auto* const list = std::get_if<live::List>(&effect))
      static_cast<void>(loop->step(live::Listed{list->number, listing}, at(1000)));
  REQUIRE(loop->counts().readings == 1);
  JobTexts texts;
  State state{.loop = *loop,
              .texts = texts,
              .history = ClusterHistory(),
              .job_actions = JobActions(),
              .now = at(1000),
              .journal = kept.path};
  state.loop_number = number;
  http::Request request;
  const std::vector<std::string> parts = {"api", "v1", "actions"};
  request.route = http::match_route(http::Method::get, parts).route;
  request.caller = {.user = "bob"};
  REQUIRE(request.route != nullptr);
  const auto reply =
      reply_to([&](const auto& answer) { REQUIRE(kept.archive->take(request, answer, state)); });
  REQUIRE(reply.status == 200);
  return Document::parse(*reply.body);
}

TEST_CASE("after a reload it counts whose job it is now") {
  Kept kept;
  std::optional<live::Loop> loop;
  CHECK(page_for_bob(kept, loop, 1, "bob")["actions"].size() > 100);
  CHECK(page_for_bob(kept, loop, 2, "ann")["actions"].empty());
}

TEST_CASE("a page of actions has a thousand of them, whatever is asked for, and all are reached") {
  Kept kept;
  const Caller chief{.user = "root", .role = Role::cluster_operator}, ann{.user = "ann"};
  const Document first = kept.page(chief, "100000");
  REQUIRE(first["actions"].size() == 1000);
  CHECK(first["actions"][0]["id"] == Kept::actions);
  CHECK(first["next"] == Kept::actions - 999);
  const auto reached = [&](const Caller& caller) {
    std::int64_t count = 0;
    std::string cursor;
    do {
      const Document page = kept.page(caller, "100000", cursor);
      CHECK(page["actions"].size() <= 1000);
      for (const Document& each : page["actions"])
        CHECK((caller.user != "ann" || each["call"]["job"] == "9"));
      count += std::ssize(page["actions"]);
      cursor = page["next"].is_null() ? "" : page["next"].dump();
    } while (!cursor.empty());
    return count;
  };
  CHECK(reached(chief) == Kept::actions);
  CHECK(reached(ann) == Kept::actions / 3);
  CHECK(reached({.user = "eve"}) == 0);
  CHECK(reached({.user = "vic", .role = Role::viewer}) == 0);
  CHECK(reached({.user = "vic", .role = Role::viewer, .viewers_see_all = true}) == Kept::actions);
}

TEST_CASE("an action that has ended is for whom its job is") {
  Kept kept;
  CHECK(kept.status_of({.user = "ann"}, "3") == 200);
  CHECK(kept.status_of({.user = "ann"}, "4") == 404);
  CHECK(kept.status_of({.user = "bob"}, "4") == 200);
  CHECK(kept.status_of({.user = "root", .role = Role::cluster_operator}, "4") == 200);
  CHECK(kept.status_of({.user = "root", .role = Role::cluster_operator}, "99999") == 404);
  CHECK(kept.status_of({.user = "root", .role = Role::cluster_operator}, "x") == 404);
}

TEST_CASE("where nothing is known of whose jobs there are only operators see actions about them") {
  const Action hold =
      testing::made_action(1, {.kind = ActionKind::hold, .job = "9", .submitted = at(100)});
  const auto sees = [&](const Caller& caller) { return SeenActions(caller, nullptr).holds(hold); };
  CHECK(sees({.user = "root", .role = Role::cluster_operator}));
  CHECK_FALSE(sees({.user = "ann"}));
  CHECK_FALSE(sees({.user = "vic", .role = Role::viewer, .viewers_see_all = true}));
}

TEST_CASE("a job is shown with its actions that have ended, and none of an earlier one of its id") {
  const Kept kept;
  Document job{{"id", "9"}, {"submitted_s", 100}, {"actions", {{{"id", 4000}}}}};
  add_ended_actions({6, 3, 4, 6}, {.user = "ann"}, kept.path, job);
  REQUIRE(job["actions"].size() == 3);
  CHECK(job["actions"][0]["id"] == 3);
  CHECK(job["actions"][1]["id"] == 6);
  CHECK(job["actions"][2]["id"] == 4000);
  Document later{{"id", "9"}, {"submitted_s", 200}, {"actions", Document::array()}};
  add_ended_actions({3, 6}, {.user = "ann"}, kept.path, later);
  CHECK(later["actions"].empty());
}

TEST_CASE("a job that is followed no more has its last actions yet") {
  const Kept kept;
  JobRecord record;
  record.id = "9";
  record.user = "ann";
  record.submit = at(100);
  testing::need(testing::need(service::open_history(kept.site.session())).store->put(record));
  const Document job = Document::parse(*reply_of_past(kept.site.session(), kept.path).body);
  REQUIRE(job["actions"].size() == 10);
  CHECK(job["actions"][0]["id"] == 2976);
  CHECK(job["actions"][9]["id"] == 3003);
}

TEST_CASE("whose GPUs a job shares is for who may see everybody's jobs") {
  const Action start =
      testing::made_action(1, {.kind = ActionKind::start, .job = "9", .shared_with = "8"});
  const auto shows = [&](const Caller& caller) {
    return shown_action(start, caller)["call"].contains("shared_with");
  };
  CHECK(shows({.user = "root", .role = Role::cluster_operator}));
  CHECK(shows({.user = "vic", .role = Role::viewer, .viewers_see_all = true}));
  CHECK_FALSE(shows({.user = "vic", .role = Role::viewer}));
  CHECK_FALSE(shows({.user = "ann"}));
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
  CHECK(job["advice"]["source"] == "similar");
}

TEST_CASE("run times are expected from what had ended by then, the newest submissions") {
  const auto store = testing::need(open_store("memory"));
  for (std::int64_t i = 1; i <= 5; ++i) {
    JobRecord run;
    run.id = std::to_string(i);
    run.user = "ann";
    run.vc = "gpu";
    run.gpus = 2;
    run.submit = at(100 * i);
    testing::need(store->put(run));
    if (i == 2) continue;  // it runs
    Outcome outcome;
    outcome.state = EndState::completed;
    outcome.start = at(100 * i + 10);
    outcome.end = at(1000 - 100 * i);
    outcome.duration = *outcome.end - *outcome.start;
    testing::need(store->finish(run.id, outcome));
  }
  const auto ids = [&](std::int64_t now_s, std::size_t most) {
    std::string words;
    for (const SeenJob& run : testing::need(past_runs(*store, at(now_s), most))) words += run.id;
    return words;
  };
  CHECK(ids(2000, 10) == "5431");  // by their end
  CHECK(ids(650, 10) == "54");
  CHECK(ids(2000, 2) == "54");
  const SeenJob run = testing::need(past_runs(*store, at(2000), 1)).at(0);
  CHECK(run.phase == JobPhase::ended);
  CHECK(run.started == at(510));
  CHECK(run.gpus == 2);
  CHECK(run.partition == "gpu");
}

}  // namespace
}  // namespace schedmate::daemon
