// SPDX-License-Identifier: Apache-2.0
#include "base/slurm_time.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::int64_t most = 1'000'000'000;  // of one part: all sums stay far below 2^63

std::optional<std::int64_t> parse_part(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  const auto number = parse_number<std::int64_t>(text);
  return number && *number <= most ? number : std::nullopt;
}

/// "1:30" in units of `units`: the first part counts in the first unit.
std::optional<Seconds> sum_of(std::string_view text, std::span<const std::int64_t> units) {
  const auto parts = split(text, ':');
  if (parts.size() > units.size()) return std::nullopt;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = parse_part(parts[i]);
    if (!part) return std::nullopt;
    total += *part * units[i];
  }
  return Seconds(total);
}

/// The clock forms of Slurm.
std::optional<Seconds> parse_clock(std::string_view text) {
  constexpr std::array<std::int64_t, 3> units{3600, 60, 1};
  const std::span all(units);
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos)  // a lone part is minutes, two are minutes and seconds
    return sum_of(text, std::ranges::count(text, ':') == 2 ? all : all.subspan(1));
  const auto days = parse_part(text.substr(0, dash));
  const auto rest = sum_of(text.substr(dash + 1), all);
  if (!days || !rest) return std::nullopt;
  return Seconds(*days * 86'400) + *rest;
}

/// "90", "90.5", "90m".
std::optional<Seconds> parse_amount(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t unit = 1;
  if (const char last = text.back(); !is_digit(last)) {
    constexpr std::string_view letters = "smhd";
    constexpr std::array<std::int64_t, 4> units{1, 60, 3600, 86'400};
    const std::size_t found = letters.find(last);
    if (found == std::string_view::npos) return std::nullopt;
    unit = units[found];
    text.remove_suffix(1);
  }
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos && !parse_part(text.substr(point + 1))) return std::nullopt;
  if (point != std::string_view::npos && unit != 1) return std::nullopt;
  const auto number = parse_part(text.substr(0, point));
  if (!number) return std::nullopt;
  return Seconds(*number * unit);
}

}  // namespace

std::optional<SlurmTime> parse_slurm_time(std::string_view text) {
  const std::string small = lower_case(text);
  if (small == "unlimited" || small == "infinite" || small == "-1") return SlurmTime{};
  const auto limit = parse_clock(text);
  if (!limit) return std::nullopt;
  return *limit == Seconds(0) ? SlurmTime{} : SlurmTime{limit};
}

std::optional<Seconds> parse_duration(std::string_view text) {
  const bool is_clock = text.find_first_of(":-") != std::string_view::npos;
  const auto duration = is_clock ? parse_clock(text) : parse_amount(text);
  return duration && *duration <= longest_duration ? duration : std::nullopt;
}

}  // namespace schedmate
