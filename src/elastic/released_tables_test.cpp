// SPDX-License-Identifier: Apache-2.0

// Sia's released tables, read from ../shared/data/sia.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/input.hpp"
#include "elastic/application.hpp"
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/places.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;
using testing::needs_shared;
using testing::shared;

/// What the released code has of them, in the order aws, dgx-ext, rtx.
struct KnownApplication {
  std::string name;
  double throughput[3];
  double digits;  ///< of the throughputs that are printed
  double least[3], most[3];
  double first_batch, last_batch;
  std::size_t epochs;
  double progress;
};
const std::vector<KnownApplication> known_applications = {
    {"bert", {13.02, 140.44, 26.85}, 0.005, {4, 4, 4}, {12, 48, 12}, 12, 384, 2, 14774},
    {"cifar10",
     {1458.5, 10062.6, 3306.3},
     0.05,
     {32, 32, 32},
     {1024, 4096, 1024},
     128,
     4096,
     100,
     39062.9},
    {"deepspeech2", {31.49, 77.50, 52.51}, 0.005, {10, 10, 10}, {80, 320, 57}, 20, 640, 80, 28536},
    {"imagenet",
     {216.6, 1034.0, 395.2},
     0.05,
     {20, 20, 20},
     {200, 800, 200},
     200,
     12800,
     90,
     576525.6},
    {"yolov3", {27.94, 56.71, 11.72}, 0.005, {4, 4, 4}, {16, 32, 8}, 8, 512, 50, 103444.0}};

/// Sia's own tables on sia64.
std::map<std::string, Application> released_applications() {
  std::map<std::string, Application> all;
  const std::string folder = shared("data/sia/traces");
  const auto parsed = [](const std::string& name, auto parse) {
    const std::string path = testing::data + "elastic/" + name;
    return parse(read_file(path).value(), path).value();
  };
  const ElasticCluster cluster = parsed("sia64.toml", parse_elastic_cluster);
  for (const ApplicationTraits& traits : parsed("sia_applications.toml", parse_applications)) {
    auto application = read_application(folder, traits, cluster);
    REQUIRE_MESSAGE(application, application.error().message);
    all.emplace(traits.name, std::move(*application));
  }
  return all;
}

TEST_CASE("Sia's tables give the figures of sia.md 1" * needs_shared("data/sia/traces")) {
  const auto all = released_applications();
  for (const KnownApplication& known : known_applications) {
    CAPTURE(known.name);
    const Application& application = all.at(known.name);
    for (std::size_t type = 0; type < 3; ++type) {
      CAPTURE(type);
      const double throughput = application.tables[type]->single_gpu_throughput();
      CHECK(std::abs(throughput - known.throughput[type]) <= known.digits * 1.0001);
      CHECK(application.least_batch(type) == known.least[type]);
      CHECK(application.most_batch(type) == known.most[type]);
    }
    const TrainingTable& training = application.training;
    CHECK(training.initial_batch() == known.first_batch);
    CHECK(training.most_batch() == known.last_batch);
    REQUIRE(training.epochs() == known.epochs);
    CHECK(std::abs(training.end_of(known.epochs - 1) - known.progress) <= 0.05001);
  }
  const TrainingTable& ncf = all.at("ncf").training;
  CHECK(ncf.initial_batch() == 256);
  CHECK(ncf.most_batch() == 32768);
  CHECK(ncf.epochs() == 10);
  CHECK(std::abs(ncf.end_of(9) - 194174) <= 0.50001);
}

TEST_CASE("what was not measured as a placement comes from the wider tables (sia.md 2)" *
          needs_shared("data/sia/traces")) {
  const auto all = released_applications();
  for (const KnownApplication& known : known_applications) {
    CAPTURE(known.name);
    const Application& application = all.at(known.name);
    const StepTable& aws = *application.tables[0];
    const double most =
        std::min(aws.most_batch(GpusByNode(4, 4)), aws.most_batch(GpusByNode(6, 4)));
    CHECK(aws.at(GpusByNode(5, 4), aws.most_batch(GpusByNode(5, 4))));
    for (const double share : {0.0, 0.37, 1.0}) {
      const double batch = known.least[0] + share * (most - known.least[0]);
      const auto four = aws.at(GpusByNode(4, 4), batch);
      const auto five = aws.at(GpusByNode(5, 4), batch);
      const auto six = aws.at(GpusByNode(6, 4), batch);
      REQUIRE((four && five && six));
      CHECK(five->step_s >= std::min(four->step_s, six->step_s));
      CHECK(five->step_s <= std::max(four->step_s, six->step_s));
      CHECK(near(five->step_s, (four->step_s + six->step_s) / 2, 1e-12, 0));
    }
    const StepTable& rtx = *application.tables[2];
    CHECK(rtx.at({8, 8, 8}, known.least[2]));
    CHECK(rtx.at({8, 8, 8}, rtx.most_batch({8, 8, 8})));
    CHECK(!rtx.at({8, 8, 8}, 2 * rtx.most_batch({8, 8, 8})));
  }
}

/// The row of these nodes and replicas with the smallest batch, as it stands in the file.
MeasuredStep first_row(const std::string& file, std::int32_t nodes, std::int32_t replicas) {
  const std::string path = shared("data/sia/traces/" + file);
  const auto rows = parse_scalability(read_file(path).value(), path).value();
  const auto row = std::ranges::find_if(rows, [&](const MeasuredStep& step) {
    return step.nodes == nodes && step.replicas == replicas;
  });
  REQUIRE(row != rows.end());
  return *row;
}

TEST_CASE("888 on rtx and six full nodes of aws are rows of scalability" *
          needs_shared("data/sia/traces")) {
  const auto all = released_applications();
  for (const KnownApplication& known : known_applications) {
    CAPTURE(known.name);
    const Application& application = all.at(known.name);
    const MeasuredStep rtx = first_row(known.name + "/scalability-rtx.csv", 3, 24);
    CHECK(application.tables[2]->at({8, 8, 8}, rtx.batch)->step_s == rtx.sample.step_s);
    const MeasuredStep aws = first_row(known.name + "/scalability-aws.csv", 6, 24);
    CHECK(application.tables[0]->at(GpusByNode(6, 4), aws.batch)->sync_s == aws.sample.sync_s);
  }
}

}  // namespace
}  // namespace schedmate::elastic
