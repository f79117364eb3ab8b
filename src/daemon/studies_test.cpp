// SPDX-License-Identifier: Apache-2.0
#include "daemon/studies.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/need.hpp"

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

}  // namespace
}  // namespace schedmate::daemon
