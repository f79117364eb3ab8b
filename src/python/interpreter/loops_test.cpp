// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

TEST_CASE("a short known list is gone through, item by item") {
  const auto trial = run_program(R"(
import outside
total = 0
for name, n in [('a', 1), ('b', 2)]:
    outside.run(name)
    total += n
)");
  CHECK(trial["total"] == "3");
  CHECK(trial.seen.calls.size() == 2);
  CHECK(trial.seen.loops.empty());
}

TEST_CASE("a loop of epochs is recorded with its bound and run once") {
  const auto trial = run_program(R"(
import outside
epochs = 90
start = 0
for epoch in range(start, epochs):
    outside.train(epoch)
    for i, batch in enumerate(outside.loader):
        outside.step(batch)
)");
  REQUIRE(trial.seen.loops.size() == 2);
  const Loop& loop = trial.seen.loops[0];
  CHECK(loop.target == "epoch");
  CHECK(loop.first == 0);
  CHECK(loop.last == 90);
  CHECK(loop.bound.place->line == 3);
  CHECK(loop.source_text == "range(start, epochs)");
  CHECK(trial.seen.loops[1].loops == 1);
  CHECK_FALSE(trial.seen.loops[1].last.has_value());
  REQUIRE(trial.seen.calls.size() == 2);
  CHECK(trial.seen.calls[0].loops == 1);
  CHECK(trial.seen.calls[1].loops == 2);
}

TEST_CASE("layers built in a counted loop are all built") {
  const auto trial = run_program(R"(
import torch
layers = []
for _ in range(24):
    layers.append(torch.nn.Linear(8, 8))
depth = len(layers)
)");
  CHECK(trial["depth"] == "24");
  CHECK(trial.seen.calls.size() == 24);
}

TEST_CASE("while counts to the value it is compared with") {
  const auto trial = run_program(R"(
import outside
step, limit = 0, 5000
while step < limit:
    outside.update()
    step += 1
after = step
)");
  REQUIRE(trial.seen.loops.size() == 1);
  CHECK(trial.seen.loops[0].is_while);
  CHECK(trial.seen.loops[0].last == 5000);
  CHECK(trial["after"] == "?");
}

TEST_CASE("an endless loop ends where it breaks") {
  const auto trial = run_program(R"(
import outside
n = 0
most = 600000
while True:
    outside.update()
    n += 1
    if n > most:
        break
outside.after()
)");
  REQUIRE(trial.seen.loops.size() == 1);
  CHECK(trial.seen.loops[0].last == 600000);
  CHECK(trial.seen.calls.back().callee == "outside.after");
  CHECK(trial.seen.calls.back().certain);
}

TEST_CASE("an endless loop ends where a flag that it sets says so") {
  const auto trial = run_program(R"(
import outside
seen, thousands = 0, 50
while True:
    outside.update()
    seen += 32
    done = (seen >= thousands * 1000)
    if outside.stops():
        done = True
    if done:
        break
)");
  REQUIRE(trial.seen.loops.size() == 1);
  CHECK(trial.seen.loops[0].last == 50000);
  CHECK(trial.seen.loops[0].source_text == "(seen >= thousands * 1000)");
}

TEST_CASE("what a loop changes may have changed, what it does not stays known") {
  const auto trial = run_program(R"(
import outside
best, lr, count = 0, 0.1, 0
for batch in outside.loader:
    count += 1
    best = outside.score(batch)
)");
  CHECK(trial["lr"] == "0.1");
  CHECK(trial["count"] == "?");
  CHECK(trial["best"] == "?");
}

TEST_CASE("comprehensions filter and build") {
  const auto trial = run_program(R"(
import outside
odd = [n * n for n in range(6) if n % 2]
table = {k: v for k, v in zip('ab', (1, 2))}
pairs = [(a, b) for a in 'xy' for b in (1, 2)]
open_end = [p for p in outside.parameters]
some = any(n > 4 for n in odd)
)");
  CHECK(trial["odd"] == "[1, 9, 25]");
  CHECK(trial["table"] == "{'a': 1, 'b': 2}");
  CHECK(trial["pairs"] == "[['x', 1], ['x', 2], ['y', 1], ['y', 2]]");
  CHECK(trial["open_end"] == "?");
  CHECK(trial["some"] == "True");
}

TEST_CASE("progress bars hand on what they go through") {
  const auto trial = run_program(R"(
from tqdm import tqdm
for epoch in tqdm(range(300), desc='epoch'):
    pass
for left in reversed(range(200)):
    pass
)");
  REQUIRE(trial.seen.loops.size() == 2);
  CHECK(trial.seen.loops[0].last == 300);
  CHECK(trial.seen.loops[1].last == 200);
}

TEST_CASE("a generator's values are what its caller loops over") {
  const auto trial = run_program(R"(
def stages():
    yield 'warm', 5
    yield 'main', 95
total = 0
for name, epochs in stages():
    total += epochs
)");
  CHECK(trial["total"] == "100");
}

TEST_CASE("how many items a loop or a branch adds is not known") {
  const auto trial = run_program(R"(
import somewhere
samples, fixed = [], []
for line in open(somewhere.path):
    samples.append(line)
for i in range(3):
    fixed.append(i)
if somewhere.more:
    extra = [1]
    samples.append(2)
counts = [len(samples) // 4, len(fixed), len(extra)]
)");
  CHECK(trial["counts"] == "[?, 3, 1]");
}

}  // namespace
}  // namespace schedmate::python
