// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>

#include "base/random.hpp"
#include "tests/support/command_lines.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::command {
namespace {

using testing::commands_of;
using testing::SmallTree;

/// Reads the command and every launch in it; says how many processor seconds that took.
double read_all(tree::Tree& tree, const std::string& command) {
  return testing::cpu_seconds([&] {
    const CommandSource source{command, ".", 4, 1};
    for (const auto& invocation : commands_of(tree, source).invocations)
      static_cast<void>(read_launch(tree, invocation, source));
  });
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

constexpr double bound_s = testing::sanitized ? 20 : 4;

}  // namespace

TEST_CASE("an empty, binary or huge command is an error that says what to do") {
  SmallTree tree({});
  CHECK(read_command(*tree, {" \n"}).error().code == ErrorCode::invalid);
  CHECK(read_command(*tree, {std::string("a\0b", 3)}).error().code == ErrorCode::invalid);
  CHECK(read_command(*tree, {std::string(1 << 20, 'x')}).error().message.contains("script"));
  CHECK_FALSE(read_command(*tree, {.command = "ls", .workdir = "../x"}));
}

TEST_CASE("hostile shell text ends soon") {
  SmallTree tree(
      {{"loop.sh", "sh loop.sh; bash loop.sh; . ./loop.sh"},
       {"f.sh", "f() { f; f; }; f"},
       {"Makefile", "a: b\n\tmake a\nb: a\nX = $(Y)$(Y)\nY = $(X)$(X)\nc:\n\tp $(X)\n"}});
  const std::string commands[] = {
      "sh loop.sh",
      "bash f.sh",
      "make a; make c",
      "while :; do X=$X$X; done; while true; do true; done",
      "x=aaaaaaaa; " + repeated("x=$x$x;", 60) + " p $x",
      "x=1; " + repeated("if [ $Z$x = 1$Y ]; then x=2; fi; ", 3000),
      repeated("if unknown_$Z; then ", 3000) + "p",
      repeated("$(", 5000) + "x",
      repeated("\"$(", 5000) + "x",
      repeated("${a:-", 5000),
      repeated("( ", 20000),
      repeated("{ ", 20000),
      repeated("a && ", 20000) + "b",
      repeated("a | ", 20000) + "b",
      "p " + repeated("{a,b}", 40),
      "p {1..1000000000}{1..1000000000}",
      "for i in {1..1000}; do for j in {1..1000}; do for k in {1..1000}; do p; done; done; done",
      "for ((;;)); do p; done",
      "for ((i=0;i<10;i--)); do p; done",
      "p $(seq 1 999999999) $(seq 1 0 5) $(printf '%9999999d' 1)",
      repeated("cat <<A\n", 10000),
      "f(){ eval \"$1\"; }; f 'f \"$1\"'",
      "x='eval $x'; eval $x",
      repeated("[[ ( ", 3000),
      "((" + repeated("(", 100000),
      "p ${A" + repeated("[", 50000),
      "A=" + std::string(100'000, '*') + "; case " + std::string(50'000, 'a') + "b in $A) p;; esac",
      "A=" + std::string(9000, 'a') + "; p ${A//" + repeated("a*", 200) + "b/x} ${A##*" +
          repeated("?*", 100) + "b}",
      "echo " + std::string(200'000, 'x') + " | tee a a a a a a > b",
      "parallel " + repeated("parallel ", 5000) + "p",
      repeated("nohup ", 20000) + "p",
      repeated("env A=b ", 20000) + "bash -c p",
      "bash -c \"" + repeated("bash -c ", 1000) + "x\"",
  };
  for (const auto& command : commands) {
    CAPTURE(command.substr(0, 80));
    CHECK(read_all(*tree, command) < bound_s);
  }
}

TEST_CASE("mangled commands neither crash nor hang") {
  SmallTree tree(
      {{"run.sh", "#SBATCH -N 2\nset -- \"$@\" x\npython train.py ${1:-a} \"${A[@]}\"\n"},
       {"train.py", ""},
       {"acc.yaml", "num_processes: 2\n"}});
  const std::string_view seeds[] = {
      ("A=1 B=\"x $Y\" torchrun --nproc_per_node=$N train.py --lr ${LR:-1e-3} \"${ARGS[@]}\" > l "
       "2>&1 &"),
      "if [[ $# -gt 0 && -f \"$1\" ]]; then p a; elif [ \"$x\" = 1 ]; then p b; else p; fi",
      "for i in $(seq 1 3) {a,b}; do case $i in 1|a*) p ${i%?};; *) break;; esac; done",
      "cat <<EOF > c.yaml\nlr: $X\nEOF\nbash <<'E'\np\nE\nwhile read l; do p $l; done < c.yaml",
      "sbatch -N 2 --wrap 'srun -n 4 bash -c \"p $(( 1 + 2 ))\"' ; sbatch run.sh a b",
      "accelerate launch --config_file acc.yaml --num_processes 2 -m pkg.cli --x y",
      "f() { local a=$1; a+=${a//x/y}; p ${a^^} ${#a} ${a:1:2}; }; f \"$@\"; sed -i s/a/b/ run.sh",
      "docker run -e A=b --gpus all -v a:b img bash -c 'cd x; make -C y z=1'; uv run -m q",
  };
  constexpr std::string_view marks = "'\"`$(){}[]<>|&;#\\*?~=!\n\t %/:@^,-+0a\x01\xff";
  Random random(20240611);
  const auto any = [&](std::size_t size) {
    return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(size)));
  };
  double slowest = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text(seeds[any(std::size(seeds))]);
    for (std::int64_t edits = random.between(1, 8); edits > 0; --edits) {
      const std::size_t at = any(text.size() + 1);
      switch (random.below(4)) {
        case 0:
          text.insert(at, 1, marks[any(marks.size())]);
          break;
        case 1:
          text.erase(at, any(6));
          break;
        case 2:
          text.insert(at, text.substr(any(text.size() + 1), any(30)));
          break;
        default:
          text.resize(std::max<std::size_t>(at, 1));
      }
      if (text.empty()) text = "p";
    }
    CAPTURE(text);
    const double took = read_all(*tree, text);
    slowest = std::max(slowest, took);
    CHECK(took < bound_s);
  }
  MESSAGE(fmt::format("slowest: {} s", slowest));
}

TEST_CASE("places of words of a command are parts of it, verbatim") {
  SmallTree tree({{"run.sh", "python train.py \"$@\" --n $N\n"}});
  const std::string command = "N=\"4 5\" bash run.sh --lr '1 e' \\\n \"a$X\" && p {a,b} $(echo c)";
  const auto made = commands_of(*tree, {command});
  int seen = 0;
  for (const auto& invocation : made.invocations) {
    for (const auto& word : invocation.argv) {
      if (word.place->file != "<command>") continue;
      CAPTURE(word.place->text);
      CHECK(command.contains(word.place->text));
      CHECK(word.place->source == FactSource::command);
      ++seen;
    }
  }
  CHECK(seen >= 8);
}

}  // namespace schedmate::command
