// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <regex>

#include "base/text.hpp"
#include "tests/tidy/code.hpp"
#include "tests/tidy/rules.hpp"

namespace schedmate::tidy {
namespace {

/// Whose clocks decide nothing in the gate: of `live` or `bench`, of a program that says how long
/// it took, or where it is waited.
constexpr std::array other_files{
    "tests/agent/real_model",
    "tests/browser/",
    "tests/daemon/site_of.py",
    "tests/dead_share/",
    "tests/emulation/",
    "tests/library/python_",
    "tests/live/",
    "tests/packages/",
    "tests/page/",
    "tests/python/observe_tool.",
    "tests/storm/main.cpp",
    "tests/support/patience.hpp",
    "tests/workers/chaos_",
};

/// Lines that say why a clock decides nothing there.
constexpr std::string_view waiver = "clock: ";

struct Forbidden {
  std::string_view kinds;  ///< the ends of the files' names, with a space between
  const char* pattern;
  bool in_strings;  ///< of C++, whether what stands in literals counts as well
  const char* what;
  const char* instead;
};

constexpr auto wait_instead =
    "wait for a state, with soon() of tests/support/patience.hpp or Site.wait() of site_of.py "
    "(docs/testing.md); or say behind `clock: ` why it decides nothing";

constexpr std::array forbidden{
    Forbidden{
        ".cpp .hpp",
        R"(\w*[Cc]lock\w*\s*::\s*now\b|\b(sleep_for|sleep_until|usleep|nanosleep|clock_gettime|)"
        R"(gettimeofday)\b|::sleep\s*\(|::time\s*\()",
        false, "a test reads a clock or sleeps", wait_instead},
    Forbidden{".cpp .hpp", R"(\.wait_(for|until)\((?!.*patience))", false,
              "a test waits for less than any busy machine needs", "wait for testing::patience"},
    Forbidden{".py", R"(\btime\.(sleep|time|monotonic|perf_counter)(_ns)?\b|\bdatetime\.now\b)",
              true, "a test reads a clock or sleeps", wait_instead},
    Forbidden{".py", R"(\b(timeout=|settimeout\()([1-4]?\d|0?\.\d+)\b(?!\.?\d))", true,
              "a test waits for less than any busy machine needs", "wait for 60 seconds"},
    Forbidden{".sh", R"(\bsleep\s+[\d.$]|\bSECONDS\b|\bdate\s+\+%s)", true,
              "a test reads a clock or sleeps", wait_instead},
    Forbidden{".cpp .hpp .py .sh", R"(\bport\w*\s*=\s*[1-9]\d{3,4}\b|--port[ =][1-9]\d{3,4}\b)",
              true, "a port that somebody else may have",
              "ask the system for one: port 0, or free_port() of tests/daemon/site_of.py"},
    Forbidden{".py .sh", R"((open|Path|mkdir|touch|>|\w=)\s*\(?["']?/tmp/(?!\w*X{3}))", true,
              "a name in /tmp that somebody else may have", "make a folder: mktemp -d, mkdtemp"},
    Forbidden{".cpp .hpp",
              R"re((stream\s*\w*|open|path|mkdir|create_directories|write_file)[({]\s*"/tmp/)re",
              true, "a name in /tmp that somebody else may have",
              "make a folder: Scratch of tests/support/scratch.hpp"},
};

bool is_of(const File& file, std::string_view kinds) {
  return std::ranges::any_of(split(kinds, ' '),
                             [&](std::string_view kind) { return file.path.ends_with(kind); });
}

}  // namespace

Findings check_verdicts(const File& file) {
  if (!is_test(file) || std::ranges::any_of(other_files, [&](std::string_view start) {
        return file.path.starts_with(start);
      })) {
    return {};
  }
  Findings found;
  const auto lines = split(file.text, '\n');
  const std::string blanked = is_cpp(file) ? blank_non_code(file.text) : std::string();
  const auto code = split(blanked, '\n');
  for (const auto& rule : forbidden) {
    if (!is_of(file, rule.kinds)) continue;
    const std::regex pattern(rule.pattern);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string_view text = rule.in_strings ? lines[i] : code[i];
      if (lines[i].contains(waiver) || trim(lines[i]).starts_with('#')) continue;
      if (!std::regex_search(text.begin(), text.end(), pattern)) continue;
      found.push_back({file.path, static_cast<int>(i) + 1, rule.what, rule.instead});
    }
  }
  return found;
}

}  // namespace schedmate::tidy
