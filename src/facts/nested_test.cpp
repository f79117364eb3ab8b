// SPDX-License-Identifier: Apache-2.0

/// Code, shell, and configs that nest or chain 20,000 deep: the reader comes back with the request
/// and says what it left out, also from a small stack.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <schedmate/facts.hpp>

#include "tests/support/scratch.hpp"

namespace schedmate {
namespace {

constexpr int deep = 20'000;

std::string times(int count, const std::function<std::string(int)>& part) {
  std::string all;
  for (int i = 0; i < count; ++i) all += part(i);
  return all;
}
std::string times(int count, const std::string& part) {
  return times(count, [&](int) { return part; });
}
std::string within(const std::string& open, const std::string& inside, const std::string& close) {
  return times(deep, open) + inside + times(deep, close);
}

constexpr const char* training =
    "import torch\nmodel = torch.nn.Linear(4, 4)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for epoch in range(5):\n    model(torch.zeros(8, 4)).sum().backward()\n    optimizer.step()\n";

/// The facts of `sbatch --gres=gpu:2 run.sh` with these files.
Result<Facts> facts_with(const std::string& python, const std::string& shell = "",
                         const std::string& config = "", const std::string& config_name = "c") {
  const testing::Scratch scratch;
  std::ofstream(scratch.path("train.py")) << python << training;
  std::ofstream(scratch.path("run.sh")) << "#!/bin/bash\n" << shell << "python train.py\n";
  if (!config.empty()) std::ofstream(scratch.path(config_name)) << config;
  JobSource job;
  job.root = scratch.path();
  job.command = "sbatch --gres=gpu:2 run.sh";
  return extract_facts(job);
}

/// All was read, or what was not is said; the request is there in any case.
void check_kept(const Result<Facts>& facts) {
  REQUIRE_MESSAGE(facts, facts.error().message);
  const Fact* const gpus = facts->find("gpus");
  REQUIRE(gpus != nullptr);
  CHECK(gpus->value == FactValue(std::int64_t{2}));
  const Fact* const length = facts->find("length");
  CHECK((length != nullptr || !facts->degraded.empty()));
}

/// The soft limit of the stack, as `ulimit -s` sets it.
class SmallStack {
 public:
  explicit SmallStack(rlim_t bytes) {
    ::getrlimit(RLIMIT_STACK, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_STACK, &small);
  }
  SmallStack(const SmallStack&) = delete;
  SmallStack& operator=(const SmallStack&) = delete;
  ~SmallStack() { ::setrlimit(RLIMIT_STACK, &before_); }

 private:
  rlimit before_{};
};

std::string numbered(const char* before, int i, const char* behind) {
  return before + std::to_string(i) + behind;
}

void check_python() {
  const auto chain = [](const char* head, const char* line, const char* end) {
    return head + times(deep, [&](int i) { return numbered(line, i, end); });
  };
  for (const std::string& code : {
           chain("if a == -1:\n  x = 0\n", "elif a == ", ":\n  x = 1\n"),
           chain("match a:\n", "  case ", ":\n    x = 1\n"),
           "class C0: pass\n" +
               times(deep - 1,
                     [](int i) {
                       return numbered("class C", i + 1, "(C") + numbered("", i, "): pass\n");
                     }) +
               "c = C1000()\n",
           "x = " + within("(", "1", ")") + "\n",
           "x = " + within("[", "", "]") + "\n",
           "x = " + within("{1: ", "2", "}") + "\n",
           "x = " + within("f(", "", ")") + "\n",
           "x = a" + times(deep, ".b()") + "\n",
           "x = " + times(deep, "not ") + "a\n",
           "x = {}\n" + times(deep, "x = {'a': x}\n") + "y = str(x)\n",
           "x = []\n" + times(deep, "x = [x]\n") + "import copy\ny = copy.deepcopy(x)\n",
       }) {
    CAPTURE(code.substr(0, 40));
    check_kept(facts_with(code));
  }
}

void check_shell() {
  for (const std::string& code : {
           "if [ $A = 0 ]; then x=0\n" + times(9'000, "elif [ $A = 1 ]; then x=1\n") + "fi\n",
           "case $A in\n" + times(deep, "a) x=1;;\n") + "esac\n",
           "x=" + within("$(", "echo", ")") + "\n",
           "(" + within("(", "echo", ")") + ")\n",
           "x=" + within("${a:-", "b", "}") + "\n",
           "x=$((" + within("(", "1", ")") + "))\n",
           "x=a\n" + times(deep, "x=$x$x\n"),
           "cd " + times(deep, "a/") + "\n",
           times(deep, "env A=b ") + "true\n",
           "export " + times(deep, "A=1 ") + "\n",
       }) {
    CAPTURE(code.substr(0, 40));
    check_kept(facts_with("", code));
  }
}

void check_configs() {
  const std::string load = "import json, toml, yaml\n";
  for (const auto& [name, text, code] : std::initializer_list<std::array<std::string, 3>>{
           {"c.yaml", "a: " + within("[", "", "]"), "c = yaml.safe_load(open('c.yaml'))\n"},
           {"c.yaml", times(deep, "- ") + "a\n", "c = yaml.safe_load(open('c.yaml'))\n"},
           {"c.json", within("{\"a\": ", "1", "}"), "c = json.load(open('c.json'))\n"},
           {"c.toml", "a = " + within("[", "", "]") + "\n", "c = toml.load('c.toml')\n"}}) {
    CAPTURE(name);
    const auto facts = facts_with(load + code, "", text, name);
    check_kept(facts);
    const auto is_named = [&](const std::string& note) { return note.starts_with(name + ":"); };
    CHECK(std::ranges::any_of(facts->degraded, is_named));
  }
}

}  // namespace

TEST_CASE("code that nests or chains 20,000 deep leaves the request and says what is missing") {
  check_python();
}
TEST_CASE("shell text that nests or chains does the same") { check_shell(); }
TEST_CASE("configs that nest are named with their line") { check_configs(); }
TEST_CASE("a stack of one megabyte is enough") {
  const SmallStack small(1 << 20);
  check_python();
  check_configs();
}

TEST_CASE("of a reader that is stopped, what it had read is kept") {
  // More memory than the reading process may take.
  const auto facts = facts_with("import functools\nx = print\n" +
                                times(deep, "x = functools.partial(x, 1)\n") + "x()\n");
  check_kept(facts);
  CHECK(facts->expect == Outlook::unknown);
  CHECK(facts->expect_reason == "reading the program was stopped");
  REQUIRE(!facts->degraded.empty());
  CHECK(facts->degraded.back().contains("what was read until then is given"));
}

}  // namespace schedmate
