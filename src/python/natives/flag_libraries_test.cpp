// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python::natives {
namespace {

using testing::run_program;

TEST_CASE("absl flags are read when the program asks") {
  const auto trial = run_program(R"(
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_integer('steps', 100, 'x')
flags.DEFINE_bool('augment', True, 'x')
flags.DEFINE_list('sizes', '1,2', 'x')
lr = flags.DEFINE_float('lr', 0.1, 'x')
def main(argv):
    global got
    got = [FLAGS.steps, FLAGS.augment, FLAGS.sizes, lr.value]
if __name__ == '__main__':
    app.run(main)
)",
                                 "--steps=5 --noaugment --lr 1");
  CHECK(trial["got"] == "[5, False, ['1', '2'], 1.0]");
}

TEST_CASE("ml_collections' config file takes its argument and overrides") {
  const auto trial = run_program(R"(
from absl import app, flags
from ml_collections import config_flags
FLAGS = flags.FLAGS
config_flags.DEFINE_config_file('config', 'configs/a.py')
def main(_):
    global got
    c = FLAGS.config
    got = [c.size, c.opt.lr, c.opt.name]
app.run(main)
)",
                                 "--config=configs/a.py:big --config.opt.lr=3",
                                 {{"configs/__init__.py", ""}, {"configs/a.py", R"(
import ml_collections
def get_config(kind='small'):
    c = ml_collections.ConfigDict()
    c.size = 10 if kind == 'big' else 1
    c.opt = ml_collections.ConfigDict()
    c.opt.lr = 0.5
    c.opt.name = 'adam'
    return c
)"}});
  CHECK(trial["got"] == "[10, 3.0, 'adam']");
}

TEST_CASE("click binds options and arguments to the function") {
  const auto trial = run_program(R"(
import click
@click.command()
@click.argument('data')
@click.option('--lr', default=0.1)
@click.option('--amp/--no-amp', default=True)
@click.option('--layer', 'layers', multiple=True, type=int)
@click.option('--kind', type=click.Choice(['a', 'b']), required=True)
def main(data, lr, amp, layers, kind):
    global got
    got = [data, lr, amp, layers, kind]
main()
)",
                                 "set --lr 3 --no-amp --layer 1 --layer 2 --kind b");
  CHECK(trial["got"] == "['set', 3.0, False, [1, 2], 'b']");
  CHECK(trial.stops().empty());
}

TEST_CASE("click groups choose a command by name") {
  const auto trial = run_program(R"(
import click
@click.group()
@click.option('--debug', is_flag=True)
def cli(debug):
    global flag
    flag = debug
@cli.command('fit')
@click.option('--epochs', type=int, default=1)
def train(epochs):
    global got
    got = epochs
cli()
)",
                                 "--debug fit --epochs 7");
  CHECK(trial["flag"] == "True");
  CHECK(trial["got"] == "7");
}

TEST_CASE("typer makes options of defaults and arguments of the rest") {
  const auto trial = run_program(R"(
import typer
app = typer.Typer()
@app.command()
def train(data: str, batch_size: int = 8, lr: float = typer.Option(0.1, '--rate'),
          amp: bool = False):
    global got
    got = [data, batch_size, lr, amp]
app()
)",
                                 "set --batch-size 4 --rate 2 --amp");
  CHECK(trial["got"] == "['set', 4, 2.0, True]");
}

TEST_CASE("fire reads words as literals and binds them by name or place") {
  const auto trial = run_program(R"(
import fire
def train(data, lr=0.1, layers=(1,), amp=False, **rest):
    global got
    got = [data, lr, layers, amp, rest]
fire.Fire(train)
)",
                                 "set --lr=1e-2 --layers=[2,3] --amp --other 5");
  CHECK(trial["got"] == "['set', 0.01, [2, 3], True, {'other': 5}]");
}

TEST_CASE("tyro fills a dataclass, nested ones too") {
  const auto trial = run_program(R"(
from dataclasses import dataclass, field
import tyro
@dataclass
class Optim:
    lr: float = 0.1
@dataclass
class Args:
    env_id: str = 'x'
    """the id"""
    anneal: bool = True
    sizes: list[int] = field(default_factory=lambda: [1])
    optim: Optim = field(default_factory=Optim)
args = tyro.cli(Args)
got = [args.env_id, args.anneal, args.sizes, args.optim.lr]
)",
                                 "--env-id y --no-anneal --sizes 2 3 --optim.lr 4");
  CHECK(trial["got"] == "['y', False, [2, 3], 4.0]");
  CHECK(trial.flag("env_id")->owner == "Args");
}

TEST_CASE("tyro chooses among objects by name and changes the parts they are made of") {
  const std::string program = R"(
from dataclasses import dataclass, field
import tyro
@dataclass
class Data:
    batch_size: int = 1
@dataclass
class BigData(Data):
    workers: int = 2
@dataclass
class Config:
    steps: int = 10
    amp: bool = False
    data: Data = field(default_factory=Data)
configs = {'small': Config(), 'big_one': Config(steps=20, amp=True, data=BigData(batch_size=8))}
)";
  const auto by_type = run_program(program + R"(
Union = tyro.conf.FlagConversionOff[
    tyro.extras.subcommand_type_from_defaults(defaults=configs, descriptions={})]
c = tyro.cli(Union)
got = [c.steps, c.amp, c.data.batch_size, c.data.workers]
)",
                                   "big-one --data.workers 4 --steps 30");
  CHECK(by_type["got"] == "[30, True, 8, 4]");
  CHECK(by_type.seen.files.size() == 1);
  CHECK(by_type.flag("data.batch_size")->owner == "BigData");
  const auto at_once = run_program(program + R"(
c = tyro.extras.overridable_config_cli({k: ('what', v) for k, v in configs.items()})
got = [c.steps, c.amp, c.data.batch_size]
)",
                                   "small --amp True");
  CHECK(at_once["got"] == "[10, True, 1]");
  const auto function = run_program(program + R"(
def train(lr: float = 0.1):
    return lr
got = tyro.extras.subcommand_cli_from_dict({'train': train, 'small': Config})
)",
                                    "train --lr 2");
  CHECK(function["got"] == "2.0");
}

TEST_CASE("a class of the program that extends HfArgumentParser is one") {
  const auto trial = run_program(R"(
from dataclasses import dataclass
from transformers import HfArgumentParser
@dataclass
class Args:
    steps: int = 10
class Parser(HfArgumentParser):
    def parse(self):
        output = self.parse_args_into_dataclasses()
        return output[0] if len(output) == 1 else output
class Named(HfArgumentParser):
    def __init__(self, types):
        super().__init__(types)
        self.note = 'x'
one = Parser((Args,)).parse().steps
parser = Named(Args)
two = [parser.parse_args_into_dataclasses()[0].steps, parser.note]
)",
                                 "--steps 3");
  CHECK(trial["one"] == "3");
  CHECK(trial["two"] == "[3, 'x']");
}

TEST_CASE("HfArgumentParser gives the tree's dataclasses their fields and outside ones the rest") {
  const auto trial = run_program(R"(
from dataclasses import dataclass, field
from typing import Optional
import transformers
@dataclass
class ModelArguments:
    model: Optional[str] = field(default='gpt2', metadata={'help': 'x'})
@dataclass
class TrainingArguments(transformers.TrainingArguments):
    max_length: int = field(default=512)
parser = transformers.HfArgumentParser((ModelArguments, TrainingArguments))
model_args, training_args = parser.parse_args_into_dataclasses()
got = [model_args.model, training_args.max_length, training_args.bf16, training_args.do_train]
)",
                                 "--model m --bf16 True --learning_rate 2e-5");
  CHECK(trial["got"] == "['m', 512, True, False]");
  const Flag* rate = trial.flag("learning_rate");
  REQUIRE(rate != nullptr);
  CHECK(rate->owner == "transformers.TrainingArguments");
  CHECK(repr(rate->value) == "2e-05");
}

TEST_CASE("LightningCLI merges its files and flags and runs the trainer") {
  const auto trial = run_program(R"(
from lightning.pytorch.cli import LightningCLI
class Net:
    def __init__(self, width=1, lr=0.1):
        self.width = width
class Data:
    def __init__(self, batch_size=2):
        self.batch_size = batch_size
cli = LightningCLI(Net, Data)
width = cli.model.width
batch = cli.datamodule.batch_size
)",
                                 "fit --config a.yaml --trainer.max_epochs=3 --model.width 8",
                                 {{"a.yaml",
                                   "trainer:\n  max_epochs: 9\n  precision: 16\n"
                                   "data:\n  batch_size: 64\n"}});
  CHECK(trial["width"] == "8");
  CHECK(trial["batch"] == "64");
  CHECK(trial.argument("lightning.pytorch.Trainer", "max_epochs") == "3");
  CHECK(trial.argument("lightning.pytorch.Trainer", "precision") == "16");
}

}  // namespace
}  // namespace schedmate::python::natives
