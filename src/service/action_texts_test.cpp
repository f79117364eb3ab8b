// SPDX-License-Identifier: Apache-2.0
#include "service/action_texts.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/action_json.hpp"

namespace schedmate::service {
namespace {

const std::string secret = "hunter2hunter2";

Action telling_action() {
  const std::string told = "password = " + secret;
  Action action;
  action.id = 7;
  action.call.text = told;
  action.call.token = "again-1";
  action.why = {"its job says " + told, "it waits"};
  action.before = told;
  action.steps = {{.state = ActionState::planned, .when = at(5), .by = "ann", .note = told}};
  return action;
}

TEST_CASE("an action is shown without secrets, and else as it is") {
  Document wanted = action_document(telling_action());
  const Document shown = without_secrets(wanted);
  CHECK_FALSE(shown.dump().contains(secret));
  CHECK(shown["call"]["text"] == "password = [redacted]");
  CHECK(shown["why"][1] == "it waits");
  CHECK(shown["steps"][0]["note"] == "password = [redacted]");
  wanted["call"]["text"] = shown["call"]["text"];
  wanted["why"][0] = shown["why"][0];
  wanted["before"] = shown["before"];
  wanted["steps"][0]["note"] = shown["steps"][0]["note"];
  CHECK(shown == wanted);
}

TEST_CASE("so are entries of the audit chain, with their hashes") {
  const Action action = telling_action();
  const std::string hash(64, 'a');
  const Document entry{
      {"sequence", 1},     {"seen", action.steps[0].note}, {"call", call_document(action.call)},
      {"why", action.why}, {"before", action.before},      {"hash", hash}};
  const Document damaged{{"sequence", 2}, {"text", "no JSON, " + action.before}, {"hash", hash}};
  const Document shown = without_secrets({{"entries", Document::array({entry, damaged})}});
  CHECK_FALSE(shown.dump().contains(secret));
  CHECK(shown["entries"][0]["call"]["token"] == "again-1");
  CHECK(shown["entries"][0]["hash"] == hash);
  CHECK(shown["entries"][1]["text"] == "no JSON, password = [redacted]");
}

}  // namespace
}  // namespace schedmate::service
