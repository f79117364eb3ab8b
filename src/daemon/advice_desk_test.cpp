// SPDX-License-Identifier: Apache-2.0
#include "daemon/advice_desk.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/facts_json.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/ended_jobs.hpp"
#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::daemon {
namespace {

/// A desk before a reader that counts what it is asked, and the answers to its studies.
struct AdviceHouse {
  std::mutex mutex{};
  std::vector<live::Studied> answers{};
  std::vector<reader::Request> read{};
  Studies studies;
  AdviceDesk desk;
  std::uint64_t numbers = 0;

  explicit AdviceHouse(const settings::Session& session)
      : studies(session,
                [this](std::uint64_t /*loop*/, live::Studied studied) {
                  const std::lock_guard lock(mutex);
                  answers.push_back(std::move(studied));
                }),
        desk(studies, session) {}

  /// The answer to a study of its code.
  Result<live::Finding> study(const SeenJob& job) {
    desk.make(1, {++numbers, live::Study::What::code, job},
              [this](reader::Request request, const reader::Take& take) {
                {
                  const std::lock_guard lock(mutex);
                  read.push_back(std::move(request));
                }
                take(facts_document({}));
              });
    REQUIRE(testing::soon([&] {
      const std::lock_guard lock(mutex);
      return answers.size() >= numbers;
    }));
    const std::lock_guard lock(mutex);
    CHECK(answers.back().study == numbers);
    return answers.back().finding;
  }
  [[nodiscard]] std::size_t readings() {
    const std::lock_guard lock(mutex);
    return read.size();
  }
};

std::optional<JobRecord> record_in(const testing::ClusterSite& site, const std::string& id) {
  const auto history = testing::need(service::find_history(site.session()));
  return history ? testing::need(history->store->get(id)) : std::nullopt;
}

TEST_CASE("a job that was advised on when it came is not read again, and its record stays") {
  testing::ClusterSite site;
  {  // so that something is expected of it
    Historian historian(site.session());
    for (int i = 1; i <= 4; ++i) {
      SeenJob run = testing::training_job("run" + std::to_string(i), std::int64_t{100} * i);
      (void)testing::need(historian.advise(run, facts_document({})));
      run.end_state = EndState::completed;
      run.started = run.submitted;
      run.ended = run.submitted + Seconds(500 + i);
      testing::keep_ends(historian, {{run}});
    }
  }
  live::CodeFound first;
  {
    AdviceHouse before(site.session());
    first = std::get<live::CodeFound>(testing::need(before.study(testing::training_job("1"))));
    CHECK(before.readings() == 1);
  }
  REQUIRE(first.prediction);
  const auto record = record_in(site, "1");
  REQUIRE(record);
  site.wall_s += 1000;
  AdviceHouse after(site.session());
  SeenJob job = testing::training_job("1");
  job.restarts = 1;
  job.command = "python other.py";  // whatever stands there now
  const auto again = std::get<live::CodeFound>(testing::need(after.study(job)));
  CHECK(after.readings() == 0);
  CHECK(record_in(site, "1") == record);
  CHECK(again.source == first.source);
  CHECK(again.p90 == first.p90);
  REQUIRE(again.prediction);
  CHECK(again.prediction->run_time == first.prediction->run_time);
  CHECK(again.prediction->source == first.prediction->source);
}

TEST_CASE("a job that the history has not, or has without advice, is read") {
  testing::ClusterSite site;
  AdviceHouse house(site.session());
  CHECK(house.study(testing::training_job("1")));
  CHECK(house.readings() == 1);
  CHECK(house.study(testing::training_job("1", 9000)));  // its id came again
  CHECK(house.readings() == 2);
  CHECK(record_in(site, "1")->submit == at(9000));
  JobRecord ended;
  ended.id = "2";
  ended.user = "ann";
  ended.submit = at(1000);
  testing::need(testing::need(service::open_history(site.session())).store->put(ended));
  CHECK(house.study(testing::training_job("2")));
  CHECK(house.readings() == 3);
  CHECK(record_in(site, "2")->advice);
}

TEST_CASE("while the history cannot be asked nothing is read, and the error may pass") {
  testing::ClusterSite site;
  settings::Session session = site.session();
  testing::need(session.settings.set("store", "redis:unix:" + site.here.path("none.sock"), "test"));
  AdviceHouse house(session);
  CHECK(house.study(testing::training_job("1")).error().code == ErrorCode::unavailable);
  CHECK(house.readings() == 0);
}

TEST_CASE("without a reader nothing is looked for") {
  testing::ClusterSite site;
  AdviceHouse house(site.session());
  house.desk.make(1, {1, live::Study::What::code, testing::training_job("1")}, nullptr);
  REQUIRE(house.answers.size() == 1);
  CHECK(house.answers[0].finding.error().message.contains("reader.socket"));
}

}  // namespace
}  // namespace schedmate::daemon
