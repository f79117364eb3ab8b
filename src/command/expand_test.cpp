// SPDX-License-Identifier: Apache-2.0
#include "command/expand.hpp"

#include <doctest/doctest.h>

#include "tests/support/command_lines.hpp"

namespace schedmate::command {
namespace {

using testing::check_started;
using testing::started_by;
using testing::StartedRow;

}  // namespace

TEST_CASE("quotes keep words together and blanks split what is not quoted") {
  constexpr StartedRow rows[] = {
      {"p a 'b  c' \"d e\" f\\ g", "p a 'b  c' 'd e' 'f g'"},
      {"p 'x'\"y\"z", "p xyz"},
      {"p '' \"\"", "p '' ''"},
      {"p \\\n --a 1 \\\n --b 2", "p --a 1 --b 2"},
      {"p $'a\\nb' a#b # c", "p a\nb a#b"},
      {"A='1 2'; p $A \"$A\" x$A", "p 1 2 '1 2' x1 2"},
      {"A=; p $A \"$A\" b", "p '' b"},
      {"p \"it's\" 'say \"x\"' \"\\$A \\\"q\\\" \\n\"", "p it's 'say \"x\"' '$A \"q\" \\n'"},
      {"p --opts a=1,2 b=[1,2] c={d:1}", "p --opts a=1,2 b=[1,2] c={d:1}"},
  };
  check_started(rows);
}

TEST_CASE("parameters are expanded with their operators") {
  constexpr StartedRow rows[] = {
      {"A=x; p $A ${A} ${A}y ${#A}", "p x x xy 1"},
      {"p ${A:-1} ${A-2} \"${A:-b c}\" ${A:-\"d e\"}", "p 1 2 'b c' 'd e'"},
      {"p ${A:=3} $A", "p 3 3"},
      {"A=1; p ${A:+yes} ${B:+no} end", "p yes end"},
      {"A=a/b/c.tar.gz; p ${A##*/} ${A#*/} ${A%.*} ${A%%.*}",
       "p c.tar.gz b/c.tar.gz a/b/c.tar a/b/c"},
      {"A=a-b-a; p ${A/a/x} ${A//a/x} ${A/#a/x} ${A/%a/x} ${A//-}",
       "p x-b-a x-b-x x-b-a a-b-x aba"},
      {"A=Ab; p ${A^^} ${A,,} ${A^} ${A,}", "p AB ab Ab ab"},
      {"A=abcdef; p ${A:2} ${A:1:2} ${A: -2} ${A:0:-1}", "p cdef bc ef abcde"},
      {"A=B; B=9; p ${!A}", "p 9"},
      {"p ${A:-${B:-${C:-deep}}}", "p deep"},
      {"A=1; A+=2; p $A", "p 12"},
  };
  check_started(rows);
}

TEST_CASE("arrays give their items, their count and their slices") {
  constexpr StartedRow rows[] = {
      {"A=(a 'b c' d); p \"${A[@]}\" ${A[1]} ${#A[@]}", "p a 'b c' d b c 3"},
      {"A=(a b); A+=(c); A[0]=z; p ${A[*]} ${A[-1]} ${A[@]:1:2}", "p z b c c b c"},
      {"declare -A M=([x]=1 [y]=2); K=y; p ${M[$K]} ${M[x]}", "p 2 1"},
      {"A=(x y); for i in ${!A[@]}; do p $i ${A[$i]}; done", "p 0 x | p 1 y"},
      {"A=(1 2); p \"${A[@]/%/.yaml}\"", "p 1.yaml 2.yaml"},
      {"A=(); p \"${A[@]}\" x", "p x"},
  };
  check_started(rows);
}

TEST_CASE("arithmetic is calculated where all of it is known") {
  constexpr StartedRow rows[] = {
      {"A=4; p $((A * 2 + 1)) $(($A/3)) $((A>3?7:8)) $(( 2**10 ))", "p 9 1 7 1024"},
      {"i=1; ((i++)); let i+=5; p $i", "p 7"},
      {"p $((1/0)) $((X*2)) $((9223372036854775807+1))",
       "p ?$((1/0)) ?$((X*2)) ?$((9223372036854775807+1))"},
  };
  check_started(rows);
}

TEST_CASE("braces and file patterns give several words") {
  constexpr StartedRow rows[] = {
      {"p {a,b}c {1..3} {01..03} x{,y} '{q,r}' ${A:-{}}", "p ac bc 1 2 3 01 02 03 x xy {q,r} {}"},
      {"p configs/*.yaml \"*.py\" [t]rain.py", "p configs/a.yaml *.py train.py"},
      {"p data/*.bin", "p ?data/*.bin"},
      {"p {3..1} {a..c} {0..10..5}", "p 3 2 1 a b c 0 5 10"},
  };
  check_started(rows);
}

TEST_CASE("what pure programs print is known, the rest is kept as written") {
  constexpr StartedRow rows[] = {
      {"p $(dirname a/b/c) $(basename a/b.py .py) $(echo x y) `echo z`", "p a/b b x y z"},
      {"p $(seq 3) $(seq -s, 2 4)", "p 1 2 3 2,3,4"},
      {"p $(nvidia-smi -L | wc -l) $(nvidia-smi --list-gpus | wc -l)", "p 4 4"},
      {"p $(python -c 'import torch; print(torch.cuda.device_count())')", "p 4"},
      {"V=0,1,2; p $(echo $V | tr ',' '\\n' | wc -l)", "p 3"},
      {"p $(date +%F) $(nproc) $(whoami)", "p ?'$(date +%F)' ?$(nproc) ?$(whoami)"},
      {"p $(cat configs/a.yaml)", "p lr: 1"},
      {"N=4; p $(echo \"200*10^9 / ($N * 4096)\" | bc) $(echo 'scale=2; 1/3 + 1' | bc)",
       "p 12207031 1.33"},
      {"p $(echo \"sqrt(2)\" | bc)", "p ?'$(echo \"sqrt(2)\" | bc)'"},
      {"p $(cat absent.txt)x", "p ?'$(cat absent.txt)x'"},
      {"p $(echo AbC | tr A-Z a-z) $(echo HeLLo | tr '[:upper:]' '[:lower:]')", "p abc hello"},
  };
  check_started(rows);
}

TEST_CASE("an unset variable stays as written and marks only its own word") {
  CHECK(started_by("p a $X ${Y}/b \"$Z\"") == "p a ?$X ?${Y}/b ?$Z");
  CHECK(started_by("ARGS=\"--lr 1 --data $D\"; p $ARGS") == "p --lr 1 --data ?$D");
  CHECK(started_by("ARGS=\"$ARGS --x\"; ARGS=\"${ARGS} --y\"; p $ARGS") == "p --x --y");
  CHECK(started_by("NAME=\"${NAME}_small\"; p $NAME") == "p ?${NAME}_small");
  CHECK(started_by("p $HOME/x ~/y ${HOME:-z}") == "p ?$HOME/x ?~/y ?${HOME:-z}");
}

}  // namespace schedmate::command
