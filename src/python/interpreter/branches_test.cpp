// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

const Call& call_of(const testing::Trial& trial, std::string_view callee) {
  for (const Call& call : trial.seen.calls) {
    if (call.callee == callee) return call;
  }
  FAIL("no call of " << callee);
  return trial.seen.calls.front();
}

TEST_CASE("a known condition takes one way, an unknown one both") {
  const auto trial = run_program(R"(
import torch, outside
if 3 > 2:
    a = 1
else:
    a = 2
if outside.ask():
    b = 'x'
    opt = torch.optim.SGD(lr=1)
else:
    b = 'y'
    opt = torch.optim.AdamW(lr=2)
opt.step()
)");
  CHECK(trial["a"] == "1");
  const Value* open = trial.seen.globals.find("b");
  REQUIRE(open != nullptr);
  const auto* either = std::get_if<Unknown>(&open->data);
  REQUIRE(either != nullptr);
  REQUIRE(either->may_be->size() == 2);
  CHECK(*either->may_be->at(0).text() == "x");
  CHECK(*either->may_be->at(1).text() == "y");
  CHECK_FALSE(call_of(trial, "torch.optim.SGD").certain);
  CHECK_FALSE(call_of(trial, "torch.optim.AdamW").certain);
  CHECK_FALSE(call_of(trial, "torch.optim.SGD().step").certain);
}

TEST_CASE("a branch that changes lists, dicts and fields is taken back for the other one") {
  const auto trial = run_program(R"(
import outside
class Box: pass
box, items, table = Box(), [1], {'k': 1}
box.size = 1
if outside.ask():
    items.append(2)
    table['k'] = 2
    box.size = 2
else:
    seen = (list(items), dict(table), box.size)
    table['k'] = 2
size = box.size
)");
  CHECK(trial["seen"] == "[[1], {'k': 1}, 1]");
  CHECK(trial["table"] == "{'k': 2}");
  CHECK(trial["items"] == "[1, 2]");
  CHECK(trial["size"] == "?");
}

TEST_CASE("code after a branch that leaves is the usual way") {
  const auto trial = run_program(R"(
import outside
def train():
    if outside.ask():
        return 'early'
    outside.train()
    return 'late'
result = train()
def pick(name):
    if name == outside.a: return outside.A()
    raise ValueError(name)
model = pick('x')
outside.last()
)");
  CHECK(call_of(trial, "outside.train").certain);
  CHECK(call_of(trial, "outside.last").certain);
  for (const Stop& stop : trial.seen.stops) CHECK_FALSE(stop.certain);
}

TEST_CASE("the branch beside an error is certain") {
  const auto trial = run_program(R"(
import outside
if outside.ask():
    outside.usual()
else:
    raise ValueError('no')
if outside.ask():
    raise ValueError('no')
else:
    outside.also()
)");
  CHECK(call_of(trial, "outside.usual").certain);
  CHECK(call_of(trial, "outside.also").certain);
}

TEST_CASE("an exit ends the program; after an error the rest is looked at all the same") {
  const auto trial = run_program(R"(
import sys, outside
if len('abc') == 3:
    sys.exit('no data')
outside.never()
)");
  REQUIRE(trial.seen.stops.size() == 1);
  CHECK(trial.seen.stops[0].certain);
  CHECK(trial.seen.calls.empty());
  const auto failed = run_program("assert 8 % 3 == 0, 'uneven'\nimport outside\noutside.after()\n");
  REQUIRE(failed.seen.stops.size() == 1);
  CHECK(failed.seen.stops[0].place->line == 1);
  CHECK(failed.seen.calls.size() == 1);
}

TEST_CASE("try runs its body; handlers are looked at and forgotten") {
  const auto trial = run_program(R"(
import outside
try:
    import apex
    has_apex = True
except ImportError:
    has_apex = False
try:
    value = 1
except ValueError:
    value = 2
    outside.handler()
try:
    number = int('many')
except ValueError:
    number = -1
finally:
    done = True
)");
  CHECK(trial["has_apex"] == "False");
  CHECK(trial["value"] == "1");
  CHECK(trial["number"] == "-1");
  CHECK(trial["done"] == "True");
  CHECK_FALSE(call_of(trial, "outside.handler").certain);
}

TEST_CASE("match takes the case that fits") {
  const auto trial = run_program(R"(
name = 'adam'
match name:
    case 'sgd': chosen = 1
    case 'adam' | 'adamw': chosen = 2
    case _: chosen = 3
match 7:
    case n if n > 5: big = n
)");
  CHECK(trial["chosen"] == "2");
  CHECK(trial["big"] == "7");
}

TEST_CASE("either value decides a test where both agree") {
  const auto trial = run_program(R"(
import outside
n = 4 if outside.ask() else 8
big = n > 2
twice = n * 2
)");
  CHECK(trial["big"] == "True");
  const auto* open = std::get_if<Unknown>(&trial.seen.globals.find("twice")->data);
  REQUIRE(open != nullptr);
  REQUIRE(open->may_be != nullptr);
  CHECK(*open->may_be->at(0).integer() == 8);
  CHECK(*open->may_be->at(1).integer() == 16);
}

}  // namespace
}  // namespace schedmate::python
