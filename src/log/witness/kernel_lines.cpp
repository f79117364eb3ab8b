// SPDX-License-Identifier: Apache-2.0
#include "log/witness/kernel_lines.hpp"

#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/lines/stamp.hpp"

namespace schedmate::witness {
namespace {

constexpr std::string_view ident = "kernel:";

void skip_spaces(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

/// "<6>" in front of a raw record, "[ 12.345678]" and "[ T123]" in front of a message.
void take_brackets(std::string_view& text, KernelLine& made) {
  const auto uptime = lines::read_stamp(text);
  if (!uptime || !text.starts_with('[') || uptime->stamp.dated) return;
  made.uptime_s = uptime->stamp.seconds;
  if (made.when.empty()) made.when = text.substr(0, uptime->length);
  text.remove_prefix(uptime->length);
  const auto end = text.find(']');
  constexpr std::size_t longest_caller = 12;
  if (text.starts_with('[') && end != std::string_view::npos && end < longest_caller)
    text.remove_prefix(end + 1);
  skip_spaces(text);
}

/// "[Thu Mar  4 12:00:01 2021] ".
bool take_dated_bracket(std::string_view& text, KernelLine& made) {
  if (!text.starts_with('[')) return false;
  const auto end = text.find(']');
  if (end == std::string_view::npos) return false;
  const auto inner = text.substr(1, end - 1);
  const auto found = lines::read_wall_time(inner);
  if (!found || found->length != inner.size()) return false;
  made.time = found->time;
  made.when = inner;
  text.remove_prefix(end + 1);
  skip_spaces(text);
  return true;
}

/// "HOST kernel: ", or nothing where a time of dmesg stands before the message itself. False: the
/// line is another program's.
bool take_host(std::string_view& text, bool journal, KernelLine& made) {
  const auto space = text.find(' ');
  const auto behind = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  if (behind.starts_with(ident)) {
    made.host = text.substr(0, space);
    text = behind.substr(ident.size());
    skip_spaces(text);
    return true;
  }
  // dmesg --time-format iso has a comma in its times, and no host.
  return !journal;
}

}  // namespace

std::optional<KernelLine> read_kernel_line(std::string_view line) {
  KernelLine made;
  auto text = trim(line);
  if (text.size() > 3 && text[0] == '<' && text.find('>') < 5)
    text.remove_prefix(text.find('>') + 1);
  if (!take_dated_bracket(text, made) && !text.starts_with('[')) {
    if (const auto found = lines::read_wall_time(text)) {
      made.time = found->time;
      made.when = text.substr(0, found->length);
      text.remove_prefix(found->length);
      skip_spaces(text);
      if (!take_host(text, !made.when.contains(','), made)) return std::nullopt;
    }
  }
  take_brackets(text, made);
  made.message = text;
  return text.empty() ? std::nullopt : std::optional(made);
}

std::optional<lines::WallTime> boot_time(const KernelLine& line) {
  if (!line.uptime_s) return std::nullopt;
  for (const auto& [head, mark] :
       {std::pair{"rtc", "setting system clock to "}, std::pair{"audit: type=", " audit("}}) {
    const auto at = line.message.find(mark);
    if (!line.message.starts_with(head) || at == std::string_view::npos) continue;
    // The name of a process that crashed is up to its user, and "[PID]" follows it.
    if (line.message.substr(0, at).contains('[')) continue;
    auto rest = line.message.substr(at);
    const auto open = rest.find('(');
    if (open == std::string_view::npos) continue;
    rest.remove_prefix(open + 1);
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789."));
    const auto seconds = parse_number<double>(digits);
    constexpr double first = 1e9;  // 2001: a clock that was never set is older
    if (seconds && std::isfinite(*seconds) && *seconds > first && *seconds < 100 * first)
      return lines::WallTime{*seconds - *line.uptime_s, 0, true};
  }
  return std::nullopt;
}

}  // namespace schedmate::witness
