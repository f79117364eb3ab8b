// SPDX-License-Identifier: Apache-2.0
#include "probe/job_use.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.hpp"
#include "tests/support/near.hpp"

namespace schedmate::probe {
namespace {

UseReading reading(std::int64_t at_s, double gpu_pct, double memory_mib = 40'000) {
  UseReading made;
  made.at_s = at_s;
  made.gpu_pct = gpu_pct;
  made.memory_used_mib = memory_mib;
  made.memory_total_mib = 80'000;
  return made;
}

}  // namespace

TEST_CASE("a job that was measured once") {
  JobUse use;
  CHECK(use.series().empty());
  CHECK_FALSE(use.summary().gpu_pct_mean);
  use.add(reading(25, 80));
  const auto series = use.series();
  REQUIRE(series.size() == 1);
  CHECK(series[0].at_s == 20);
  CHECK(series[0].gpu_pct == 80.0);
  CHECK(series[0].memory_pct == 50.0);
  CHECK(use.summary().memory_mib_max == 40'000.0);
  CHECK(use.summary().from_s == 25);
}

TEST_CASE("points stay few, whatever the length, and their mean is that of the readings") {
  JobUse use;
  constexpr std::int64_t days = 30;
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t at_s = 0; at_s < days * 86'400; at_s += 60, ++count) {
    const double pct = static_cast<double>(at_s / 3600 % 100);
    sum += pct;
    use.add(reading(at_s, pct));
    CHECK(use.series().size() <= JobUse::most_points);
    if (count > 500) at_s += 3600;
  }
  CHECK(use.series().size() > JobUse::most_points / 2 - 1);
  CHECK(testing::near(use.summary().gpu_pct_mean, sum / static_cast<double>(count), 1e-9, 0));
  CHECK(use.summary().gpu_pct_max == 99.0);
}

TEST_CASE("the order of readings does not matter") {
  std::vector<UseReading> all;
  Random random(1);
  for (int i = 0; i < 3000; ++i)
    all.push_back(reading(random.below(100'000), random.uniform() * 100, random.uniform() * 8e4));
  JobUse forth;
  JobUse back;
  for (const UseReading& each : all) forth.add(each);
  for (std::size_t i = all.size(); i > 0; --i) back.add(all[i - 1]);
  CHECK(use_document(forth) == use_document(back));
}

TEST_CASE("a high tail shows in p95 and not in the mean") {
  JobUse use;
  for (std::int64_t i = 0; i < 100; ++i) use.add(reading(i * 10, i < 90 ? 10 : 100));
  CHECK(testing::near(use.summary().gpu_pct_mean, 19, 1e-9, 0));
  CHECK(use.summary().gpu_pct_p95 == 100.0);
  JobUse flat;
  for (std::int64_t i = 0; i < 100; ++i) flat.add(reading(i * 10, 36.2));
  CHECK(flat.summary().gpu_pct_p95 == 36.2);
}

TEST_CASE("what was measured beside another job is told apart") {
  JobUse use;
  use.add(reading(0, 30));
  UseReading beside = reading(10, 90);
  beside.shared = true;
  use.add(beside);
  CHECK(testing::near(use.summary().gpu_pct_mean, 60, 1e-9, 0));
  CHECK(use.summary().shared_pct == 50.0);
  CHECK(use.alone().gpu_pct_mean == 30.0);
}

TEST_CASE("times that cannot be are left out") {
  JobUse use;
  use.add(reading(-1, 50));
  use.add(reading(INT64_MAX, 50));
  CHECK(use.summary().readings == 0);
  CHECK(use.series().empty());
}

TEST_CASE("a thousand GPUs for a year do not overflow a point") {
  JobUse use;
  for (std::int64_t at_s = 0; at_s < std::int64_t{400} * 86'400; at_s += 86'400 / 4)
    for (int gpu = 0; gpu < 100; ++gpu) use.add(reading(at_s, 100));
  for (const auto& point : use.series()) CHECK(point.gpu_pct == 100.0);
}

TEST_CASE("what is kept of a use is all of it, and what is damaged is none") {
  Random random(3);
  JobUse use;
  for (int i = 0; i < 2000; ++i) {
    UseReading each = reading(random.below(500'000), static_cast<double>(random.below(101)));
    each.shared = random.below(3) == 0;
    if (random.below(5) == 0) each.memory_used_mib.reset();
    use.add(each);
  }
  auto again = JobUse::restored(Document::parse(use.kept().dump()));
  REQUIRE(again);
  for (int i = 0; i < 2; ++i) {
    CHECK(use_document(*again) == use_document(use));
    CHECK(use_document(again->alone()) == use_document(use.alone()));
    for (JobUse* const each : {&use, &*again}) each->add(reading(700'000, 33));  // it goes on
  }
  const JobUse empty;
  REQUIRE(JobUse::restored(empty.kept()));
  const Document kept = use.kept();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Document damaged = kept;
    damaged[i] = random.below(2) == 0 ? Document(-1) : Document("x");
    CHECK(!JobUse::restored(damaged));
    damaged.erase(i);
    CHECK(!JobUse::restored(damaged));
  }
  for (const char* text : {"null", "[]", "{}", "[0]", "[18446744073709551615]", "[241]", "[0, 9]"})
    CHECK(!JobUse::restored(Document::parse(text)));
}

}  // namespace schedmate::probe
