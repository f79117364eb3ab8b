// SPDX-License-Identifier: Apache-2.0

/// The use cases as a daemon calls them: no command line, no environment, a clock of the test's
/// own.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "service/advise.hpp"
#include "service/ask.hpp"
#include "service/diagnose.hpp"
#include "service/facts.hpp"
#include "service/history.hpp"
#include "service/simulate.hpp"
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
  const auto progress = track(session, {log});
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

TEST_CASE("a simulation reports its beginning and writes its files") {
  Site site;
  site.write("jobs.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,ann,a,1,COMPLETED,0,60\n");
  site.write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 1\ngpus_per_node = 8\n");
  int began = 0;
  const auto made = simulate(site.session(),
                             {.trace = "helios:" + site.here.path("jobs.csv"),
                              .policies = {"fifo"},
                              .cluster = site.here.path("cluster.toml"),
                              .tables = "",
                              .explain = "",
                              .out = site.here.path("out"),
                              .commit = "test"},
                             [&](const Experiment&) { ++began; });
  if (!made) FAIL(made.error().message);
  CHECK(began == 1);
  CHECK(made->runs.size() == 1);
  CHECK(std::filesystem::exists(site.here.path("out/fifo.jobs.csv")));
}

}  // namespace schedmate::service
