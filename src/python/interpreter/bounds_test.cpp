// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "tests/support/patience.hpp"
#include "tests/support/program_trial.hpp"

namespace schedmate::python {
namespace {

using testing::run_program;

TEST_CASE("endless recursion and growth end, and the rest is still seen") {
  const auto trial = run_program(R"(
import outside
def again(n): return again(n + 1)
again(0)
def wide(n): return [wide(n - 1) for _ in range(16)]
wide(40)
text = 'x' * 10
for _ in range(60): text = text + text
deep = []
for _ in range(60): deep = [deep, deep]
print(f'{deep}', str(deep), {(deep, 1): 2})
outside.after(deep)
)");
  REQUIRE_FALSE(trial.seen.calls.empty());
  CHECK(trial.seen.calls.back().callee == "outside.after");
}

TEST_CASE("a function that takes too long costs only itself") {
  const auto trial = run_program(R"(
import outside
def slow():
    for a in range(60):
        for b in range(60):
            for c in range(60):
                for d in range(60):
                    x = a + b + c + d
def main():
    slow()
    outside.train(lr=1)
main()
outside.last()
)");
  CHECK(trial.argument("outside.train", "lr") == "1");
  CHECK(trial.seen.calls.back().callee == "outside.last");
}

TEST_CASE("a list that changes while it is sorted is no danger") {
  const auto trial = run_program(R"(
items = [3, 1, 2]
items.sort(key=lambda n: items.clear() or n)
me = [1]
me.append(me)
text = str(me) + repr(me) + '%s' % me
done = True
)");
  CHECK(trial["done"] == "True");
}

TEST_CASE("work on large lists counts, however few statements do it") {
  const std::string heavy = R"(
import outside
def heavy():
    big = list(range(4000)) * 20
    table = {str(n): n for n in range(500)}
    for a in range(60):
        for b in range(60):
            for c in range(60):
                more = big + big
                some = big[::-1]
                if outside.ask(): big.append(1)
                table.pop(str(c), None)
                table.clear()
heavy()
outside.after()
)";
  CHECK(testing::cpu_seconds(
            [&] { CHECK(run_program(heavy).seen.calls.back().callee == "outside.after"); }) < 20);
}

TEST_CASE("deep nesting in the source is left out") {
  const std::string deep = std::string(5000, '(') + "1" + std::string(5000, ')');
  const std::string chain = [] {
    std::string text = "1";
    for (int i = 0; i < 5000; ++i) text += "+1";
    return text;
  }();
  const auto trial = run_program("a = " + deep + "\nb = " + chain + "\nc = 3\n");
  CHECK(trial["a"] == "?");
  CHECK(trial["c"] == "3");
}

TEST_CASE("a script that is not there, or a folder, is an error that says so") {
  const testing::Scratch folder;
  auto tree = tree::Tree::open(folder.path());
  REQUIRE(tree.has_value());
  PythonRun run;
  run.script = "nothing.py";
  CHECK(observe(*tree, run).error().code == ErrorCode::not_found);
  run.script = "";
  run.module = "no.such";
  const auto missing = observe(*tree, run);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().message.find("no.such") != std::string::npos);
}

TEST_CASE("bytes that are no program are survived") {
  std::string junk;
  for (int i = 0; i < 4000; ++i) junk += static_cast<char>(33 + (i * 7919) % 90);
  const auto trial = run_program("x = 1\n" + junk + "\n");
  CHECK(trial.seen.files.size() == 1);
}

}  // namespace
}  // namespace schedmate::python
