// SPDX-License-Identifier: Apache-2.0
#include "synth/synthesis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

bool same(const SynthJob& a, const SynthJob& b) {
  return a.submit_s == b.submit_s && a.run_s == b.run_s && a.gpus == b.gpus && a.user == b.user &&
         a.state == b.state && a.cause == b.cause && a.parent == b.parent && a.type == b.type;
}

Synthesis month(const char* name, std::uint64_t seed) {
  SynthesisOptions options;
  options.seed = seed;
  return synthesize(bundled_figures(name), options).value();
}

}  // namespace

TEST_CASE("a month of each cluster holds what was published, for several seeds") {
  for (const char* name : {"acme-seren", "acme-kalos", "saturn"}) {
    for (std::uint64_t seed = 1; seed <= std::max<std::uint64_t>(1, testing::cases(3)); ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      const Synthesis drawn = month(name, seed);
      CHECK(drawn.holds());
      CHECK(drawn.checks.size() > 35);
      CHECK(drawn.capped == 0);
    }
  }
}

TEST_CASE("the load is that of the published figures" * doctest::skip(testing::sanitized)) {
  CHECK(near(month("acme-seren", 1).load, 0.59, 0.05, 0));
  CHECK(near(month("acme-kalos", 1).load, 0.263, 0.05, 0));
  CHECK(near(month("saturn", 1).load, 0.84, 0.05, 0));
  CHECK(near(std::ssize(month("acme-seren", 1).jobs), 30 * 3608, 0.001, 0));
}

TEST_CASE("jobs are sorted, parents have ended, and remaining work is there for continuations") {
  const Published published = bundled_figures("acme-seren");
  const Synthesis drawn = month("acme-seren", 2);
  CHECK(std::ranges::is_sorted(drawn.jobs, {}, &SynthJob::submit_s));
  std::int64_t continued = 0;
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    const SynthJob& job = drawn.jobs[i];
    REQUIRE((job.cause >= 0) == (synth_states[job.state] == EndState::failed));
    REQUIRE(job.submit_s >= 0);
    REQUIRE(job.submit_s < drawn.span_s);
    if (job.parent == no_job) continue;
    ++continued;
    REQUIRE(job.parent < i);
    const SynthJob& parent = drawn.jobs[job.parent];
    REQUIRE(parent.cause >= 0);
    REQUIRE(parent.submit_s + parent.run_s < job.submit_s);
    REQUIRE(parent.gpus == job.gpus);
    REQUIRE(parent.user == job.user);
    REQUIRE(job.remaining_s >= job.run_s - job.run_s % 1800);
  }
  CHECK(continued == drawn.continued);
  CHECK(continued > 100);
}

TEST_CASE("the same seed gives the same jobs, another one others") {
  const Synthesis a = month("acme-kalos", 5);
  const Synthesis b = month("acme-kalos", 5);
  const Synthesis c = month("acme-kalos", 6);
  CHECK(std::ranges::equal(a.jobs, b.jobs, same));
  CHECK(!std::ranges::equal(a.jobs, c.jobs, same));
}

TEST_CASE("a smaller cluster caps its jobs and keeps the load") {
  SynthesisOptions options;
  options.gpus = 256;
  const Synthesis drawn = synthesize(bundled_figures("acme-seren"), options).value();
  CHECK(drawn.nodes == 32);
  CHECK(drawn.capped > 0);
  CHECK(std::ranges::max(drawn.jobs, {}, &SynthJob::gpus).gpus <= 256);
  CHECK(near(drawn.load, 0.59, 0.25, 0));  // few jobs, heavy tails
}

TEST_CASE("so many jobs in so many days, whatever the load" * doctest::skip(testing::sanitized)) {
  SynthesisOptions options;
  options.jobs = 82;
  options.days = 0.5;
  const Synthesis drawn = synthesize(bundled_figures("acme-seren"), options).value();
  CHECK(drawn.jobs.size() == 82);
  CHECK(drawn.span_s == 43'200);
}

TEST_CASE("no job asks for more than it may, on a cluster that has more") {
  SynthesisOptions options;
  options.gpus = 256;
  options.most_gpus = 64;
  const Synthesis drawn = synthesize(bundled_figures("acme-seren"), options).value();
  CHECK(drawn.nodes == 32);
  CHECK(std::ranges::max(drawn.jobs, {}, &SynthJob::gpus).gpus == 64);
}

TEST_CASE("sizes that cannot be are refused") {
  const Published published = bundled_figures("acme-kalos");
  SynthesisOptions options;
  options.gpus = 7;
  CHECK(!synthesize(published, options).has_value());
  options.gpus = 8'000'008;
  CHECK(!synthesize(published, options).has_value());
  options = {};
  options.days = 1e-6;
  CHECK(!synthesize(published, options).has_value());
  options.days = 1e9;
  CHECK(!synthesize(published, options).has_value());
  options = {};
  options.jobs = 3;
  CHECK(synthesize(published, options).value().jobs.size() == 3);
}

TEST_CASE("a table that contradicts itself does not hold") {
  Published distorted = bundled_figures("acme-kalos");
  distorted.cluster.mean_gpus = 60;  // the GPU CDF says otherwise
  CHECK(!synthesize(distorted, {}).value().holds());
}

}  // namespace schedmate::synth
