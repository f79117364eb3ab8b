// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

TEST_CASE("arithmetic is Python's") {
  const auto trial = run_program(R"(
a = -7 // 2
b = -7 % 3
c = 2 ** 10
d = 7 / 2
e = 1e-3 * 2
f = 256 // 8 * 2
g = 0x10 + 1_000
h = 10 ** 30 > 10 ** 29
i = 5 // 0
j = [1, 2] * 2 + [3]
k = 'ab' * 2
l = not 0 and 3
m = 0 or 'else'
n = 1 < 2 <= 2 != 3
)");
  CHECK(trial["a"] == "-4");
  CHECK(trial["b"] == "2");
  CHECK(trial["c"] == "1024");
  CHECK(trial["d"] == "3.5");
  CHECK(trial["e"] == "0.002");
  CHECK(trial["f"] == "64");
  CHECK(trial["g"] == "1016");
  CHECK(trial["h"] == "True");
  CHECK(trial["i"] == "?");
  CHECK(trial["j"] == "[1, 2, 1, 2, 3]");
  CHECK(trial["k"] == "'abab'");
  CHECK(trial["l"] == "3");
  CHECK(trial["m"] == "'else'");
  CHECK(trial["n"] == "True");
}

TEST_CASE("a computed value leads back to where its operand was written") {
  const auto trial = run_program("batch = 256\n\nper_gpu = batch // 8\n");
  const Value* value = trial.seen.globals.find("per_gpu");
  REQUIRE(value != nullptr);
  CHECK(*value->integer() == 32);
  CHECK(value->place->line == 3);
  CHECK(value->place->text == "per_gpu = batch // 8");
  REQUIRE(value->place->from != nullptr);
  CHECK(value->place->from->line == 1);
}

TEST_CASE("texts are cut, joined and formatted") {
  const auto trial = run_program(R"(
name, n, x = 'resnet', 50, 0.12345
a = f'{name}_{n:03d}-{x:.2f}'
b = '%s-%d (%.1e)' % (name, n, x)
c = '{0}/{m}.{}'.format(name, m=n) if False else '{}/{m}'.format(name, m=n)
d = 'a,b,,c'.split(',')
e = ' x y '.split()
f = '_'.join(str(i) for i in range(3))
g = 'ResNet50'.lower().replace('net', '-')
h = 'conv.weight'.rsplit('.', 1)[-1].startswith(('w', 'b'))
i = name[:3] + name[-1] + name[::-1][0]
j = 'line\tend' 'ed'
k = r'\d+'
l = f'{{{n}}} {name!r}'
m = f'{unknown_thing}'
n2 = '%(a)s' % {'a': 1}
)");
  CHECK(trial["a"] == "'resnet_050-0.12'");
  CHECK(trial["b"] == "'resnet-50 (1.2e-01)'");
  CHECK(trial["c"] == "'resnet/50'");
  CHECK(trial["d"] == "['a', 'b', '', 'c']");
  CHECK(trial["e"] == "['x', 'y']");
  CHECK(trial["f"] == "'0_1_2'");
  CHECK(trial["g"] == "'res-50'");
  CHECK(trial["h"] == "True");
  CHECK(trial["i"] == "'restt'");
  CHECK(*trial.seen.globals.find("j")->text() == "line\tended");
  CHECK(*trial.seen.globals.find("k")->text() == "\\d+");
  CHECK(*trial.seen.globals.find("l")->text() == "{50} 'resnet'");
  CHECK(trial["m"] == "?");
  CHECK(trial["n2"] == "'1'");
}

TEST_CASE("lists and dicts change in place") {
  const auto trial = run_program(R"(
items = [3, 1, 2]
same = items
items.sort()
items.append(9); items.insert(0, 7); items += [5]
last = items.pop()
first, *middle, end = items
table = dict(a=1, **{'b': 2})
table.update({'c': 3}, d=4)
gone = table.pop('a')
kept = table.setdefault('e', 5)
missing = table.get('zz', 'none')
del table['b']
keys = list(table)
both = {**table, 'f': 6}
by_size = sorted(['ccc', 'a', 'bb'], key=len, reverse=True)
nested = {'x': [1, {'y': 2}]}['x'][1]['y']
unique = set([1, 1, 2]) | {3}
high, low, summed = max(items), min(3, 1), sum([1, 2.5])
for k, v in table.items(): pass
)");
  CHECK(trial["same"] == "[7, 1, 2, 3, 9]");
  CHECK(trial["last"] == "5");
  CHECK(trial["middle"] == "[1, 2, 3]");
  CHECK(trial["end"] == "9");
  CHECK(trial["gone"] == "1");
  CHECK(trial["kept"] == "5");
  CHECK(trial["missing"] == "'none'");
  CHECK(trial["keys"] == "['c', 'd', 'e']");
  CHECK(trial["both"] == "{'c': 3, 'd': 4, 'e': 5, 'f': 6}");
  CHECK(trial["by_size"] == "['ccc', 'bb', 'a']");
  CHECK(trial["nested"] == "2");
  CHECK(trial["unique"] == "[1, 2, 3]");
  CHECK(trial["high"] == "9");
  CHECK(trial["low"] == "1");
  CHECK(trial["summed"] == "3.5");
  CHECK(trial["v"] == "5");
}

TEST_CASE("builtins look at objects") {
  const auto trial = run_program(R"(
import torch
class A:
    def __init__(self, **kw): self.__dict__.update(kw)
a = A(x=1)
setattr(a, 'y', 2)
names = list(vars(a))
got = getattr(a, 'z', 'absent')
has = hasattr(a, 'x')
text = isinstance('s', str) and isinstance([1], (list, tuple)) and not isinstance(1, str)
some = isinstance(torch.zeros(1), torch.Tensor)
number = int('12') + int(3.9) + round(2.6)
from functools import partial
built = partial(lambda a, b, c=0: [a, b, c], 1, c=3)(2)
dispatch = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam}
dispatch['adam'](lr=3)
mapped = list(map(lambda n: n + 1, [1, 2]))
)");
  CHECK(trial["names"] == "['x', 'y']");
  CHECK(trial["got"] == "'absent'");
  CHECK(trial["has"] == "True");
  CHECK(trial["text"] == "True");
  CHECK(trial["some"] == "?");
  CHECK(trial["number"] == "18");
  CHECK(trial["built"] == "[1, 2, 3]");
  CHECK(trial.argument("torch.optim.Adam", "lr") == "3");
  CHECK(trial["mapped"] == "[2, 3]");
}

}  // namespace
}  // namespace schedmate::python
