// SPDX-License-Identifier: Apache-2.0

/// Rules that can be switched off, and runs made smaller.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/storm/storm.hpp"

namespace schedmate::storm {
namespace {

struct OfLoop {
  std::string_view name;
  bool live::Rules::* rule;
};
struct OfJournal {
  std::string_view name;
  bool journal::Rules::* rule;
};
constexpr std::array<OfLoop, 16> of_loop = {{{"record_first", &live::Rules::record_first},
                                             {"ambiguous_stops", &live::Rules::ambiguous_stops},
                                             {"reads_outcomes", &live::Rules::reads_outcomes},
                                             {"own_marks_only", &live::Rules::own_marks_only},
                                             {"humans_win", &live::Rules::humans_win},
                                             {"two_witnesses", &live::Rules::two_witnesses},
                                             {"caps", &live::Rules::caps},
                                             {"breaker", &live::Rules::breaker},
                                             {"fail_open", &live::Rules::fail_open},
                                             {"obeys_modes", &live::Rules::obeys_modes},
                                             {"tells_once", &live::Rules::tells_once},
                                             {"leaves_orders", &live::Rules::leaves_orders},
                                             {"counts_starts", &live::Rules::counts_starts},
                                             {"one_instance", &live::Rules::one_instance},
                                             {"whole_readings", &live::Rules::whole_readings},
                                             {"halves_suspects", &live::Rules::halves_suspects}}};
constexpr std::array<OfJournal, 5> of_journal = {
    {{"synchronous", &journal::Rules::synchronous},
     {"one_transaction", &journal::Rules::one_transaction},
     {"one_writer", &journal::Rules::check_epoch},
     {"rewrite_log", &journal::Rules::rewrite_log},
     {"keeps_open", &journal::Rules::keeps_open}}};

bool still_violated(const Options& options, const std::string& rule) {
  const Outcome outcome = run(options);
  return outcome.violation && outcome.violation->rule == rule;
}

}  // namespace

const std::vector<std::string_view>& plants() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const OfLoop& each : of_loop) all.push_back(each.name);
    for (const OfJournal& each : of_journal) all.push_back(each.name);
    return all;
  }();
  return names;
}

Result<void> plant(std::string_view rule, Options& options) {
  if (const auto* const found = std::ranges::find(of_loop, rule, &OfLoop::name);
      found != of_loop.end()) {
    options.rules.*found->rule = false;
    return {};
  }
  if (const auto* const found = std::ranges::find(of_journal, rule, &OfJournal::name);
      found != of_journal.end()) {
    options.journal_rules.*found->rule = false;
    return {};
  }
  return fail(ErrorCode::not_found, fmt::format("no rule is called '{}'", rule));
}

std::string command_of(const Options& options, std::string_view plant) {
  std::string command = fmt::format("storm --seeds {}:{}", options.seed, options.seed);
  if (!options.faults.all()) command += " --faults " + text_of(options.faults);
  if (options.until) command += fmt::format(" --until {}", options.until->count());
  if (options.kill_at >= 0) command += fmt::format(" --kill-at {}", options.kill_at);
  if (!plant.empty()) command += fmt::format(" --plant {}", plant);
  return command + " --trace";
}

Options shrink(Options options, const Violation& violation) {
  const bool traces = options.trace;
  options.trace = false;
  const Outcome whole = run(options);
  options.faults = whole.drawn;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Fault fault : all_faults) {
      const auto index = static_cast<std::size_t>(fault);
      if (!options.faults.test(index)) continue;
      Options fewer = options;
      fewer.faults.reset(index);
      if (!still_violated(fewer, violation.rule)) continue;
      options = fewer;
      smaller = true;
    }
    for (Seconds until = options.until.value_or(whole.until); until > Seconds(30);) {
      until = until * 3 / 4;
      Options shorter = options;
      shorter.until = until;
      if (!still_violated(shorter, violation.rule)) break;
      options = shorter;
      smaller = true;
    }
  }
  options.trace = traces;
  return options;
}

}  // namespace schedmate::storm
