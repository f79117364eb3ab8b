// SPDX-License-Identifier: Apache-2.0
#include "log/lines/wall_time.hpp"

#include <chrono>
#include <cmath>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/lines/stamp.hpp"

namespace schedmate::lines {
namespace {

namespace time = std::chrono;

constexpr double day_s = 86'400;
constexpr int no_year = 2000;  ///< what read_stamp() gives a date without one

time::year_month_day date_of(double seconds) {
  return {time::sys_days(time::days(static_cast<int>(std::floor(seconds / day_s))))};
}

int year_of(const WallTime& stamp) { return static_cast<int>(date_of(stamp.seconds).year()); }

/// The same day and clock in another year; nothing for a 29 February that it has not.
std::optional<WallTime> in_year(WallTime stamp, int year) {
  const auto date = date_of(stamp.seconds);
  const time::year_month_day moved{time::year{year}, date.month(), date.day()};
  if (!moved.ok()) return std::nullopt;
  stamp.seconds += static_cast<double>((time::sys_days(moved) - time::sys_days(date)).count() *
                                       static_cast<long>(day_s));
  stamp.has_year = true;
  return stamp;
}

/// "Z", "+0200" or "-05:30" at the end of a stamp.
std::optional<int> zone_of(std::string_view stamp) {
  if (stamp.ends_with('Z')) return 0;
  const auto sign = stamp.find_last_of("+-");
  if (sign == std::string_view::npos || sign + 5 > stamp.size() || sign < 10) return std::nullopt;
  const auto hours = parse_number<int>(stamp.substr(sign + 1, 2));
  const auto minutes = parse_number<int>(stamp.substr(stamp.size() - 2));
  if (!hours || !minutes) return std::nullopt;
  const int offset = *hours * 3600 + *minutes * 60;
  return stamp[sign] == '-' ? -offset : offset;
}

/// " 2021" behind a date that has its year there.
void take_year(std::string_view text, FoundTime& found) {
  constexpr std::size_t length = 5;
  const auto rest = text.substr(found.length);
  if (rest.size() < length || rest[0] != ' ') return;
  if (rest.size() > length && is_digit(rest[length])) return;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_digit(rest[i])) return;
  const auto moved = in_year(found.time, parse_number<int>(rest.substr(1, 4)).value_or(no_year));
  if (!moved) return;
  found.time = *moved;
  found.length += length;
}

/// Seconds from `b` to `a`.
double between(const WallTime& a, const WallTime& b) {
  if (a.offset_s && b.offset_s) return unix_seconds(a) - unix_seconds(b);
  return a.seconds - b.seconds;
}

}  // namespace

std::optional<FoundTime> read_wall_time(std::string_view text) {
  const auto stamp = read_stamp(text);
  if (!stamp || !stamp->stamp.dated || stamp->level != 0) return std::nullopt;
  FoundTime found{{stamp->stamp.seconds, zone_of(text.substr(0, stamp->length)), true},
                  stamp->length};
  const bool iso = text.size() > 4 && is_digit(text[0]) && is_digit(text[2]) && is_digit(text[3]);
  found.time.has_year = iso;
  if (!iso) take_year(text, found);
  return found;
}

std::optional<WallTime> read_job_time(std::string_view text) {
  text = trim(text);
  if (const auto seconds = parse_number<double>(text)) {
    constexpr double latest = 1e11;  // the year 5138; beyond it is no time
    if (!std::isfinite(*seconds) || *seconds <= 0 || *seconds > latest) return std::nullopt;
    return WallTime{*seconds, 0, true};
  }
  const auto found = read_wall_time(text);
  return found ? std::optional(found->time) : std::nullopt;
}

double unix_seconds(const WallTime& time) { return time.seconds - time.offset_s.value_or(0); }

InWindow JobWindow::place(const std::optional<WallTime>& time) const {
  if (!known()) return InWindow::inside;
  if (!time) return InWindow::unknown;
  const auto inside = [&](const WallTime& stamp) {
    return (!start || between(stamp, *start) >= -before_s) &&
           (!end || between(stamp, *end) <= after_s);
  };
  if (time->has_year) return inside(*time) ? InWindow::inside : InWindow::outside;
  // A date without its year belongs to the job when it does so in a year of the job.
  for (const auto& bound : {start, end}) {
    if (!bound || !bound->has_year) continue;
    for (const int year : {year_of(*bound) - 1, year_of(*bound), year_of(*bound) + 1})
      if (const auto moved = in_year(*time, year); moved && inside(*moved)) return InWindow::inside;
  }
  const bool dated = (start && start->has_year) || (end && end->has_year);
  if (dated) return InWindow::outside;
  return inside(*time) ? InWindow::inside : InWindow::outside;
}

}  // namespace schedmate::lines
