// SPDX-License-Identifier: Apache-2.0
#include "policy/gbdt.hpp"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace schedmate::policy {
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

/// The number behind `key`, as in "yes=1,no=2".
template <class Number>
std::optional<Number> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  return parse_number<Number>(text.substr(0, text.find_first_of(",]\n<")));
}

/// "0:[f3<1.5] yes=1,no=2,missing=1" or "4:leaf=0.25".
std::optional<std::pair<std::size_t, Gbdt::Node>> node_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of('\t');
  if (first == std::string_view::npos) return std::nullopt;
  line.remove_prefix(first);
  const auto id = parse_number<std::size_t>(line.substr(0, line.find(':')));
  if (!id) return std::nullopt;
  Gbdt::Node node;
  if (const auto leaf = number_after<float>(line, "leaf=")) {
    node.value = *leaf;
    return std::pair(*id, node);
  }
  const auto feature = number_after<std::uint32_t>(line, "[f");
  const auto limit = number_after<float>(line, "<");
  const auto yes = number_after<std::uint32_t>(line, "yes=");
  const auto no = number_after<std::uint32_t>(line, "no=");
  const auto missing = number_after<std::uint32_t>(line, "missing=");
  if (!feature || !limit || !yes || !no || !missing) return std::nullopt;
  return std::pair(*id, Gbdt::Node{*limit, *feature, *yes, *no, *missing});
}

/// Appends the nodes of one tree, as XGBoost prints it. False when it is printed in another way.
bool add_tree(std::string_view text, std::size_t width, std::vector<Gbdt::Node>& nodes) {
  const std::size_t root = nodes.size();
  const auto most = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const auto node = node_of(text.substr(0, end));
    if (!node || node->first >= most) return false;
    nodes.resize(std::max(nodes.size(), root + node->first + 1));
    nodes[root + node->first] = node->second;
    text.remove_prefix(end + 1);
  }
  for (std::size_t i = root; i < nodes.size(); ++i) {
    Gbdt::Node& node = nodes[i];
    if (node.is_leaf()) continue;
    for (std::uint32_t* const next : {&node.below, &node.above, &node.unknown}) {
      *next += static_cast<std::uint32_t>(root);
      if (*next <= i || *next >= nodes.size()) return false;  // so that a walk ends
    }
    if (node.feature >= width) return false;
  }
  return nodes.size() > root;
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
  const double mean = sum / static_cast<double>(rows);
  const auto booster = booster_on(matrix->get(), mean);
  if (!booster) return tl::unexpected(booster.error());
  return printed(booster->get(), width, static_cast<float>(mean));
}

Result<Gbdt> Gbdt::printed(void* booster, std::size_t width, float mean) {
  bst_ulong count = 0;
  const char** texts = nullptr;
  if (XGBoosterDumpModelEx(booster, "", 0, "text", &count, &texts) != 0)
    return failed("printing the trees");
  Gbdt trees(width, mean);
  for (const char* const text : std::span(texts, count)) {
    trees.roots_.push_back(static_cast<std::uint32_t>(trees.nodes_.size()));
    if (!add_tree(text, width, trees.nodes_))
      return fail(ErrorCode::unavailable,
                  "XGBoost does not print its trees in the format of version 1.6");
  }
  return trees;
}

Result<float> Gbdt::predict(std::span<const float> row) const {
  if (row.size() != width_) {
    return fail(ErrorCode::invalid,
                fmt::format("gbdt: {} features, fitted on {}", row.size(), width_));
  }
  float sum = mean_;
  for (std::size_t at : roots_) {
    while (!nodes_[at].is_leaf()) {
      const Node& node = nodes_[at];
      const float value = row[node.feature];
      at = std::isnan(value) ? node.unknown : value < node.value ? node.below : node.above;
    }
    sum += nodes_[at].value;
  }
  return sum;
}

}  // namespace schedmate::policy
