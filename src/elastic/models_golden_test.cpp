// SPDX-License-Identifier: Apache-2.0

// The fits and goodputs of Sia's released simulator (../shared/data/sia/golden).

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "elastic/goodput.hpp"
#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;
using testing::needs_shared;
using testing::shared;

/// The lines of one of the golden files.
std::vector<nlohmann::json> golden_lines(const std::string& name) {
  std::ifstream file(shared("data/sia/golden/" + name));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE_FALSE(lines.empty());
  return lines;
}

ThroughputModel model_of_list(const nlohmann::json& list) {
  return {list[0], list[1], list[2], list[3], list[4], list[5], list[6]};
}

struct GoldenFit {
  std::vector<ObservedStep> steps;
  ThroughputModel model;
  double loss = 0;
};

GoldenFit golden_fit(const nlohmann::json& line) {
  GoldenFit golden;
  for (std::size_t i = 0; i < line["num_nodes"].size(); ++i) {
    const StepShape shape{line["num_nodes"][i], line["num_replicas"][i], line["atomic_bsz"][i]};
    golden.steps.push_back({shape, line["step_time"][i], line["accum_time"][i]});
  }
  golden.model = model_of_list(line["params"]);
  golden.loss = line["loss"];
  return golden;
}

/// How far apart two models are on a step, as the larger of two logarithms.
double apart(const ThroughputModel& one, const ThroughputModel& other, const StepShape& shape) {
  const ModelledTime a = step_time(one, shape);
  const ModelledTime b = step_time(other, shape);
  return std::max(std::abs(std::log(a.accumulation_s / b.accumulation_s)),
                  std::abs(std::log(a.optimisation_s / b.optimisation_s)));
}

double most_apart(const ThroughputModel& one, const ThroughputModel& other,
                  const std::vector<ObservedStep>& steps) {
  double most = 0;
  for (const ObservedStep& step : steps) most = std::max(most, apart(one, other, step.shape));
  return most;
}

/// The steps with most replicas, on twice as many.
std::vector<ObservedStep> beyond(const std::vector<ObservedStep>& steps) {
  std::int32_t most = 1;
  for (const ObservedStep& step : steps) most = std::max(most, step.shape.replicas);
  std::vector<ObservedStep> larger;
  for (ObservedStep step : steps) {
    if (step.shape.replicas != most) continue;
    step.shape.replicas *= 2;
    if (step.shape.replicas > 4) step.shape.nodes *= 2;
    larger.push_back(step);
  }
  return larger;
}

TEST_CASE("200 fits of Sia's own simulator: the released search comes to the same" *
          needs_shared("data/sia/golden")) {
  // Two of them (lines 22 and 194) end elsewhere. Their first evaluations agree to 12 digits, then
  // ever fewer do: the curvature that was learned is a whole matrix here and products there, which
  // round differently. Nor does scipy 1.17 with autograd's gradient end where the golden ones do:
  // 6e-4 lower in the first, with a parameter 70 % away.
  int close_losses = 0;
  int close_predictions = 0;
  int close_in_both = 0;
  double ours = 0;
  double theirs = 0;
  const auto lines = golden_lines("fit.jsonl");
  for (const auto& line : lines) {
    const GoldenFit golden = golden_fit(line);
    const ThroughputModel model = fit(golden.steps);
    const double loss = fit_loss(model, golden.steps).value;
    const bool low = loss <= golden.loss + 1e-3;
    const bool close = most_apart(model, golden.model, golden.steps) < std::log(1.02);
    close_losses += low ? 1 : 0;
    close_predictions += close ? 1 : 0;
    close_in_both += low && close ? 1 : 0;
    CHECK(loss <= golden.loss + 0.01);
    CHECK(most_apart(model, golden.model, golden.steps) < 0.05);
    ours += loss;
    theirs += golden.loss;
  }
  MESSAGE("loss not higher by 1e-3: " << close_losses << ", steps within 2 %: " << close_predictions
                                      << ", both: " << close_in_both);
  CHECK(close_in_both >= 198);
  CHECK(near(ours, theirs, 0.002, 0));
}

TEST_CASE("200 fits of Sia's own simulator: the best loss is never higher, often much lower" *
          needs_shared("data/sia/golden")) {
  double ours = 0;
  double theirs = 0;
  int alike = 0;
  int much_lower = 0;
  const auto lines = golden_lines("fit.jsonl");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(i);
    const GoldenFit golden = golden_fit(lines[i]);
    CHECK(near(fit_loss(golden.model, golden.steps).value, golden.loss, 1e-9, 0));
    const ThroughputModel model = fit(golden.steps, nullptr, FitSearch::best);
    const double loss = fit_loss(model, golden.steps).value;
    CHECK(loss <= golden.loss + 1e-4);
    ours += loss;
    theirs += golden.loss;
    much_lower += loss < golden.loss - 0.01 ? 1 : 0;
    // Where their search came to its end too, both say the same of what was seen. Elsewhere it had
    // stopped on the way (at a step that gained less than 1e-5): there is nothing to agree with.
    if (loss < golden.loss - 4e-4) continue;
    ++alike;
    CHECK(most_apart(model, golden.model, golden.steps) < 0.02);
    CHECK(most_apart(model, golden.model, beyond(golden.steps)) < 0.3);
  }
  MESSAGE("mean loss " << ours / 200 << ", theirs " << theirs / 200 << "; " << alike << " alike, "
                       << much_lower << " lower by 0.01 and more");
  CHECK(alike >= 45);
  CHECK(ours < 0.6 * theirs);
}

TEST_CASE("the golden fits step by step: going on comes to the same loss" *
          needs_shared("data/sia/golden")) {
  for (const auto& line : golden_lines("fit.jsonl")) {
    const GoldenFit golden = golden_fit(line);
    ThroughputModel before;
    for (std::size_t count = 1; count <= golden.steps.size(); ++count) {
      const auto steps = std::span(golden.steps).first(count);
      before = fit(steps, count == 1 ? nullptr : &before, FitSearch::best);
      CHECK(fit_loss(before, steps).value <=
            fit_loss(fit(steps, nullptr, FitSearch::best), steps).value + 1e-3);
    }
  }
}

TEST_CASE("430 goodputs of Sia's own simulator: the same batch, the same goodput" *
          needs_shared("data/sia/golden")) {
  int configurations = 0;
  int by_rounding = 0;
  const auto lines = golden_lines("goodput.jsonl");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json& line = lines[i];
    const ThroughputModel model = model_of_list(line["params"]);
    const GradientNoise noise{line["grad"][0], line["grad"][1]};
    BatchLimits limits{line["atomic_range"][0], line["atomic_range"][1], line["init_bsz"],
                       line["max_bsz"]};
    for (std::size_t j = 0; j < line["nodes"].size(); ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const StepShape spread{line["nodes"][j], line["replicas"][j], 1};
      limits.single_precision = true;
      const BatchChoice choice = best_batch(model, noise, limits, spread);
      CHECK(choice.atomic_batch == line["atomic"][j].get<std::int32_t>());
      CHECK(choice.accumulation == line["accum"][j].get<std::int32_t>());
      CHECK(near(choice.goodput, line["goodput"][j].get<double>(), 1e-6, 0));
      limits.single_precision = false;
      const BatchChoice exact = best_batch(model, noise, limits, spread);
      by_rounding += exact.atomic_batch != choice.atomic_batch ? 1 : 0;
      ++configurations;
    }
  }
  CHECK(configurations == 430);
  CHECK(by_rounding == 12);  // one total possible only, and theirs came out a little above it
}

}  // namespace
}  // namespace schedmate::elastic
