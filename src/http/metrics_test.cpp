// SPDX-License-Identifier: Apache-2.0
#include "http/metrics.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "tests/support/http_house.hpp"
#include "tests/support/needs.hpp"

namespace schedmate::http {
namespace {

using testing::body_of;
using testing::HttpHouse;
using testing::needs_promtool;
using testing::Scratch;

std::string scrape(const HttpHouse& house) { return body_of(house.ask("GET /metrics")); }

}  // namespace

TEST_CASE("metrics are lines of Prometheus") {
  const std::vector<Metric> metrics{
      {"a_total", "One \\ two.", MetricKind::counter, "", {{"", 3}}},
      {"b", "Three.", MetricKind::gauge, "kind", {{"x\"y\n", 0.5}, {"z", 1e18}}}};
  CHECK(prometheus_text(metrics) ==
        "# HELP a_total One \\\\ two.\n# TYPE a_total counter\na_total 3\n"
        "# HELP b Three.\n# TYPE b gauge\nb{kind=\"x\\\"y\\n\"} 0.5\nb{kind=\"z\"} 1e+18\n");
}

TEST_CASE("the front door counts, and names no user") {
  const HttpHouse house;
  house.ask("GET /api/v1/jobs", house.ann);
  house.ask("GET /api/v1/jobs");
  house.ask("GET /api/v1/audit", house.bob);
  const auto text = scrape(house);
  CHECK(text.contains("\nschedmate_http_replies_total{code=\"2xx\"} 1\n"));
  CHECK(text.contains("\nschedmate_http_replies_total{code=\"4xx\"} 2\n"));
  CHECK(text.contains("\nschedmate_http_refused_total{cause=\"token\"} 1\n"));
  CHECK(text.contains("\nschedmate_http_refused_total{cause=\"role\"} 1\n"));
  CHECK(!text.contains("ann"));
  CHECK(!text.contains("bob"));
}

TEST_CASE("health and readiness") {
  const HttpHouse house([](ServerOptions& options) {
    options.ready = [] { return Readiness{true, {"order: acts as shadow"}}; };
  });
  CHECK(body_of(house.ask("GET /healthz")) == "ok\n");
  const auto ready = testing::answered(house.ask("GET /readyz"));
  CHECK(ready["ready"] == true);
  CHECK(ready["reasons"][0] == "order: acts as shadow");
  const HttpHouse unready(
      [](ServerOptions& options) { options.ready = [] { return Readiness{false, {"blind"}}; }; });
  CHECK(testing::status_of(unready.ask("GET /readyz")) == 503);
}

TEST_CASE("promtool finds nothing wrong with the metrics" * needs_promtool()) {
  const HttpHouse house;
  const Scratch folder;
  REQUIRE(write_file(folder.path("metrics"), scrape(house)));
  const std::string command =
      "promtool check metrics < " + folder.path("metrics") + " > " + folder.path("said") + " 2>&1";
  CHECK(std::system(command.c_str()) == 0);  // NOLINT: of a test
}

}  // namespace schedmate::http
