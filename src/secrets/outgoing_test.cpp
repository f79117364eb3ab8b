// SPDX-License-Identifier: Apache-2.0
#include "secrets/outgoing.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace schedmate::secrets {
namespace {

const std::string secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

TEST_CASE("no part of a submission or of facts keeps a secret") {
  JobSource job;
  job.command = "GITHUB_TOKEN=" + secret + " python train.py";
  CHECK(redacted(job).command == "GITHUB_TOKEN=[redacted] python train.py");

  Facts facts;
  const Fact fact{.value = secret, .evidence = {{"train.py", 3, "token = '" + secret + "'"}}};
  facts.facts["dataset"] = fact;
  facts.extra["remote"] = fact;
  facts.degraded = {"cannot read " + secret};
  facts.expect_reason = secret;
  const Facts clean = redacted(facts);
  for (const Fact& each : {clean.facts.at("dataset"), clean.extra.at("remote")}) {
    CHECK_FALSE(std::get<std::string>(each.value).contains(secret));
    CHECK_FALSE(each.evidence.front().text.contains(secret));
  }
  CHECK_FALSE(clean.degraded.front().contains(secret));
  CHECK_FALSE(clean.expect_reason.contains(secret));
}

TEST_CASE("what is shown neither keeps a secret nor controls a terminal") {
  CHECK(safe_line("\x1b[31mtoken=" + secret) == safe_text("\x1b[31mtoken=" + secret));
  CHECK_FALSE(safe_line("\x1b[31m" + secret).contains('\x1b'));
  CHECK(safe_text("").empty());
  CHECK(safe_text("\n\nstep 1\n") == "\n\nstep 1\n");
  const std::string text = safe_text("step 1\n\nuse " + secret + "\x1b[0m\nstep 2");
  CHECK_FALSE(text.contains(secret));
  CHECK_FALSE(text.contains('\x1b'));
  CHECK(std::ranges::count(text, '\n') == 3);
  std::vector<std::string> lines = {"step 1", "key " + secret};
  make_safe(lines);
  CHECK(lines.front() == "step 1");
  CHECK_FALSE(lines.back().contains(secret));
}

}  // namespace
}  // namespace schedmate::secrets
