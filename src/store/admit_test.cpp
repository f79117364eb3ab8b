// SPDX-License-Identifier: Apache-2.0
#include "store/admit.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "store/codec.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate::store {
namespace {

TEST_CASE("text is cut between characters, never within one") {
  CHECK(clean_text("a\u00e9\u00e9", 4) == "a\u00e9");
  CHECK(clean_text("a\u00e9\u00e9", 5) == "a\u00e9\u00e9");
  CHECK(clean_text("plain", 3) == "pla");
}

TEST_CASE("every ill-formed sequence is replaced and its neighbours stay") {
  for (const auto* const bad : {"\x80", "\xC0\xAF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE2\x82"}) {
    const auto clean = clean_text(std::string("<") + bad + ">", 100);
    CHECK(clean.starts_with("<\uFFFD"));
    CHECK(clean.ends_with("\uFFFD>"));
    CHECK(clean_text(clean, 100) == clean);
  }
}

TEST_CASE("numbers that are no numbers are not kept") {
  auto record = testing::full_record(1);
  record.outcome = testing::full_outcome();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  record.advice->p90 = FractionalSeconds(nan);
  record.outcome->gpu_util_pct = nan;
  record.outcome->progress = {{Seconds(1), nan, 1.0}, {Seconds(2), 5, nan}};
  const auto kept = admit(record).value();
  CHECK(kept.advice->p90 == FractionalSeconds(0));
  CHECK(kept.outcome->gpu_util_pct == std::nullopt);
  REQUIRE(kept.outcome->progress.size() == 1);
  CHECK(kept.outcome->progress[0].loss == std::nullopt);
}

TEST_CASE("what was written as JSON reads back, anything else is damage") {
  const auto advice = *testing::full_record(1).advice;
  CHECK(advice_from_json(advice_to_json(advice)).value() == advice);
  const auto points = testing::full_outcome().progress;
  CHECK(progress_from_json(progress_to_json(points)).value() == points);
  for (const auto* const text : {"{", "[[1]]", "{\"a\":1}", "[\"x\"]", "7"}) {
    CHECK(advice_from_json(text).error().code == ErrorCode::invalid);
    CHECK(progress_from_json(text).error().code == ErrorCode::invalid);
    CHECK(fields_from_json(text).error().code == ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace schedmate::store
