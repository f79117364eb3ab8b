// SPDX-License-Identifier: Apache-2.0
#include "config/hydra.hpp"

#include <doctest/doctest.h>

#include "tests/support/small_tree.hpp"

namespace schedmate::config {
namespace {

using testing::SmallTree;

struct Composed {
  HydraConfig made;
  std::vector<std::string> notes;
  std::string error;
  std::string operator[](std::string_view path) const {
    const Value* found = find_path(made.config, path);
    return found == nullptr ? "absent" : repr(*found);
  }
};

Composed compose(SmallTree& tree, std::initializer_list<const char*> words,
                 std::string name = "train") {
  List overrides;
  const auto place = std::make_shared<const Place>(Place{"<command>", 0, "word", {}, {}});
  HydraRequest request{"conf", std::move(name), {}, false, {}};
  for (const std::string word : words) {
    if (word == "-m") request.multirun = true;
    overrides.emplace_back(word, place);
  }
  request.overrides = overrides;
  auto made = compose_hydra(*tree, request);
  if (!made) return {{}, {}, made.error().message};
  return {*std::move(made), tree->degraded(), ""};
}

SmallTree template_tree() {
  return SmallTree(
      {{"conf/train.yaml",
        "# @package _global_\ndefaults:\n  - _self_\n  - data: mnist\n  - model: small\n"
        "  - trainer: default\n  - logger: null\n  - hydra: default\n"
        "  - experiment: null\n  - optional local: default\nseed: null\n"
        "name: ${data.name}_${model.width}\n"},
       {"conf/data/mnist.yaml", "name: mnist\nbatch: 64\n"},
       {"conf/data/cifar.yaml", "defaults:\n  - mnist\nname: cifar\n"},
       {"conf/model/small.yaml", "width: 8\n"},
       {"conf/model/large.yaml", "defaults:\n  - small\n  - _self_\nwidth: 64\n"},
       {"conf/trainer/default.yaml", "max_epochs: 10\ndevices: 1\n"},
       {"conf/trainer/ddp.yaml", "defaults:\n  - default\ndevices: 4\n"},
       {"conf/hydra/default.yaml", "run: {dir: logs}\n"},
       {"conf/logger/csv.yaml", "csv: {path: x}\n"},
       {"conf/experiment/big.yaml",
        "# @package _global_\ndefaults:\n  - override /model: large\n"
        "  - override /data: cifar\nseed: 5\ntrainer: {max_epochs: 3}\n"}});
}

TEST_CASE("groups go to their package and the primary config refers to them") {
  auto tree = template_tree();
  const auto config = compose(tree, {});
  CHECK(repr(config.made.config) ==
        "{'seed': None, 'name': 'mnist_8', 'data': {'name': 'mnist', 'batch': 64}, "
        "'model': {'width': 8}, 'trainer': {'max_epochs': 10, 'devices': 1}}");
  CHECK(repr(*config.made.choices.find("data")) == "'mnist'");
  CHECK(config.made.choices.find("experiment")->is_none());
  CHECK(config.notes.empty());
  CHECK(find_path(config.made.config, "data.batch")->place->file == "conf/data/mnist.yaml");
  CHECK(find_path(config.made.config, "data.batch")->place->source == FactSource::composition);
}

TEST_CASE("an experiment overrides groups before it, the command overrides the experiment") {
  auto tree = template_tree();
  const auto by_file = compose(tree, {"experiment=big"});
  CHECK(by_file["model.width"] == "64");
  CHECK(by_file["data"] == "{'name': 'cifar', 'batch': 64}");
  CHECK(by_file["trainer.max_epochs"] == "3");
  const auto by_word = compose(tree, {"+experiment=big", "model=small", "trainer.max_epochs=7"});
  CHECK(by_word["model.width"] == "8");
  CHECK(by_word["trainer.max_epochs"] == "7");
  CHECK(find_path(by_word.made.config, "trainer.max_epochs")->place->source == FactSource::command);
}

TEST_CASE("the command chooses groups, adds, removes and sets values") {
  auto tree = template_tree();
  const auto config =
      compose(tree, {"trainer=ddp", "logger=csv", "~model", "+new.key=[1,{a:b}]",
                     "++data.batch=1e3", "hydra.run.dir=elsewhere", "seed='3'", "data.name=null"});
  CHECK(config["trainer"] == "{'max_epochs': 10, 'devices': 4}");
  CHECK(config["logger"] == "{'csv': {'path': 'x'}}");
  CHECK(config["model"] == "absent");
  CHECK(config["new.key"] == "[1, {'a': 'b'}]");
  CHECK(config["data.batch"] == "1000.0");
  CHECK(config["seed"] == "'3'");
  CHECK(config["hydra"] == "absent");
  CHECK(config.made.refusals.empty());
}

TEST_CASE("what Hydra itself would refuse is said") {
  auto tree = template_tree();
  const auto config = compose(tree, {"data.bach=3"});
  REQUIRE(config.made.refusals.size() == 1);
  CHECK(config.made.refusals[0] == "'data.bach' is not in the config");
  const auto group = compose(tree, {"experiment=big", "model@other=small"});
  REQUIRE(group.made.refusals.size() == 1);
  CHECK(group.made.refusals[0].contains("'model@other' is overridden but is in no defaults list"));
}

TEST_CASE("what a chosen config deep in a group names counts from the group") {
  SmallTree tree({{"conf/train.yaml", "defaults:\n  - model: lm/tiny\n"},
                  {"conf/model/lm/tiny.yaml", "defaults:\n  - lm/base\nwidth: 4\n"},
                  {"conf/model/lm/base.yaml", "depth: 2\n"}});
  const auto config = compose(tree, {});
  CHECK(config.notes.empty());
  CHECK(config["model"] == "{'lm': {'depth': 2}, 'width': 4}");
}

TEST_CASE("packages: of the parent, by @, absolute, by header and _here_") {
  SmallTree tree(
      {{"conf/train.yaml",
        "defaults:\n  - server: apache\n  - db@backup: pg\n  - multi: [a, b]\n  - _self_\n"},
       {"conf/server/apache.yaml",
        "defaults:\n  - db: inner\n  - /db@_here_: pg\n  - /db@_global_.top: pg\n"
        "  - helper\nport: 80\n"},
       {"conf/server/helper.yaml", "h: 1\nport: 99\n"},
       {"conf/server/db/inner.yaml", "kind: inner\n"},
       {"conf/db/pg.yaml", "kind: pg\n"},
       {"conf/multi/a.yaml", "# @package x.y\na: 1\nc: 1\n"},
       {"conf/multi/b.yaml", "b: 2\n"}});
  CHECK(repr(compose(tree, {}).made.config) ==
        "{'server': {'db': {'kind': 'inner'}, 'kind': 'pg', 'h': 1, 'port': 80}, "
        "'top': {'kind': 'pg'}, 'backup': {'kind': 'pg'}, 'x': {'y': {'a': 1, 'c': 1}}, "
        "'multi': {'b': 2}}");
}

TEST_CASE("a primary config stands above its defaults, below them where hydra-core 1.0 is pinned") {
  const std::string primary = "defaults:\n  - data: a\ndata: {x: 1}\n";
  SmallTree newer({{"conf/train.yaml", primary},
                   {"conf/data/a.yaml", "x: 2\n"},
                   {"requirements.txt", "hydra-core>=1.0\n"}});
  SmallTree older({{"conf/train.yaml", primary},
                   {"conf/data/a.yaml", "# @package _group_\nx: 2\n"},
                   {"requirements.txt", "torch\nhydra-core==1.0.6\n"}});
  CHECK(compose(newer, {})["data.x"] == "1");
  CHECK(compose(older, {})["data.x"] == "2");
}

TEST_CASE("before hydra-core 1.1 a group without a header went to the top") {
  for (const std::string pin : {"hydra-core==1.0.6", "hydra_core<1.0"}) {
    SmallTree tree({{"conf/train.yaml", "defaults:\n  - data: a\n"},
                    {"conf/data/a.yaml", "x: 2\n"},
                    {"requirements.txt", pin + "\n"}});
    CHECK(compose(tree, {})["x"] == "2");
  }
}

TEST_CASE("options may be made of other choices") {
  SmallTree tree({{"conf/train.yaml",
                   "defaults:\n  - net: ${data}_net\n  - data: a\n  - old: ${defaults.1.data}\n"},
                  {"conf/data/a.yaml", "n: 1\n"},
                  {"conf/data/b.yaml", "n: 2\n"},
                  {"conf/net/a_net.yaml", "w: 10\n"},
                  {"conf/net/b_net.yaml", "w: 20\n"},
                  {"conf/old/a.yaml", "o: a\n"},
                  {"conf/old/b.yaml", "o: b\n"}});
  CHECK(compose(tree, {})["net.w"] == "10");
  const auto other = compose(tree, {"data=b"});
  CHECK(other["net.w"] == "20");
  CHECK(other["old.o"] == "'b'");
}

TEST_CASE("a sweep leaves values open and says how often the job runs") {
  auto tree = template_tree();
  const auto config = compose(tree, {"-m", "data.batch=32,64,128", "model=small,large",
                                     "+lr=range(1,5)", "seed=interval(0,9)"});
  CHECK(config.made.runs == 24);
  CHECK(config["data.batch"] == "?");
  CHECK(config["data.name"] == "'mnist'");
  const auto may_be = [&](std::string_view path) {
    const auto* open = std::get_if<Unknown>(&find_path(config.made.config, path)->data);
    return open != nullptr && open->may_be ? repr(Value::list(*open->may_be)) : "nothing";
  };
  CHECK(may_be("data.batch") == "[32, 64, 128]");
  CHECK(may_be("model.width") == "[8, 64]");
  CHECK(may_be("lr") == "[1, 2, 3, 4]");
  CHECK(may_be("seed") == "nothing");
  CHECK(compose(tree, {"seed=1,2"}).made.runs == 1);
}

TEST_CASE("sweeps in the config count too, searching sweepers by their trials") {
  SmallTree tree({{"conf/train.yaml", "defaults:\n  - _self_\n  - search: null\na: 1\nb: 2\n"},
                  {"conf/search/grid.yaml",
                   "# @package _global_\nhydra: {mode: MULTIRUN, sweeper: {params: {a: '1,2', "
                   "b: 'choice(3,4,5)'}}}\n"},
                  {"conf/search/optuna.yaml",
                   "# @package _global_\ndefaults:\n  - override /hydra/sweeper: optuna\n"
                   "hydra: {mode: MULTIRUN, sweeper: {n_trials: 30, params: {a: 'interval(1,2)'}}}"
                   "\n"}});
  CHECK(compose(tree, {"search=grid"}).made.runs == 6);
  CHECK(compose(tree, {"search=grid", "b=3"}).made.runs == 2);
  const auto searched = compose(tree, {"search=optuna"});
  CHECK(searched.made.runs == 30);
  CHECK(searched["a"] == "?");
}

TEST_CASE("configs are sought in the search path too") {
  SmallTree tree({{"conf/train.yaml",
                   "defaults:\n  - data: far\nhydra: {searchpath: ['pkg://lib.more', "
                   "'file://gone']}\n"},
                  {"src/lib/more/data/far.yaml", "n: 9\n"}});
  const auto config = compose(tree, {});
  CHECK(config["data.n"] == "9");
  REQUIRE(config.notes.size() == 1);
  CHECK(config.notes[0] == "the config search path 'file://gone' is not in the tree");
}

TEST_CASE("structured configs, missing choices and values are named or unknown") {
  SmallTree tree({{"conf/train.yaml",
                   "defaults:\n  - base_schema\n  - model: ???\n  - optional x: none\nlr: ???\n"
                   "twice: ${lr}\n"}});
  const auto config = compose(tree, {});
  CHECK(config["lr"] == "?");
  CHECK(config["twice"] == "?");
  CHECK(config.notes.size() == 2);
  CHECK(compose(tree, {}, "nothing").error.contains("'nothing' is not in conf"));
}

TEST_CASE("defaults lists in circles and broken files end with a note") {
  SmallTree tree({{"conf/train.yaml", "defaults:\n  - a\n  - broken\n  - 3\n  - [x]\nq: 1\n"},
                  {"conf/a.yaml", "defaults:\n  - b\n  - b\n"},
                  {"conf/b.yaml", "defaults:\n  - a\n  - a\n"},
                  {"conf/broken.yaml", "a: [\n"}});
  const auto config = compose(tree, {});
  CHECK(config["q"] == "1");
  CHECK(config.notes.size() >= 2);
}

TEST_CASE("a group that goes to the root is chosen by its bare name too") {
  SmallTree tree({{"conf/train.yaml", "defaults:\n  - _self_\n  - task@_global_: walk\nbatch: 1\n"},
                  {"conf/task/easy.yaml", "frames: 9\n"},
                  {"conf/task/walk.yaml", "batch: 2\n"},
                  {"conf/task/run.yaml", "defaults:\n  - easy\n  - _self_\nbatch: 3\n"}});
  CHECK(compose(tree, {})["batch"] == "2");
  for (const char* word : {"task=run", "task@_global_=run"}) {
    const auto config = compose(tree, {word});
    CHECK(config["batch"] == "3");
    CHECK(config["frames"] == "9");
    CHECK(config.made.refusals.empty());
  }
}

}  // namespace
}  // namespace schedmate::config
