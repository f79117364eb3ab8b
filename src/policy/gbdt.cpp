// SPDX-License-Identifier: Apache-2.0
#include "policy/gbdt.hpp"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace schedmate {
namespace {

/// Small on purpose: many fits on some hundred rows each.
constexpr int rounds = 40;
constexpr std::array<std::pair<const char*, const char*>, 9> parameters{{
    {"verbosity", "0"},
    {"nthread", "1"},
    {"seed", "0"},
    {"objective", "reg:squarederror"},
    {"tree_method", "hist"},
    {"max_bin", "64"},
    {"max_depth", "6"},
    {"min_child_weight", "20"},  // LightGBM's default; with less, some hundred rows overfit
    {"eta", "0.1"},
}};

/// A handle of XGBoost; `release` gives it back.
template <int (*release)(void*)>
std::shared_ptr<void> own(void* handle) {
  return {handle, [](void* mine) { release(mine); }};
}

tl::unexpected<Error> failed(std::string_view doing) {
  return fail(ErrorCode::unavailable, fmt::format("XGBoost: {}: {}", doing, XGBGetLastError()));
}

/// What XGBoost calls an array interface: where the floats lie, and the shape.
std::string array_of(std::span<const float> cells, std::size_t width) {
  return fmt::format(R"({{"data":[{},true],"shape":[{},{}],"typestr":"<f4","version":3}})",
                     std::bit_cast<std::uintptr_t>(cells.data()), cells.size() / width, width);
}

Result<std::shared_ptr<void>> matrix_of(const Gbdt::Examples& examples, std::size_t width) {
  void* handle = nullptr;
  constexpr const char* config = R"({"missing":NaN,"nthread":1})";
  if (XGDMatrixCreateFromDense(array_of(examples.features, width).c_str(), config, &handle) != 0)
    return failed("reading the examples");
  auto matrix = own<XGDMatrixFree>(handle);
  const auto& targets = examples.targets;
  if (XGDMatrixSetFloatInfo(handle, "label", targets.data(), targets.size()) != 0)
    return failed("reading the targets");
  return matrix;
}

Result<std::shared_ptr<void>> booster_on(void* matrix, double mean_target) {
  void* handle = nullptr;
  if (XGBoosterCreate(&matrix, 1, &handle) != 0) return failed("making the trees");
  auto booster = own<XGBoosterFree>(handle);
  const std::string start = fmt::format("{}", mean_target);
  bool set = XGBoosterSetParam(handle, "base_score", start.c_str()) == 0;
  for (const auto& [name, value] : parameters)
    set = set && XGBoosterSetParam(handle, name, value) == 0;
  if (!set) return failed("setting parameters");
  for (int round = 0; round < rounds; ++round) {
    if (XGBoosterUpdateOneIter(handle, round, matrix) != 0) return failed("fitting");
  }
  return booster;
}

}  // namespace

Result<Gbdt> Gbdt::fit(const Examples& examples) {
  const std::size_t rows = examples.targets.size();
  const std::size_t width = rows == 0 ? 0 : examples.features.size() / rows;
  if (width == 0 || width * rows != examples.features.size()) {
    return fail(ErrorCode::invalid,
                fmt::format("gbdt: {} features for {} targets", examples.features.size(), rows));
  }
  if (!std::ranges::all_of(examples.targets, [](float target) { return std::isfinite(target); }))
    return fail(ErrorCode::invalid, "gbdt: a target is not a finite number");
  const auto matrix = matrix_of(examples, width);
  if (!matrix) return tl::unexpected(matrix.error());
  const double sum = std::accumulate(examples.targets.begin(), examples.targets.end(), 0.0);
  auto booster = booster_on(matrix->get(), sum / static_cast<double>(rows));
  if (!booster) return tl::unexpected(booster.error());
  return Gbdt(std::move(*booster), width);
}

Result<float> Gbdt::predict(std::span<const float> row) const {
  if (row.size() != width_) {
    return fail(ErrorCode::invalid,
                fmt::format("gbdt: {} features, fitted on {}", row.size(), width_));
  }
  constexpr const char* config =
      R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":0,)"
      R"("strict_shape":false,"missing":NaN,"cache_id":0})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  if (XGBoosterPredictFromDense(booster_.get(), array_of(row, width_).c_str(), config, nullptr,
                                &shape, &dimensions, &values) != 0)
    return failed("predicting");
  return values[0];
}

}  // namespace schedmate
