#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What models do to the scores of labelled logs: bench/log_llm_scores.sh [none|oracle|liar|real|judge]...
# Two tables: with all rules, and with less of them, as if the frameworks and failures were new: the
# words of the progress logs (four letters and more) are ciphered, and a row in front of all rules
# calls every failure unknown. Prints runs that got no answer, requests, values accepted
# (borne out), dropped and used (the rules had no answer), and all scores; then
# whether a score fell by more than a point against none. `real` is the small model of the test bed;
# `judge` that model alone, with the last lines of the log and no locator (bench/log_judge.py).
# BUILD, SHARED, PROGRESS, FAILURES, OUT, PORT, TABLES may be set.
set -euo pipefail

# The scorers call this script in the place of the program: run it, keep its document.
if [ "${1:-}" = track ] || [ "${1:-}" = diagnose ]; then
  document=$(mktemp "$LLM_KEPT/XXXXXX.json")
  if [ "$LLM_MODE" = judge ] && [ "$1" = diagnose ]; then
    python3 "$LLM_JUDGE" "$LLM_URL" "$2" > "$document"
  else
    "$LLM_BIN" "$@" > "$document"
  fi
  exec cat "$document"
fi

cd "$(dirname "$0")/.."
self=$PWD/bench/log_llm_scores.sh
build=${BUILD:-build/release}
shared=${SHARED:-../shared}
progress=${PROGRESS:-$shared/eval/dev/progress.jsonl}
failures=${FAILURES:-$shared/eval/dev/failures.jsonl}
out=${OUT:-build/bench-out}/log-llm
testbed=${LLM_TESTBED:-$shared/testbed/llm-testbed.sh}
port=${PORT:-18094}
server=
mkdir -p "$out/few"
out=$(realpath "$out")
LLM_BIN=$(realpath "$build/schedmate")
LLM_JUDGE=$PWD/bench/log_judge.py
export LLM_BIN LLM_KEPT LLM_JUDGE LLM_URL LLM_MODE

stop_server() {
  if [ -n "$server" ]; then kill -INT "$server" && wait "$server" || true; fi
  server=
}
trap 'stop_server; "$testbed" stop $port > /dev/null 2>&1 || true' EXIT

# start MODE PROGRESS: the url of its server in $out/MODE.url; nothing for none.
start() {
  case $1 in
    none) ;;
    real | judge) "$testbed" start $port | sed 's|$|/v1|' > "$out/$1.url" || return 1 ;;
    *)
      : > "$out/$1.url"
      "$build/bench/fake_llm_server" --mode "$1" --progress "$2" --failures "$failures" --port $port > "$out/$1.url" &
      server=$!
      for _ in $(seq 100); do [ -s "$out/$1.url" ] && return; sleep 0.1; done
      return 1 ;;
  esac
}

# The words of a log in another alphabet; numbers, units and time stamps stay.
cipher() {
  python3 - "$1" << 'END'
import codecs, json, re, sys
for line in open(sys.argv[1]):
    case = json.loads(line)
    case["log"] = re.sub(r"[A-Za-z]{4,}", lambda word: codecs.encode(word[0], "rot13"), case["log"])
    print(json.dumps(case))
END
}

# row MODE FILES...: one line of the table, from the documents and what the scorers printed.
row() {
  python3 - "$@" << 'END'
import json, pathlib, re, sys
mode, kept, progress, failures, row = sys.argv[1:]
docs = [json.loads(text) for p in pathlib.Path(kept).glob("*.json") if (text := p.read_text())]
costs = [d["cost"] for d in docs]
failed = sum(any(line.startswith("no answer of the model") for line in d.get("degraded", [])) for d in docs)
used = sum(len(d.get("by_model", [])) + str(d.get("by", "")).endswith("/model") for d in docs)
total = lambda key: sum(cost[key] for cost in costs)
text = open(progress).read() + open(failures).read()
find = lambda pattern: float(match[1]) if (match := re.search(pattern, text)) else float("nan")
scores = {
    "time": find(r"STEP TIME success ([\d.]+)"), "rmsre": find(r"RMSRE ([\d.na]+)"),
    "loss": find(r"'loss': '[^=]*= ([\d.]+)"), "step": find(r"'step': '[^=]*= ([\d.]+)"),
    "total": find(r"'total_steps': '[^=]*= ([\d.]+)"), "cause": find(r"CAUSE found[^=]*= ([\d.]+)"),
    "healthy": find(r"HEALTHY[^=]*= ([\d.]+)"), "class": find(r"CLASS exact[^=]*= ([\d.]+)"),
    "prec": find(r"INFRA precision ([\d.]+)"), "recall": find(r"recall ([\d.]+)"), "f1": find(r"F1 ([\d.]+)")}
json.dump(scores, open(row, "w"))
print(f"{mode:7} {failed:8}", *(f"{total(key):8}" for key in ("model_calls", "tokens", "model_accepted", "model_dropped")), f"{used:8}",
      *(f"{value:7.3f}" if key == "rmsre" else f"{value:7.1f}" for key, value in scores.items()))
END
}

# score MODE TABLE PROGRESS ARGS
score() {
  local mode=$1 table=$2 logs=$3 args=$4
  if ! start "$mode" "$logs"; then echo "$mode: skipped, its server cannot start"; return; fi
  LLM_MODE=$mode
  LLM_URL=
  if [ "$mode" = none ]; then
    args="$args --llm none"
  else
    LLM_URL=$(head -1 "$out/$mode.url")
    args="$args --llm $mode --set llm.$mode.url=$LLM_URL --set llm.$mode.tokens_per_user=100000000"
    args="$args --set llm.$mode.tokens_per_day=100000000 --set llm.$mode.deadline_s=${DEADLINE_S:-240}"
  fi
  LLM_KEPT=$out/$table/$mode
  rm -rf "$LLM_KEPT" "$out/state-$table-$mode" && mkdir -p "$LLM_KEPT"
  args="$args --state-dir $out/state-$table-$mode"
  python3 "$shared/tools/score_progress.py" --schedmate "$self" --cases "$logs" --args "$args" \
    > "$LLM_KEPT.progress.txt" || true
  python3 "$shared/tools/score_failures.py" --schedmate "$self" --cases "$failures" --healthy "$progress" \
    ${STRICT---strict} --args "$args" > "$LLM_KEPT.failures.txt" || true
  stop_server
  row "$mode" "$LLM_KEPT" "$LLM_KEPT.progress.txt" "$LLM_KEPT.failures.txt" "$LLM_KEPT.row"
}

# Scores that fell by more than LIMIT points against none (rmsre by more than 0.01).
fallen() {
  python3 - "$1" "$2" "$3" << 'END'
import json, math, sys
before, after = (json.load(open(f"{sys.argv[1]}/{mode}.row")) for mode in ("none", sys.argv[2]))
limit = float(sys.argv[3])
worse = lambda k: after[k] > before[k] + 0.01 if k == "rmsre" else after[k] < before[k] - limit
lost = [f"{k} {before[k]} -> {after[k]}" for k in before if not math.isnan(before[k]) and worse(k)]
print(f"  {sys.argv[2]}: " + (", ".join(lost) if lost else f"no score is lower by more than {limit:g} points"))
END
}

mkdir -p "$out/few/rules"
cipher "$progress" > "$out/few/progress.jsonl"
cat > "$out/few/rules/failures.toml" << 'END'
[[failure]]
name = "all are unknown"
class = "other"
frames = ["none", "project", "library", "library_from_library", "only_library"]
reason = "no rule matches this line"
recommendation = "notify"
confidence = 0.1
END

modes=${*:-none oracle liar}
for table in ${TABLES:-all few}; do
  echo "rules: $table"
  printf '%-7s' mode
  printf ' %8s' failed calls tokens accepted dropped used
  printf ' %7s' time rmsre loss step total cause healthy class prec recall f1
  echo
  for mode in $modes; do
    if [ $table = all ]; then score "$mode" all "$progress" ""
    else score "$mode" few "$out/few/progress.jsonl" "--set rules=$out/few/rules"; fi
  done
  for mode in $modes; do
    limit=1
    if [ "$mode" = real ]; then limit=0; fi
    if [ "$mode" != none ] && [ -f "$out/$table/none.row" ] && [ -f "$out/$table/$mode.row" ]; then
      fallen "$out/$table" "$mode" $limit
    fi
  done
done
