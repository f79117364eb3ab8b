// SPDX-License-Identifier: Apache-2.0
#include "synth/failures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

SynthJobs failed_jobs(int count, std::int32_t gpus, std::int64_t run_s, std::uint8_t type) {
  SynthJob job;
  job.gpus = gpus;
  job.run_s = run_s;
  job.type = type;
  job.state = 2;
  return SynthJobs(static_cast<std::size_t>(count), job);
}

std::uint8_t type_of(const Published& published, std::string_view name) {
  const auto& types = published.cluster.types;
  return static_cast<std::uint8_t>(std::ranges::find(types, name, &WorkType::name) - types.begin());
}

std::map<std::string, int> components(const Published& published, const SynthJobs& jobs) {
  std::map<std::string, int> counts;
  for (const SynthJob& job : jobs)
    ++counts[published.causes[static_cast<std::size_t>(job.cause)].component];
  return counts;
}

}  // namespace

TEST_CASE("hardware and network fail jobs of 8 GPUs and more; no GPU fails an evaluation") {
  const Published published = bundled_figures("acme-seren");
  for (const std::int32_t gpus : {1, 4, 7}) {
    auto jobs = failed_jobs(3000, gpus, 40'000, type_of(published, "Pretrain"));
    assign_causes(published, jobs, Random(1));
    const auto counts = components(published, jobs);
    for (const char* none : {"gpu", "nvlink", "node", "network"}) CHECK(!counts.contains(none));
    CHECK(counts.contains("storage"));
    CHECK(counts.contains("other"));
  }
  auto large = failed_jobs(3000, 512, 40'000, type_of(published, "Pretrain"));
  assign_causes(published, large, Random(1));
  CHECK(components(published, large)["gpu"] > 100);
  auto evaluation = failed_jobs(3000, 512, 40'000, type_of(published, "Evaluation"));
  assign_causes(published, evaluation, Random(1));
  CHECK(!components(published, evaluation).contains("gpu"));
  CHECK(!components(published, evaluation).contains("nvlink"));
  CHECK(components(published, evaluation).contains("node"));
}

TEST_CASE("long failures of large jobs are infrastructure, short ones of small jobs the script") {
  const Published published = bundled_figures("acme-seren");
  const auto share = [&](SynthJobs jobs, std::string_view kind) {
    assign_causes(published, jobs, Random(2));
    return static_cast<double>(std::ranges::count_if(
               jobs,
               [&](const SynthJob& job) {
                 return published.causes[static_cast<std::size_t>(job.cause)].kind == kind;
               })) /
           static_cast<double>(jobs.size());
  };
  auto mixed = failed_jobs(4000, 1, 20, type_of(published, "Evaluation"));
  const auto large = failed_jobs(40, 768, 50'000, type_of(published, "Pretrain"));
  CHECK(share(large, "infrastructure") > 0.7);
  CHECK(share(mixed, "user_script") > 0.7);
}

TEST_CASE("only failed jobs get a cause, each of them one") {
  const Published published = bundled_figures("acme-kalos");
  auto jobs = failed_jobs(100, 8, 1, 0);
  for (std::size_t i = 0; i < jobs.size(); i += 2) jobs[i].state = 0;
  assign_causes(published, jobs, Random(3));
  for (std::size_t i = 0; i < jobs.size(); ++i) CHECK((jobs[i].cause >= 0) == (i % 2 == 1));
}

TEST_CASE("a spread has the median and the mean of the table") {
  Random random(4);
  std::vector<double> drawn;
  double total = 0;
  for (int i = 0; i < 40'000; ++i) {
    drawn.push_back(draw_spread({102.8, 21.5}, random));
    total += drawn.back();
  }
  std::ranges::nth_element(drawn, drawn.begin() + 20'000);
  CHECK(near(drawn[20'000], 21.5, 0.05, 0));
  CHECK(near(total / 40'000, 102.8, 0.2, 0));
  CHECK(near(draw_spread({14.5, 15.6}, random), 15.6, 1e-12, 0));  // no such lognormal
  CHECK(draw_spread({0, 0}, random) == 0);
}

}  // namespace schedmate::synth
