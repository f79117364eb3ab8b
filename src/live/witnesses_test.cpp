// SPDX-License-Identifier: Apache-2.0
#include "live/witnesses.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace schedmate::live {
namespace {

NodeWitness witness(std::string node, std::int64_t when, std::string says = "Xid 79") {
  return {"kernel", std::move(node), at(when), std::move(says)};
}

}  // namespace

TEST_CASE("witnesses are found by node and time") {
  Witnesses all;
  all.add(witness("a", 100), at(100));
  all.add(witness("a", 50, "late to be heard"), at(101));
  all.add(witness("b", 90), at(102));
  REQUIRE(all.of("a", at(0)).size() == 2);
  CHECK(all.of("a", at(0))[0].says == "late to be heard");
  CHECK(all.of("a", at(60)).size() == 1);
  CHECK(all.of("a", at(101)).empty());
  CHECK(all.of("c", at(0)).empty());
}

TEST_CASE("the same words count once, at their last time") {
  Witnesses all;
  for (std::int64_t t = 0; t < 1000; t += 10) all.add(witness("a", t), at(t));
  all.add(witness("a", 5), at(1000));
  REQUIRE(all.of("a", at(0)).size() == 1);
  CHECK(all.of("a", at(0))[0].when == at(990));
}

TEST_CASE("witnesses are bounded in number and time") {
  Witnesses all;
  for (std::int64_t i = 0; i < 100; ++i)
    all.add(witness("a", i, fmt::format("trouble {}", i)), at(i));
  CHECK(all.of("a", at(0)).size() == Witnesses::most_of_a_node);
  CHECK(all.of("a", at(0)).back().says == "trouble 99");
  const SimTime much_later = at(100) + Witnesses::longest + Seconds(1);
  all.add(witness("b", seconds_of(much_later)), much_later);
  CHECK(all.nodes() == 1);
  all.add(witness("c", 0), much_later);  // too old to be of use
  CHECK(all.nodes() == 1);
  for (std::size_t i = 0; i < Witnesses::most_nodes + 100; ++i)
    all.add(witness(fmt::format("n{}", i), seconds_of(much_later)), much_later);
  CHECK(all.nodes() == Witnesses::most_nodes);
}

TEST_CASE("nobody has seen what is to come") {
  Witnesses all;
  all.add(witness("a", 1'000'000), at(10));
  CHECK(all.of("a", at(0)).at(0).when == at(10));
}

}  // namespace schedmate::live
