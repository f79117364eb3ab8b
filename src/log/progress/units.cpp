// SPDX-License-Identifier: Apache-2.0
#include "log/progress/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace schedmate::progress {
namespace {

bool is_step_unit(std::string_view unit) {
  constexpr std::array<std::string_view, 14> units = {
      "it",      "iter", "iters",  "iteration", "step", "steps", "batch",
      "batches", "ba",   "update", "updates",   "its",  "itr",   "mb"};
  return std::ranges::find(units, unit) != units.end();
}

/// The unit within a key: "iteration (ms)", "updt s", "ms per iteration".
double key_seconds(std::string_view key) {
  if (key.ends_with(')')) {
    const auto open = key.rfind('(');
    const auto inside = key.substr(open + 1, key.size() - open - 2);
    return open == std::string_view::npos ? 0 : seconds_in(inside);
  }
  const auto first = key.substr(0, key.find(' '));
  const auto last = key.substr(key.rfind(' ') + 1);
  const auto is_clear = [](std::string_view word) {
    return word == "ms" || word == "sec" || word == "secs" || word == "seconds" || word == "us";
  };
  if (is_clear(last)) return seconds_in(last);
  if (key.size() > 1 && last == "s" && last.size() < key.size()) return 1;
  return is_clear(first) && first.size() < key.size() ? seconds_in(first) : 0;
}

}  // namespace

double seconds_in(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 23> units = {
      {{"s", 1},        {"sec", 1},
       {"secs", 1},     {"second", 1},
       {"seconds", 1},  {"ms", 1e-3},
       {"msec", 1e-3},  {"millis", 1e-3},
       {"us", 1e-6},    {"usec", 1e-6},
       {"ns", 1e-9},    {"m", 60},
       {"min", 60},     {"mins", 60},
       {"minutes", 60}, {"h", 3600},
       {"hr", 3600},    {"hrs", 3600},
       {"hours", 3600}, {"hour", 3600},
       {"d", 86400},    {"milliseconds", 1e-3},
       {"minute", 60}}};
  const auto at = std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
  return at == units.end() ? 0 : at->second;
}

bool has_unit(const lines::Number& number) { return seconds_in(number.unit) > 0; }

std::optional<double> seconds_of(const lines::Number& number, std::string_view plain_key) {
  if (number.clock) return number.value;
  if (const double unit = seconds_in(number.unit); unit > 0) return unit * number.value;
  const auto slash = number.unit.find('/');
  if (slash != std::string::npos) return seconds_of_rate(number);
  if (!number.unit.empty()) return std::nullopt;
  if (const double unit = key_seconds(plain_key); unit > 0) return unit * number.value;
  return std::nullopt;
}

std::optional<double> seconds_of_rate(const lines::Number& number) {
  const std::string_view unit = number.unit;
  const auto slash = unit.find('/');
  if (slash == std::string_view::npos || !std::isfinite(number.value) || number.value <= 0)
    return std::nullopt;
  const auto over = unit.substr(0, slash);
  const auto under = unit.substr(slash + 1);
  if (seconds_in(over) > 0 && is_step_unit(under)) return seconds_in(over) * number.value;
  if (is_step_unit(over) && seconds_in(under) > 0) return seconds_in(under) / number.value;
  return std::nullopt;
}

}  // namespace schedmate::progress
