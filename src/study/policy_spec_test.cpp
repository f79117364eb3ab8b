// SPDX-License-Identifier: Apache-2.0
#include "study/policy_spec.hpp"

#include <doctest/doctest.h>

namespace schedmate::study {

TEST_CASE("a policy spec is a name, settings, an estimator and a label") {
  const auto spec = parse_policy("lucid:t_prof_s=100,estimate=column:est_ebm,packing=on@big.run-1");
  REQUIRE(spec);
  CHECK(spec->name == "lucid");
  CHECK(spec->estimator == "column:est_ebm");
  CHECK(spec->options.size() == 2);
  CHECK(spec->options.at("t_prof_s") == "100");
  CHECK(spec->label == "big.run-1");
  CHECK(parse_policy("fifo")->label == "fifo");
  CHECK(parse_policy("fifo@x")->name == "fifo");
}

TEST_CASE("a policy spec of another form is refused") {
  for (const char* text : {"", "fifo:", "fifo:a", "fifo:=1", "fifo:a=1,a=2", "fifo@", "fifo@a/b",
                           "fifo@.hidden", "FIFO"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_policy(text));
  }
}

TEST_CASE("numbers that overflow or are none are refused, names that look like one are not") {
  for (const char* text : {"schedmate:ageing=inf", "schedmate:ageing=nan", "schedmate:ageing=1e308",
                           "tiresias:interval_s=9223372036854775807", "lucid:score_limit=-1e13"}) {
    CAPTURE(text);
    const auto spec = parse_policy(text);
    REQUIRE_FALSE(spec);
    CHECK(spec.error().message.ends_with(": must be a number up to 1000000000000"));
  }
  CHECK(parse_policy("tiresias:thresholds=18000+36000,interval_s=86400"));
  CHECK(parse_policy("lucid:lenders=6214e9"));
}

TEST_CASE("columns that estimators read are asked for once") {
  const std::vector<std::string> texts{"sjf:estimate=column:e", "qssf:estimate=column:e", "fifo"};
  const auto specs = parse_policies(texts);
  REQUIRE(specs);
  CHECK(estimate_columns(*specs) == std::vector<std::string>{"e"});
}

}  // namespace schedmate::study
