// SPDX-License-Identifier: Apache-2.0
#include "bench/fake_llm/shape_guess.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/random.hpp"
#include "base/text.hpp"

namespace schedmate::bench {
namespace {

struct Unit {
  const char* name;
  double seconds;
};
constexpr std::array units = {Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"min", 60},
                              Unit{"h", 3600}};
constexpr std::array<const char*, 3> kinds = {"per_step", "per_report", "since_start"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The line without its numbers, and the numbers.
struct Tokens {
  std::string skeleton;
  std::vector<double> values;
};

Tokens tokens_of(const std::string& line) {
  Tokens made;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_digit(line[at])) {
      if (line[at] != ' ' && line[at] != '-') made.skeleton += line[at];
      ++at;
      continue;
    }
    char* end = nullptr;
    made.values.push_back(std::strtod(line.c_str() + at, &end));
    at = static_cast<std::size_t>(end - line.c_str());
    made.skeleton += '#';
  }
  return made;
}

/// For each place of the request the token of the line that holds its value, in order.
std::vector<std::optional<std::size_t>> tokens_of_places(const Tokens& tokens,
                                                         const std::vector<double>& numbers) {
  std::vector<std::optional<std::size_t>> made(numbers.size());
  std::size_t next = 0;
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    for (auto at = next; at < tokens.values.size(); ++at) {
      if (std::abs(tokens.values[at] - std::abs(numbers[place])) > 1e-6 * std::abs(numbers[place]))
        continue;
      made[place] = at;
      next = at + 1;
      break;
    }
  }
  return made;
}

/// The values at the places of the last line of the log that is like the first one shown.
std::vector<std::optional<double>> last_values(const ShownShape& shape,
                                               const std::vector<std::string>& log) {
  const Tokens first = tokens_of(shape.lines.front());
  const auto places = tokens_of_places(first, shape.numbers.front());
  std::vector<std::optional<double>> made(places.size());
  for (const std::string& line : log) {
    // What stands in front (stamps, ranks) was not shown.
    const Tokens tokens = tokens_of(line);
    if (!tokens.skeleton.ends_with(first.skeleton) || tokens.values.size() < first.values.size())
      continue;
    const auto extra = tokens.values.size() - first.values.size();
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i]) made[i] = tokens.values[*places[i] + extra];
  }
  return made;
}

/// Seconds of a step by this place, as the lines shown say under a kind of time.
std::optional<double> step_seconds(const ShownShape& shape, std::size_t place, std::size_t step,
                                   std::size_t kind) {
  std::vector<double> each;
  for (std::size_t i = 1; i < shape.numbers.size(); ++i) {
    const auto& here = shape.numbers[i];
    const auto& before = shape.numbers[i - 1];
    if (std::min(here.size(), before.size()) <= std::max(place, step)) return std::nullopt;
    const double by = kind == 0 ? 1 : here[step] - before[step];
    const double value = kind == 2 ? here[place] - before[place] : here[place];
    if (by > 0) each.push_back(value / by);
  }
  if (each.empty()) return std::nullopt;
  std::ranges::sort(each);
  return each[each.size() / 2];
}

void find_time(const ShownShape& shape, double label, ShapeAnswer& made) {
  if (!made.places.contains("step")) return;
  const auto step = made.places["step"];
  double nearest = 0.1;
  for (std::size_t place = 0; place < shape.numbers.front().size(); ++place)
    for (const Unit& unit : units)
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        if (place == step) continue;
        const auto seconds = step_seconds(shape, place, step, kind);
        const double off = seconds ? std::abs(*seconds * unit.seconds - label) / label : 1;
        if (off >= nearest) continue;
        nearest = off;
        made.places["time"] = place;
        made.unit = unit.name;
        made.kind = kinds.at(kind);
      }
}

}  // namespace

ShownShape read_shape(const std::string& shown) {
  ShownShape shape;
  std::string last;
  for (const auto line : split(shown, '\n')) {
    if (!line.starts_with("  0=")) {
      last = line;
      continue;
    }
    shape.lines.push_back(last);
    auto& numbers = shape.numbers.emplace_back();
    for (const auto part : split(trim(line), ' '))
      numbers.push_back(std::strtod(std::string(part.substr(part.find('=') + 1)).c_str(), nullptr));
  }
  return shape;
}

ShapeAnswer right_places(const ShownShape& shape, const std::vector<std::string>& log,
                         const std::map<std::string, double>& labels) {
  ShapeAnswer made;
  if (shape.lines.empty()) return made;
  const auto values = last_values(shape, log);
  for (const auto* const role : {"step", "total", "loss"}) {
    const auto label = labels.find(role);
    if (label == labels.end()) continue;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool taken =
          std::ranges::any_of(made.places, [&](const auto& each) { return each.second == i; });
      if (!values[i] || taken || std::abs(*values[i] - label->second) > 1e-3 * label->second)
        continue;
      made.places[role] = i;
      break;
    }
  }
  if (const auto label = labels.find("time"); label != labels.end() && label->second > 0)
    find_time(shape, label->second, made);
  return made;
}

ShapeAnswer wrong_places(const ShownShape& shape, const ShapeAnswer& right) {
  ShapeAnswer made;
  if (shape.numbers.empty() || shape.numbers.front().empty()) return made;
  std::uint64_t drawn = mix(shape.lines.front().size());
  const auto places = shape.numbers.front().size();
  for (const auto* const role : {"step", "total", "loss", "time"}) {
    for (std::size_t tries = 0; tries < 8; ++tries) {
      drawn = mix(drawn);
      const auto held = right.places.find(role);
      if (held != right.places.end() && held->second == drawn % places) continue;
      made.places[role] = drawn % places;
      break;
    }
  }
  made.unit = units.at((drawn >> 8U) % units.size()).name;
  made.kind = kinds.at((drawn >> 16U) % kinds.size());
  return made;
}

}  // namespace schedmate::bench
