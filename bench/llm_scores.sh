#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What models do to the scores of labelled jobs: bench/llm_scores.sh [none|oracle|liar|real]...
# Prints a table: requests made, values accepted and dropped, coverage of the nine hard fields, right
# when answered. Without arguments: none, oracle and liar; `real` (the small model of the test bed)
# takes a second or many for each job and asks only within the first REAL_S seconds.
# BUILD, SHARED, TREES, CASES, OUT may be set.
set -euo pipefail

# The scorer calls this script in the place of the program: run it, keep its document.
if [ "${1:-}" = facts ]; then
  if [ "$(date +%s)" -gt "$LLM_UNTIL" ]; then  # a flag may stand once: take it off
    words=()
    while [ $# -gt 0 ]; do
      if [ "$1" = --llm ]; then shift; else words+=("$1"); fi
      shift
    done
    set -- "${words[@]}"
  fi
  document=$(mktemp "$LLM_KEPT/XXXXXX.json")
  "$LLM_BIN" "$@" > "$document"
  exec cat "$document"
fi

cd "$(dirname "$0")/.."
self=$PWD/bench/llm_scores.sh
build=${BUILD:-build/release}
shared=${SHARED:-../shared}
trees=${TREES:-../trees/dev}
cases=${CASES:-$shared/eval/dev/jobs.jsonl}
out=${OUT:-build/bench-out}/llm
testbed=${LLM_TESTBED:-$shared/testbed/llm-testbed.sh}
port=${PORT:-18092}
server=
mkdir -p "$out"
out=$(realpath "$out")
LLM_BIN=$(realpath "$build/schedmate")
export LLM_BIN LLM_KEPT LLM_UNTIL

stop_server() {
  if [ -n "$server" ]; then kill -INT "$server" && wait "$server" || true; fi
  server=
}
# The test bed's server is stopped by the run that started it alone.
own_testbed=
trap 'stop_server; if [ -n "$own_testbed" ]; then "$testbed" stop $port > /dev/null 2>&1 || true; fi' EXIT

# The url of the mode's server; nothing for none.
start() {
  case $1 in
    none) ;;
    real)
      "$testbed" status $port > /dev/null 2>&1 || own_testbed=yes
      "$testbed" start $port | sed 's|$|/v1|' > "$out/real.url" || return 1 ;;
    *)
      "$build/bench/fake_llm_server" --mode "$1" --cases "$cases" --trees "$trees" --port $port > "$out/$1.url" &
      server=$!
      for _ in $(seq 100); do [ -s "$out/$1.url" ] && return; sleep 0.1; done
      return 1 ;;
  esac
}

# Sums over the documents that the program printed.
sums() {
  python3 - "$1" << 'END'
import json, pathlib, sys
texts = [p.read_text() for p in pathlib.Path(sys.argv[1]).glob("*.json")]
docs = [json.loads(text) for text in texts if text]  # a run that failed says nothing
total = lambda key: sum(d["cost"][key] for d in docs)
asked = sum(d["cost"]["model_calls"] > 0 for d in docs)
failed = sum(any(line.startswith("no answer of the model") for line in d["degraded"]) for d in docs)
print(asked, failed, *(total(k) for k in ("model_calls", "tokens", "model_accepted", "model_dropped")))
END
}

score() {
  local mode=$1 args="--llm none"
  if ! start "$mode"; then echo "$mode: skipped, its server cannot start"; return; fi
  if [ "$mode" != none ]; then
    args="--llm $mode --set llm.$mode.url=$(head -1 "$out/$mode.url") --set llm.$mode.tokens_per_user=100000000"
    args="$args --set llm.$mode.tokens_per_day=100000000 --state-dir $out/state ${LLM_ARGS:-}"
  fi
  LLM_KEPT=$out/$mode
  LLM_UNTIL=$(($(date +%s) + ${REAL_S:-1500}))
  rm -rf "$LLM_KEPT" && mkdir -p "$LLM_KEPT"
  python3 "$shared/tools/score_facts.py" --schedmate "$self" --cases "$cases" --trees "$trees" \
    --args "$args" > "$out/$mode.txt" || true
  stop_server
  printf '%-7s' "$mode"
  printf ' %8s' $(sums "$LLM_KEPT") "$(sed -n 's/.*nine hard fields.*= //p' "$out/$mode.txt" | tr -d ' ')" \
    "$(sed -n 's/.*right when answered [0-9]*\/.*= //p' "$out/$mode.txt" | tail -1 | tr -d ' ')" \
    "$(sed -n 's/.*wall s: median \([0-9.]*\).*/\1/p' "$out/$mode.txt")"
  echo
}

printf '%-7s' mode
printf ' %8s' asked failed calls tokens accepted dropped right 'of given' 'wall s'
echo
for mode in "${@:-none oracle liar}"; do
  for each in $mode; do score "$each"; done
done
