// SPDX-License-Identifier: Apache-2.0
#include "daemon/studies.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/own_files.hpp"
#include "daemon/step_desk.hpp"
#include "tests/support/ended_jobs.hpp"
#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::daemon {
namespace {

SeenJob known_job() {
  SeenJob job;
  job.id = "7";
  job.user = "ann";
  job.partition = "gpu";
  job.gpus = 4;
  job.limit = Seconds(3600);
  job.dir = "/r";
  job.command = "python train.py";
  job.output = "job.log";
  return job;
}

TEST_CASE("the reader takes each request as it is made for a study") {
  using What = live::Study::What;
  for (const What what : {What::code, What::log, What::failure}) {
    const reader::Request made = testing::need(reading_for({1, what, known_job()}));
    CHECK(made.user == "ann");
    CHECK_FALSE(made.models);  // what is decided stands on no word of a model
    const auto taken = reader::read_request(reader::request_line({9, made}));
    REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
    CHECK(taken->request == made);
  }
}

TEST_CASE("a log beside the job's folder is read there; without a place nothing is") {
  using What = live::Study::What;
  SeenJob job = known_job();
  CHECK(testing::need(reading_for({1, What::log, job})).logs ==
        std::vector<std::string>{"/r/job.log"});
  job.output = "/logs/7.out";
  CHECK(testing::need(reading_for({1, What::log, job})).logs ==
        std::vector<std::string>{"/logs/7.out"});
  job.output.clear();
  CHECK(reading_for({1, What::failure, job}).error().code == ErrorCode::not_found);
}

TEST_CASE("without a reader each study is answered, and says which setting is missing") {
  std::vector<live::Studied> answers;
  Studies studies({}, [&](std::uint64_t loop, live::Studied studied) {
    CHECK(loop == 3);
    answers.push_back(std::move(studied));
  });
  studies.make(3, {5, live::Study::What::log, known_job()}, nullptr);
  REQUIRE(answers.size() == 1);
  CHECK(answers.front().study == 5);
  CHECK(answers.front().finding.error().message.find("reader.socket") != std::string::npos);
}

TEST_CASE("steps tell of a failure though nobody reads its log, and are asked for first") {
  std::mutex mutex;
  std::vector<live::Studied> answers;
  Studies studies({}, [&](std::uint64_t /*loop*/, live::Studied studied) {
    const std::lock_guard lock(mutex);
    answers.push_back(std::move(studied));
  });
  const auto number_of_answers = [&] {
    const std::lock_guard lock(mutex);
    return answers.size();
  };
  StepDesk desk(studies, {});
  desk.read_by(nullptr, [](const SeenJob& job, const auto&) -> Result<std::vector<SeenStep>> {
    if (job.id != "7") return fail(ErrorCode::unavailable, "no accounting");
    return std::vector<SeenStep>{{.id = "0", .end_state = EndState::failed}};
  });
  SeenJob other = known_job();
  other.id = "8";
  desk.make(3, {5, live::Study::What::failure, known_job()}, nullptr);
  desk.make(3, {6, live::Study::What::failure, other}, nullptr);
  REQUIRE(testing::soon([&] { return number_of_answers() >= 2; }));
  desk.make(3, {7, live::Study::What::log, known_job()}, nullptr);
  REQUIRE(answers.size() == 3);
  const auto cause = std::get<live::CauseFound>(testing::need(answers[0].finding));
  CHECK_FALSE(cause.judged);
  CHECK(cause.reason.empty());  // that nobody reads here is not why it failed
  CHECK(cause.unread.contains("reader.socket"));
  CHECK(cause.steps.at(0).id == "0");
  CHECK_FALSE(answers[1].finding);
  CHECK_FALSE(answers[2].finding);
}

TEST_CASE("failures that are too many for the steps to be asked for are studied without") {
  std::mutex mutex;
  std::vector<std::uint64_t> answered;
  Studies studies({}, [&](std::uint64_t /*loop*/, const live::Studied& studied) {
    const std::lock_guard lock(mutex);
    answered.push_back(studied.study);
  });
  const auto seen = [&] {
    const std::lock_guard lock(mutex);
    return answered;
  };
  std::atomic<bool> is_slow = true, others_waited = false;
  std::atomic<int> reads = 0;
  StepDesk desk(studies, {});
  desk.read_by(nullptr, [&](const SeenJob&, const std::function<bool()>& others_wait) {
    CHECK(testing::soon([&] { return !is_slow; }));
    if (++reads == 1) others_waited = others_wait();
    if (reads == 9) others_waited = others_waited && !others_wait();
    return Result<std::vector<SeenStep>>(fail(ErrorCode::unavailable, "it is slow"));
  });
  for (std::uint64_t number = 1; number <= 12; ++number)
    desk.make(3, {number, live::Study::What::failure, known_job()}, nullptr);
  // One is being asked for, and eight wait.
  CHECK(seen() == std::vector<std::uint64_t>{10, 11, 12});
  is_slow = false;
  REQUIRE(testing::soon([&] { return seen().size() >= 12; }));
  CHECK(reads == 9);
  CHECK(others_waited);
}

TEST_CASE("how jobs ended is given to a history that was away, by a later daemon") {
  const testing::AwayHistory history;
  const std::string folder = history.session().state_dir();
  testing::need(make_own_folder(folder));
  const auto nobody = [](std::uint64_t /*loop*/, const live::Studied& /*studied*/) {};
  live::Attempt attempt;
  attempt.seen = testing::ended_job("7").job;
  {
    Studies studies(history.session(), nobody);
    studies.remember(attempt, nullptr, nullptr);
    REQUIRE(testing::soon([&] { return std::filesystem::exists(folder + "/ends.sqlite"); }));
  }
  history.come_back();
  Studies studies(history.session(), nobody);
  studies.begin({});
  REQUIRE(testing::soon([&] { return studies.ends().kept == 1; }));
  CHECK(history.kept("7")->outcome->duration == Seconds(60));
  CHECK(studies.ends().waiting == 0);
}

TEST_CASE("an end that an earlier daemon had no time for is remembered as the cluster shows it") {
  const testing::AwayHistory history;
  history.come_back();
  live::Attempt shown, gone;
  shown.seen = testing::ended_job("7").job;
  gone.seen = testing::ended_job("8").job;
  live::Jobs jobs;  // the journal keeps less of them
  testing::need(jobs.restore(live::Jobs::text(shown)));
  testing::need(jobs.restore(live::Jobs::text(gone)));
  CHECK(jobs.find("7")->seen.command.empty());
  Studies studies(history.session(),
                  [](std::uint64_t /*loop*/, const live::Studied& /*studied*/) {});
  studies.begin(jobs);
  Listing listing;
  listing.version = 1;
  listing.now = *shown.seen.ended;
  listing.jobs = {shown.seen};
  (void)jobs.take(listing);
  studies.seen(jobs, {});
  REQUIRE(testing::soon([&] { return studies.ends().kept == 2; }));
  CHECK(history.kept("7")->command == "python train.py");
  CHECK(history.kept("7")->outcome->state == EndState::completed);
  CHECK(history.kept("8")->outcome->duration == Seconds(60));
  studies.seen(jobs, {});
  CHECK(studies.ends().waiting == 0);
}

}  // namespace
}  // namespace schedmate::daemon
