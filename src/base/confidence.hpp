// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How likely an answer is right (docs/confidence.md). A small logistic model makes the share of
/// right answers to expect of what was seen on the way to an answer. Its weights are tables in
/// rules/, one for each kind of answers, fitted on labelled cases by scripts.

#include <functional>
#include <map>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate {

/// By name: "rank", "source:config", "value:fp32", ... What is not there is 0.
using Features = std::map<std::string, double, std::less<>>;

struct Confidence {
  /// That the answer of a field is right.
  std::function<double(std::string_view field, const Features& features)> probability;
  /// Of the answers with at least this probability, 97 % were right.
  double careful = 1;
};

/// The logistic model of a table; `file_name` is what errors call it. Errors: invalid (file, line,
/// what is wrong).
[[nodiscard]] Result<Confidence> read_confidence(std::string_view toml, std::string_view file_name);

/// A table that is part of the program.
[[nodiscard]] Confidence built_in_confidence(std::string_view toml);

/// Of a threshold as the user gives it: "" is no cut, "auto" the careful bound. Errors: unsupported
/// for what is neither a number from 0 to 1 nor auto.
[[nodiscard]] Result<double> confidence_bound(std::string_view least, double careful);

}  // namespace schedmate
