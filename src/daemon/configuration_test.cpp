// SPDX-License-Identifier: Apache-2.0
#include "daemon/configuration.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/fit.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::daemon {
namespace {

Result<Configuration> configured(const std::vector<std::string>& pairs) {
  settings::Session session;
  session.environment.state_home = "/nowhere";
  session.environment.host = "head";
  session.environment.variable = [](std::string_view) { return std::string(); };
  for (const std::string& pair : pairs) {
    const std::size_t sign = pair.find('=');
    REQUIRE(session.settings.set(pair.substr(0, sign), pair.substr(sign + 1), "the test"));
  }
  return configure(session);
}

TEST_CASE("whoever asks for a reading waits as long as the reader may take, and longer") {
  const std::vector<std::string> slurm = {"cluster.connector=slurm", "listen.unix=/nowhere/api"};
  const auto usual = configured(slurm);
  REQUIRE(usual);
  CHECK(usual->http.times.answer == std::chrono::seconds(30));
  auto pairs = slurm;
  pairs.emplace_back("reader.deadline_s=600");
  const auto patient = configured(pairs);
  REQUIRE(patient);
  CHECK(patient->http.times.answer == std::chrono::seconds(610));
}

TEST_CASE("orders have the cluster's span, unless a number is set") {
  const auto span = [](const std::string& word, std::optional<std::int64_t> of_cluster) {
    live::LoopOptions options =
        testing::need(configured({"cluster.connector=slurm", "listen.unix=/nowhere/api",
                                  "order.span=" + word}))
            .loop;
    Cluster cluster;
    cluster.abilities.lacks.fill("it starts jobs itself");
    cluster.span = of_cluster;
    (void)fit_to(cluster, Notices({}), options);
    REQUIRE(options.ordering);
    return options.ordering->span;
  };
  CHECK(span("auto", 12'000) == 12'000);
  CHECK(span("auto", std::nullopt) == 1000);
  CHECK(span("500", 12'000) == 500);
}

TEST_CASE("a live order estimates as its policy does in a replay, if a live cluster can") {
  const ClusterSpec cluster = testing::small_cluster({1});
  const auto estimator = [&](std::string_view spec, std::string_view usual) {
    return testing::need(read_policy("order.policy", spec, cluster, usual)).estimator;
  };
  CHECK(estimator("lucid+sm", "last_k") == "gbdt");
  CHECK(estimator("lucid+sm:estimate=user_mean", "last_k") == "user_mean");
  CHECK(estimator("fifo", "last_k") == "last_k");           // has none
  CHECK(estimator("backfill_easy", "last_k") == "last_k");  // limits that a replay makes up
  CHECK(estimator("backfill_easy:estimate=limit", "last_k") == "limit");  // is refused later
  CHECK(estimator("backfill_easy", "") == "limit");
}

}  // namespace
}  // namespace schedmate::daemon
