// SPDX-License-Identifier: Apache-2.0
#include "core/facts_json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace schedmate {
namespace {

Facts some_facts() {
  Facts facts;
  facts.facts["model_name"] = {
      std::string("ResNet-50"), 0.9, FactSource::code, {{"train.py", 12, "model = resnet50()"}}};
  facts.facts["batch_size"] = {std::int64_t{128}, 1, FactSource::fallback, {{"args.py", 3, "128"}}};
  facts.facts["length"] = {
      Length{200, "epochs"}, 1, FactSource::command, {{"<command>", 0, "--epochs 200"}}};
  facts.facts["learning_rate"] = {0.05, 1, FactSource::config, {}};
  facts.facts["pretrained"] = {false, 0.8, FactSource::code, {}};
  facts.extra["accumulation"] = {std::int64_t{4}, 1, FactSource::config, {}};
  facts.expect = Outlook::evaluation_only;
  facts.expect_reason = "--eval is given";
  facts.runs = 3;
  facts.files_read = {"train.py", "args.py"};
  facts.tree = "abc";
  facts.degraded = {"conf.yaml: resolver"};
  facts.rejected = {{"dataset", facts.facts["model_name"], "a comment"}};
  facts.model = {.calls = 4, .tokens = 900, .accepted = 2, .dropped = 5};
  facts.wall_ms = 12.5;
  return facts;
}

TEST_CASE("facts come back from their JSON as they were") {
  const std::string text = in_one_line(facts_document(some_facts(), FactsDetail::with_rejected));
  const auto back = read_facts_json(text);
  REQUIRE(back);
  CHECK(in_one_line(facts_document(*back, FactsDetail::with_rejected)) == text);
  CHECK(back->facts.size() == 5);  // the unknown ones were only printed
  CHECK(std::get<Length>(known_fact(*back, "length")->value) == Length{200, "epochs"});
  CHECK(back->facts.at("batch_size").source == FactSource::fallback);
  CHECK(back->expect == Outlook::evaluation_only);
  CHECK(back->rejected.at(0).why == "a comment");
  CHECK(back->model.accepted == 2);
}

TEST_CASE("every fixed field is printed, in the same order, null when unknown") {
  const std::string text = indented(facts_document(Facts{}));
  std::size_t at = 0;
  for (const std::string_view field : fact_fields()) {
    const std::size_t next = text.find('"' + std::string(field) + "\": {");
    REQUIRE(next != std::string::npos);
    CHECK(next > at);
    at = next;
  }
  CHECK(text.find("\"source\": null") != std::string::npos);
  CHECK(text.find("rejected") == std::string::npos);
}

TEST_CASE("a default is called default, and whole amounts have no decimals") {
  const std::string text = indented(facts_document(some_facts()));
  CHECK(text.find("\"source\": \"default\"") != std::string::npos);
  CHECK(text.find("\"amount\": 200,") != std::string::npos);
}

TEST_CASE("broken bytes and numbers still give valid JSON") {
  Facts facts;
  facts.facts["model_name"] = {
      std::string("caf\xe9\xff"), 1, FactSource::code, {{"a\x80.py", 1, "\xc3"}}};
  facts.facts["learning_rate"] = {
      std::numeric_limits<double>::quiet_NaN(), 1, FactSource::code, {}};
  const auto back = read_facts_json(facts_json(facts, {}));
  REQUIRE(back);
  CHECK(std::get<std::string>(back->facts.at("model_name").value) == "caf\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(known_fact(*back, "learning_rate") == nullptr);
}

TEST_CASE("what is no facts document is an error that says so") {
  for (const char* text : {"", "[]", "{\"schema\":", "{\"schema\":\"schedmate.facts.v9\"}", "7"}) {
    CHECK(!read_facts_json(text));
  }
  const auto odd = read_facts_json(
      R"({"schema":"schedmate.facts.v1","facts":{"gpus":7,"nodes":{"value":[1]}},"runs":"x"})");
  REQUIRE(odd);
  CHECK(known_fact(*odd, "gpus") == nullptr);
  CHECK(odd->runs == 1);
  const std::string deep(200'000, '[');
  CHECK(!read_facts_json(deep));
}

TEST_CASE("values as people read them") {
  CHECK(value_text(std::int64_t{8}) == "8");
  CHECK(value_text(Length{1e7, "env steps"}) == "10000000 env steps");
  CHECK(value_text(1e-4) == "0.0001");
  CHECK(value_text(true) == "true");
  CHECK(value_text({}).empty());
}

}  // namespace
}  // namespace schedmate
