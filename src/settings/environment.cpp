// SPDX-License-Identifier: Apache-2.0
#include "settings/environment.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string_view>

#include "base/text.hpp"

namespace schedmate::settings {
namespace {

std::string_view value_of(std::string_view name, const char* const* variables) {
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry(*variables);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return entry.substr(name.size() + 1);
  }
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::size_t columns_of(const char* const* variables) {
  constexpr std::size_t most = 1000;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const auto given = parse_number<std::size_t>(value_of("COLUMNS", variables));
  return given && *given <= most ? *given : 0;
}

std::string local_date(std::int64_t unix_s) {
  const std::time_t instant = unix_s;
  std::tm parts{};
  std::array<char, 64> text{};
  if (::localtime_r(&instant, &parts) == nullptr) return std::to_string(unix_s);
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M %Z", &parts);
  return {text.data(), size};
}

}  // namespace

Environment read_environment(const char* const* variables) {
  const auto folder = [&](std::string_view name, std::string_view below_home) {
    const std::string_view own = value_of(name, variables);
    const std::string_view home = value_of("HOME", variables);
    if (own.starts_with('/')) return std::string(own);  // XDG: relative paths are ignored
    return home.empty() ? std::string() : std::string(home).append(below_home);
  };
  return {.config_home = folder("XDG_CONFIG_HOME", "/.config"),
          .state_home = folder("XDG_STATE_HOME", "/.local/state"),
          .host = host_name(),
          .colour = ::isatty(STDOUT_FILENO) == 1 && value_of("NO_COLOR", variables).empty(),
          .progress = ::isatty(STDERR_FILENO) == 1,
          .columns = columns_of(variables),
          .date = local_date,
          .variable = [variables](std::string_view name) {
            return std::string(value_of(name, variables));
          }};
}

}  // namespace schedmate::settings
