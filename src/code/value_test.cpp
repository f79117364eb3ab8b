// SPDX-License-Identifier: Apache-2.0
#include "code/value.hpp"

#include <doctest/doctest.h>

namespace schedmate::code {
namespace {

Value dict(std::initializer_list<Dict::Entry> entries) {
  Dict made;
  for (const auto& [key, value] : entries) made.set(key, value);
  return Value::dict(std::move(made));
}

const PlacePtr line_3 = std::make_shared<const Place>(Place{"a.yaml", 3, "b: 1", {}, {}});

TEST_CASE("the number zero is a number and no text") {
  CHECK(*Value(std::int64_t{0}).integer() == 0);
  CHECK(*Value("zero").text() == "zero");
}

TEST_CASE("a path leads through dicts and list items, and nowhere when a step is missing") {
  const Value root =
      dict({{"a", dict({{"b", Value::list({Value(std::int64_t{7}), Value("x")})}})}});
  CHECK(repr(*find_path(root, "a.b.1")) == "'x'");
  CHECK(find_path(root, "a.b.2") == nullptr);
  CHECK(find_path(root, "a.c.d") == nullptr);
}

TEST_CASE("setting a path makes the dicts on its way but does not write through a number") {
  Value root = dict({{"a", Value(1.5)}});
  CHECK(set_path(root, "b.c.d", Value(true)));
  CHECK_FALSE(set_path(root, "a.x", Value(true)));
  CHECK(repr(root) == "{'a': 1.5, 'b': {'c': {'d': True}}}");
}

TEST_CASE("a merge keeps what lies below, replaces what is given above, and shares nothing") {
  const Value below = dict({{"x", dict({{"keep", Value(std::int64_t{1})}, {"lr", Value(0.1)}})}});
  const Value above = dict({{"x", dict({{"lr", Value(0.5, line_3)}})}});
  Value both = merged(below, above);
  CHECK(repr(both) == "{'x': {'keep': 1, 'lr': 0.5}}");
  CHECK(find_path(both, "x.lr")->place == line_3);
  set_path(both, "x.keep", Value(std::int64_t{2}));
  CHECK(repr(*find_path(below, "x.keep")) == "1");
}

TEST_CASE("numbers are read from text, truth as in Python, and unknown is neither") {
  CHECK(Value("1e-3").number() == 0.001);
  CHECK_FALSE(Value("1e-3x").number().has_value());
  CHECK(Value("").truth() == false);
  CHECK(Value::list({Value(false)}).truth() == true);
  CHECK_FALSE(Value().truth().has_value());
  CHECK(Value::none().truth() == false);
}

}  // namespace
TEST_CASE("a large dict finds, replaces and erases as a small one does") {
  Dict dict;
  for (std::int64_t i = 0; i < 20'000; ++i) dict.set(std::to_string(i), Value(i));
  dict.set("7", Value(std::int64_t{-7}));
  CHECK(dict.size() == 20'000);
  CHECK(*dict.find("7")->integer() == -7);
  CHECK(*dict.find("19999")->integer() == 19'999);
  CHECK(dict.find("20000") == nullptr);
  CHECK(dict.erase("8"));
  CHECK_FALSE(dict.erase("8"));
  CHECK(*dict.find("9")->integer() == 9);
  CHECK(dict.all()[8].key == "9");
  const Dict copy = dict;
  CHECK(*copy.find("12345")->integer() == 12'345);
}

}  // namespace schedmate::code
