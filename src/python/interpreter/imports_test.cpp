// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

TEST_CASE("outside names are resolved through imports and aliases") {
  const auto trial = run_program(R"(
import torch.nn as nn
from torch import optim as o
from torch.optim.adamw import AdamW
import pytorch_lightning as pl
import torchvision.models as models
name = 'resnet50'
nn.Linear(3, 4)
o.SGD(lr=0.1)
AdamW(lr=0.2)
pl.Trainer(max_epochs=3)
getattr(models, name)(pretrained=True)
models.__dict__[name](pretrained=False)
)");
  std::vector<std::string> names;
  for (const Call& call : trial.seen.calls) names.push_back(call.callee);
  CHECK(names == std::vector<std::string>{"torch.nn.Linear", "torch.optim.SGD", "torch.optim.AdamW",
                                          "lightning.pytorch.Trainer",
                                          "torchvision.models.resnet50",
                                          "torchvision.models.resnet50"});
  CHECK(trial.seen.imports.find("torch.nn") != nullptr);
}

TEST_CASE("libraries under their other names are the same") {
  const auto trial = run_program(R"(
import ruamel_yaml as yaml
from etils import epath
config = yaml.load(open('a.yaml'), Loader=yaml.Loader)
folder = str(epath.Path('here') / 'there')
)",
                                 "", {{"a.yaml", "size: 3\n"}});
  CHECK(trial["config"] == "{'size': 3}");
  CHECK(trial["folder"] == "'here/there'");
}

TEST_CASE("modules of the tree are run once, packages before what is in them") {
  const auto trial = run_program(R"(
from pkg.models import build
from pkg import helper
import pkg.models as again
a = build()
b = helper.size
c = again.build()
)",
                                 "",
                                 {{"pkg/__init__.py", "kind = 'package'\n"},
                                  {"pkg/helper.py", "size = 7\n"},
                                  {"pkg/models/__init__.py", "from .net import *\n"},
                                  {"pkg/models/net.py",
                                   "from ..helper import size as _s\nfrom .. import kind\n"
                                   "def build():\n  return [_s, kind]\n"}});
  CHECK(trial["a"] == "[7, 'package']");
  CHECK(trial["b"] == "7");
  CHECK(trial["c"] == "[7, 'package']");
  CHECK(trial.seen.files.size() == 5);
  CHECK(trial.seen.files.front() == "main.py");
}

TEST_CASE("sys.path, src folders and names known at run time are followed") {
  const auto trial = run_program(R"(
import sys, os, importlib
sys.path.append(os.path.join(os.path.dirname(__file__), 'more'))
import extra
from lib_in_src import thing
late = importlib.import_module('plug.' + 'one')
a, b, c = extra.value, thing, late.value
)",
                                 "",
                                 {{"more/extra.py", "value = 1\n"},
                                  {"src/lib_in_src.py", "thing = 2\n"},
                                  {"plug/one.py", "value = 3\n"}});
  CHECK(trial["a"] == "1");
  CHECK(trial["b"] == "2");
  CHECK(trial["c"] == "3");
}

TEST_CASE("a module that is looked for by ever shorter names fails until it is one") {
  const auto trial = run_program(R"(
import importlib
def find(name):
    parts = name.split('.')
    for i in range(len(parts), 0, -1):
        try:
            module = importlib.import_module('.'.join(parts[:i]))
            return getattr(module, parts[i])
        except:
            pass
net = find('pack.nets.Net')(3)
got = net.width
)",
                                 "",
                                 {{"pack/__init__.py", ""},
                                  {"pack/nets.py",
                                   "class Net:\n  def __init__(self, width):\n"
                                   "    self.width = width\n"}});
  CHECK(trial["got"] == "3");
}

TEST_CASE("a folder of data is no module") {
  const auto trial = run_program("import datasets\ndatasets.load_dataset('glue')\n", "",
                                 {{"datasets/readme.txt", "data\n"}});
  REQUIRE(trial.seen.calls.size() == 1);
  CHECK(trial.seen.calls[0].callee == "datasets.load_dataset");
}

TEST_CASE("only the entry is __main__, and circles of imports end") {
  const auto trial =
      run_program(R"(
import one
if __name__ == '__main__':
    ran = True
)",
                  "",
                  {{"one.py", "import two\nif __name__ == '__main__': raise OSError\n"},
                   {"two.py", "from one import missing\nimport one\nok = 1\n"}});
  CHECK(trial["ran"] == "True");
  CHECK(trial.seen.stops.empty());
}

TEST_CASE("texts and files that the program runs work on its names") {
  const auto trial = run_program(R"(
import sys
rate = 0.1
size = eval('2 ** 5')
exec(open('settings.py').read())
globals()['added'] = 5
)",
                                 "", {{"settings.py", "\nrate = 0.5  # faster\n"}});
  CHECK(trial["size"] == "32");
  CHECK(trial["rate"] == "0.5");
  CHECK(trial["added"] == "5");
  CHECK(trial.seen.globals.find("rate")->place->file == "settings.py");
  CHECK(trial.seen.globals.find("rate")->place->line == 2);
}

TEST_CASE("a file that is run on a dict of names has its relative imports beside it") {
  const auto trial = run_program(R"(
from iopath.common.file_io import PathManager
manager = PathManager()
def load(name):
    names = {'__file__': name}
    with manager.open(name) as f:
        exec(compile(f.read(), name, 'exec'), names)
    return names
rate, size = 1, 1
got = load('conf/top/large.py')
there = [manager.isfile('conf/top/large.py'), got['size'], got['rate']]
)",
                                 "",
                                 {{"conf/top/large.py", "from ..base import rate\nsize = 24\n"},
                                  {"conf/base.py", "rate = 0.5\n"}});
  CHECK(trial["there"] == "[True, 24, 0.5]");
  REQUIRE(trial.seen.configs.size() == 1);
  CHECK(repr(trial.seen.configs[0].value) == "{'rate': 0.5, 'size': 24}");
  CHECK(trial["size"] == "1");
}

TEST_CASE("a library that is known by name is not followed through its own source") {
  const auto trial = run_program("import flax.linen as nn\nlayer = nn.Dense(4)\n", "",
                                 {{"flax/__init__.py", "raise OSError('meta programs')\n"},
                                  {"flax/linen.py", "Dense = None\n"}});
  REQUIRE(trial.seen.calls.size() == 1);
  CHECK(trial.seen.calls[0].callee == "flax.linen.Dense");
}

TEST_CASE("what a package brings along is found where it lies before installation") {
  const auto trial = run_program(
      R"(
import pkg_resources
path = pkg_resources.resource_filename('tool.zoo', 'conf/a.yaml')
)",
      "", {{"tool/__init__.py", ""}, {"tool/zoo/__init__.py", ""}, {"conf/a.yaml", "lr: 1\n"}});
  CHECK(trial["path"] == "'tool/zoo/../../conf/a.yaml'");
}

TEST_CASE("a file that is not Python throughout is read as far as it goes") {
  const auto trial = run_program("import odd\nsize = odd.size\n", "",
                                 {{"odd.py", "print 'python 2'\nsize = 3\ndef f(:\n"}});
  CHECK(trial["size"] == "3");
}

TEST_CASE("modules are found by names and paths that are put together") {
  const auto trial = run_program(R"(
import importlib, importlib.util, sys
from zoo import net
from zoo.registry import models
def size_of(path):
    spec = importlib.util.spec_from_file_location('config', path)
    config = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(config)
    return config.size
def twice(n): return 2 * n
a = size_of('configs/large.py')
b = importlib.import_module('.'.join(['zoo', 'exp', 'tiny'])).size
c = models['net'](4)
d = getattr(sys.modules[__name__], 'twice')(5)
)",
                                 "",
                                 {{"configs/large.py", "size = 9\n"},
                                  {"zoo/__init__.py", ""},
                                  {"zoo/exp/__init__.py", ""},
                                  {"exps/tiny.py", "size = 1\n"},
                                  {"zoo/registry.py",
                                   "models = {}\ndef register(f):\n"
                                   "  models[f.__module__.split('.')[-1]] = f\n  return f\n"},
                                  {"zoo/net.py",
                                   "from .registry import register\n@register\n"
                                   "def build(n): return n + 1\n"}});
  CHECK(trial["a"] == "9");
  CHECK(trial["b"] == "1");
  CHECK(trial["c"] == "5");
  CHECK(trial["d"] == "10");
}

}  // namespace
}  // namespace schedmate::python
