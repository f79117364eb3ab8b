// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "config/config.hpp"
#include "config/places.hpp"

namespace schedmate::config {
namespace {

std::string yaml(std::string_view text) {
  const auto value = parse_config(text, ConfigFormat::yaml, "a.yaml");
  return value ? repr(*value) : value.error().message;
}
std::string json(std::string_view text) {
  const auto value = parse_config(text, ConfigFormat::json, "a.json");
  return value ? repr(*value) : value.error().message;
}
std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_CASE("YAML words have the types that PyYAML gives them") {
  CHECK(yaml("[yes, Off, null, ~, 017, 0x1F, 1_000, 1:30:00, -3]") ==
        "[True, False, None, None, 15, 31, 1000, 5400, -3]");
  CHECK(yaml("[1e-3, 1.0e-3, 1.0e3, 1., .5, 'yes', \"3\"]") ==
        "['1e-3', 0.001, '1.0e3', 1.0, 0.5, 'yes', '3']");
  CHECK(yaml("[.inf, -.INF, .nan, 2024-01-01, 1.2.3, a b]") ==
        "[inf, -inf, nan, '2024-01-01', '1.2.3', 'a b']");
  CHECK(yaml("{a: !!str 3, b: !!float 3, c: !!int '4'}") == "{'a': '3', 'b': 3.0, 'c': 4}");
  CHECK(yaml("99999999999999999999") == "'99999999999999999999'");
}

TEST_CASE("YAML values keep the line that they stand on") {
  const auto value =
      parse_config("train:\n  # a comment\n  epochs: 90  # long\n", ConfigFormat::yaml, "a.yaml");
  REQUIRE(value);
  const Value* epochs = find_path(*value, "train.epochs");
  REQUIRE(epochs != nullptr);
  CHECK(epochs->place->file == "a.yaml");
  CHECK(epochs->place->line == 3);
  CHECK(epochs->place->text == "epochs: 90  # long");
  CHECK(epochs->place->source == FactSource::config);
}

TEST_CASE("merge keys give way to own entries, and the first of several wins") {
  CHECK(yaml("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc:\n  <<: [*a, *b]\n  y: 3\n") ==
        "{'a': {'x': 1, 'y': 1}, 'b': {'x': 2, 'z': 2}, 'c': {'x': 1, 'z': 2, 'y': 3}}");
}

TEST_CASE("an alias is a copy: changing one leaves the other as it is") {
  auto value = parse_config("a: &a {x: 1}\nb: *a\n", ConfigFormat::yaml, "a.yaml");
  REQUIRE(value);
  set_path(*value, "b.x", Value(std::int64_t{2}));
  CHECK(repr(*value) == "{'a': {'x': 1}, 'b': {'x': 2}}");
}

TEST_CASE("unknown tags are kept beside what they stand at") {
  CHECK(yaml("m: !new:torch.nn.Linear\n  in: 3\nr: !ref <a>\nl: !!python/tuple [1, 2]\n") ==
        "{'m': {'!tag': '!new:torch.nn.Linear', 'in': 3}, "
        "'r': {'!tag': '!ref', '!value': '<a>'}, 'l': [1, 2]}");
}

TEST_CASE("of a YAML stream the first document counts, of equal keys the last") {
  CHECK(yaml("\xEF\xBB\xBF"
             "a: 1\na: 2\n---\nb: 3\n") == "{'a': 2}");
  CHECK(yaml("") == "None");
  CHECK(yaml("3: x\ntrue: y\n") == "{'3': 'x', 'True': 'y'}");
}

TEST_CASE("broken YAML names file and line") {
  CHECK(yaml("a: 1\nb: [1, 2\n").starts_with("a.yaml:"));
  CHECK(yaml("a: 1\n\tb: 2\n").starts_with("a.yaml:2: "));
  CHECK(yaml("a: *nowhere\n").starts_with("a.yaml:1: "));
}

TEST_CASE("aliases that grow beyond a million values are refused") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            repeat("*a" + std::to_string(i - 1) + ", ", 9) + "]\n";
  }
  CHECK(yaml(bomb).ends_with("more than a million values"));
  CHECK(yaml("a: &a [*a]\n").starts_with("{'a': ["));
}

TEST_CASE("nesting beyond the bound is refused in every format") {
  CHECK(yaml(repeat("[", 5000)).starts_with("a.yaml:1: "));
  CHECK(yaml(repeat("[", 300) + repeat("]", 300)).ends_with("nested more than 200 levels deep"));
  CHECK(yaml(repeat("- ", 3000)).starts_with("a.yaml:1: "));
  CHECK(json(repeat("[", 100'000)).ends_with("nested more than 200 levels deep"));
  CHECK(json(repeat("{\"a\":", 100'000)).ends_with("nested more than 200 levels deep"));
  CHECK_FALSE(parse_config("a = " + repeat("[", 100'000), ConfigFormat::toml, "a.toml"));
}

TEST_CASE("JSON may have comments, commas at the end and numbers that are none") {
  CHECK(json("// head\n{\"a\": [1, 2.5, -3e2,], # why\n /* x */ \"b\": NaN, \"c\": null,}\n") ==
        "{'a': [1, 2.5, -300.0], 'b': nan, 'c': None}");
  CHECK(json(R"({"a": "x\n\u00e9\ud83d\ude00\"", 'b': true})") ==
        "{'a': 'x\\n\xC3\xA9\xF0\x9F\x98\x80\"', 'b': True}");
  CHECK(json("{\"a\": {\"b\": 1}, \"a\": 2}") == "{'a': 2}");
}

TEST_CASE("broken JSON names file and line") {
  CHECK(json("{\n\"a\": 1\n\"b\": 2}").starts_with("a.json:3: expected ','"));
  CHECK(json("{\"a\": \"x").ends_with("a quoted string has no end"));
  CHECK(json("{\"a\": word}") == "a.json:1: 'word' is not a JSON value");
  CHECK(json("") == "a.json:1: the text ends where a value is expected");
  CHECK(json("1 2") == "a.json:1: more text after the end of the value");
}

TEST_CASE("a scalar of one endless line shows the part around it") {
  std::string text = "{\"start\": 0";
  for (int i = 0; i < 1000; ++i) text += ", \"key" + std::to_string(i) + "\": " + std::to_string(i);
  text += "}";
  const auto value = parse_config(text, ConfigFormat::json, "a.json");
  REQUIRE(value);
  const auto place = find_path(*value, "key700")->place;
  CHECK(place->text.size() <= 360);
  CHECK(place->text.contains("\"key700\": 700"));
}

TEST_CASE("YAML that is commented JSON is read as what it is") {
  CHECK(yaml("// settings\n{\"a\": 1, // one\n \"b\": [1,2,],\n}\n") == "{'a': 1, 'b': [1, 2]}");
  CHECK(yaml("{ # settings\n  \"a\": 1,\n  \"b\":\"x\",\n}\n") == "{'a': 1, 'b': 'x'}");
}

TEST_CASE("TOML keeps order and lines") {
  const auto value =
      parse_config("z = 1\n[train]\nlr = 1e-3\nbatch = 32\nwhen = 1979-05-27\nl = [1, 'a']\n",
                   ConfigFormat::toml, "a.toml");
  REQUIRE(value);
  CHECK(repr(*value) ==
        "{'z': 1, 'train': {'lr': 0.001, 'batch': 32, 'when': '1979-05-27', 'l': [1, 'a']}}");
  CHECK(find_path(*value, "train.batch")->place->line == 4);
  const auto broken = parse_config("a = 1\nb = = 2\n", ConfigFormat::toml, "a.toml");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message.starts_with("a.toml:2: "));
}

TEST_CASE("INI sections hold texts and the defaults of [DEFAULT]") {
  const auto value = parse_config("[DEFAULT]\nseed = 1\n[train]\nlr: 0.1 ; why\nlist =\n  a\n  b\n",
                                  ConfigFormat::ini, "a.ini");
  REQUIRE(value);
  CHECK(repr(*find_path(*value, "train")) == "{'seed': '1', 'lr': '0.1', 'list': '\\na\\nb'}");
}

TEST_CASE("a word of the command line is a value, a quoted text, a list or a dict") {
  const auto read = [](std::string_view text) { return repr(parse_scalar(text, {})); };
  CHECK(read("3") == "3");
  CHECK(read("1e-3") == "0.001");
  CHECK(read("null") == "None");
  CHECK(read("[1, a,'b, c']") == "[1, 'a', 'b, c']");
  CHECK(read("{a:1,b:{c:[x]}}") == "{'a': 1, 'b': {'c': ['x']}}");
  CHECK(read("'3'") == "'3'");
  CHECK(read("[${a.b},f(1,2)]") == "['${a.b}', 'f(1,2)']");
  CHECK(read("[1, 2") == "'[1, 2'");
  CHECK(read("a,b") == "'a,b'");
  CHECK(read(repeat("[", 10'000)) == "'" + repeat("[", 10'000) + "'");
}

TEST_CASE("values of several files are marked as composed, those of the command are not") {
  auto value = parse_config("a: 1\nb: {c: 2}\n", ConfigFormat::yaml, "a.yaml");
  REQUIRE(value);
  const auto word = std::make_shared<const Place>(Place{"<command>", 0, "d=3", {}, {}});
  value->entries()->set("d", Value(std::int64_t{3}, word));
  mark_composed(*value);
  CHECK(find_path(*value, "b.c")->place->source == FactSource::composition);
  CHECK(find_path(*value, "b.c")->place->line == 2);
  CHECK(find_path(*value, "d")->place == word);
}

}  // namespace
}  // namespace schedmate::config
