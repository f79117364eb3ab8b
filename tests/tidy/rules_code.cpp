// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <span>

#include "base/text.hpp"
#include "tests/tidy/code.hpp"
#include "tests/tidy/rules.hpp"

namespace schedmate::tidy {
namespace {

using Names = std::span<const std::string_view>;
constexpr std::string_view libraries[] = {"nlohmann",   "toml++",      "CLI",       "fmt",
                                          "simdjson.h", "zlib.h",      "zstd.h",    "doctest",
                                          "openssl",    "tree_sitter", "httplib.h", "sqlite3.h",
                                          "yaml-cpp",   "hiredis",     "curl",      "microhttpd.h"};
/// For no header, also those within a module: slow to compile, or the business of one file.
constexpr std::string_view slow_libraries[] = {"nlohmann", "toml++", "CLI", "httplib.h",
                                               "microhttpd.h"};
bool contains(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

struct BannedWord {
  const char* pattern;  ///< looked for in code, not in comments or strings
  const char* what;
  const char* instead;
};

constexpr BannedWord banned_words[] = {
    {R"(\bs?rand(_r)?\s*\()", "unseeded random numbers", "use Random of base/random.hpp"},
    {R"(\brandom_device\b)", "unrepeatable random numbers", "use Random of base/random.hpp"},
    {R"(\b(secure_)?getenv\b)", "reads the environment", "take a flag or an option"},
    {R"(\bstd\s*::\s*cout\b)", "std::cout", "use call.console, or return the text"},
    {R"(\busing\s+namespace\b)", "using namespace", "name what is used, or qualify it"},
    {R"(\bnew\s+[A-Za-z_:(])", "naked new", "use a value, a container or std::make_unique"},
    {R"(\bdoctest\s*::\s*Approx\b)", "doctest::Approx: small values pass unchecked",
     "use near() of tests/support/near.hpp"},
    {R"(\b(double|float)\s+(\w*_)?times?(_m?s)?\b)", "a time as a bare number",
     "use Seconds, FractionalSeconds or SimTime"},
};

/// Everything else reads TOML by base/table_reader.hpp, users' configs by config/readers.hpp.
constexpr std::string_view toml_places[] = {"src/base/toml_value.cpp", "src/config/toml.cpp"};

/// Secrets leave a text at the edge of the service, or before a part is cut out of it. Everything
/// else calls the edge.
constexpr std::string_view redaction_places[] = {
    "src/tree/tree.cpp",    "src/facts/safe.cpp",  "src/agent/evaluate.cpp",
    "src/agent/prompt.cpp", "src/agent/tools.cpp", "bench/redaction_bench.cpp"};

/// Text leaves the program by apps/console.hpp; what aborts the program says so by itself.
constexpr std::string_view printing_places[] = {"apps/console.cpp", "apps/schedmate_probe.cpp",
                                                "src/base/check.cpp"};
constexpr std::string_view printing =
    R"(\bfmt\s*::\s*(print|println)\b|\bstd\s*::\s*(cout|cerr|clog|print|println|puts|putchar)\b)"
    R"(|\b(v?f?printf|f?puts|putchar|fwrite|perror)\s*\()"
    R"(|\b(stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b)";
/// The confined child points both streams to nowhere; the environment asks whether they are
/// terminals.
constexpr std::string_view stream_places[] = {"src/tree/confine_child.cpp",
                                              "src/settings/environment.cpp"};

/// Whoever reads a clock, under whatever name: an alias of a clock is found where it is used.
constexpr std::string_view clock_reading =
    R"(\w\s*::\s*now\b(?!\s*\(\s*[^)\s]|\s*\(\s*\)\s*const))"
    R"(|\b(clock_gettime|clock_getres|gettimeofday|timespec_get|getrusage)\s*\()"
    R"(|(^|[^\w.>:]|\bstd\s*::\s*|[^\w]::)time\s*\(\s*(nullptr|NULL|0|&\s*\w+)\s*\))"
    R"(|\bstd\s*::\s*(time|clock)\b|[^\w.>:]clock\s*\(\s*\)|\b__rdtscp?\b)";

/// Has it a word of the pattern? Few lines do, and a search by pattern is slow.
bool may_name_clock(std::string_view text) {
  static constexpr std::string_view words[] = {"now", "time", "clock", "rusage", "rdtsc"};
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

/// The one place that reads the clocks of the machine for all others.
constexpr std::string_view clock_place = "src/settings/clock.";

/// State that there is no other way to keep.
struct Kept {
  std::string_view path;
  std::string_view name;
  std::string_view reason;
};
constexpr Kept kept_state[] = {
    {"src/base/output.cpp", "open_parts", "a signal handler is given nothing; slots of atomics"},
    {"src/face/c_face.cpp", "sessions", "callers in C hold numbers, which it gives a meaning"}};

bool is_kept(const File& file, std::string_view name) {
  return std::ranges::any_of(
      kept_state, [&](const Kept& kept) { return kept.path == file.path && kept.name == name; });
}

/// Tests and benchmarks may measure how long something takes.
bool may_read_clock(const File& file) {
  return file.path.starts_with("bench/") || is_test(file) || file.path.starts_with(clock_place);
}

}  // namespace

Findings check_libraries(const File& file) {
  static const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  if (!is_header(file)) return {};
  const Names barred = is_public(file) ? Names(libraries) : Names(slow_libraries);
  Findings found;
  int line = 0;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    std::cmatch match;
    if (!std::regex_search(text.begin(), text.end(), match, include)) continue;
    const auto target = match[1].str();
    const bool only_declares = !is_public(file) && target == "nlohmann/json_fwd.hpp";
    if (only_declares || !contains(barred, target.substr(0, target.find('/')))) continue;
    found.push_back({file.path, line, fmt::format("a header includes the library <{}>", target),
                     "include it in the one .cpp that needs it"});
  }
  return found;
}

Findings check_toml_readers(const File& file) {
  if (is_test(file) || contains(toml_places, file.path)) return {};
  Findings found;
  int line = 0;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    if (text.starts_with("#include <toml++/"))
      found.push_back({file.path, line, "reads TOML by hand", "use TableReader of base/"});
  }
  return found;
}

Findings check_redaction(const File& file) {
  const bool may = is_test(file) || file.path.starts_with("src/secrets/");
  if (may || contains(redaction_places, file.path)) return {};
  Findings found;
  int line = 0;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    if (text == "#include \"secrets/redact.hpp\"")
      found.push_back({file.path, line, "redacts by itself", "call secrets/outgoing.hpp"});
  }
  return found;
}

Findings check_printing(const File& file) {
  static const std::regex pattern{std::string(printing)};
  const bool ours = file.path.starts_with("src/") || file.path.starts_with("apps/");
  if (!ours || is_test(file) || contains(printing_places, file.path) ||
      contains(stream_places, file.path))
    return {};
  Findings found;
  const auto code = blank_non_code(file.text);
  int line = 0;
  for (const auto text : split(code, '\n')) {
    ++line;
    if (!text.contains("print") && !text.contains("put") && !text.contains("std") &&
        !text.contains("STD") && !text.contains("write") && !text.contains("perror"))
      continue;
    if (std::regex_search(text.begin(), text.end(), pattern))
      found.push_back({file.path, line, "prints by itself",
                       "print by call.console (apps/console.hpp), or return the text"});
  }
  return found;
}

Findings check_header_comments(const File& file, const Limits& limits) {
  if (!is_public(file) || !is_header(file)) return {};
  int lines = 0;
  int comments = 0;
  bool is_private = false;
  for (const auto line : split(file.text, '\n')) {
    const auto text = trim(line);
    if (line.starts_with("};") || text == "public:") is_private = false;
    if (text == "private:" || text == "protected:") is_private = true;
    if (text.empty() || is_private) continue;
    ++lines;
    if (text.starts_with("//")) ++comments;
  }
  const int share = lines == 0 ? 0 : 100 * comments / lines;
  const bool fits = share >= limits.least_comments && share <= limits.most_comments;
  if (fits || lines < limits.short_header_lines) return {};
  return {{file.path, 0,
           fmt::format("comments: {} % of the public lines, limits {} and {}", share,
                       limits.least_comments, limits.most_comments),
           "say units, errors, threads, source and what an empty answer means, on lines of their "
           "own; do not restate signatures"}};
}

Findings check_sizes(const File& file, const Limits& limits) {
  Findings found;
  const auto over = [&](int line, int is, int limit, const std::string& what) {
    if (is > limit) {
      found.push_back({file.path, line, fmt::format("{}: {}, limit {}", what, is, limit),
                       "split it by what its parts do"});
    }
  };
  const auto lines = split(file.text, '\n');
  const int count = static_cast<int>(lines.size()) - (lines.back().empty() ? 1 : 0);
  over(0, count, is_header(file) ? limits.header_lines : limits.source_lines, "lines");
  for (int i = 0; i < count; ++i) {
    const auto text = lines[static_cast<std::size_t>(i)];
    const auto columns = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
    over(i + 1, static_cast<int>(columns), limits.columns, "columns");
  }
  for (const auto& function : find_functions(blank_non_code(file.text))) {
    over(function.line, function.lines,
         function.mainly_switch ? limits.switch_function_lines : limits.function_lines,
         "lines of function " + function.name);
    const bool of_c = file.path == "src/face/c_face.cpp" && function.name.starts_with("schedmate_");
    const int most = of_c ? limits.c_parameters : limits.parameters;
    if (function.parameters > most) {
      found.push_back(
          {file.path, function.line,
           fmt::format("parameters of {}: {}, limit {}", function.name, function.parameters, most),
           "gather what belongs together in a struct"});
    }
  }
  return found;
}

Findings check_banned_words(const File& file) {
  Findings found;
  const auto code = blank_non_code(file.text);
  for (const auto& word : banned_words) {
    const std::regex pattern(word.pattern);
    int line = 0;
    for (const auto text : split(code, '\n')) {
      ++line;
      if (!std::regex_search(text.begin(), text.end(), pattern)) continue;
      found.push_back({file.path, line, word.what, word.instead});
    }
  }
  return found;
}

Findings check_clocks(const File& file) {
  static const std::regex pattern{std::string(clock_reading)};
  if (may_read_clock(file)) return {};
  Findings found;
  const auto code = blank_non_code(file.text);
  int line = 0;
  for (const auto text : split(code, '\n')) {
    ++line;
    if (!may_name_clock(text) || !std::regex_search(text.begin(), text.end(), pattern)) continue;
    found.push_back({file.path, line, "reads a clock",
                     "take the time or a Clock as an argument; to wait for a process, Deadline of "
                     "base/deadline.hpp"});
  }
  return found;
}

Findings check_static_state(const File& file) {
  const bool is_ours = file.path.starts_with("src/") || is_public(file);
  if (!is_ours || is_test(file)) return {};
  Findings found;
  for (const auto& variable : find_static_state(blank_non_code(file.text))) {
    if (is_kept(file, variable.name)) continue;
    found.push_back({file.path, variable.line, "state that all threads share: " + variable.name,
                     "make it constant, or keep it in an object that its users are given"});
  }
  return found;
}

}  // namespace schedmate::tidy
