// SPDX-License-Identifier: Apache-2.0
#include "python/natives/type_hint.hpp"

#include <doctest/doctest.h>

namespace schedmate::python::natives {
namespace {

TEST_CASE("simple annotations are read by name, quoted or not") {
  CHECK(read_type_hint("int").type == FlagType::integer);
  CHECK(read_type_hint("'float'").type == FlagType::real);
  CHECK(read_type_hint("bool").is_boolean());
  CHECK(read_type_hint("pathlib.Path").type == FlagType::text);
  CHECK(read_type_hint("ModelConfig").class_name == "ModelConfig");
  CHECK(read_type_hint("").class_name.empty());
}

TEST_CASE("optional types keep the inner one") {
  for (const auto* text : {"Optional[int]", "int | None", "Union[int, None]", "Optional['int']"}) {
    CHECK(read_type_hint(text).type == FlagType::integer);
    CHECK(read_type_hint(text).optional);
  }
}

TEST_CASE("a union of different types takes what the word looks like") {
  CHECK(read_type_hint("Union[int, str]").type == FlagType::literal);
  CHECK_FALSE(read_type_hint("int | list[int]").is_list);
}

TEST_CASE("lists and tuples know their items") {
  CHECK(read_type_hint("List[float]").is_list);
  CHECK(read_type_hint("List[float]").type == FlagType::real);
  CHECK(read_type_hint("tuple[int, int]").count == 2);
  CHECK(read_type_hint("Tuple[int, ...]").count == 0);
}

TEST_CASE("literals, annotated types and positionals") {
  const auto literal = read_type_hint("Literal[\"a,b\", 'c']");
  CHECK(literal.choices == std::vector<std::string>{"a,b", "c"});
  CHECK(literal.type == FlagType::text);
  CHECK(read_type_hint("Annotated[int, Meta(gt=0)]").type == FlagType::integer);
  CHECK(read_type_hint("Annotated[str, typer.Argument(help='x')]").positional);
  CHECK(read_type_hint("tyro.conf.Positional[int]").positional);
}

TEST_CASE("deeply nested or broken annotations end") {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "Optional[";
  deep += "int";
  CHECK_FALSE(read_type_hint(deep).is_list);
  CHECK(read_type_hint(deep + std::string(5000, ']')).type == FlagType::literal);
  CHECK(read_type_hint("List[").class_name == "List[");
}

}  // namespace
}  // namespace schedmate::python::natives
