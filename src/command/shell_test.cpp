// SPDX-License-Identifier: Apache-2.0
#include "command/shell.hpp"

#include <doctest/doctest.h>

#include "tests/support/command_lines.hpp"

namespace schedmate::command {
namespace {

using testing::check_started;
using testing::commands_of;
using testing::SmallTree;
using testing::started;
using testing::StartedRow;

}  // namespace

TEST_CASE("branches on known values are taken, others perhaps") {
  constexpr StartedRow rows[] = {
      {"A=2\nif [ $A -gt 1 ]; then p yes; else p no; fi", "p yes"},
      {"if [[ -z \"$X\" ]]; then X=4; fi; p $X", "p 4"},
      {"if [ -f train.py ] && [ -d configs ]; then p 1; elif true; then p 2; fi", "p 1"},
      {"if [ -f data.bin ]; then A=1; else A=2; fi; p $A", "p ?$A"},
      {"if [ -d out ]; then p a; else p b; fi; p c", "p a (maybe) | p b (maybe) | p c"},
      {"if [ ! -d data ]; then echo no; exit 1; fi; p c", "p c"},
      {"A=b; [[ $A == b* && ! $A = c ]] && p 1 || p 2", "p 1"},
      {"A=7; [[ $A =~ ^[0-9]+$ ]] && p number", "p number"},
      {"false || p 1; true && p 2; ! true || p 3", "p 1 | p 2 | p 3"},
      {"mkdir x && p 1", "mkdir x | p 1"},
      {"case $1 in a) p a;; b|*) p other;; esac", "p other"},
      {"case x.yaml in *.json) p 1;; *.y?ml) p 2;; esac", "p 2"},
      {"case $X in a) p 1;; *) p 2;; esac", "p 1 (maybe) | p 2 (maybe)"},
      {"((3 > 2)) && p 1; test a = b || p 2", "p 1 | p 2"},
  };
  check_started(rows);
}

TEST_CASE("loops over known values are unrolled") {
  constexpr StartedRow rows[] = {
      {"for i in a 'b c'; do p \"$i\"; done", "p a | p 'b c'"},
      {"for i in $(seq 2); do for j in x y; do p $i$j; done; done", "p 1x | p 1y | p 2x | p 2y"},
      {"for ((i=0; i<2; i++)); do p $i; done", "p 0 | p 1"},
      {"i=0; while [ $i -lt 2 ]; do p $i; i=$((i+1)); done; p $i", "p 0 | p 1 | p 2"},
      {"until [ $((n+=1)) -ge 2 ]; do :; done; p end", "p end"},
      {"for i in 1 2 3; do [ $i = 2 ] && continue; p $i; done", "p 1 | p 3"},
      {"while true; do p 1; break; done", "p 1"},
      {"while true; do p 1; sleep 5; done", "p 1"},
      {"for i in $(seq 100); do p $i; done", "p ?$i x100"},
      {"for ((i=0;i<1000;i++)); do p $i; done", "p ?$i x1000"},
      {"for x in $LIST; do p $x; done", "p ?$LIST"},
      {"n=0; for i in $(seq 100); do n=$((n+1)); done; p $n", "p ?$n"},
      {"while read l; do p $l; done < list.txt", "p ?$l (maybe)"},
      {"for f in configs/*; do p $f; done", "p configs/a.yaml"},
  };
  check_started(rows);
}

TEST_CASE("functions, locals, subshells and sourced text keep their own state") {
  constexpr StartedRow rows[] = {
      {"f() { p $1 $#; }; f a b; f", "p a 2 | p 0"},
      {"f() { local A=2; p $A; }; A=1; f; p $A", "p 2 | p 1"},
      {"function f { return; p no; }; f; p yes", "p yes"},
      {"A=1; (A=2; p $A); p $A", "p 2 | p 1"},
      {"A=1; { A=2; }; p $A", "p 2"},
      {"eval 'A=3; p $A'", "p 3"},
      {"p 1 & p 2; wait", "p 1 | p 2"},
      {"exec p 1; p 2", "p 1"},
      {"set -euo pipefail; set -- x y; p $2 \"$@\"", "p y x y"},
      {"p a 2>&1 | tee log", "p a"},
  };
  check_started(rows);
}

TEST_CASE("positional parameters and option loops of a wrapper follow the command") {
  constexpr StartedRow rows[] = {
      {"p $1 ${2:-d} \"$@\"", "p --lr ?$LR --lr ?$LR 'a b'"},
  };
  check_started(rows, "bash run.sh --lr $LR 'a b'");
  constexpr StartedRow loops[] = {
      {"while [[ $# -gt 0 ]]; do case $1 in --lr) LR=$2; shift 2;; --lr=*) LR=${1#*=}; shift;;"
       " *) R+=(\"$1\"); shift;; esac; done; p $LR \"${R[@]}\"",
       "p 3 x"},
      {"for a in \"$@\"; do case $a in --lr) ;; x) p $a;; esac; done", "p x"},
      {"shift; p \"$@\"; shift 5; p $#", "p 3 x | p 2"},
  };
  check_started(loops, "bash run.sh --lr 3 x");
  constexpr StartedRow options[] = {
      {"while getopts 'b:e:f' o; do case $o in b) B=$OPTARG;; e) E=$OPTARG;; f) F=1;; esac; done;"
       " shift $((OPTIND-1)); p $B $E $F $1",
       "p 8 9 1 rest"},
  };
  check_started(options, "bash run.sh -b 8 -fe9 rest");
}

TEST_CASE("wrappers within wrappers, text and here-documents are followed") {
  SmallTree tree({{"run.sh", "cd $(dirname $0)/sub\nA=1 ./in.sh $1 && cd .. && p $PWD/x"},
                  {"sub/in.sh", "#!/bin/sh\nsource ./env.sh\npython go.py $A $B $1\n"},
                  {"sub/env.sh", "export B=2"},
                  {"sub/go.py", ""}});
  CHECK(started(*tree, "bash run.sh q") == "python go.py 1 2 q | p x");
  CHECK(started(*tree, "bash -c 'p $0 $1' a b") == "p bash b");
  CHECK(started(*tree, "bash -lc \"cd sub && p x\"") == "p x");
  CHECK(started(*tree, "bash <<'E'\np $A\nE") == "p ?$A");
  CHECK(started(*tree, "A=1 bash -c 'p $A'; B=2; bash -c 'p $B'") == "p 1 | p ?$B");
  CHECK(started(*tree, "nohup env A=1 timeout -s KILL 2h bash -c 'p $A' &") == "p 1");
  CHECK(started(*tree, "srun -N2 bash -c 'p 1'") == "srun -N2 p 1");
  CHECK(started(*tree, "docker run --gpus all -v /a:/b -e A=1 img bash -c 'p $A'") == "p 1");
  CHECK(started(*tree, "/somewhere/run.sh q") == "python go.py 1 2 q | p x");
}

TEST_CASE("files that a command writes are laid over the tree") {
  SmallTree tree({{"a.yaml", "lr: 1\nbatch: 8\n"}, {"train.py", ""}});
  const auto made = commands_of(
      *tree, {"cat > b.yaml <<EOF\nlr: ${LR:-2}\nEOF\necho 'x: 1' >> b.yaml\n"
              "sed -i 's/batch: 8/batch: 16/' a.yaml; cp a.yaml c.yaml; python train.py"});
  CHECK((*tree->read("b.yaml"))->text == "lr: 2\nx: 1\n");
  CHECK((*tree->read("a.yaml"))->text == "lr: 1\nbatch: 16\n");
  CHECK((*tree->read("c.yaml"))->text == "lr: 1\nbatch: 16\n");
  REQUIRE(made.invocations.size() == 1);
  CHECK(made.invocations[0].edits == std::vector<std::string>{"a.yaml"});
  CHECK(made.written.at("b.yaml").known);
  CHECK_FALSE(commands_of(*tree, {"echo $X > d.yaml"}).written.at("d.yaml").known);
}

TEST_CASE("sed: several commands, addresses, groups") {
  const std::string text = "a: 1\nb: 10\n# c\nd: \"x\"\n";
  const auto after = [&](const std::string& options) {
    SmallTree tree({{"a.yaml", text}, {"train.py", ""}});
    static_cast<void>(commands_of(*tree, {"sed -i " + options + " a.yaml; python train.py"}));
    return std::string((*tree->read("a.yaml"))->text);
  };
  CHECK(after("'s/a: 1/a: 2/; s/b: 10/b: 3/'") == "a: 2\nb: 3\n# c\nd: \"x\"\n");
  CHECK(after("-e 's/a: 1/a: 2/' -e '/^#/d'") == "a: 2\nb: 10\nd: \"x\"\n");
  CHECK(after("-E 's/^(b): ([0-9]+)/\\1: \\2\\2/'") == "a: 1\nb: 1010\n# c\nd: \"x\"\n");
  CHECK(after("-r 's/[0-9]+$/<&>/'") == "a: <1>\nb: <10>\n# c\nd: \"x\"\n");
  CHECK(after("'2s/1/7/;$d'") == "a: 1\nb: 70\n# c\n");
  CHECK(after("'2,/#/d'") == "a: 1\nd: \"x\"\n");
  CHECK(after("'/b/!s/: /=/'") == "a=1\nb: 10\n# c\nd=\"x\"\n");
  CHECK(after("'s#{x}#y#'") == text);
  CHECK(after("\"s#x#$HOME/d#\"") == "a: 1\nb: 10\n# c\nd: \"$HOME/d\"\n");
  for (const auto* odd : {"'s/a/b'", "'y/a/b/'", "-n 's/a/b/p'", "'s/\\(a\\)\\1/b/'", "'s/$X/b'",
                          "\"s/$X/b/\"", "-E 's/a{1,1000}/b/'", "''"})
    CHECK_MESSAGE(after(odd) == text, odd);
}

TEST_CASE("places lead to the line that decided a word") {
  SmallTree tree({{"run.sh", "LR=0.1\nARGS=\"--bs 4\"\np --lr $LR \\\n  $ARGS $1 --seed 7\n"}});
  const auto made = commands_of(*tree, {"BS=3 bash run.sh \"q\""});
  REQUIRE(made.invocations.size() == 1);
  const auto& words = made.invocations[0].argv;
  REQUIRE(words.size() == 8);
  CHECK(words[1].place->line == 3);
  CHECK(words[2].place->line == 1);
  CHECK(words[2].place->text == "LR=0.1");
  CHECK(words[2].place->source == FactSource::shell);
  CHECK(words[2].place->from->line == 3);
  CHECK(words[4].place->line == 2);
  CHECK(words[5].place->file == "<command>");
  CHECK(words[5].place->text == "\"q\"");
  CHECK(words[6].place->line == 4);
  CHECK(made.invocations[0].env.at("BS").place->text == "BS=3");
  CHECK(made.wrappers == std::vector<std::string>{"run.sh"});
}

TEST_CASE("text that is put together and then run keeps the lines of its parts") {
  for (const std::string run :
       {"eval $CMD", "bash -c \"$CMD\"", "sbatch --wrap=\"$CMD\"", "bash <<E\n$CMD\nE"}) {
    CAPTURE(run);
    SmallTree tree({{"run.sh", "LR=0.1\nMORE=\"--bs 4\"\nCMD=\"p --lr=$LR $MORE --x 1\"\n" + run}});
    const auto made = commands_of(*tree, {"bash run.sh"});
    REQUIRE(made.invocations.size() == 1);
    const auto& words = made.invocations[0].argv;
    REQUIRE(words.size() == 6);
    CHECK(words[1].place->line == 1);
    CHECK(words[3].place->line == 2);
    CHECK(words[5].place->line == 3);
  }
}

TEST_CASE("what is not followed is named with its line") {
  const auto notes = [](const std::string& script) {
    SmallTree tree({{"run.sh", script}});
    const auto made = commands_of(*tree, {"bash run.sh"});
    return made.degraded.empty() ? std::string() : made.degraded.front();
  };
  CHECK(notes("true\nssh host p").starts_with("run.sh:2: what runs over ssh"));
  CHECK(notes("ls | xargs -n 1 p").starts_with("run.sh:1: 'xargs'"));
  CHECK(notes("p 'open").contains("not closed"));
  CHECK(notes("source gone.sh").contains("gone.sh"));
  CHECK(notes("if true; then p").contains("'fi' is missing"));
  CHECK(notes("cd /data/elsewhere").contains("out of the tree"));
}

}  // namespace schedmate::command
