// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "config/config.hpp"
#include "tests/support/small_tree.hpp"

namespace schedmate::config {
namespace {

using testing::SmallTree;

struct Resolved {
  Value root;
  std::vector<std::string> notes;
  std::string operator[](std::string_view path) const {
    const Value* found = find_path(root, path);
    return found == nullptr ? "absent" : repr(*found);
  }
};

Resolved resolve(std::string_view yaml, const Dict& environment = {}) {
  SmallTree tree({});
  auto root = parse_config(yaml, ConfigFormat::yaml, "a.yaml");
  REQUIRE(root);
  interpolate(*tree, *root, environment);
  return {*root, tree->degraded()};
}

TEST_CASE("a reference keeps the type of what it names, within a text it becomes text") {
  const auto config =
      resolve("a: 3\nb: ${a}\nc: x-${a}-${d.e}\nd: {e: true}\nf: ${d}\ng: \\${a}\n");
  CHECK(config["b"] == "3");
  CHECK(config["c"] == "'x-3-True'");
  CHECK(config["f"] == "{'e': True}");
  CHECK(config["g"] == "'${a}'");
}

TEST_CASE("references may be relative, indexed, nested and follow other references") {
  const auto config = resolve(
      "a: {x: 1, y: '${.x}', z: {up: '${..x}'}}\nl: [5, 6]\nb: ${l[1]}\nc: ${l.0}\n"
      "which: x\nd: ${a.${which}}\ne: ${a}\nf: ${e.z.up}\n");
  CHECK(config["a.y"] == "1");
  CHECK(config["a.z.up"] == "1");
  CHECK(config["b"] == "6");
  CHECK(config["c"] == "5");
  CHECK(config["d"] == "1");
  CHECK(config["f"] == "1");
}

TEST_CASE("a resolved value leads from its expression to the line it came from") {
  const auto config = resolve("base:\n  lr: 0.1\nlr: ${base.lr}\n");
  const auto place = find_path(config.root, "lr")->place;
  CHECK(place->line == 3);
  REQUIRE(place->from);
  CHECK(place->from->line == 2);
  CHECK(place->from->text == "lr: 0.1");
}

TEST_CASE("variables come from the job, else from the default, else are not known") {
  Dict environment;
  environment.set("ROOT", Value("/data"));
  const auto config = resolve(
      "a: ${oc.env:ROOT}/x\nb: ${oc.env:NONE,7}\nc: ${oc.env:NONE,null}\nd: ${oc.env:NONE}\n"
      "e: ${env:NONE,7}\nf: ${oc.decode:${oc.env:NONE,'[1, 2]'}}\n",
      environment);
  CHECK(config["a"] == "'/data/x'");
  CHECK(config["b"] == "'7'");
  CHECK(config["c"] == "None");
  CHECK(config["d"] == "?");
  CHECK(config["e"] == "7");
  CHECK(config["f"] == "[1, 2]");
  REQUIRE(config.notes.size() == 1);
  CHECK(config.notes[0] == "a.yaml:4: NONE is a variable of the job's environment");
}

TEST_CASE("selecting what is absent gives the default") {
  const auto config = resolve(
      "a: ${oc.select:no.where,3}\nb: ${oc.select:c.x}\nc:\n  x: 1\n  y: ???\nd: "
      "${oc.select:c.y,4}\n"
      "e: ${oc.dict.keys:c}\nf: ${oc.create:{q:1}}\ng: ${oc.select:nothing}\n");
  CHECK(config["a"] == "3");
  CHECK(config["b"] == "1");
  CHECK(config["d"] == "4");
  CHECK(config["e"] == "['x', 'y']");
  CHECK(config["f"] == "{'q': 1}");
  CHECK(config["g"] == "None");
}

TEST_CASE("resolvers that calculate are calculated, others are named") {
  const auto config = resolve(
      "a: 12\nb: ${eval:'${a} * 2 + 1'}\nc: ${mul:${a},3}\nd: ${div:${a},4}\ne: ${div:${a},5}\n"
      "f: ${eval:'max(${a}, 20) if ${a} > 3 else 0'}\ng: ${load_classes:${a}}\n"
      "h: ${eval:'[i for i in range(3)]'}\ni: ${int:3.7}\nj: ${now:%Y}\n");
  CHECK(config["b"] == "25");
  CHECK(config["c"] == "36");
  CHECK(config["d"] == "3");
  CHECK(config["e"] == "?");
  const auto* open = std::get_if<Unknown>(&find_path(config.root, "e")->data);
  REQUIRE(open != nullptr);
  CHECK(repr(Value::list(*open->may_be)) == "[2.4, 2]");
  CHECK(config["f"] == "20");
  CHECK(config["g"] == "?");
  CHECK(config["h"] == "?");
  CHECK(config["i"] == "3");
  CHECK(config["j"] == "?");
  CHECK(config.notes.size() == 2);
}

TEST_CASE("references in circles and to nowhere are unknown and named") {
  const auto config = resolve("a: ${b}\nb: ${a}\nc: {d: '${c}'}\ne: ${nope}\nf: ${open\n");
  CHECK(config["a"] == "?");
  CHECK(config["b"] == "?");
  CHECK(config["e"] == "?");
  CHECK(config["f"] == "?");
  CHECK(config.notes.size() >= 3);
}

TEST_CASE("chains, towers and bombs of references end") {
  std::string chain;
  std::string bomb;
  std::string tower = "a: ";
  for (int i = 0; i < 5000; ++i) {
    chain += "a" + std::to_string(i) + ": ${a" + std::to_string(i + 1) + "}\n";
    tower += "${a.";
  }
  for (int i = 0; i < 40; ++i) {
    const auto next = "${a" + std::to_string(i + 1) + "}";
    bomb += "a" + std::to_string(i);
    bomb.append(": ['").append(next).append("', '").append(next).append("']\n");
  }
  CHECK(resolve(chain)["a0"] == "?");
  CHECK(resolve(tower + std::string(5000, '}') + "\n")["a"] == "?");
  CHECK_FALSE(resolve(bomb + "a40: x\n").notes.empty());
}

TEST_CASE("dot lists set, add and remove values with the place of their word") {
  auto root = parse_config("a: {b: 1, c: [x, y]}\nd: 2\n", ConfigFormat::yaml, "a.yaml");
  REQUIRE(root);
  const auto word = std::make_shared<const Place>(Place{"<command>", 0, "a.b=5", {}, {}});
  const List words = {Value("a.b=5", word), Value("+e.f=[1,2]"), Value("++g='3'"), Value("~d"),
                      Value("a.c[1]=z"),    Value("no equals"),  Value()};
  apply_dotlist(*root, words);
  CHECK(repr(*root) == "{'a': {'b': 5, 'c': ['x', 'z']}, 'e': {'f': [1, 2]}, 'g': '3'}");
  CHECK(find_path(*root, "a.b")->place == word);
  std::string deep = "a";
  for (int i = 0; i < 50'000; ++i) deep += ".a";
  const List hostile = {Value(deep + "=1"), Value("=1"), Value("~")};
  apply_dotlist(*root, hostile);
  CHECK(root->entries()->size() == 3);
}

}  // namespace
}  // namespace schedmate::config
