// SPDX-License-Identifier: Apache-2.0
#include "advisor/past_failures.hpp"

#include <doctest/doctest.h>

namespace schedmate::advisor {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* summary =
    R"({"log": "/l", "job": {"nodes": ["n1", "n2"]}, "progress": {"step": 40},
        "diagnosis": {"class": "infrastructure", "reason": "a link", "nodes": ["n2"],
                      "recommendation": "restart_elsewhere"}})";

/// A job that ran a minute and failed.
JobRecord failed(const std::string& id, const std::string& user, std::int64_t submit_s) {
  JobRecord record;
  record.id = id;
  record.user = user;
  record.submit = at(submit_s);
  record.root = "/r";
  record.entry = "train.py";
  Outcome outcome;
  outcome.state = EndState::failed;
  outcome.duration = Seconds(60);
  outcome.log_summary = summary;
  outcome.fingerprint = "f";
  record.outcome = outcome;
  return record;
}

Texts ids(const Result<std::vector<PastFailure>>& failures) {
  REQUIRE(failures);
  Texts found;
  for (const PastFailure& each : *failures) found.push_back(each.job_id);
  return found;
}

}  // namespace

TEST_CASE("a failure is read from the log summary of its job") {
  const auto failure = past_failure(failed("1", "ann", 100));
  REQUIRE(failure);
  CHECK(failure->ended == at(160));
  CHECK(failure->fingerprint == "f");
  CHECK(failure->verdict == FailureClass::infrastructure);
  CHECK(failure->recommended == Recommendation::restart_elsewhere);
  CHECK(failure->blamed == Texts{"n2"});
  CHECK(failure->allocation == Texts{"n1", "n2"});
  CHECK(failure->step == 40);
  JobRecord record = failed("1", "ann", 100);
  record.outcome->end = at(500);
  CHECK(past_failure(record)->ended == at(500));
}

TEST_CASE("a summary that is none, or of a good run, holds no failure") {
  JobRecord record = failed("1", "ann", 100);
  for (const char* text :
       {"", "x", "[]", "{}", R"({"diagnosis": 3})", R"({"diagnosis": {"class": "none"}})"}) {
    record.outcome->log_summary = text;
    CHECK_MESSAGE(!past_failure(record), text);
  }
  record.outcome->log_summary = R"({"job": 3, "progress": {"step": "x"},
                                    "diagnosis": {"nodes": 3, "class": []}})";
  REQUIRE(past_failure(record));
  CHECK(past_failure(record)->verdict == FailureClass::other);
  CHECK(past_failure(record)->recommended == Recommendation::notify);
  record.outcome.reset();
  CHECK_FALSE(past_failure(record));
}

TEST_CASE("jobs with the same failure are found without the job itself") {
  const auto store = std::move(*open_store("memory"));
  for (int i = 0; i < 70; ++i)
    REQUIRE(store->put(failed(std::to_string(i), i % 2 == 0 ? "ann" : "bob", i)));
  auto other = failed("other", "ann", 90);
  other.outcome->fingerprint = "g";
  REQUIRE(store->put(other));
  const auto same = same_failures(*store, {"69", "ann", "f", at(0)});
  REQUIRE(same);
  CHECK(same->size() == 69);
  CHECK(same->front().job_id == "68");
  CHECK(same->front().allocation.size() == 2);
  CHECK(same->back().allocation.empty());  // only the newest are read as a whole
  CHECK(ids(same_failures(*store, {"69", "ann", "", at(0)})).empty());
}

TEST_CASE("caps count attempts of the job since it completed, and failures of the last hour") {
  const auto store = std::move(*open_store("memory"));
  REQUIRE(store->put(failed("before", "ann", 10'000)));
  auto good = failed("good", "ann", 20'000);
  good.outcome->state = EndState::completed;
  good.outcome->fingerprint = "";
  REQUIRE(store->put(good));
  REQUIRE(store->put(failed("attempt", "ann", 30'000)));
  auto elsewhere = failed("elsewhere", "ann", 31'000);
  elsewhere.root = "/other";
  REQUIRE(store->put(elsewhere));
  REQUIRE(store->put(failed("recent", "bob", 99'000)));
  REQUIRE(store->put(failed("later", "bob", 200'000)));
  auto ours = failed("ours", "ann", 99'500);
  ours.outcome.reset();
  REQUIRE(store->put(ours));
  const FailureSubject subject{"ours", "ann", "f", at(100'000)};
  const auto failures = failures_for_caps(*store, subject);
  CHECK(ids(failures) == Texts{"attempt", "recent"});
  CHECK(failures->front().same_job);
  CHECK_FALSE(failures->back().same_job);
  // A job that the history does not know: the same user and failure.
  CHECK(ids(failures_for_caps(*store, {"new", "ann", "f", at(100'000)})) ==
        Texts{"elsewhere", "attempt", "before", "recent"});
  CHECK(ids(failures_for_caps(*store, {"new", "", "f", at(100'000)})) == Texts{"recent"});
  CHECK(ids(failures_for_caps(*store, {"ours", "ann", "f", at(15'000)})) == Texts{"before"});
}

}  // namespace schedmate::advisor
