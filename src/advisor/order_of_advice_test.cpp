// SPDX-License-Identifier: Apache-2.0

/// The order of an advice over a handful of jobs that say themselves how they relate to the one at
/// hand; workload_advisor_test.cpp holds the two real kinds of past jobs against each other.

#include "advisor/order_of_advice.hpp"

#include <doctest/doctest.h>

#include "advisor/estimates.hpp"
#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

/// What it is to the job at hand, and how it went.
struct GivenJob {
  int number = 0;  ///< rises by submission
  std::string user = "ann";
  std::int64_t gpus = 1;
  std::int64_t duration_s = 100;
  FlagClass relation = FlagClass::another_job;
  double similarity = 0;
  EndState state = EndState::completed;
  bool late = false;  ///< its advice was too short
};

bool has_run(const GivenJob& job) { return job.state != EndState::unknown; }
std::optional<LengthMiss> length_miss(const GivenJob&) { return std::nullopt; }
PastRun past_run(const GivenJob& job) {
  PastRun run;
  run.id = std::to_string(job.number);
  run.user = job.user;
  run.submit = at(job.number);
  run.state = job.state;
  run.duration = Seconds(job.duration_s);
  return run;
}
std::optional<Residual> residual_of(const GivenJob& job) {
  return Residual{job.late ? 1.0 : 0.0, AdviceSource::similar, false};
}
bool outlasted(const GivenJob& job) { return job.late; }
int submission_order(const GivenJob& job) { return job.number; }

/// Every job has a text of its own, all equally near.
struct GivenJobs {
  using Job = GivenJob;
  std::vector<GivenJob> newest_first;
  bool embedder_answers = true;

  Result<void> visit_if(const auto& wanted, std::size_t count, const auto& visit) const {
    for (const GivenJob& job : newest_first)
      if (wanted(job) && count > 0) {
        visit(job);
        --count;
      }
    return {};
  }
  Result<void> of_entry(const auto& visit) const { return of_user("ann", 100, visit); }
  Result<std::vector<SimilarText>> nearest() const {
    if (!embedder_answers) return fail(ErrorCode::unavailable, "no answer");
    std::vector<SimilarText> texts;
    for (const GivenJob& job : newest_first)
      texts.push_back({static_cast<std::uint64_t>(job.number), 1});
    return texts;
  }
  Result<void> of_text(std::uint64_t id, const auto& visit) const {
    return visit_if([&](const GivenJob& job) { return std::cmp_equal(job.number, id); }, 1, visit);
  }
  Result<void> of_user(const std::string& user, std::size_t count, const auto& visit) const {
    return visit_if([&](const GivenJob& job) { return job.user == user; }, count, visit);
  }
  Result<void> of_all(std::size_t count, const auto& visit) const {
    return visit_if([](const GivenJob&) { return true; }, count, visit);
  }
  Verdict verdict_on(const GivenJob& job) const {
    return {job.relation, "verdict " + std::to_string(job.number), 1};
  }
  Similarity similarity_to(const GivenJob& job) const {
    return {job.similarity, job.similarity > 0};
  }
  double scale_from(const GivenJob&) const { return 2; }
};

PastAdvice<GivenJob> order(GivenJobs jobs, std::optional<std::size_t> top = std::nullopt) {
  const OrderOptions options{**find_estimate("calibrated"), {}, true, top};
  auto made = OrderOfAdvice(jobs, options).run({"ann", 4, at(1000)});
  REQUIRE(made);
  return *std::move(made);
}

std::string numbers_of(const PastAdvice<GivenJob>& made) {
  std::string text;
  for (const Matched<GivenJob>& each : made.matches) text += each.run.id + " ";
  return text;
}

TEST_CASE("earlier submissions go before similar jobs, the nearest relation first, then newest") {
  const auto made = order({{{.number = 5, .similarity = 1},
                            {.number = 4, .relation = FlagClass::scaled},
                            {.number = 3, .relation = FlagClass::same_job},
                            {.number = 2, .relation = FlagClass::scaled},
                            {.number = 1, .relation = FlagClass::same_duration}}});
  CHECK(made.source == AdviceSource::resubmission);
  CHECK(numbers_of(made) == "3 1 4 2 ");
  CHECK(made.rule == "verdict 3");
  CHECK(made.matches[2].rule == "verdict 4");
  CHECK(made.matches[2].run.score < made.matches[0].run.score);
}

TEST_CASE("a submission without a run gives the rule; similar jobs give the runs, the best first") {
  const auto made =
      order({{{.number = 5, .relation = FlagClass::same_job, .state = EndState::unknown},
              {.number = 4, .similarity = 0.8},
              {.number = 3, .similarity = 0.9},
              {.number = 2, .user = "bob", .similarity = 0.8},
              {.number = 1, .similarity = 0.1}}});
  CHECK(made.source == AdviceSource::similar);
  CHECK(made.rule == "verdict 5");
  CHECK(numbers_of(made) == "3 4 2 ");
  CHECK(made.matches[0].run.scale == 2);
  CHECK(made.matches[0].rule.empty());
}

TEST_CASE("runs of a user whose jobs outlast their advice are trusted less") {
  GivenJobs jobs{{{.number = 9, .similarity = 1}, {.number = 8, .user = "bob", .similarity = 1}}};
  for (int number = 7; number > 0; --number)
    jobs.newest_first.push_back({.number = number, .user = "bob", .late = true});
  const auto made = order(jobs);
  REQUIRE(numbers_of(made) == "9 8 ");
  CHECK(made.matches[0].run.trust == 1);
  CHECK(made.matches[1].run.trust < 0.3);
}

TEST_CASE(
    "without a match, or an answer of the embedder, the user's runs with as many GPUs count") {
  GivenJobs jobs{{{.number = 4, .gpus = 8, .duration_s = 9, .similarity = 0.1},
                  {.number = 3, .gpus = 4, .duration_s = 500},
                  {.number = 2, .user = "bob", .gpus = 4, .duration_s = 7}}};
  for (const bool answers : {true, false}) {
    jobs.embedder_answers = answers;
    const auto made = order(jobs);
    CHECK(made.source == AdviceSource::none);
    CHECK(made.not_searched == (answers ? "" : "no answer"));
    CHECK(made.estimate.source == AdviceSource::user_history);
    CHECK(near(made.estimate.p50.count(), 500, 1e-12, 0));
  }
}

TEST_CASE("`top` keeps the best matches alone") {
  const auto made = order({{{.number = 2, .relation = FlagClass::scaled},
                            {.number = 1, .relation = FlagClass::same_job}}},
                          1);
  CHECK(numbers_of(made) == "1 ");
  CHECK(made.estimate.runs == 1);
}

}  // namespace
}  // namespace schedmate::advisor
