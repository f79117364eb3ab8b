// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "config/config.hpp"
#include "tests/support/small_tree.hpp"

namespace schedmate::config {
namespace {

using testing::SmallTree;

TEST_CASE("bases are merged below the file, beside it first, and values are marked as composed") {
  SmallTree tree({{"base/root.yml", "iters: 100\nmodel: {type: A, depth: 18}\n"},
                  {"base/mid.yml", "_base_: root.yml\nmodel: {depth: 50}\nlr: 0.1\n"},
                  {"net/leaf.yml", "_base_: '../base/mid.yml'\nlr: 0.2\n"}});
  const auto config = read_config_chain(*tree, "net/leaf.yml");
  REQUIRE(config);
  CHECK(repr(*config) == "{'iters': 100, 'model': {'type': 'A', 'depth': 50}, 'lr': 0.2}");
  const auto place = find_path(*config, "model.depth")->place;
  CHECK(place->file == "base/mid.yml");
  CHECK(place->source == FactSource::composition);
}

TEST_CASE("of several bases the later wins, and a path may start at the root") {
  SmallTree tree({{"conf/a.yaml", "x: 1\ny: 1\n"},
                  {"conf/b.yaml", "y: 2\n"},
                  {"exp/c.yaml", "BASE: ['', '../conf/a.yaml', 'conf/b.yaml']\nz: 3\n"}});
  CHECK(repr(*read_config_chain(*tree, "exp/c.yaml")) == "{'x': 1, 'y': 2, 'z': 3}");
}

TEST_CASE("a block that inherits nothing replaces the base's") {
  SmallTree tree({{"a.yml", "opt: {type: sgd, momentum: 0.9}\nloss: {a: 1}\n"},
                  {"b.yml",
                   "_base_: a.yml\nopt: {_inherited_: False, type: adam}\n"
                   "loss: {_delete_: true, b: 2}\n"}});
  CHECK(repr(*read_config_chain(*tree, "b.yml")) == "{'opt': {'type': 'adam'}, 'loss': {'b': 2}}");
}

TEST_CASE("a key is a base only where it holds paths of configs") {
  SmallTree tree({{"a.yaml", "base: 0.5\nextends: [x, y]\ninclude: true\n"}});
  const auto config = read_config_chain(*tree, "a.yaml");
  CHECK(repr(*config) == "{'base': 0.5, 'extends': ['x', 'y'], 'include': True}");
  CHECK(config->entries()->find("base")->place->source == FactSource::config);
}

TEST_CASE("bases that are absent, broken or go in circles are named and left out") {
  SmallTree tree({{"a.yaml", "_BASE_: [b.yaml, gone.yaml, broken.yaml, ../../out.yaml]\nx: 1\n"},
                  {"b.yaml", "_BASE_: a.yaml\ny: 2\n"},
                  {"broken.yaml", "a: [\n"}});
  const auto config = read_config_chain(*tree, "a.yaml");
  REQUIRE(config);
  CHECK(repr(*config) == "{'y': 2, 'x': 1}");
  // Of the broken one both are said: what is wrong with it, and who is based on it.
  REQUIRE(tree->degraded().size() == 5);
  CHECK(std::ranges::count_if(tree->degraded(), [](const std::string& note) {
          return note.find("broken.yaml") != std::string::npos;
        }) == 2);
  CHECK(tree->degraded()[0] ==
        "b.yaml:1: the base config 'a.yaml' leads back to a file that is based on it");
  CHECK_FALSE(read_config_chain(*tree, "none.yaml"));
}

TEST_CASE("a tower of bases ends") {
  SmallTree tree({{"a.yaml", "_base_: [b.yaml, b.yaml]\n"},
                  {"b.yaml", "_base_: [c.yaml, c.yaml]\n"},
                  {"c.yaml", "_base_: [d.yaml, d.yaml]\n"},
                  {"d.yaml", "_base_: [e.yaml, e.yaml]\n"},
                  {"e.yaml", "_base_: [f.yaml, f.yaml]\n"},
                  {"f.yaml", "_base_: [g.yaml, g.yaml]\n"},
                  {"g.yaml", "_base_: [h.yaml, h.yaml]\n"},
                  {"h.yaml", "x: 1\n"}});
  const auto config = read_config_chain(*tree, "a.yaml");
  REQUIRE(config);
  CHECK(tree->degraded().size() > 0);
}

TEST_CASE("hyperpyyaml references are followed, calculated and included") {
  SmallTree tree({{"train.yaml",
                   "seed: 7\nepochs: !ref <seed> * 2 + 1\nout: !ref results/<seed>/x\n"
                   "save: !ref <out>/save\nhalf: !ref <epochs> // 2\nnet: {a: {b: 5}}\n"
                   "pick: !ref <net[a][b]>\nmodel: !new:torch.nn.Linear\n  in: !ref <pick>\n"
                   "k: !tuple (3, 3)\nlater: !PLACEHOLDER\nuses: !ref <later>/x\n"
                   "other: !include:sub/data.yaml\n  batch: 8\nloop: !ref <loop>\n"},
                  {"sub/data.yaml", "batch: 4\nworkers: !ref <batch>\n"}});
  auto config = read_config(*tree, "train.yaml");
  REQUIRE(config);
  resolve_hyperpyyaml(*tree, *config);
  const auto at = [&](std::string_view path) { return repr(*find_path(*config, path)); };
  CHECK(at("epochs") == "15");
  CHECK(at("save") == "'results/7/x/save'");
  CHECK(at("half") == "7");
  CHECK(at("model") == "{'!tag': '!new:torch.nn.Linear', 'in': 5}");
  CHECK(at("k") == "[3, 3]");
  CHECK(at("uses") == "?");
  CHECK(at("other") == "{'batch': 8, 'workers': 8}");
  CHECK(at("loop") == "?");
  const auto place = find_path(*config, "epochs")->place;
  CHECK(place->line == 2);
  CHECK(place->from->line == 1);
  CHECK(tree->degraded().size() == 2);
}

TEST_CASE("an include of itself ends") {
  SmallTree tree({{"a.yaml", "x: !include:a.yaml\ny: !include:a.yaml\nz: !include:gone.yaml\n"}});
  auto config = read_config(*tree, "a.yaml");
  REQUIRE(config);
  resolve_hyperpyyaml(*tree, *config);
  CHECK_FALSE(tree->degraded().empty());
}

}  // namespace
}  // namespace schedmate::config
