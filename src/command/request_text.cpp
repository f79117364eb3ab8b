// SPDX-License-Identifier: Apache-2.0
#include "command/request_text.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace schedmate::command {

std::optional<GpuSets> gpus_in(std::string_view text, bool is_gres) {
  GpuSets sets;
  for (std::string_view part : split(text, ',')) {
    part = trim(part.substr(0, part.find('(')));  // gpu:4(S:0-1)
    if (part.starts_with("gres")) part.remove_prefix(std::min<std::size_t>(5, part.size()));
    auto fields = split(part, part.contains('=') && !part.contains(':') ? '=' : ':');
    if (is_gres) {
      if (fields.front() != "gpu") continue;
      fields.erase(fields.begin());
    }
    std::int64_t count = 1;
    if (!fields.empty()) {
      std::string_view last = fields.back();
      const bool thousands = last.ends_with('K') || last.ends_with('k');
      if (thousands) last.remove_suffix(1);
      const auto number = parse_number<std::int64_t>(last);
      if (number) fields.pop_back();
      if (number) count = *number * (thousands ? 1024 : 1);
      if (!number && !is_gres) return std::nullopt;
    }
    if (count < 0 || count > 1'000'000 || fields.size() > 1) return std::nullopt;
    sets[fields.empty() ? "" : std::string(fields.front())] = count;
  }
  return sets;
}

std::optional<std::int64_t> hosts_in(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('[', at);
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (open >= comma) {
      ++count;
      at = comma + 1;
      continue;
    }
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    for (const auto range : split(text.substr(open + 1, close - open - 1), ',')) {
      const auto dash = range.find('-');
      const auto first = parse_number<std::int32_t>(range.substr(0, dash));
      const auto last = dash == std::string_view::npos
                            ? first
                            : parse_number<std::int32_t>(range.substr(dash + 1));
      if (!first || !last || *last < *first) return std::nullopt;
      count += *last - *first + 1;
    }
    at = std::min(text.find(',', close), text.size()) + 1;
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::optional<std::int64_t> mebibytes(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  std::int64_t factor = 1;
  std::int64_t divisor = 1;
  if (text.size() > 1 && (text.ends_with('B') || text.ends_with('b'))) text.remove_suffix(1);
  if (!text.empty()) {
    const auto unit = units.find(static_cast<char>(text.back() & ~0x20));
    if (unit != std::string_view::npos) {
      text.remove_suffix(1);
      if (unit == 0) divisor = 1024;
      for (std::size_t i = 1; i < unit; ++i) factor *= 1024;
    }
  }
  const auto number = parse_number<std::int64_t>(text);
  constexpr std::int64_t most = 1'000'000'000;
  if (!number || *number < 0 || *number > most) return std::nullopt;
  return (*number * factor + divisor - 1) / divisor;
}

std::optional<std::int64_t> array_size(std::string_view text) {
  std::int64_t count = 0;
  for (const auto part : split(text.substr(0, text.find('%')), ',')) {
    const auto step_mark = part.find(':');
    const auto range = part.substr(0, step_mark);
    const auto dash = range.find('-');
    const auto first = parse_number<std::int32_t>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<std::int32_t>(range.substr(dash + 1));
    const auto step = step_mark == std::string_view::npos
                          ? std::optional<std::int32_t>(1)
                          : parse_number<std::int32_t>(part.substr(step_mark + 1));
    if (!first || !last || !step || *step <= 0 || *last < *first) return std::nullopt;
    count += (std::int64_t{*last} - *first) / *step + 1;
  }
  return count;
}

}  // namespace schedmate::command
