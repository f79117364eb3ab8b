// SPDX-License-Identifier: Apache-2.0
/// The contract of connectors on the Slurm that SLURM_CONF names (slurm_connector.sh makes one): by
/// the command line, or with SLURM_MODULE by the library in that module.
#include <doctest/doctest.h>
#include <unistd.h>

#include "settings/clock.hpp"
#include "settings/environment.hpp"
#include "slurm_live/cluster.hpp"
#include "slurm_live/scripts.hpp"
#include "tests/support/connector_suite.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::need;
constexpr Connector::Deadline long_enough{10'000}, short_time{2000};

struct Slurm {
  settings::Environment environment = settings::read_environment(::environ);
  Tools tools{environment, settings::machine_clock(), ""};
  CommandLine cluster{tools, "root"};

  [[nodiscard]] std::unique_ptr<Library> library() const {
    const std::string module = environment.variable("SLURM_MODULE");
    if (module.empty()) return nullptr;
    return std::make_unique<Library>(
        Library::Options{module, environment.variable("SLURM_LIBRARY_HOST")}, tools);
  }
  /// As the daemon does while the controller is well.
  void begin() {
    need(cluster.abilities(long_enough));
    if (auto made = library()) need(cluster.read_by(std::move(made), false, long_enough));
  }
};

TEST_CASE("contract" * doctest::test_suite("up")) {
  Slurm slurm;
  slurm.begin();
  testing::check_connector({.connector = slurm.cluster, .let_end = [] {}});
}

TEST_CASE("listings of one version are the same, and each costs little" *
          doctest::test_suite("up")) {
  Slurm slurm;
  slurm.begin();
  const Listing first = need(slurm.cluster.list(SimTime::min(), long_enough));
  const Listing second = need(slurm.cluster.list(SimTime::min(), long_enough));
  CHECK(first.version == second.version);
}

TEST_CASE("both ways read the same" * doctest::test_suite("same")) {
  Slurm slurm, other;
  slurm.begin();
  need(other.cluster.abilities(long_enough));
  const Listing by_library = need(slurm.cluster.list(SimTime::min(), long_enough));
  const Listing printed = need(other.cluster.list(SimTime::min(), long_enough));
  CHECK(by_library.nodes == printed.nodes);
  REQUIRE(by_library.jobs.size() == printed.jobs.size());
  for (std::size_t i = 0; i < printed.jobs.size(); ++i) {
    CAPTURE(printed.jobs[i].id);
    CHECK(by_library.jobs[i].order == printed.jobs[i].order);
    CHECK(by_library.jobs[i].nodes == printed.jobs[i].nodes);
    CHECK(by_library.jobs[i] == printed.jobs[i]);
  }
}

TEST_CASE("each job alone is as in the listing" * doctest::test_suite("same")) {
  Slurm slurm;
  slurm.begin();
  for (const SeenJob& job : need(slurm.cluster.list(SimTime::min(), long_enough)).jobs)
    CHECK(need(slurm.cluster.job(job.id, long_enough)) == job);
}

TEST_CASE("what was submitted" * doctest::test_suite("same")) {
  Slurm slurm;
  Scripts scripts(slurm.tools);
  slurm.begin();
  for (const SeenJob& job : need(slurm.cluster.list(SimTime::min(), long_enough)).jobs) {
    CAPTURE(job.id);
    const std::string script = need(scripts.read(job, long_enough));
    CAPTURE(script);
    CHECK(script.ends_with("\nsleep 3600\n"));
  }
  SeenJob nobodys;
  nobodys.id = "4000000";
  CHECK(!scripts.read(nobodys, long_enough));
}

/// A job runs as it is read first. AWAY ends it and waits until the controller has forgotten it.
TEST_CASE("a job whose end nobody has seen" * doctest::test_suite("accounting")) {
  Slurm slurm, later;
  slurm.begin();
  const auto before = need(slurm.cluster.list(SimTime::min(), long_enough)).jobs;
  REQUIRE(before.size() == 2);
  REQUIRE(std::system(slurm.environment.variable("AWAY").c_str()) == 0);
  const auto check = [&](const std::vector<SeenJob>& jobs) {
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].end_state == EndState::cancelled);
    CHECK(jobs[1].end_state == EndState::cancelled);
    CHECK(jobs[0].nodes == before[0].nodes);
    CHECK(jobs[1].nodes == before[1].nodes);
    CHECK(jobs[0].started == before[0].started);
    CHECK(jobs[0].ended >= jobs[0].started);
  };
  check(need(slurm.cluster.list(SimTime::min(), long_enough)).jobs);
  later.begin();  // another process, which has it from the journal
  for (const SeenJob& job : before) later.cluster.know(job);
  check(need(later.cluster.list(SimTime::min(), long_enough)).jobs);
}

TEST_CASE("unanswered" * doctest::test_suite("down")) {
  Slurm slurm;
  testing::check_unanswered(slurm.cluster, short_time);
}

/// The site is known, and the library has read: now the controller goes away, as the script that
/// AWAY names makes it, and comes back as BACK does.
TEST_CASE("unanswered after it was read" * doctest::test_suite("away")) {
  Slurm slurm;
  slurm.begin();
  need(slurm.cluster.list(SimTime::min(), long_enough));
  REQUIRE(std::system(slurm.environment.variable("AWAY").c_str()) == 0);
  testing::check_unanswered(slurm.cluster, short_time);
  REQUIRE(std::system(slurm.environment.variable("BACK").c_str()) == 0);
  bool is_back = false;
  for (int i = 0; i < 20 && !is_back; ++i)
    is_back = slurm.cluster.list(SimTime::min(), short_time).has_value();
  CHECK(is_back);
}

}  // namespace
}  // namespace schedmate::slurm_live
