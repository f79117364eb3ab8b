// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.hpp"

namespace schedmate {
namespace {

constexpr double longest_duration_s = 1e12;  // beyond it nobody counts days

// Marks of styled(): code points that no text of others may hold (Unicode, "noncharacters").
constexpr std::uint32_t first_mark = 0xFDD0;
constexpr std::uint32_t end_mark = 0xFDEF;
constexpr std::array<std::string_view, 6> colours_of_styles{"",         "\033[1m",  "\033[2m",
                                                            "\033[31m", "\033[32m", "\033[33m"};

/// The colour that a mark stands for; "" for what is no mark.
std::string_view colour_of(std::uint32_t code) {
  if (code == end_mark) return "\033[0m";
  const std::uint32_t style = code - first_mark;
  return code >= first_mark && style < colours_of_styles.size() ? colours_of_styles[style] : "";
}

/// Calls `show(character, code)` for each character; a byte that is none has code 0.
template <class Show>
void each_character(std::string_view text, Show show) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    show(character, length == 0 ? 0 : code_point(text, at, length));
    at += character.size();
  }
}

}  // namespace

std::string in_words(Seconds duration) {
  const std::int64_t s = duration.count();
  if (s < 0) return "-" + in_words(-duration);
  if (s < 120) return fmt::format("{} s", s);
  // Whoever reads minutes wants no seconds, but for the shortest.
  if (s < 600)
    return s % 60 == 0 ? fmt::format("{} min", s / 60) : fmt::format("{} min {} s", s / 60, s % 60);
  constexpr std::int64_t minutes_a_day = 1440;
  const std::int64_t minutes = (s + 30) / 60;
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes >= minutes_a_day) return fmt::format("{:.1f} d", static_cast<double>(s) / 86'400);
  return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60)
                           : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string in_words(FractionalSeconds duration) {
  const double s = duration.count();
  if (!std::isfinite(s) || std::abs(s) > longest_duration_s) return "unknown";
  if (std::abs(s) >= 10 || s == std::round(s)) return in_words(Seconds(std::llround(s)));
  return std::abs(s) >= 0.1 ? fmt::format("{:.2g} s", s) : fmt::format("{:.2g} ms", 1000 * s);
}

std::string bytes_in_words(double bytes) {
  constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!std::isfinite(bytes)) return "unknown";
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1023.95 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool is_whole = unit == 0 || std::abs(bytes) >= 99.95 || bytes == std::round(bytes);
  return is_whole ? fmt::format("{:.0f} {}", bytes, units[unit])
                  : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string energy_in_words(double joules) {
  constexpr double watt_hour = 3600;
  if (!std::isfinite(joules)) return "unknown";
  if (joules < watt_hour) return fmt::format("{:.0f} J", joules);
  constexpr std::array<std::string_view, 4> units{"Wh", "kWh", "MWh", "GWh"};
  double amount = joules / watt_hour;
  std::size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < units.size(); ++unit) amount /= 1000;
  return fmt::format("{:.{}f} {}", amount,
                     amount < 9.995   ? 2
                     : amount < 99.95 ? 1
                                      : 0,
                     units[unit]);
}

std::string mib_in_words(double mib) { return bytes_in_words(mib * 1024 * 1024); }

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  each_character(text, [&](std::string_view character, std::uint32_t code) {
    shown += is_unsafe(code) ? "?" : character;
  });
  return shown;
}

bool is_printable(std::string_view text) {
  bool fine = true;
  each_character(text,
                 [&](std::string_view, std::uint32_t code) { fine = fine && !is_unsafe(code); });
  return fine;
}

std::string styled(Style style, std::string_view text) {
  if (style == Style::plain || text.empty()) return std::string(text);
  std::string marked;
  append_utf8(marked, first_mark + static_cast<std::uint32_t>(style));
  marked += text;
  append_utf8(marked, end_mark);
  return marked;
}

std::string for_terminal(std::string_view text, bool colours) {
  std::string shown;
  shown.reserve(text.size());
  each_character(text, [&](std::string_view character, std::uint32_t code) {
    const std::string_view colour = colour_of(code);
    if (!colour.empty())
      shown += colours ? colour : "";
    else if (code == '\n' || code == '\t')
      shown += character;
    else
      shown += is_unsafe(code) ? "?" : character;
  });
  return shown;
}

std::size_t width_of_cell(std::string_view text) {
  std::size_t width = 0;
  each_character(text, [&](std::string_view, std::uint32_t code) {
    if (colour_of(code).empty()) ++width;
  });
  return width;
}

}  // namespace schedmate
