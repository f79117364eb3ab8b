// SPDX-License-Identifier: Apache-2.0
/// The contract of connectors on the Slurm that SLURM_CONF names (slurm_connector.sh makes one).
#include <doctest/doctest.h>
#include <unistd.h>

#include "settings/clock.hpp"
#include "settings/environment.hpp"
#include "slurm_live/cluster.hpp"
#include "tests/support/connector_suite.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::need;
constexpr Connector::Deadline long_enough{10'000}, short_time{2000};

struct Slurm {
  settings::Environment environment = settings::read_environment(::environ);
  CommandLine cluster{Tools(environment, settings::machine_clock(), ""), "root"};
};

TEST_CASE("contract" * doctest::test_suite("up")) {
  Slurm slurm;
  testing::check_connector({.connector = slurm.cluster, .let_end = [] {}});
}

TEST_CASE("listings of one version are the same, and each costs little" *
          doctest::test_suite("up")) {
  Slurm slurm;
  const Listing first = need(slurm.cluster.list(SimTime::min(), long_enough));
  const Listing second = need(slurm.cluster.list(SimTime::min(), long_enough));
  CHECK(first.version == second.version);
}

TEST_CASE("unanswered" * doctest::test_suite("down")) {
  Slurm slurm;
  testing::check_unanswered(slurm.cluster, short_time);
}

}  // namespace
}  // namespace schedmate::slurm_live
