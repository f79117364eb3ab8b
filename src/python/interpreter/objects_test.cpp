// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

TEST_CASE("functions bind defaults, keywords, stars and closures") {
  const auto trial = run_program(R"(
def f(a, b=2, *rest, c, d=4, **more):
    return [a, b, rest, c, d, more]
one = f(1, c=3)
two = f(1, 5, 6, 7, c=3, e=9)
def outer(n):
    def inner(): return n * k
    k = 10
    return inner
three = outer(4)()
four = (lambda x, y=1: x + y)(5)
def counter():
    global total
    total = 8
counter()
args, kwargs = (1, 2), {'c': 5}
five = f(*args, **kwargs)
)");
  CHECK(trial["one"] == "[1, 2, [], 3, 4, {}]");
  CHECK(trial["two"] == "[1, 5, [6, 7], 3, 4, {'e': 9}]");
  CHECK(trial["three"] == "40");
  CHECK(trial["four"] == "6");
  CHECK(trial["total"] == "8");
  CHECK(trial["five"] == "[1, 2, [], 5, 4, {}]");
}

TEST_CASE("classes inherit, override, and know super and properties") {
  const auto trial = run_program(R"(
class Base:
    kind = 'base'
    def __init__(self, n): self.n = n
    def size(self): return self.n
    @property
    def double(self): return self.size() * 2
    @classmethod
    def make(cls, n): return cls(n)
    @staticmethod
    def three(): return 3
class Mixin:
    def size(self): return super().size() + 1
class Net(Mixin, Base):
    kind = 'net'
    def __call__(self, x): return x + self.n
net = Net.make(5)
a, b, c, d, e = net.size(), net.double, net.three(), net.kind, net(1)
f, g = type(net).__name__, isinstance(net, Base)
)");
  CHECK(trial["a"] == "6");
  CHECK(trial["b"] == "12");
  CHECK(trial["c"] == "3");
  CHECK(trial["d"] == "'net'");
  CHECK(trial["e"] == "6");
  CHECK(trial["f"] == "'Net'");
  CHECK(trial["g"] == "True");
  REQUIRE(trial.seen.instances.size() == 1);
  CHECK(trial.seen.instances[0]->type == "Net");
}

TEST_CASE("a class on an outside base is made as that base is") {
  const auto trial = run_program(R"(
import torch, transformers
class Plain(transformers.Trainer): pass
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)
    def forward(self, x):
        return torch.relu(self.fc(x))
Plain(model=1)
net = Net().to('cuda')
net(0)
net(0)
)");
  CHECK(trial.argument("transformers.Trainer", "model") == "1");
  CHECK(trial.seen.instances[0]->bases == std::vector<std::string>{"transformers.Trainer"});
  int relu = 0;
  for (const Call& call : trial.seen.calls) relu += call.callee == "torch.relu" ? 1 : 0;
  CHECK(relu == 1);  // forward is looked at once
}

TEST_CASE("dataclasses and enumerations fill themselves") {
  const auto trial = run_program(R"(
from dataclasses import dataclass, field
from enum import Enum
class Mode(Enum):
    fast = 'f'
    slow = 's'
@dataclass
class Base:
    lr: float = 0.1
@dataclass
class Config(Base):
    epochs: int = 10
    tags: list = field(default_factory=list)
    def __post_init__(self): self.total = self.epochs * 2
c = Config(epochs=3)
a, b, d = c.lr, c.total, c.tags
m = Mode('s') == Mode.slow
n = [x.value for x in Mode]
k = Mode['fast'].name
)");
  CHECK(trial["a"] == "0.1");
  CHECK(trial["b"] == "6");
  CHECK(trial["d"] == "[]");
  CHECK(trial["m"] == "True");
  CHECK(trial["n"] == "['f', 's']");
  CHECK(trial["k"] == "'fast'");
}

TEST_CASE("registries of the tree work as they are written") {
  const auto trial = run_program(R"(
import outside
class Registry:
    def __init__(self): self.all = {}
    def register(self, name=None):
        def add(what):
            self.all[name or what.__name__] = what
            return what
        return add
    def build(self, cfg):
        cfg = dict(cfg)
        return self.all[cfg.pop('type')](**cfg)
MODELS = Registry()
@MODELS.register()
class Small:
    def __init__(self, width): self.width = width
@MODELS.register('big')
@outside.decorator
def large(width): return width * 10
small = MODELS.build({'type': 'Small', 'width': 4}).width
large_one = MODELS.build({'type': 'big', 'width': 4})
)");
  CHECK(trial["small"] == "4");
  CHECK(trial["large_one"] == "40");
}

TEST_CASE("properties of the program's own making are computed") {
  const auto trial = run_program(R"(
class lazy:
    def __init__(self, f): self.f = f
    def __get__(self, obj, cls): return self.f(obj)
class Builder:
    @lazy
    def model(self): return 'unet'
built = Builder().model
)");
  CHECK(trial["built"] == "'unet'");
}

TEST_CASE("a field's factory may name what stands below its class") {
  const auto trial = run_program(R"(
from dataclasses import dataclass, field
from typing import Type
@dataclass
class Config:
    target: Type = field(default_factory=lambda: Network)
    width: int = 3
    def setup(self):
        return self.target(self)
@dataclass
class Wide(Config):
    width: int = 8
class Network:
    def __init__(self, config):
        self.size = config.width * 2
got = [Config().setup().size, Wide().setup().size]
)");
  CHECK(trial["got"] == "[6, 16]");
}

TEST_CASE("a class that extends dict keeps its entries as fields") {
  const auto trial = run_program(R"(
class Config(dict):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.__dict__ = self
c = Config(lr=1, tags=[2])
c.epochs = 3
c['seed'] = 4
total = c['lr'] + c.epochs + c.seed
names = sorted(c.keys())
has = 'lr' in c
spread = dict(**c)
)");
  CHECK(trial["total"] == "8");
  CHECK(trial["names"] == "['epochs', 'lr', 'seed', 'tags']");
  CHECK(trial["has"] == "True");
  CHECK(trial["spread"] == "{'lr': 1, 'tags': [2], 'epochs': 3, 'seed': 4}");
}

TEST_CASE("an object that holds itself can be looked at and freed") {
  const auto trial = run_program(R"(
class Node: pass
a, b = Node(), Node()
a.other, b.other = b, a
a.me = a
loop = [1]
loop.append(loop)
)");
  REQUIRE(trial.seen.instances.size() == 2);
  const auto* other =
      dynamic_cast<const Instance*>(trial.seen.instances[0]->fields.find("other")->object());
  REQUIRE(other != nullptr);
  CHECK(other->fields.find("other")->is_unknown());
  CHECK(trial["loop"] == "[1, ?]");
}

TEST_CASE("a map-style data set is no iterable one, other outside bases leave it open") {
  const auto trial = run_program(R"(
import torch, somewhere
from torch.utils.data import Dataset, IterableDataset
class Images(Dataset): pass
class Stream(IterableDataset): pass
class Other(somewhere.Base): pass
got = [isinstance(each, IterableDataset) for each in (Images(), Stream(), Other())]
)");
  CHECK(trial["got"] == "[False, True, ?]");
}

}  // namespace
}  // namespace schedmate::python
