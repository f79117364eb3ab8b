#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# equality_test.sh BIN SOURCE_DIR SHARED: our schedules against the released ones, job by job and GPU by GPU.
# Reads SHARED (never copied); exit 77 (skipped) where that folder is absent. Where it is there, nothing
# may be skipped: a missing python3 is a failure.
set -u
bin=$1 source=$2 shared=$3
[ -d "$shared/data/lucid/input" ] || { echo "skipped: needs $shared/data/lucid/input"; exit 77; }
command -v python3 > /dev/null || { echo "python3 is needed for the comparison: make deps"; exit 1; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

compare() { # OURS EXPECTED [OPTION...]
  local ours=$1 expected=$2
  shift 2
  printf '%s: ' "$(basename "$ours")"
  python3 "$shared/tools/compare_schedule.py" "$ours" "$expected" "$@" || failed=1
}

run() { "$bin" simulate --report none "$@" > "$out/log" 2>&1 || { cat "$out/log"; exit 1; }; }

echo "== 13 days of Venus, mode reference: every column of every job"
run --trace "lucid:$shared/data/lucid/input" --mode reference --policy fifo --policy sjf --policy srtf \
  --policy qssf:estimate=column:est_lgb --policy tiresias --policy lucid:estimate=column:est_ebm_raw --out "$out"
for policy in fifo sjf srtf tiresias lucid; do
  compare "$out/$policy.jobs.csv" "$shared/data/lucid/expected/$policy.csv.gz"
done
compare "$out/qssf.jobs.csv" "$shared/data/lucid/expected/qssf-lightgbm.csv.gz"
awk -F, 'NR == 1 { print; next } { print $1 + 0 "," $2 + 0 }' "$out/lucid.scaling.csv" > "$out/ours.scaling"
awk -F, 'NR == 1 { print; next } { print $1 + 0 "," $2 + 0 }' "$shared/data/lucid/expected/profiler_scaling.csv" > "$out/their.scaling"
if cmp "$out/ours.scaling" "$out/their.scaling"; then
  echo "lucid.scaling.csv: $(($(wc -l < "$out/ours.scaling") - 1)) events, equal"
else
  failed=1
fi

echo "== FIFO on the real rows: start and end"
traces=$shared/data/traces
run --trace "helios:$traces/venus_sept2020_jobs.csv.gz" --policy fifo@venus --out "$out"
compare "$out/venus.jobs.csv" "$traces/venus_sept2020_fifo_reference.csv.gz" --only start_s,end_s
run --trace "philly:$traces/philly_jobs_10vc.csv.gz" --cluster "$source/tests/fixtures/clusters/philly.toml" \
  --policy fifo@philly --out "$out"
compare "$out/philly.jobs.csv" "$traces/philly_fifo_reference.csv.gz" --only start_s,end_s
exit $failed
