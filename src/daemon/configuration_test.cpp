// SPDX-License-Identifier: Apache-2.0
#include "daemon/configuration.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace schedmate::daemon
