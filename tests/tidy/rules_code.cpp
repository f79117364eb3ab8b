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

/// "policy" of "policy/sjf.hpp", "log/lines" of "log/lines/clean.hpp".
std::string_view folder_of(std::string_view path) {
  const auto end = path.find('/');
  return path.substr(0, path.starts_with("log/") ? path.find('/', end + 1) : end);
}

/// "policy" for "src/policy/sjf.cpp"; "public" for include/; "" for files that may include
/// anything.
std::string_view module_of(std::string_view path) {
  if (path.starts_with("include/")) return "public";
  if (!path.starts_with("src/")) return "";
  return folder_of(path.substr(4));
}

/// The modules that read code: each may include those before it.
constexpr std::string_view readers[] = {"tree", "code", "command", "config", "python", "facts"};

/// What the modules may include that carry out experiments and use cases.
std::vector<std::string_view> on_top() {
  return {"base",      "core",   "trace",        "sim",         "report",      "tree",
          "facts",     "llm",    "agent",        "store",       "advisor",     "workload",
          "synth",     "whatif", "log/progress", "log/failure", "log/witness", "log/ask",
          "log/lines", "code",   "elastic",      "settings",    "study",       "evaluation_report"};
}

/// Folders of src/ and apps that a module may include, itself and <schedmate/...> apart.
std::vector<std::string_view> may_include(std::string_view module) {
  if (module == "public" || module == "base") return {};
  if (module == "core") return {"base"};
  const auto reader = std::ranges::find(readers, module);
  if (reader != std::end(readers)) {
    std::vector<std::string_view> below{"base"};
    below.insert(below.end(), std::begin(readers), reader);
    if (module == "facts") below.push_back("core");  // speaks the documents of the product
    return below;
  }
  if (module == "agent") {  // reads code and talks to a model
    std::vector<std::string_view> below{"base", "llm"};
    below.insert(below.end(), std::begin(readers), std::end(readers));
    return below;
  }
  if (module == "settings") return {"base", "core", "llm"};
  if (module == "log/failure") return {"base", "core", "log/lines", "log/witness"};
  if (module.starts_with("log/")) return {"base", "core", "log/lines"};
  if (module == "elastic") return {"base", "core", "trace"};  // its CSV reader
  if (module == "study" || module == "evaluation_report" || module == "service") return on_top();
  return {"base", "core"};
}

using Names = std::span<const std::string_view>;
constexpr std::string_view libraries[] = {
    "nlohmann", "toml++",  "CLI",         "fmt",       "simdjson.h", "zlib.h",   "zstd.h",
    "doctest",  "openssl", "tree_sitter", "httplib.h", "sqlite3.h",  "yaml-cpp", "hiredis"};
/// Too slow to compile for any header, also those within a module.
constexpr std::string_view slow_libraries[] = {"nlohmann", "toml++", "CLI", "httplib.h"};
constexpr std::string_view own_folders[] = {
    "base",         "core",        "trace",       "policy",
    "sim",          "report",      "tree",        "code",
    "command",      "config",      "python",      "facts",
    "llm",          "agent",       "store",       "advisor",
    "workload",     "apps",        "bench",       "tests",
    "service",      "whatif",      "synth",       "study",
    "log/progress", "log/failure", "log/witness", "log/ask",
    "log/lines",    "settings",    "elastic",     "evaluation_report"};

bool contains(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Findings check_include(const File& file, int line, std::string_view target) {
  const auto module = module_of(file.path);
  const auto folder = folder_of(target);
  Findings found;
  const Names barred = module == "public" ? Names(libraries) : Names(slow_libraries);
  const bool only_declares = module != "public" && target == "nlohmann/json_fwd.hpp";
  if (is_header(file) && contains(barred, folder) && !only_declares) {
    found.push_back({file.path, line, fmt::format("a header includes the library <{}>", target),
                     "include it in the one .cpp that needs it"});
  }
  if (module.empty() || is_test(file) || folder == module || folder == "schedmate") return found;
  const bool of_ours = contains(own_folders, folder) && target.contains('/');
  if (of_ours && !contains(may_include(module), folder)) {
    found.push_back(
        {file.path, line, fmt::format("{} includes {}", module, target),
         "include only the module itself, base, core (for the readers of code and the "
         "rooms of log: those before it) and <schedmate/...>; what wires modules goes to apps"});
  }
  return found;
}

struct BannedWord {
  const char* pattern;  ///< looked for in code, not in comments or strings
  const char* what;
  const char* instead;
};

constexpr BannedWord banned_words[] = {
    {R"(\b(system_clock|steady_clock|high_resolution_clock)\s*::\s*now)", "reads a clock",
     "take the time as a SimTime argument"},
    {R"(\bs?rand(_r)?\s*\()", "unseeded random numbers", "use Random of base/random.hpp"},
    {R"(\brandom_device\b)", "unrepeatable random numbers", "use Random of base/random.hpp"},
    {R"(\b(secure_)?getenv\b)", "reads the environment", "take a flag or an option"},
    {R"(\bstd\s*::\s*cout\b)", "std::cout", "use fmt::print, or return the text"},
    {R"(\busing\s+namespace\b)", "using namespace", "name what is used, or qualify it"},
    {R"(\bnew\s+[A-Za-z_:(])", "naked new", "use a value, a container or std::make_unique"},
    {R"(\b(double|float)\s+(\w*_)?times?(_m?s)?\b)", "a time as a bare number",
     "use Seconds, FractionalSeconds or SimTime"},
};

/// Clocks may be read where durations of our own work are shown, never inside the library.
bool may_measure(const File& file) {
  return file.path.starts_with("apps/") || file.path.starts_with("bench/") || is_test(file);
}

}  // namespace

Findings check_includes(const File& file) {
  static const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  Findings found;
  int line = 0;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    std::cmatch match;
    if (!std::regex_search(text.begin(), text.end(), match, include)) continue;
    const auto target = match[1].str();
    const auto more = check_include(file, line, target);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
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
    if (function.parameters > limits.parameters) {
      found.push_back({file.path, function.line,
                       fmt::format("parameters of {}: {}, limit {}", function.name,
                                   function.parameters, limits.parameters),
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
      if (may_measure(file) && text.contains("steady_clock")) continue;
      found.push_back({file.path, line, word.what, word.instead});
    }
  }
  return found;
}

}  // namespace schedmate::tidy
