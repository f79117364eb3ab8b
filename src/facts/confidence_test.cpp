// SPDX-License-Identifier: Apache-2.0
#include "facts/confidence.hpp"

#include <doctest/doctest.h>

#include "tests/support/near.hpp"

namespace schedmate::facts {
namespace {

/// Equal but for rounding.
testing::Nearness same(double value, double want) { return testing::near(value, want, 1e-9, 0); }

Finding finding(std::string value, double sure, std::string why) {
  Fact fact{.value = std::move(value),
            .confidence = sure,
            .source = FactSource::code,
            .evidence = {{"train.py", 1, "x"}}};
  return {"dataset", std::move(fact), std::move(why)};
}

TEST_CASE("the answer rests on its rules, and on what the others found") {
  Facts facts;
  // 1 - 0.2 * (1 - 0.25 * 0.6) = 0.83; the same rule again adds nothing.
  const auto grounds = choose({finding("ImageNet", 0.6, "path"), finding("COCO", 0.7, "named"),
                               finding("ImageNet", 0.8, "named"), finding("ImageNet", 0.7, "named"),
                               finding("VOC", 0.3, "hint")},
                              facts);
  const Grounds& of = grounds.at("dataset");
  CHECK(same(of.rank, 0.83));
  CHECK(same(of.rival, 0.7));
  CHECK(of.rules == 2);
  CHECK(of.rivals == 1);
  CHECK(of.why == "named");
  CHECK(same(facts.facts.at("dataset").confidence, 0.83));
}

TEST_CASE("what is not taken has no grounds") {
  Facts facts;
  CHECK(choose({finding("ImageNet", 0.4, "path")}, facts).empty());
  CHECK(facts.facts.empty());
}

}  // namespace
}  // namespace schedmate::facts
