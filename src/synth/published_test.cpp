// SPDX-License-Identifier: Apache-2.0
#include "synth/published.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  const auto figures = parse_figures(text, "c.toml");
  REQUIRE(!figures.has_value());
  CHECK(figures.error().code == ErrorCode::invalid);
  return figures.error().message;
}

}  // namespace

TEST_CASE("the bundled figures are read, with their derived numbers") {
  const Published seren = bundled_figures("acme-seren");
  CHECK(seren.cluster.types.size() == 6);
  CHECK(seren.cluster.gpus() == 2288);
  CHECK(near(seren.cluster.jobs_per_day(), 3608, 0.001, 0));
  CHECK(near(seren.cluster.mean_gpu_s(), 32'405, 0.001, 0));
  CHECK(seren.causes.size() == 29);
  const Published saturn = bundled_figures("saturn");
  REQUIRE(saturn.cluster.types.size() == 1);
  CHECK(saturn.cluster.types[0].name.empty());
  CHECK(saturn.cluster.types[0].duration_cdf.size() == 22);
  CHECK(saturn.cluster.state_by_gpus.size() == 7);
}

TEST_CASE("a wrong table is refused with file, line and key") {
  const std::string good = synth_text("acme-kalos");
  CHECK(complaint(replaced(good, "nodes = 302", "nodes = 0")).contains("c.toml:"));
  CHECK(complaint(replaced(good, "nodes = 302", "nodes = 0"))
            .contains("nodes must be a whole number"));
  CHECK(complaint(replaced(good, "nodes = 302", "node = 302")).contains("unknown key 'node'"));
  CHECK(complaint("speed = 3\n" + good).contains("unknown key 'speed'"));
  CHECK(complaint(replaced(good, "[2, 88.36]", "[2, 80]")).contains("gpu_cdf must increase"));
  CHECK(complaint(replaced(good, "[1024, 100]", "[1024, 99]")).contains("end at 100"));
  CHECK(complaint(replaced(good, "job_percent = 92.8", "job_percent = 80")).contains("add up to"));
  CHECK(complaint(replaced(good, "gpus = [1, 1, 1, 1, 1]", "gpus = [1, 1]")).contains("5 numbers"));
  CHECK(
      complaint(replaced(good, "mean_run_s = 1259.689", "mean_run_s = nan")).contains("mean_run"));
  CHECK(complaint("name = [").contains("c.toml:1"));
  CHECK(complaint("").contains("name is missing"));
}

TEST_CASE("behaviour and causes are refused likewise") {
  const std::string behaviour = synth_text("behaviour");
  const auto broken = parse_behaviour(replaced(behaviour, "  [17, 19, 64],\n", ""), "b.toml");
  REQUIRE(!broken.has_value());
  CHECK(broken.error().message.contains("completed, cancelled, failed"));
  const auto causes =
      parse_causes(replaced(synth_text("failures"), "count = 54", "counts = 54"), "f.toml");
  REQUIRE(!causes.has_value());
  CHECK(causes.error().message.contains("unknown key 'counts'"));
  CHECK(!parse_causes("", "f.toml").has_value());
}

}  // namespace schedmate::synth
