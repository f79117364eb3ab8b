// SPDX-License-Identifier: Apache-2.0
#include "elastic/step_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

MeasuredStep placed(const GpusByNode& placement, double batch, double step_s) {
  return {placement,
          static_cast<std::int32_t>(placement.size()),
          replicas_of(placement),
          batch,
          {step_s, step_s / 4}};
}

MeasuredStep spread_over(std::int32_t nodes, std::int32_t replicas, double step_s) {
  return {{}, nodes, replicas, 8, {step_s, step_s / 4}};
}

/// One GPU at batches of 4 and 8, up to four nodes of 4 GPUs at 8.
std::vector<MeasuredStep> some_steps() {
  return {placed({1}, 4, 1),     placed({1}, 8, 2),       placed({4}, 8, 3),
          placed({4, 4}, 8, 4),  placed({4, 4, 4}, 8, 5), placed({4, 4, 4, 4}, 8, 6),
          spread_over(6, 24, 10)};
}

double step_at(const StepTable& table, const GpusByNode& placement, double batch) {
  const auto sample = table.at(placement, batch);
  return sample ? sample->step_s : -1;
}

TEST_CASE("placements are written as digits, or with hyphens where a node has ten GPUs") {
  CHECK(parse_placement("44") == GpusByNode{4, 4});
  CHECK(parse_placement("123") == GpusByNode{1, 2, 3});
  CHECK(parse_placement("16-16") == GpusByNode{16, 16});
  CHECK(parse_placement("4-12-1") == GpusByNode{4, 12, 1});
  CHECK(parse_placement("16") == GpusByNode{1, 6});
  CHECK(parse_placement("16-") == GpusByNode{16});
  for (const char* text : {"", "0", "40", "-", "-4", "4--4", "4-4-", "4,4", " 4", "4 ", "a", "65-1",
                           "4-0", "4-+4", "99999999999999999999-1", "4.0"})
    CHECK_MESSAGE(!parse_placement(text), text);
  CHECK(!parse_placement(std::string(4097, '1')));
}

TEST_CASE("every placement is written so that it reads the same") {
  for (std::uint64_t seed = 0; seed < testing::cases(500); ++seed) {
    Random random(seed);
    GpusByNode placement(static_cast<std::size_t>(1 + random.below(6)));
    const auto most = seed % 2 == 0 ? 9U : 64U;
    for (std::int32_t& gpus : placement) gpus = static_cast<std::int32_t>(1 + random.below(most));
    CHECK_MESSAGE(parse_placement(text_of(placement)) == placement, text_of(placement));
  }
}

TEST_CASE("rotations of a placement are one placement, its smallest") {
  CHECK(normalised({3, 1, 2}) == GpusByNode{1, 2, 3});
  CHECK(normalised({3, 2, 1}) == GpusByNode{1, 3, 2});
  CHECK(normalised({4, 1, 4, 1}) == GpusByNode{1, 4, 1, 4});
  CHECK(normalised({7}) == GpusByNode{7});
  for (std::uint64_t seed = 0; seed < testing::cases(200); ++seed) {
    Random random(seed);
    GpusByNode placement(static_cast<std::size_t>(1 + random.below(6)));
    for (std::int32_t& gpus : placement) gpus = static_cast<std::int32_t>(1 + random.below(3));
    const GpusByNode small = normalised(placement);
    CHECK(small <= placement);
    std::ranges::rotate(placement, placement.begin() + 1);
    CHECK(normalised(placement) == small);
  }
}

TEST_CASE("a measured placement is found under each of its rotations") {
  const StepTable table({placed({1}, 8, 1), placed({1, 2, 3}, 8, 7), placed({1, 3, 2}, 8, 9)});
  CHECK(step_at(table, {3, 1, 2}, 8) == 7);
  CHECK(step_at(table, {2, 3, 1}, 8) == 7);
  CHECK(step_at(table, {3, 2, 1}, 8) == 9);
}

TEST_CASE("times are linear between batches, and nothing beyond them") {
  const StepTable table(some_steps());
  CHECK(step_at(table, {1}, 4) == 1);
  CHECK(near(step_at(table, {1}, 5), 1.25, 1e-12, 0));
  CHECK(near(table.at({1}, 5)->sync_s, 1.25 / 4, 1e-12, 0));
  CHECK(step_at(table, {1}, 8) == 2);
  CHECK(!table.at({1}, 3.99));
  CHECK(!table.at({1}, 8.01));
  CHECK(!StepCurve{}.at(4));
}

TEST_CASE("a batch that was measured twice counts with its mean") {
  const StepTable table({placed({1}, 8, 1), placed({1}, 8, 3)});
  CHECK(step_at(table, {1}, 8) == 2);
}

TEST_CASE("another placement of as many nodes and GPUs stands in") {
  const StepTable table({placed({1}, 8, 1), placed({2, 2}, 8, 5)});
  CHECK(step_at(table, {1, 3}, 8) == 5);
  CHECK(step_at(table, {1, 2}, 8) == -1);
}

TEST_CASE("several placements of a spread stand in with their mean") {
  const StepTable table({placed({1}, 8, 1), placed({2, 2}, 8, 5), placed({1, 3}, 8, 9)});
  CHECK(step_at(table, {1, 3}, 8) == 9);
  CHECK(step_at(table, {2, 1, 1}, 8) == -1);
  const StepTable wide({placed({1}, 8, 1), placed({1, 1, 4}, 8, 4), placed({2, 2, 2}, 8, 6)});
  CHECK(step_at(wide, {1, 2, 3}, 8) == 5);
}

TEST_CASE("full nodes that were not measured lie between fewer and more of them") {
  const StepTable table(some_steps());
  CHECK(near(step_at(table, {4, 4, 4, 4, 4}, 8), 8, 1e-12, 0));  // 6 at four, 10 at six
  CHECK(step_at(table, {4, 4, 4, 4, 4, 4}, 8) == 10);
  CHECK(step_at(table, {4, 4, 4, 4, 4, 4, 4}, 8) == -1);  // nothing above
  CHECK(step_at(table, {4, 4, 4, 4, 4}, 7) == -1);
  CHECK(step_at(table, {4, 4, 4, 4, 3}, 8) == -1);  // not full
}

TEST_CASE("beyond sixteen nodes times are those of sixteen") {
  const StepTable table({placed({1}, 8, 1), spread_over(16, 64, 20)});
  CHECK(step_at(table, GpusByNode(16, 4), 8) == 20);
  CHECK(step_at(table, GpusByNode(20, 4), 8) == 20);
  CHECK(table.most_batch(GpusByNode(20, 4)) == 8);
  CHECK(step_at(table, GpusByNode(20, 2), 8) == -1);
}

TEST_CASE("limits of the batch are those of measured placements") {
  std::vector<MeasuredStep> steps = some_steps();
  steps.push_back(placed({2}, 16, 3));
  steps.back().batch = 16;
  MeasuredStep wide = spread_over(8, 32, 20);
  wide.batch = 99;
  steps.insert(steps.begin(), wide);  // wherever it stands, no placement is known of it
  const StepTable table(steps);
  CHECK(table.least_batch() == 4);
  CHECK(table.most_batch() == 16);
  CHECK(table.most_batch({4, 4}) == 8);
  CHECK(table.most_batch({2}) == 16);
  CHECK(table.most_batch({4, 4, 4, 4, 4}) == 8);  // between four, 8, and eight, 99
  CHECK(table.most_batch(GpusByNode(7, 4)) == 8);
  CHECK(table.most_batch(GpusByNode(8, 4)) == 99);
  CHECK(table.most_batch({3, 3}) == 4);  // never
  CHECK(table.most_batch(GpusByNode(9, 4)) == 4);
  CHECK(table.most_batch_of(2) == 16);
  CHECK(table.most_batch_of(1) == 8);
  CHECK(!table.most_batch_of(3));
  CHECK(!table.most_batch_of(32));
  CHECK(table.most_replicas() == 32);
}

TEST_CASE("one GPU is as fast as its largest batch in its longest step") {
  CHECK(StepTable(some_steps()).single_gpu_throughput() == 4);  // 8 samples in 2 s
  const StepTable odd({placed({1}, 4, 4), placed({1}, 8, 2)});
  CHECK(odd.single_gpu_throughput() == 2);  // 8 in 4 s
  REQUIRE(odd.single_gpu() != nullptr);
  CHECK(odd.single_gpu()->batch == std::vector<double>{4, 8});
  const StepTable none({placed({2}, 8, 2)});
  CHECK(none.single_gpu() == nullptr);
  CHECK(none.single_gpu_throughput() == 0);
}

}  // namespace
}  // namespace schedmate::elastic
