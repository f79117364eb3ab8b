// SPDX-License-Identifier: Apache-2.0
#include "trace/values.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::trace {
namespace {

bool all_digits(std::string_view text) { return std::ranges::all_of(text, is_digit); }

/// Takes exactly `count` digits from the front.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count || !all_digits(text.substr(0, count))) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, count)) value = value * 10 + (c - '0');
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// "", "Z", "+08:00", "-0500", "+08": seconds east of UTC.
std::optional<std::int64_t> parse_zone(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return 0;
  const bool west = text.front() == '-';
  if (!west && text.front() != '+') return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_digits(text, 2);
  take(text, ':');
  const auto minutes = text.empty() ? std::optional(0) : take_digits(text, 2);
  if (!hours || !minutes || !text.empty() || *hours > 18 || *minutes > 59) return std::nullopt;
  const std::int64_t offset = *hours * 3600 + *minutes * 60;
  return west ? -offset : offset;
}

/// Drops ".123" from the front.
bool take_fraction(std::string_view& text) {
  if (!take(text, '.')) return true;
  const std::size_t digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  text.remove_prefix(digits);
  return digits > 0;
}

bool contains_dash(std::string_view text) {
  return text.size() >= 10 && text[4] == '-' && text[7] == '-';
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos) {
    const std::string_view zeros = text.substr(point + 1);
    if (zeros.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  return parse_number<std::int64_t>(text);
}

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view fraction = text.substr(point);
  if (!take_fraction(fraction) || !fraction.empty()) return std::nullopt;
  return parse_number<std::int64_t>(text.substr(0, point));
}

std::optional<std::int64_t> parse_date(std::string_view text) {
  if (!contains_dash(text)) return std::nullopt;
  const auto year = take_digits(text, 4);
  take(text, '-');
  const auto month = take_digits(text, 2);
  take(text, '-');
  const auto day = take_digits(text, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t midnight =
      std::chrono::sys_days(date).time_since_epoch() / std::chrono::seconds(1);
  if (text.empty()) return midnight;
  if (!take(text, ' ') && !take(text, 'T')) return std::nullopt;
  const auto hour = take_digits(text, 2);
  const bool first_colon = take(text, ':');
  const auto minute = take_digits(text, 2);
  const auto second = take(text, ':') ? take_digits(text, 2) : std::optional(0);
  if (!hour || !first_colon || !minute || !second) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 60 || !take_fraction(text)) return std::nullopt;
  const auto zone = parse_zone(text);
  if (!zone) return std::nullopt;
  const int of_day_s = *hour * 3600 + *minute * 60 + *second;
  return midnight + of_day_s - *zone;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  return contains_dash(text) ? parse_date(text) : parse_seconds(text);
}

std::optional<std::int64_t> parse_elapsed(std::string_view text) {
  std::int64_t total = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos && dash > 0) {
    const auto days = parse_number<std::int64_t>(text.substr(0, dash));
    if (!days || *days < 0 || *days > longest_run_s) return std::nullopt;
    total = *days * 24;
    text.remove_prefix(dash + 1);
    if (std::ranges::count(text, ':') < 2) return std::nullopt;
  } else if (text.find(':') == std::string_view::npos) {
    return parse_seconds(text);
  }
  while (true) {  // hours, minutes, seconds: each worth 60 of the next
    const std::size_t colon = text.find(':');
    const bool last = colon == std::string_view::npos;
    const auto part =
        last ? parse_seconds(text) : parse_number<std::int64_t>(text.substr(0, colon));
    if (!part || *part < 0 || *part > longest_run_s || total > longest_run_s) return std::nullopt;
    total += *part;
    if (last) return total;
    total *= 60;
    text.remove_prefix(colon + 1);
  }
}

std::optional<double> parse_cpu_time(std::string_view text) {
  const std::size_t point = text.rfind('.');
  const auto whole = parse_elapsed(text.substr(0, point));
  if (!whole) return std::nullopt;
  if (point == std::string_view::npos) return static_cast<double>(*whole);
  const std::string_view digits = text.substr(point + 1);
  const auto part = parse_number<std::uint32_t>(digits.substr(0, 6));
  if (!part) return std::nullopt;
  return static_cast<double>(*whole) +
         *part / std::pow(10.0, static_cast<double>(std::min<std::size_t>(digits.size(), 6)));
}

std::optional<double> parse_memory_mib(std::string_view text, double unit_mib) {
  constexpr std::string_view letters = "KMGTP";
  constexpr double most_mib = 1e12;
  double unit = unit_mib;
  if (!text.empty()) {
    const std::size_t which = letters.find(text.back());
    if (which != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(which) - 1);
      text.remove_suffix(1);
    }
  }
  const auto number = parse_number<double>(text);
  if (!number || !(*number >= 0) || *number * unit > most_mib) return std::nullopt;
  return *number * unit;
}

std::string_view tres_value(std::string_view text, std::string_view name) {
  for (const std::string_view item : split(text, ',')) {
    if (item.size() > name.size() && item.starts_with(name) && item[name.size()] == '=')
      return item.substr(name.size() + 1);
  }
  return {};
}

bool is_unknown(std::string_view text) {
  constexpr std::array<std::string_view, 9> names = {"",     "Unknown", "None", "null", "N/A",
                                                     "NULL", "nan",     "NaN",  "none"};
  return std::ranges::find(names, text) != names.end();
}

EndState parse_state(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, EndState>, 15> names = {{
      {"COMPLETED", EndState::completed},
      {"CANCELLED", EndState::cancelled},
      {"FAILED", EndState::failed},
      {"TIMEOUT", EndState::timeout},
      {"NODE_FAIL", EndState::node_fail},
      {"Pass", EndState::completed},
      {"Killed", EndState::cancelled},
      {"Failed", EndState::failed},
      {"OUT_OF_MEMORY", EndState::out_of_memory},
      {"BOOT_FAIL", EndState::node_fail},
      {"DEADLINE", EndState::timeout},
      {"PREEMPTED", EndState::preempted},
      {"REQUEUED", EndState::requeued},
      {"REVOKED", EndState::cancelled},
      {"CANCELED", EndState::cancelled},
  }};
  text = text.substr(0, text.find_first_of(" +"));
  const auto found = std::ranges::find(names, text, &decltype(names)::value_type::first);
  return found == names.end() ? EndState::unknown : found->second;
}

RunState run_state(std::string_view state) {
  constexpr std::array<std::string_view, 7> running = {
      "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT"};
  constexpr std::array<std::string_view, 6> waiting = {"PENDING",  "CONFIGURING",  "EXPEDITING",
                                                       "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"};
  state = state.substr(0, state.find_first_of(" +"));
  if (std::ranges::find(running, state) != running.end()) return RunState::running;
  if (std::ranges::find(waiting, state) != waiting.end()) return RunState::waiting;
  return RunState::ended;
}

namespace {

/// Takes an item off the list; the commas in "gpu:3(IDX:0,2-3)" are not between items.
std::string_view take_item(std::string_view& text) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < text.size() && (text[end] != ',' || depth > 0); ++end) {
    if (text[end] == '(') ++depth;
    if (text[end] == ')' && depth > 0) --depth;
  }
  const std::string_view item = trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

}  // namespace

std::optional<std::string_view> next_gpu_item(std::string_view& text) {
  while (!text.empty()) {
    std::string_view item = take_item(text);
    if (item.ends_with(')')) item = item.substr(0, item.rfind('('));
    if (item.starts_with("gres/") || item.starts_with("gres:")) item.remove_prefix(5);
    if (!item.starts_with("gpu")) continue;
    item.remove_prefix(3);  // not gpumem, gpuutil
    if (item.empty() || item.front() == ':' || item.front() == '=') return item;
  }
  return std::nullopt;
}

std::optional<std::int64_t> count_of_gpu_item(std::string_view item) {
  const std::size_t sign = item.find_last_of("=:");
  if (sign == std::string_view::npos) return std::nullopt;
  const auto count = parse_number<std::int64_t>(item.substr(sign + 1));
  return count && *count >= 0 && *count <= most_gpus ? count : std::nullopt;
}

void add_gpu_type(std::string& types, std::string_view type) {
  const auto known = split(types, ',');
  if (std::ranges::find(known, type) != known.end()) return;
  types += (types.empty() ? "" : ",") + std::string(type);
}

std::string gpu_types_of_tres(std::string_view text) {
  std::string types;
  while (auto item = next_gpu_item(text)) {
    if (!item->starts_with(':')) continue;
    item->remove_prefix(1);
    const std::string_view type = item->substr(0, item->find_first_of("=:"));
    if (type.empty() || parse_number<std::int64_t>(type)) continue;  // "gpu:4" has no type
    add_gpu_type(types, type);
  }
  return types;
}

std::optional<std::int64_t> gpus_of_tres(std::string_view text) {
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> typed;  // "gres/gpu:a100=2", the parts of the total
  while (const auto item = next_gpu_item(text)) {
    const auto count = count_of_gpu_item(*item);
    if (!count) continue;
    if (item->find_last_of("=:") == 0) {
      total = count;
    } else {
      typed = typed.value_or(0) + *count;
    }
  }
  return total ? total : typed;
}

}  // namespace schedmate::trace
