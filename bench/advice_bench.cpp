// SPDX-License-Identifier: Apache-2.0

/// Error of the estimates for resubmissions that are scaled, on made histories whose law is known:
/// a step takes (samples per device)^A x (devices)^B, with A and B drawn per job around what real
/// jobs show, and every run is off by a log-normal factor. The estimate knows the facts, not A, B.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/estimates.hpp"
#include "advisor/scaling.hpp"
#include "base/random.hpp"

namespace schedmate {
namespace {

constexpr int draws = 4000;
constexpr int runs_before = 3;
constexpr double noise = 0.1;

struct Shape {
  double epochs = 10, batch = 32, gpus = 4;
};

struct Change {
  const char* name;
  Shape (*apply)(Shape);
};

constexpr Change changes[] = {
    {"same again", [](Shape shape) { return shape; }},
    {"epochs doubled", [](Shape s) { return Shape{s.epochs * 2, s.batch, s.gpus}; }},
    {"GPUs halved", [](Shape s) { return Shape{s.epochs, s.batch, s.gpus / 2}; }},
    {"batch doubled", [](Shape s) { return Shape{s.epochs, s.batch * 2, s.gpus}; }},
    {"epochs x4, GPUs x4", [](Shape s) { return Shape{s.epochs * 4, s.batch, s.gpus * 4}; }},
    {"batch halved, GPUs x2", [](Shape s) { return Shape{s.epochs, s.batch / 2, s.gpus * 2}; }},
};

/// Of the made world.
struct Law {
  double batch_exponent, device_exponent, scale;
  [[nodiscard]] double duration_s(const Shape& shape) const {
    const double steps = shape.epochs * 50'000 / (shape.batch * shape.gpus);
    return scale * steps * std::pow(shape.batch, batch_exponent) *
           std::pow(shape.gpus, device_exponent);
  }
};

advisor::Fields fields_of(const Shape& shape) {
  return {{"length", fmt::format("{} epochs", shape.epochs)},
          {"batch_size", fmt::format("{}", shape.batch)},
          {"gpus", fmt::format("{}", shape.gpus)},
          {"distributed", "ddp"}};
}

double drawn(Random& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

struct Errors {
  std::vector<double> off;  ///< |log2(estimate / actual)|
  double inside = 0;
};

double share_below(std::vector<double>& sorted, double limit) {
  const auto below = std::ranges::upper_bound(sorted, limit) - sorted.begin();
  return 100 * static_cast<double>(below) / static_cast<double>(sorted.size());
}

void try_once(Random& random, const Change& change, const EstimateRow& row, Errors& errors) {
  const Law law{drawn(random, 0.75, 1), drawn(random, 0, 0.3), std::exp(drawn(random, -6, 0))};
  const Shape before;
  const Shape now = change.apply(before);
  std::vector<PastRun> matches(runs_before);
  for (PastRun& run : matches) {
    run.state = EndState::completed;
    run.duration =
        Seconds(std::llround(law.duration_s(before) * std::exp(noise * random.normal())));
    run.scale = advisor::scale_between(fields_of(now), fields_of(before)).factor;
  }
  const double actual = law.duration_s(now) * std::exp(noise * random.normal());
  const Estimate estimate =
      row.make({AdviceSource::resubmission, matches, {}, {}, std::nullopt, at(0)});
  errors.off.push_back(std::abs(std::log2(std::max(1.0, estimate.p50.count()) / actual)));
  errors.inside += estimate.p10.count() <= actual && actual <= estimate.p90.count() ? 1 : 0;
}

void print(const Change& change, const EstimateRow& row) {
  Random random(1);
  Errors errors;
  for (int draw = 0; draw < draws; ++draw) try_once(random, change, row, errors);
  std::ranges::sort(errors.off);
  const double median = std::exp2(errors.off[errors.off.size() / 2]);
  const double p90 = std::exp2(errors.off[errors.off.size() * 9 / 10]);
  fmt::print("{:24} {:12} {:10.2f} {:10.2f} {:12.1f} {:10.1f}\n", change.name, row.name, median,
             p90, share_below(errors.off, std::log2(1.25)), 100 * errors.inside / draws);
}

}  // namespace
}  // namespace schedmate

int main() {
  fmt::print(
      "made histories of {} runs each; law of a step: samples^(0.75..1) devices^(0..0.3), "
      "noise {:.0f} %\n",
      schedmate::runs_before, 100 * schedmate::noise);
  fmt::print("{:24} {:12} {:>10} {:>10} {:>12} {:>10}\n", "change", "estimate", "median x", "p90 x",
             "within 25 %", "inside 80");
  for (const auto& change : schedmate::changes)
    for (const auto& row : schedmate::estimate_rows()) schedmate::print(change, row);
  return 0;
}
