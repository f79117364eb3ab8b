// SPDX-License-Identifier: Apache-2.0
#include "apps/flag_values.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <string>

#include "base/characters.hpp"
#include "base/slurm_time.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::int64_t latest_date_s = 8'000'000'000;

/// Each value is checked, or replaced by what it means, before the library converts it.
void add_check(CLI::Option& option, std::function<std::string(std::string&)> check) {
  CLI::Validator validator(std::move(check), "");
  option.transform(validator);
}

bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text.front() == '0';
}

std::string read_duration(std::string& text, bool may_be_unlimited) {
  const auto unlimited = may_be_unlimited ? parse_slurm_time(text) : std::nullopt;
  const auto duration = unlimited && !unlimited->limit ? Seconds(0) : parse_duration(text);
  if (!duration) {
    return fmt::format(
        "must be seconds, or 45s, 90m, 2h, 7d, 2:00:00 or 1-12:00:00{}, at most ten years, "
        "not '{}'",
        may_be_unlimited ? ", or UNLIMITED" : "", text);
  }
  text = fmt::format("{}", duration->count());
  return "";
}

}  // namespace

void takes_whole(CLI::Option& option, std::int64_t least, std::int64_t most) {
  add_check(option, [least, most](const std::string& text) -> std::string {
    const auto number = parse_number<std::int64_t>(text);
    if (number && *number >= least && *number <= most && !has_leading_zero(text)) return "";
    const bool too_large = !number && !text.empty() && std::ranges::all_of(text, is_digit);
    return most == most_whole && !too_large
               ? fmt::format("must be a whole number of at least {}, not {}", least, text)
               : fmt::format("must be a whole number from {} to {}, not {}", least, most, text);
  });
}

void takes_number(CLI::Option& option, double least, double most) {
  add_check(option, [least, most](const std::string& text) -> std::string {
    const auto number = parse_number<double>(text);
    const bool fits = number && std::isfinite(*number) && *number >= least && *number <= most;
    return fits ? "" : fmt::format("must be a number from {} to {}, not {}", least, most, text);
  });
}

void takes_duration(CLI::Option& option) {
  add_check(option, [](std::string& text) { return read_duration(text, false); });
}

void takes_time_limit(CLI::Option& option) {
  add_check(option, [](std::string& text) { return read_duration(text, true); });
}

void takes_date(CLI::Option& option) {
  add_check(option, [](const std::string& text) -> std::string {
    const auto number = parse_number<std::int64_t>(text);
    if (number && *number >= 0 && *number <= latest_date_s && !has_leading_zero(text)) return "";
    return fmt::format("must be seconds since 1970, from 0 to {}, not '{}'", latest_date_s, text);
  });
}

}  // namespace schedmate
