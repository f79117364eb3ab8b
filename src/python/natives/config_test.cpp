// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python::natives {
namespace {

using testing::run_program;

TEST_CASE("yaml, json and toml files of the tree are read with their places") {
  const auto trial = run_program(R"(
import json, yaml, toml
with open('a.yaml') as f:
    a = yaml.safe_load(f)
b = json.loads(open('b.json').read())
c = toml.load('c.toml')
got = [a['lr'], b['n'], c['t']['x'], a['opt']['name']]
)",
                                 "",
                                 {{"a.yaml", "lr: 0.5\nopt: {name: sgd}\n"},
                                  {"b.json", "{\"n\": 3}"},
                                  {"c.toml", "[t]\nx = 7\n"}});
  CHECK(trial["got"] == "[0.5, 3, 7, 'sgd']");
  REQUIRE(trial.seen.configs.size() == 3);
  CHECK(trial.seen.configs[0].file == "a.yaml");
  CHECK(find_path(trial.seen.configs[0].value, "lr")->place->line == 1);
}

TEST_CASE("OmegaConf merges, takes the command's dots and interpolates at reading") {
  const auto trial =
      run_program(R"(
from omegaconf import OmegaConf
base = OmegaConf.load('a.yaml')
cfg = OmegaConf.merge(base, OmegaConf.create({'extra': 1}), OmegaConf.from_cli())
cfg.opt.wd = 9
got = [cfg.opt.lr, cfg.twice, cfg.extra, cfg.get('none', 4), cfg['opt']['wd']]
plain = OmegaConf.to_container(cfg, resolve=True)['twice']
)",
                  "opt.lr=3 n=2", {{"a.yaml", "n: 1\nopt:\n  lr: 1\ntwice: ${n}\n"}});
  CHECK(trial["got"] == "[3, 2, 1, 4, 9]");
  CHECK(trial["plain"] == "2");
}

TEST_CASE("hydra.main composes, and instantiate makes targets of the tree and outside") {
  const auto trial =
      run_program(R"(
import hydra
from hydra.utils import instantiate
class Net:
    def __init__(self, width, opt=None):
        self.width = width
        self.opt = opt
@hydra.main(version_base=None, config_path='conf', config_name='config')
def main(cfg):
    global got
    net = instantiate(cfg.net, width=cfg.width)
    opt = instantiate(cfg.opt)
    opt(params=1)
    got = [net.width, cfg.opt.lr]
main()
)",
                  "width=4 opt=adam",
                  {{"conf/config.yaml",
                    "defaults:\n  - opt: sgd\n  - _self_\n"
                    "width: 1\nnet:\n  _target_: main.Net\n"},
                   {"conf/opt/sgd.yaml", "_target_: torch.optim.SGD\nlr: 1\n"},
                   {"conf/opt/adam.yaml", "_target_: torch.optim.Adam\n_partial_: true\nlr: 2\n"}});
  CHECK(trial["got"] == "[4, 2]");
  CHECK(trial.argument("torch.optim.Adam", "lr") == "2");
  CHECK(trial.argument("torch.optim.Adam", "params") == "1");
}

TEST_CASE("yacs merges files and typed opts over the defaults") {
  const auto trial =
      run_program(R"(
import argparse
from yacs.config import CfgNode as CN
_C = CN()
_C.MODEL = CN()
_C.MODEL.NAME = 'x'
_C.TRAIN = CN({'LR': 1.0, 'EPOCHS': 5})
p = argparse.ArgumentParser()
p.add_argument('--cfg')
p.add_argument('opts', nargs=argparse.REMAINDER)
args = p.parse_args()
cfg = _C.clone()
cfg.defrost()
cfg.merge_from_file(args.cfg)
cfg.merge_from_list(args.opts)
cfg.freeze()
got = [cfg.MODEL.NAME, cfg.TRAIN.LR, cfg.TRAIN.EPOCHS, _C.TRAIN.LR]
)",
                  "--cfg a.yaml TRAIN.LR 2 MODEL.NAME 7", {{"a.yaml", "TRAIN:\n  EPOCHS: 9\n"}});
  CHECK(trial["got"] == "['7', 2.0, 9, 1.0]");
}

TEST_CASE("mmengine's Python configs take the options of the command") {
  const auto trial = run_program(R"(
import argparse
from mmengine.config import Config, DictAction
p = argparse.ArgumentParser()
p.add_argument('config')
p.add_argument('--cfg-options', nargs='+', action=DictAction)
args = p.parse_args()
cfg = Config.fromfile(args.config)
cfg.merge_from_dict(args.cfg_options)
cfg.work_dir = 'out'
got = [cfg.optim.lr, cfg.epochs, cfg.optim.type, cfg.get('work_dir')]
)",
                                 "c/leaf.py --cfg-options optim.lr=3 x.y=1",
                                 {{"c/leaf.py", "_base_ = './base.py'\nepochs = 4\n"},
                                  {"c/base.py", "optim = dict(type='SGD', lr=1)\nepochs = 1\n"}});
  CHECK(trial["got"] == "[3, 4, 'SGD', 'out']");
}

TEST_CASE("hyperpyyaml resolves references and makes objects") {
  const auto trial = run_program(R"(
import sys
import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml
file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
with open(file) as f:
    hparams = load_hyperpyyaml(f, overrides)
got = [hparams['lr'], hparams['double']]
hparams['opt'](params=3)
)",
                                 "h.yaml --lr 0.5 --precision fp16",
                                 {{"h.yaml",
                                   "lr: 0.1\ndouble: !ref <lr> * 2\n"
                                   "opt: !name:torch.optim.Adam\n  lr: !ref <lr>\n"}});
  CHECK(trial["got"] == "[0.5, 1.0]");
  CHECK(trial.argument("torch.optim.Adam", "lr") == "0.5");
}

TEST_CASE("HParams take their changes from a text") {
  const auto trial = run_program(R"(
import argparse
import tensorflow as tf
p = argparse.ArgumentParser()
p.add_argument('--hparams')
h = tf.contrib.training.HParams(epochs=500, amp=False, sizes=[1], name='a', lr=1e-3)
h.parse(p.parse_args().hparams)
got = [h.epochs, h.amp, h.sizes, h.name, h.values()['lr']]
)",
                                 "--hparams=epochs=100,amp=True,sizes=[2,3],name=b");
  CHECK(trial["got"] == "[100, True, [2, 3], 'b', 0.001]");
}

TEST_CASE("a class that extends a config class is one, with members of its own") {
  const auto trial = run_program(R"(
from fvcore.common.config import CfgNode as Base
class Node(Base):
    def merge_from_file(self, name):
        self.merge_from_other_cfg(type(self)(self.load_yaml_with_base(name)))
    def steps(self):
        return self.SOLVER.STEPS * 2
class Counted(Base):
    def __init__(self, values=None):
        super().__init__(values)
        self.made = True
base = Node()
base.SOLVER = Node()
base.SOLVER.STEPS = 10
base.SOLVER.LR = 0.1
cfg = base.clone()
cfg.merge_from_file('top.yaml')
cfg.merge_from_list(['SOLVER.LR', '1'])
got = [cfg.SOLVER.STEPS, cfg.SOLVER.LR, cfg.steps(), base.SOLVER.LR]
kinds = [isinstance(cfg, Node), isinstance(cfg, Base), isinstance(cfg.SOLVER, Node)]
counted = Counted({'a': 3})
more = [counted.a, counted.made]
)",
                                 "",
                                 {{"top.yaml", "_BASE_: low.yaml\nSOLVER:\n  STEPS: 30\n"},
                                  {"low.yaml", "SOLVER:\n  STEPS: 20\n  LR: 0.5\n"}});
  CHECK(trial["got"] == "[30, 1.0, 60, 0.1]");
  CHECK(trial["kinds"] == "[True, True, True]");
  CHECK(trial["more"] == "[3, True]");
  REQUIRE(trial.seen.configs.size() == 1);
  CHECK(repr(trial.seen.configs[0].value) == "{'SOLVER': {'STEPS': 30, 'LR': 1.0}}");
}

TEST_CASE("dicts with attributes, nested and written to") {
  const auto trial = run_program(R"(
from easydict import EasyDict as edict
from types import SimpleNamespace
c = edict({'a': {'b': 1}})
c.a.b += 1
c.new = edict()
c.new.x = 3
s = SimpleNamespace(**{'lr': 2})
got = [c.a.b, c['a']['b'], c.new.x, s.lr, sorted(c.keys())]
)");
  CHECK(trial["got"] == "[2, 2, 3, 2, ['a', 'new']]");
}

}  // namespace
}  // namespace schedmate::python::natives
