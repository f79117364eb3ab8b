// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/storm.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/need.hpp"

namespace schedmate::storm {
namespace {

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
  // Where the rule's absence shows in another way first, that is named.
  constexpr std::uint64_t most = 400;
  for (const std::string_view rule : plants()) {
    if (rule == "rewrite_log") continue;  // disk_test.cpp finds it
    INFO(rule);
    Options options;
    REQUIRE(plant(rule, options));
    std::optional<Violation> found;
    for (options.seed = 1; options.seed <= most && !found; ++options.seed)
      found = run(options).violation;
    REQUIRE(found);
    MESSAGE(rule << ": seed " << options.seed - 1 << ", " << found->rule << ": " << found->what);
  }
}

TEST_CASE("a shrunk run violates the same rule with fewer faults") {
  Options options;
  REQUIRE(plant("caps", options));
  Outcome outcome;
  for (options.seed = 1; !outcome.violation; ++options.seed) outcome = run(options);
  --options.seed;
  const Options small = shrink(options, *outcome.violation);
  const Outcome again = run(small);
  REQUIRE(again.violation);
  CHECK(again.violation->rule == outcome.violation->rule);
  CHECK(small.faults.count() < outcome.drawn.count());
}

}  // namespace
}  // namespace schedmate::storm
