// SPDX-License-Identifier: Apache-2.0
#include "service/facts.hpp"

#include <doctest/doctest.h>

namespace schedmate::service {
namespace {

Fact fact(FactValue value, double confidence) {
  return {std::move(value), confidence, FactSource::code, {{"train.py", 3, "x"}}};
}

TEST_CASE("what is less sure than asked becomes unknown, and is kept as rejected") {
  Facts facts;
  facts.facts["dataset"] = fact(std::string("ImageNet"), 0.89);
  facts.facts["optimizer"] = fact(std::string("SGD"), 0.9);
  facts.facts["batch_size"] = fact(std::monostate(), 0.7);  // no answer: that it varies
  cut_below(0.9, facts);
  CHECK(facts.find("dataset") == nullptr);
  CHECK(facts.find("optimizer")->known());
  CHECK(facts.facts.contains("batch_size"));
  REQUIRE(facts.rejected.size() == 1);
  CHECK(facts.rejected[0].field == "dataset");
  CHECK(facts.rejected[0].fact.value == FactValue(std::string("ImageNet")));
  CHECK(facts.rejected[0].why == "less sure than --min-confidence 0.90");
}

TEST_CASE("without a bound nothing is left out") {
  Facts facts;
  facts.facts["dataset"] = fact(std::string("ImageNet"), 0.02);
  cut_below(0, facts);
  CHECK(facts.find("dataset")->known());
}

TEST_CASE("how sure facts must be is a number, what the study says, or not asked") {
  Facts facts;
  facts.facts["dataset"] = fact(std::string("ImageNet"), 0.94);
  const auto left = [&](const char* least) { return without_doubtful(facts, least, ""); };
  CHECK(left("")->find("dataset") != nullptr);
  CHECK(left("0.93")->find("dataset") != nullptr);
  CHECK(left("0.95")->find("dataset") == nullptr);
  CHECK(left("auto")->find("dataset") == nullptr);
  for (const auto* const wrong : {"1.01", "-0.1", "nan", "most", " 0.5"})
    CHECK(left(wrong).error().code == ErrorCode::unsupported);
  CHECK(without_doubtful(facts, "auto", "/no/such/folder").has_value() == false);
}

}  // namespace
}  // namespace schedmate::service
