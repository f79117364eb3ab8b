// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/storm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/need.hpp"

namespace schedmate::storm {
namespace {

struct Found {
  Options options;
  Outcome outcome;
};
/// The first of 400 seeds that violates a rule.
std::optional<Found> first_violation(Options options) {
  constexpr std::uint64_t most = 400;
  for (options.seed = 1; options.seed <= most; ++options.seed)
    if (Outcome outcome = run(options); outcome.violation)
      return Found{options, std::move(outcome)};
  return std::nullopt;
}

/// A rule that is switched off, and the checkers that see it first.
struct Plant {
  std::string_view rule;
  std::vector<std::string_view> found_by;
  std::string_view faults = "all";
};
std::vector<Plant> planted() {
  return {{"record_first", {"record_first"}},
          {"ambiguous_stops", {"ambiguous_stops"}},
          {"reads_outcomes", {"reads_outcomes", "settles"}},
          {"own_marks_only", {"own_marks_only"}},
          {"humans_win", {"humans_win"}},
          {"two_witnesses", {"two_witnesses"}},
          // Among all faults few tests of several nodes come to an end.
          {"halves_suspects", {"two_witnesses"}, "node_bad,probe_silent"},
          {"whole_readings", {"orders", "tells_once", "gpus"}},
          {"caps", {"caps"}},
          {"breaker", {"breaker"}},
          {"fail_open", {"settles"}},  // a hold stays
          {"obeys_modes", {"obeys_modes"}},
          {"tells_once", {"tells_once"}},
          // The journal goes back to an earlier state: what was done is done again, or unknown.
          {"synchronous",
           {"ambiguous_stops", "one_writer", "settles", "record_first", "orders", "chain"}},
          {"rewrite_log", {"ambiguous_stops", "one_writer", "settles", "record_first", "chain"}},
          {"one_transaction", {"chain"}},
          {"keeps_open", {"compaction", "chain"}},
          {"leaves_orders", {"orders"}},
          {"counts_starts", {"gpus"}},
          {"one_instance", {"one_instance"}},
          {"one_writer", {"one_writer", "tells_once"}}};
}

TEST_CASE("equal options give an equal run") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Options options{.seed = seed, .trace = true};
    const Outcome one = run(options), other = run(options);
    CHECK(one.trace == other.trace);
    CHECK(one.trace.size() > 100);
  }
}

TEST_CASE("each fault has a name that reads back") {
  for (const Fault fault : all_faults) {
    const FaultSet set = testing::need(fault_set_of(name_of(fault)));
    CHECK(set.count() == 1);
    CHECK(set.test(static_cast<std::size_t>(fault)));
  }
  CHECK(testing::need(fault_set_of("-kill,-rival")).count() == fault_kinds - 2);
  CHECK(testing::need(fault_set_of("none")).none());
  CHECK_FALSE(fault_set_of("lightning").has_value());
}

TEST_CASE("each rule that is switched off is found, and by its checker") {
  for (const Plant& each : planted()) {
    INFO(each.rule);
    Options options;
    REQUIRE(plant(each.rule, options));
    options.faults = testing::need(fault_set_of(each.faults));
    const auto found = first_violation(options);
    REQUIRE(found);
    const Violation& violation = *found->outcome.violation;
    CHECK_MESSAGE(std::ranges::find(each.found_by, violation.rule) != each.found_by.end(),
                  violation.rule << ": " << violation.what);
    MESSAGE(each.rule << ": seed " << found->options.seed << ", " << violation.rule << ": "
                      << violation.what);
  }
}

TEST_CASE("all rules that can be switched off are tried") {
  std::vector<std::string_view> tried;
  for (const Plant& each : planted()) tried.push_back(each.rule);
  std::vector<std::string_view> all = plants();
  std::ranges::sort(tried);
  std::ranges::sort(all);
  CHECK(tried == all);
}

TEST_CASE("a disk that lies loses records, and calls still obey the rules") {
  Options options;
  options.faults = testing::need(fault_set_of("kill,power_cut,lost_sync,human_drains"));
  std::int64_t losses = 0;
  for (options.seed = 1; options.seed <= 60; ++options.seed) {
    const Outcome outcome = run(options);
    CHECK_MESSAGE(!outcome.violation, options.seed << ": " << outcome.violation->what);
    losses += outcome.losses;
  }
  CHECK(losses > 10);
}

TEST_CASE("jobs hang: owners are told, and some are restarted") {
  Options options;
  options.faults = testing::need(
      fault_set_of("job_hangs,log_truncated,log_rotated,log_lies,study_lost,study_late,kill"));
  std::int64_t told = 0, restarted = 0;
  for (options.seed = 1; options.seed <= 120; ++options.seed) {
    const Outcome outcome = run(options);
    CHECK_MESSAGE(!outcome.violation, options.seed << ": " << outcome.violation->what);
    told += outcome.hangs;
    restarted += outcome.restarted;
  }
  CHECK(told > 10);
  CHECK(restarted > 1);
  MESSAGE(told << " told, " << restarted << " restarted");
}

TEST_CASE("journals are compacted during the storm") {
  Options options;
  std::int64_t compacted = 0;
  for (options.seed = 1; options.seed <= 20; ++options.seed) compacted += run(options).compacted;
  CHECK(compacted > 1'000);
}

TEST_CASE("a shrunk run violates the same rule with fewer faults") {
  Options options;
  REQUIRE(plant("caps", options));
  const auto found = first_violation(options);
  REQUIRE(found);
  const Options small = shrink(found->options, *found->outcome.violation);
  const Outcome again = run(small);
  REQUIRE(again.violation);
  CHECK(again.violation->rule == found->outcome.violation->rule);
  CHECK(small.faults.count() < found->outcome.drawn.count());
}

}  // namespace
}  // namespace schedmate::storm
