// SPDX-License-Identifier: Apache-2.0
/// run_scenarios [--update] FILE...: plays each scenario and compares; with --update it rewrites
/// what stands below the dashes instead.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/output.hpp"
#include "tests/scenarios/scenario.hpp"

namespace {

using schedmate::Result;

/// What differs, or "" when the scenario goes as expected.
Result<std::string> run_file(const std::string& path, bool update) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return schedmate::fail(schedmate::ErrorCode::invalid, path + ": cannot be read");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return schedmate::scenario::read_scenario(path, text)
      .and_then([&](const schedmate::scenario::Scenario& scenario) -> Result<std::string> {
        auto got = play(scenario);
        if (!got) return got;
        if (!update) return schedmate::scenario::difference(scenario.expected, *got);
        return schedmate::write_file(path, scenario.situation + *got).map([] {
          return std::string();
        });
      });
}

}  // namespace

int main(int count, char** arguments) {
  bool update = false;
  int wrong = 0;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--update") {
      update = true;
      continue;
    }
    const auto differs = run_file(argument, update);
    if (differs && differs->empty()) continue;
    ++wrong;
    fmt::print(
        "{}: {}\n", argument,
        differs ? "not as expected (- expected, + got)\n" + *differs : differs.error().message);
  }
  return wrong == 0 ? 0 : 1;
}
