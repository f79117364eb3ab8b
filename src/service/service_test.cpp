// SPDX-License-Identifier: Apache-2.0

/// The use cases as a daemon calls them: no command line, no environment, a clock of the test's
/// own.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "service/advise.hpp"
#include "service/ask.hpp"
#include "service/diagnose.hpp"
#include "service/facts.hpp"
#include "service/history.hpp"
#include "service/track.hpp"
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::service {
namespace {

struct Site {
  testing::Scratch here;
  std::int64_t wall_s = 1'700'000'000;
  std::chrono::nanoseconds monotonic{0};

  [[nodiscard]] settings::Session session() {
    settings::Session made;
    made.environment.state_home = here.path("state");
    made.environment.variable = [](std::string_view) { return std::string(); };
    made.clock.wall = [this] { return at(wall_s); };
    made.clock.now = [this] { return monotonic; };
    made.clock.sleep = [this](std::chrono::nanoseconds rest) { monotonic += rest; };
    made.clock.cpu = [] { return std::chrono::nanoseconds(0); };
    return made;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(here.path(name), std::ios::app) << text;
  }
  [[nodiscard]] static JobRequest job(const std::string& flags) {
    JobRequest request;
    request.root = SCHEDMATE_SOURCE_DIR "/examples/classifier";
    request.command = "python train.py " + flags;
    request.gpus = 4;
    return request;
  }
  [[nodiscard]] static AdviseRequest submission(const std::string& id) {
    AdviseRequest request;
    request.job = job("--epochs 7");
    request.user = "ann";
    request.id = id;
    return request;
  }
  [[nodiscard]] static AddRequest added(const std::string& user) {
    AddRequest request;
    request.id = "1";
    request.user = user;
    request.job = job("");
    return request;
  }
  [[nodiscard]] std::string log(const std::string& last_line) const {
    std::string text;
    for (int step = 1; step <= 30; ++step)
      text += fmt::format("2024-03-01 10:00:{:02} step {}/100 loss: {:.2f}\n", step, step,
                          3.0 - 0.05 * step);
    write("job.log", text + last_line);
    return here.path("job.log");
  }
};

}  // namespace

TEST_CASE("facts are read without a command line, and timed by the clock that is passed in") {
  Site site;
  const auto facts = read_facts(site.session(), Site::job("--epochs 7"));
  REQUIRE(facts);
  REQUIRE(facts->find("length") != nullptr);
  CHECK(std::get<Length>(facts->find("length")->value) == Length{7, "epochs"});
  CHECK(facts->wall_ms == 0);  // the test's clock stood still
  JobRequest absent = Site::job("");
  absent.root = site.here.path("absent");
  CHECK_FALSE(read_facts(site.session(), absent));
}

TEST_CASE("a submission is advised, ends, and advises the next one") {
  Site site;
  const settings::Session session = site.session();
  AdviseRequest first = Site::submission("1");
  first.record = true;
  const auto unknown = advise(session, first);
  REQUIRE(unknown);
  CHECK(unknown->estimate.source == AdviceSource::none);
  FinishRequest end;
  end.id = "1";
  end.outcome.state = "completed";
  end.outcome.duration_s = 3600;
  const auto finished = finish_job(session, end);
  REQUIRE(finished);
  CHECK(finished->submit == at(site.wall_s));
  site.wall_s += 86'400;
  const auto known = advise(session, Site::submission("2"));
  REQUIRE(known);
  CHECK(known->estimate.source == AdviceSource::resubmission);
  CHECK(testing::near(known->estimate.p50.count(), 3600, 1e-9, 0));
  CHECK(list_jobs(session, "", 20)->size() == 1);  // nothing recorded the second
  REQUIRE(forget_job(session, "1"));
  CHECK(list_jobs(session, "", 20)->empty());
}

TEST_CASE("a log is tracked, followed, diagnosed and asked") {
  Site site;
  const settings::Session session = site.session();
  const std::string log =
      site.log("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  const auto progress = track(session, {.logs = {log}});
  REQUIRE(progress);
  CHECK(progress->progress.step == 30);
  CHECK(track_document(*progress)["cost"]["model_calls"] == 0);
  int shown = 0;
  REQUIRE(follow(session, {.log = log, .every_s = 1, .for_s = 5}, [&](const TrackAnswer& answer) {
    ++shown;
    return answer.progress.step == 30;
  }));
  CHECK(shown == 1);
  CHECK(site.monotonic == std::chrono::seconds(5));  // it slept by the test's clock
  DiagnoseRequest why;
  why.logs = {log};
  const auto answer = diagnose(session, why);
  REQUIRE(answer);
  CHECK(answer->diagnosis.verdict == FailureClass::user_script);
  CHECK(answer->diagnosis.root_line == 31);
  CHECK(answer->warnings.empty());
  const auto replies = ask(session, {log, "how far is it?"});
  REQUIRE(replies);
  CHECK(replies->answers.size() == 1);
}

TEST_CASE("what somebody else's history holds is refused" * testing::needs_root()) {
  Site site;
  settings::Session session = site.session();
  REQUIRE(list_jobs(session, "", 1));
  REQUIRE(::chown(session.state_dir().c_str(), 1, 1) == 0);
  const auto refused = list_jobs(session, "", 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::refused);
}

TEST_CASE("a state folder that others may write, or that is a link, is refused by every use case") {
  Site site;
  const settings::Session session = site.session();
  const std::string log = site.log("");
  REQUIRE(list_jobs(session, "", 1));
  const auto refused = [&](const std::string& why) {
    for (const auto& error :
         {list_jobs(session, "", 1).error(), ask(session, {log, "how far is it?"}).error(),
          advise(session, Site::submission("1")).error(), forget_job(session, "1").error()}) {
      CHECK(error.code == ErrorCode::refused);
      CHECK(error.message.contains(why));
      CHECK(error.message.contains("--state-dir"));
    }
  };
  REQUIRE(::chmod(session.state_dir().c_str(), 0777) == 0);
  refused("others may write it");
  REQUIRE(::chmod(session.state_dir().c_str(), 0700) == 0);
  const std::string moved = site.here.path("moved");
  REQUIRE(::rename(session.state_dir().c_str(), moved.c_str()) == 0);
  REQUIRE(::symlink(moved.c_str(), session.state_dir().c_str()) == 0);
  refused("is a link");
}

TEST_CASE("files in a state folder are no links") {
  Site site;
  const settings::Session session = site.session();
  REQUIRE(list_jobs(session, "", 1));
  const std::string store = session.state_dir() + "/history.sqlite";
  const std::string victim = site.here.path("victim");
  REQUIRE(::unlink(store.c_str()) == 0);
  REQUIRE(::symlink(victim.c_str(), store.c_str()) == 0);
  const auto jobs = list_jobs(session, "", 1);
  REQUIRE_FALSE(jobs);
  CHECK(jobs.error().code == ErrorCode::refused);
  CHECK(jobs.error().message.contains("is a link"));
  CHECK(::access(victim.c_str(), F_OK) != 0);
}

TEST_CASE("what the budget of a reading leaves out stands in every answer") {
  Site site;
  const settings::Session session = site.session();
  const std::string log = site.log("");
  const std::uint64_t end = std::uint64_t{1} << 40U;
  REQUIRE(::truncate(log.c_str(), static_cast<off_t>(end)) == 0);
  site.write("job.log",
             "\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  const std::string said = "read the first 1 GiB and the last 1 GiB of 1 TiB";
  DiagnoseRequest why;
  why.logs = {log};
  const auto diagnosis = diagnose(session, why);
  REQUIRE(diagnosis);
  CHECK(diagnosis->diagnosis.verdict == FailureClass::user_script);
  REQUIRE(diagnosis->left_out.size() == 1);
  CHECK(diagnosis->left_out[0].contains(said));
  CHECK(diagnosis->notes.back() == diagnosis->left_out[0]);
  CHECK(diagnose_document(*diagnosis)["left_out"].size() == 1);
  const auto progress = track(session, {.logs = {log}});
  REQUIRE(progress);
  CHECK_FALSE(track_document(*progress).contains("left_out"));
  REQUIRE(::truncate(log.c_str(), 0) == 0);  // nothing but a hole
  REQUIRE(::truncate(log.c_str(), static_cast<off_t>(end)) == 0);
  const auto hole = diagnose(session, why);
  REQUIRE(hole);
  CHECK_FALSE(hole->diagnosis.judged);
  REQUIRE(hole->left_out.size() == 1);
  CHECK(hole->left_out[0].contains(said));
}

TEST_CASE("root reads a link of another user as that user" * testing::needs_root()) {
  Site site;
  settings::Session session = site.session();
  REQUIRE(::chmod(site.here.path().c_str(), 0755) == 0);
  const std::string secret = site.here.path("secret");
  site.write("secret", "RuntimeError: root_only_secret\nstep 3/10 loss: 0.5\n");
  REQUIRE(::chmod(secret.c_str(), 0600) == 0);
  const std::string log = site.here.path("log");
  REQUIRE(::symlink(secret.c_str(), log.c_str()) == 0);
  REQUIRE(::lchown(log.c_str(), 12345, 12345) == 0);
  const auto refused = [&](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK_MESSAGE(result.error().code == ErrorCode::refused, result.error().message);
    CHECK(result.error().message.contains("Permission denied (as user 12345)"));
  };
  DiagnoseRequest why;
  why.logs = {log};
  refused(ask(session, {log, "why did it stop?"}));
  refused(track(session, {.logs = {log}}));
  refused(
      follow(session, {.log = log, .every_s = 1, .for_s = 1}, [](const auto&) { return true; }));
  refused(diagnose(session, why));
  const std::string own = site.log("");
  for (auto member : {&DiagnoseRequest::job, &DiagnoseRequest::good}) {
    DiagnoseRequest request;
    request.logs = {own};
    request.*member = log;
    refused(diagnose(session, request));
  }
  for (auto member : {&DiagnoseRequest::kernel_logs, &DiagnoseRequest::readings}) {
    DiagnoseRequest request;
    request.logs = {own};
    (request.*member) = {log};
    refused(diagnose(session, request));
  }
  JobRequest job = Site::job("");
  job.log = log;
  refused(read_facts(session, job));
  job.log = "";
  job.monitoring = log;
  refused(read_facts(session, job));
  FinishRequest end;
  end.id = "1";
  end.outcome.state = "completed";
  end.outcome.duration_s = 60;
  end.log = log;
  REQUIRE(add_job(session, Site::added("ann")));
  refused(finish_job(session, end));
}

TEST_CASE("a log that is swapped after history finish is read as the job's user" *
          testing::needs_root()) {
  Site site;
  settings::Session session = site.session();
  REQUIRE(::chmod(site.here.path().c_str(), 0755) == 0);
  const std::string log =
      site.log("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  REQUIRE(::chown(log.c_str(), 12345, 12345) == 0);
  REQUIRE(add_job(session, Site::added("12345")));
  FinishRequest end;
  end.id = "1";
  end.outcome.state = "failed";
  end.outcome.duration_s = 60;
  end.log = log;
  REQUIRE(finish_job(session, end));
  DiagnoseRequest why;
  why.logs = {"1"};
  REQUIRE(ask(session, {"1", "why did it stop?"}));
  CHECK(diagnose(session, why)->diagnosis.verdict == FailureClass::user_script);
  // A link, and even a file of root in the log's place.
  site.write("secret", "RuntimeError: root_only_secret\n");
  const std::string secret = site.here.path("secret");
  REQUIRE(::chmod(secret.c_str(), 0600) == 0);
  for (const bool by_link : {true, false}) {
    REQUIRE(::unlink(log.c_str()) == 0);
    REQUIRE((by_link ? ::symlink(secret.c_str(), log.c_str())
                     : ::rename(secret.c_str(), log.c_str())) == 0);
    for (const auto& error :
         {ask(session, {"1", "why did it stop?"}).error(), diagnose(session, why).error()}) {
      CHECK(error.code == ErrorCode::refused);
      CHECK_FALSE(error.message.contains("root_only_secret"));
    }
  }
}

TEST_CASE("root names another reader by a setting, who may be known by number" *
          testing::needs_root()) {
  Site site;
  settings::Session session = site.session();
  REQUIRE(::chmod(site.here.path().c_str(), 0755) == 0);
  const std::string log = site.log("");
  REQUIRE(::chown(log.c_str(), 12345, 12345) == 0);
  REQUIRE(::chmod(log.c_str(), 0600) == 0);
  const auto closed = track(session, {.logs = {log}});
  REQUIRE_FALSE(closed);
  CHECK(closed.error().message.contains("--set reader=12345"));
  REQUIRE(session.settings.set("reader", "12345", "test"));
  CHECK(track(session, {.logs = {log}})->progress.step == 30);
  REQUIRE(session.settings.set("reader", "12346", "test"));
  CHECK(track(session, {.logs = {log}}).error().code == ErrorCode::refused);
  REQUIRE(session.settings.set("reader", "nobody-of-this-name", "test"));
  CHECK(track(session, {.logs = {log}}).error().code == ErrorCode::not_found);
}

}  // namespace schedmate::service
