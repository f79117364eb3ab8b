// SPDX-License-Identifier: Apache-2.0
#include "log/lines/stamp.hpp"

#include <array>
#include <chrono>
#include <cmath>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::lines {
namespace {

/// Reads from a text, piece by piece; a failed piece fails all that follow.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// A number of `least` to `most` digits.
  int number(std::size_t least, std::size_t most) {
    std::size_t digits = 0;
    int value = 0;
    while (digits < most && at_ + digits < text_.size() && is_digit(text_[at_ + digits])) {
      value = value * 10 + (text_[at_ + digits] - '0');
      ++digits;
    }
    good_ = good_ && digits >= least;
    at_ += digits;
    return value;
  }
  char one_of(std::string_view characters) {
    good_ = good_ && at_ < text_.size() && characters.contains(text_[at_]);
    return good_ ? text_[at_++] : '\0';
  }
  void spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t count) { at_ += count; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool good_ = true;
};

struct Day {
  int year = 2000, month = 1, day = 1;
};

double seconds_of_day(const Day& day) {
  namespace time = std::chrono;
  const time::year_month_day date{time::year{day.year},
                                  time::month{static_cast<unsigned>(day.month)},
                                  time::day{static_cast<unsigned>(day.day)}};
  if (!date.ok()) return -1;
  return static_cast<double>(time::sys_days{date}.time_since_epoch().count()) * 86400;
}

/// "12:34:56,789"; the fraction is optional.
std::optional<Stamp> read_clock(Cursor& cursor, std::string_view between = ":") {
  const int hour = cursor.number(1, 2);
  cursor.one_of(between);
  const int minute = cursor.number(2, 2);
  cursor.one_of(between);
  const int second = cursor.number(2, 2);
  if (!cursor.good() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  Stamp stamp{hour * 3600.0 + minute * 60.0 + second, false, 1};
  const auto rest = cursor.rest();
  if (rest.size() > 1 && (rest[0] == '.' || rest[0] == ',') && is_digit(rest[1])) {
    double scale = 1;
    std::size_t i = 1;
    for (; i < rest.size() && is_digit(rest[i]) && i < 12; ++i) {
      scale /= 10;
      stamp.seconds += scale * (rest[i] - '0');
    }
    stamp.resolution_s = scale;
    cursor.skip(i);
  }
  const auto half = cursor.rest();
  const bool afternoon = half.starts_with(" PM") || half.starts_with(" pm");
  if (hour >= 1 && hour <= 12 &&
      (afternoon || half.starts_with(" AM") || half.starts_with(" am"))) {
    stamp.seconds += (afternoon ? 12 : 0) * 3600.0 - (hour == 12 ? 12 * 3600.0 : 0);
    cursor.skip(3);
  }
  return stamp;
}

std::optional<FoundStamp> found(std::optional<Stamp> clock, const Day& day, const Cursor& cursor) {
  const double start = seconds_of_day(day);
  if (!clock || start < 0) return std::nullopt;
  clock->seconds += start;
  clock->dated = true;
  return FoundStamp{*clock, cursor.at(), 0};
}

/// "2021-03-04T12:34:56.789Z", "2021/03/04 12:34:56", "2019-03-17:14:23:31".
std::optional<FoundStamp> read_iso(std::string_view text) {
  Cursor cursor(text);
  Day day;
  day.year = cursor.number(4, 4);
  cursor.one_of("-/.");
  day.month = cursor.number(1, 2);
  cursor.one_of("-/.");
  day.day = cursor.number(1, 2);
  const char joint = cursor.one_of(" T:_-");
  cursor.spaces();
  if (!cursor.good()) return std::nullopt;
  const auto clock = read_clock(cursor, joint == '_' ? ":-" : ":");
  if (cursor.rest().starts_with('Z')) cursor.skip(1);
  const auto rest = cursor.rest();  // "+00:00", "-0800"
  if (rest.size() >= 5 && (rest[0] == '+' || rest[0] == '-') && is_digit(rest[1]) &&
      is_digit(rest[2]) && (rest[3] == ':' || is_digit(rest[3])))
    cursor.skip(rest[3] == ':' && rest.size() >= 6 ? 6 : 5);
  return found(clock, day, cursor);
}

/// "05/18 10:12:51", "05-18 10:12:51": month and day; the year is not printed.
std::optional<FoundStamp> read_short_date(std::string_view text) {
  Cursor cursor(text);
  Day day;
  day.month = cursor.number(2, 2);
  cursor.one_of("/-");
  day.day = cursor.number(2, 2);
  cursor.one_of(" ");
  cursor.spaces();
  if (!cursor.good()) return std::nullopt;
  return found(read_clock(cursor), day, cursor);
}

/// "Mar  4 12:34:56" with or without a day of the week before and a year behind.
std::optional<FoundStamp> read_month_name(std::string_view text) {
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::array<std::string_view, 7> days = {"Mon", "Tue", "Wed", "Thu",
                                                    "Fri", "Sat", "Sun"};
  Cursor cursor(text);
  for (const auto name : days)
    if (text.starts_with(name)) cursor.skip(3);
  cursor.spaces();
  Day day{2000, 0, 1};
  for (std::size_t i = 0; i < months.size(); ++i)
    if (cursor.rest().starts_with(months[i])) day.month = static_cast<int>(i) + 1;
  if (day.month == 0) return std::nullopt;
  cursor.skip(3);
  cursor.one_of(" ");
  cursor.spaces();
  day.day = cursor.number(1, 2);
  cursor.one_of(" ,");
  cursor.spaces();
  if (!cursor.good()) return std::nullopt;
  return found(read_clock(cursor), day, cursor);
}

/// "I0605 01:19:05.620946 27501 solver.cpp:237]", of torch also "W326 ...": the whole head is the
/// stamp's.
std::optional<FoundStamp> read_glog(std::string_view text) {
  Cursor cursor(text);
  const char level = cursor.one_of("IWEFDC");
  Day day;
  const bool short_month = text.find(' ') == 4;
  day.month = short_month ? cursor.number(1, 1) : cursor.number(2, 2);
  day.day = cursor.number(2, 2);
  cursor.one_of(" ");
  cursor.spaces();
  if (!cursor.good()) return std::nullopt;
  auto stamp = found(read_clock(cursor), day, cursor);
  if (!stamp) return std::nullopt;
  stamp->level = level;
  const auto rest = cursor.rest();
  const auto end = rest.find(']');
  if (end != std::string_view::npos && end < 120 && rest.substr(0, end).contains(':'))
    stamp->length += end + 1;
  return stamp;
}

/// "[   123.456789]": seconds since the machine came up.
std::optional<FoundStamp> read_uptime(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  const auto end = text.find(']');
  if (end == std::string_view::npos || end > 20) return std::nullopt;
  const auto inner = trim(text.substr(1, end - 1));
  const auto dot = inner.find('.');
  if (dot == std::string_view::npos || inner.size() - dot != 7) return std::nullopt;
  const auto seconds = parse_number<double>(inner);
  if (!seconds || *seconds < 0) return std::nullopt;
  return FoundStamp{{*seconds, false, 1e-6}, end + 1, 0};
}

/// "1700000000.125 ": seconds since the epoch.
std::optional<FoundStamp> read_epoch_seconds(std::string_view text) {
  constexpr std::size_t digits = 10;
  const auto end = text.find_first_not_of("0123456789.");
  if (text[0] != '1' || end == std::string_view::npos || end < digits) return std::nullopt;
  if (text.find_first_of(". ]") != digits || !std::string_view(" ]:").contains(text[end]))
    return std::nullopt;
  const auto seconds = parse_number<double>(text.substr(0, end));
  if (!seconds) return std::nullopt;
  const double resolution =
      end > digits + 1 ? std::pow(10, 1.0 + digits - static_cast<double>(end)) : 1;
  return FoundStamp{{*seconds, true, resolution}, end, 0};
}

std::optional<FoundStamp> read_bare_clock(std::string_view text) {
  Cursor cursor(text);
  const auto clock = read_clock(cursor);
  if (!clock || text.size() < 2 || !is_digit(text[1])) return std::nullopt;
  const auto rest = cursor.rest();
  if (!rest.empty() && !std::string_view(" ]|:-)\t").contains(rest[0])) return std::nullopt;
  if (rest.size() > 1 && rest[0] == ':' && is_digit(rest[1])) return std::nullopt;
  return FoundStamp{*clock, cursor.at(), 0};
}

}  // namespace

std::optional<FoundStamp> read_stamp(std::string_view text) {
  if (text.size() < 8) return std::nullopt;
  const char first = text[0];
  if (first == '[') return read_uptime(text);
  if (is_digit(first)) {
    for (const auto reader : {read_iso, read_short_date, read_bare_clock, read_epoch_seconds})
      if (auto stamp = reader(text)) return stamp;
    return std::nullopt;
  }
  if (first < 'A' || first > 'Z') return std::nullopt;
  if (auto stamp = read_glog(text)) return stamp;
  return read_month_name(text);
}

}  // namespace schedmate::lines
