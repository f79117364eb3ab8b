// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python::natives {
namespace {

using testing::run_program;

const std::string parser_text = R"(
import argparse
def yes(v):
    return v.lower() in ('yes', 'true', '1')
p = argparse.ArgumentParser()
p.add_argument('--lr', type=float, default='1e-3')
p.add_argument('--batch-size', '-b', type=int, default=32)
p.add_argument('--amp', action='store_true')
p.add_argument('--no-aug', dest='aug', action='store_false')
p.add_argument('--sizes', nargs='+', type=int, default=[1, 2])
p.add_argument('--bool', type=bool, default=False)
p.add_argument('--yes', type=yes, default=False)
p.add_argument('--model', choices=['a', 'b'], default='a')
p.add_argument('-v', action='count', default=0)
p.add_argument('--tag', action='append')
)";

TEST_CASE("a parser that got flags nobody saw takes words by their look") {
  const auto trial = run_program(R"(
import argparse, outside
def more(parser, fields):
    for field in fields:
        parser.add_argument('--' + field.name, default=field.default)
parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default=0.1)
more(parser, outside.fields())
args = parser.parse_args()
got = [args.lr, args.max_epoch, args.fp16, args.name]
other = argparse.ArgumentParser()
outside.add_flags(other)
late = other.parse_args(['--size', '3']).size
strict = argparse.ArgumentParser()
strict.parse_args(['--size', '3'])
)",
                                 "--lr 0.5 --max-epoch 50 --fp16 --name=a");
  CHECK(trial["got"] == "[0.5, 50, True, 'a']");
  CHECK(trial["late"] == "3");
  REQUIRE(trial.seen.stops.size() == 1);
  CHECK(trial.seen.stops[0].reason.find("--size") != std::string::npos);
}

TEST_CASE("flags get the command's words, converted, or their defaults") {
  const auto trial = run_program(parser_text + R"(
args = p.parse_args()
lr, batch, amp, aug, sizes = args.lr, args.batch_size, args.amp, args.aug, args.sizes
flag, yes_, model, verbose, tags = args.bool, args.yes, args.model, args.v, args.tag
)",
                                 "-b8 --amp --no-aug --sizes 3 4 --bool False --yes True -vv "
                                 "--tag x --tag y");
  CHECK(trial["lr"] == "0.001");
  CHECK(trial["batch"] == "8");
  CHECK(trial["amp"] == "True");
  CHECK(trial["aug"] == "False");
  CHECK(trial["sizes"] == "[3, 4]");
  CHECK(trial["flag"] == "True");
  CHECK(trial["yes_"] == "True");
  CHECK(trial["model"] == "'a'");
  CHECK(trial["verbose"] == "2");
  CHECK(trial["tags"] == "['x', 'y']");
  CHECK(trial.stops().empty());
}

TEST_CASE("a flag knows whether it was given, read, and where its values stand") {
  const auto trial = run_program(parser_text + "args = p.parse_args()\nx = args.lr\n", "--batch 8");
  const Flag* batch = trial.flag("batch_size");
  REQUIRE(batch != nullptr);
  CHECK(batch->given);
  CHECK_FALSE(batch->read);
  CHECK(batch->value.place->source == FactSource::command);
  CHECK(batch->fallback.place->source == FactSource::fallback);
  CHECK(batch->fallback.place->line == 7);
  const Flag* rate = trial.flag("lr");
  REQUIRE(rate != nullptr);
  CHECK(rate->read);
  CHECK_FALSE(rate->given);
}

TEST_CASE("words that do not fit end the program, unless they are not known") {
  const auto with = [](const std::string& words) {
    return run_program(parser_text + "args = p.parse_args()\n", words).stops();
  };
  CHECK(with("--lr fast").find("not a number") != std::string::npos);
  CHECK(with("--model c").find("may not be 'c'") != std::string::npos);
  CHECK(with("--nothing 3").find("--nothing") != std::string::npos);
  CHECK(with("$EXTRA --nothing 3").empty());
  CHECK(with("--lr $LR").empty());
}

TEST_CASE("a namespace can be written, listed and made by hand") {
  const auto trial = run_program(parser_text + R"(
args = p.parse_args()
args.lr = 3
setattr(args, 'new', 7)
total = vars(args)['lr'] + args.new
has = 'amp' in args
made = argparse.Namespace(**{'a': 5})
a = made.a
)");
  CHECK(trial["total"] == "10");
  CHECK(trial["has"] == "True");
  CHECK(trial["a"] == "5");
}

TEST_CASE("subcommands, parents, groups and set_defaults") {
  const auto trial = run_program(R"(
import argparse
base = argparse.ArgumentParser(add_help=False)
base.add_argument('--epochs', type=int, default=10)
p = argparse.ArgumentParser(parents=[base])
g = p.add_argument_group('x')
g.add_argument('--wd', type=float, default=0.1)
s = p.add_subparsers(dest='cmd')
t = s.add_parser('train')
t.add_argument('--lr', type=float)
t.set_defaults(func=lambda a: a.lr * 2)
p.set_defaults(wd=0.5)
args, rest = p.parse_known_args()
cmd, epochs, wd, result = args.cmd, args.epochs, args.wd, args.func(args)
)",
                                 "--epochs 3 train --lr 2 --other 1");
  CHECK(trial["cmd"] == "'train'");
  CHECK(trial["epochs"] == "3");
  CHECK(trial["wd"] == "0.5");
  CHECK(trial["result"] == "4.0");
  CHECK(trial["rest"] == "['--other', '1']");
  CHECK(trial.seen.leftover.size() == 2);
}

TEST_CASE("a program's own action writes into the namespace") {
  const auto trial = run_program(R"(
import argparse
class Pairs(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        d = {}
        for kv in values:
            k, v = kv.split('=')
            d[k] = v
        setattr(namespace, self.dest, d)
p = argparse.ArgumentParser()
p.add_argument('--set', nargs='+', action=Pairs)
args = p.parse_args()
got = args.set['a']
)",
                                 "--set a=1 b=2");
  CHECK(trial["got"] == "'1'");
}

TEST_CASE("a class of the program that extends the parser is one") {
  const auto trial = run_program(R"(
import argparse
class Options(argparse.ArgumentParser):
    def __init__(self, **kwargs):
        super().__init__(description='x', **kwargs)
        self.add_argument('--lr', type=float, default=1)
        self.add_argument('--out', default='o')
class Plain(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(message)
args = Options().parse_args()
p = Plain()
p.add_argument('--lr', type=float)
q, rest = p.parse_known_args()
got = [args.lr, args.out, q.lr]
)",
                                 "--lr 2");
  CHECK(trial["got"] == "[2.0, 'o', 2.0]");
}

TEST_CASE("configargparse's file stands between defaults and words") {
  const auto trial =
      run_program(R"(
import configargparse
p = configargparse.ArgumentParser()
p.add_argument('-c', '--config', is_config_file=True)
p.add_argument('--lr', type=float, default=1)
p.add_argument('--epochs', type=int, default=1)
args = p.parse_args()
lr, epochs = args.lr, args.epochs
)",
                  "--config run.yaml --epochs 5", {{"run.yaml", "lr: 0.5\nepochs: 9\n"}});
  CHECK(trial["lr"] == "0.5");
  CHECK(trial["epochs"] == "5");
  CHECK(trial.flag("lr")->value.place->file == "run.yaml");
}

}  // namespace
}  // namespace schedmate::python::natives
