// SPDX-License-Identifier: Apache-2.0
#include "daemon/findings.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace schedmate::daemon {
namespace {

TEST_CASE("progress is taken as the reader gives it, with its file") {
  const live::LogFound found = log_found(Document::parse(R"({"step":120,"total_steps":500,
    "loss":0.5,"step_time_s":1.25,"recent_step_time_s":1.5,"remaining_s":475,
    "epoch":2,"total_epochs":4,"remaining_by":"by steps",
    "file":{"inode":77,"size":4096,"mtime_s":1000}})"));
  CHECK(found.step == 120);
  CHECK(found.total_steps == 500);
  CHECK(found.loss == 0.5);
  CHECK(found.step_time_s == 1.25);
  CHECK(found.step_s_now() == 1.5);
  CHECK(found.remaining_s == 475);
  CHECK(found.file == 77);
  CHECK(found.bytes == 4096);
  CHECK(found.written == at(1000));
  CHECK(found.accounted_s == std::vector<double>{150, 2025});  // of an epoch, or of the run
}

TEST_CASE("a diagnosis is taken as the reader gives it") {
  const live::CauseFound found = cause_found(Document::parse(R"({"class":"infrastructure",
    "component":"nvlink","recommendation":"test_first","reason":"a link is down",
    "advice":"test n1","nodes":["n1"],"fingerprint":"f0"})"));
  CHECK(found.judged);
  CHECK(found.verdict == FailureClass::infrastructure);
  CHECK(found.component == Component::nvlink);
  CHECK(found.recommendation == Recommendation::test_first);
  CHECK(found.reason == "a link is down");
  CHECK(found.advice == "test n1");
  CHECK(found.blamed == std::vector<std::string>{"n1"});
  CHECK(found.fingerprint == "f0");
  CHECK(Document::parse(found.document).at("component") == "nvlink");
}

TEST_CASE("a failure is a diagnosis and how far the job had come") {
  const live::CauseFound found = failure_found(Document::parse(
      R"({"diagnosis":{"class":"infrastructure","component":"gpu"},"progress":{"step":299}})"));
  CHECK(found.judged);
  CHECK(found.component == Component::gpu);
  CHECK(found.step == 299);
  CHECK(!Document::parse(found.document).contains("progress"));
  CHECK(!failure_found(Document::parse(R"({"diagnosis":{},"progress":null})")).step);
}

TEST_CASE("what is missing or of another kind is not known") {
  for (const char* const text :
       {"null", "7", "[]", "{}", R"({"step":"x","file":7,"class":null,"nodes":{},"reason":[]})",
        R"({"step":1e999,"file":{"inode":-1,"size":1.5},"class":"?","recommendation":"?"})"}) {
    INFO(text);
    const Document document = Document::parse(text, nullptr, false);
    const live::LogFound log = log_found(document);
    CHECK(!log.step);
    CHECK(log.bytes == 0);
    const live::CauseFound cause = cause_found(document);
    CHECK(cause.verdict == FailureClass::none);
    CHECK(cause.blamed.empty());
    CHECK(cause.reason.empty());
    CHECK(!failure_found(document).judged);
  }
  CHECK(!cause_found(Document()).judged);
  // An unknown word never restarts anything.
  CHECK(cause_found(Document::parse(R"({})")).recommendation == Recommendation::notify);
}

TEST_CASE("what a log says is fit for screens, and bounded") {
  const live::CauseFound found =
      cause_found({{"class", "other"}, {"reason", "\x1b[2Jred" + std::string(5000, 'x')}});
  CHECK(found.reason.size() <= 1000);
  CHECK(found.reason.find('\x1b') == std::string::npos);
}

TEST_CASE("an advice is a prediction only where it stands on something") {
  Advice advice;
  advice.estimate.source = AdviceSource::none;
  CHECK(!code_found(advice).prediction);
  advice.estimate.source = AdviceSource::similar;
  advice.estimate.mean = FractionalSeconds(50);
  advice.estimate.p50 = FractionalSeconds(40);
  advice.estimate.p90 = FractionalSeconds(90);
  const live::CodeFound found = code_found(advice);
  CHECK(found.source == "similar");
  REQUIRE(found.prediction);
  CHECK(found.prediction->run_time == FractionalSeconds(40));
  CHECK(found.prediction->distribution->p90 == FractionalSeconds(90));
  CHECK_FALSE(found.gives_length);
}

TEST_CASE("an advice that was kept says what it said when it was given") {
  GivenAdvice advice;
  advice.source = "similar";
  advice.p50 = FractionalSeconds(40);
  advice.p90 = FractionalSeconds(90);
  advice.gpu_util_pct = 80;
  advice.gpu_memory_mib = 2000;
  const live::CodeFound found = code_found(advice);
  CHECK(found.source == "similar");
  CHECK(found.p90 == FractionalSeconds(90));
  REQUIRE(found.prediction);
  CHECK(found.prediction->run_time == FractionalSeconds(40));
  CHECK(found.prediction->source == static_cast<std::uint8_t>(AdviceSource::similar));
  CHECK(found.prediction->use->memory_mib == 2000);
  CHECK(found.gives_length);
  advice.length.emplace();
  CHECK_FALSE(code_found(advice).gives_length);
  for (const char* const source : {"none", "", "foreign"}) {
    advice.source = source;
    CHECK(!code_found(advice).prediction);
  }
}

}  // namespace
}  // namespace schedmate::daemon
