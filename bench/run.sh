#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every speed figure of the project, measured now: bench/run.sh [PART]...
# Parts: reference scale year advised readers store dense advice durations logs elastic secrets waits.
# BIN and OUT may be set; without arguments everything runs (some minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-build/release/schedmate}
out=${OUT:-build/bench-out}
shared=${SHARED:-../shared}
build=${BUILD:-build/release}
mkdir -p "$out"

prepare() {
  [ -x "$bin" ] || { echo "bench: $bin is missing: run make build first" >&2; exit 1; }
  cmake --build "$build" --target measure read_bench store_bench resubmit_bench dense_bench advice_bench history_replay duration_study log_bench rca_nearest allocation elastic_models redaction_bench > "$out/build.log" 2>&1 || { tail -20 "$out/build.log" >&2; exit 1; }
}

# Whole process, reading and writing included, against the Python figures of the same input.
reference() {
  echo "== 13 days of Venus (11,534 jobs, 1,080 GPUs), mode reference, CPU time of the whole process"
  if ! [ -d "$shared/data/lucid/input" ]; then echo "skipped: $shared/data/lucid/input is not here"; return; fi
  printf '%-10s %12s %12s %12s %10s %10s\n' policy 'Python s' 'ours s' 'median s' ratio 'peak MB'
  grep '^lucid13,' bench/published.csv | while IFS=, read -r _ policy estimate theirs _; do
    spec=$policy${estimate:+:estimate=$estimate}
    read -r least median _ peak < <("$build/bench/measure" "${RUNS:-9}" "$bin" simulate \
      --trace "lucid:$shared/data/lucid/input" --mode reference --policy "$spec" --report none --out "$out/reference")
    awk -v p="$policy" -v t="$theirs" -v l="$least" -v m="$median" -v k="$peak" \
      'BEGIN { printf "%-10s %12d %12.3f %12.3f %9dx %10.1f\n", p, t, l, m, t / m, k }'
  done
}

figure() { grep -o "\"$2\": *[0-9.eE+-]*" "$1/summary.json" | head -1 | sed 's/.*: *//'; }

# generate --from venus, then simulate: one row per policy and number of jobs.
sized() { # GPUS JOBS... -- POLICY...
  local gpus=$1; shift
  local sizes=()
  while [ "$1" != -- ]; do sizes+=("$1"); shift; done; shift
  printf '%-26s %9s %9s %9s %9s %8s %11s %10s\n' policy jobs 'wall s' 'CPU s' 'peak MB' load 'peak queue' 'per first'
  for jobs in "${sizes[@]}"; do
    local dir=$out/venus-$gpus-$jobs
    [ -s "$dir/cluster.toml" ] || "$bin" generate --from venus --jobs "$jobs" --gpus "$gpus" --load 0.9 --seed 1 --out "$dir" > /dev/null
  done
  for policy in "$@"; do
    local first=
    for jobs in "${sizes[@]}"; do
      local dir=$out/venus-$gpus-$jobs
      read -r _ cpu wall peak < <("$build/bench/measure" 1 "$bin" simulate --trace "helios:$dir/jobs.csv" \
        --cluster "$dir/cluster.toml" --policy "$policy" --report none --out "$out/scale")
      : "${first:=$wall}"
      awk -v p="$policy" -v j="$jobs" -v w="$wall" -v c="$cpu" -v m="$peak" -v f="$first" \
        -v l="$(figure "$out/scale" offered_load)" -v q="$(figure "$out/scale" peak_queue)" \
        'BEGIN { printf "%-26s %9d %9.2f %9.2f %9.0f %8.3f %11d %9.2fx\n", p, j, w, c, m, l, q, w / f }'
    done
  done
}

scale() {
  echo "== resampled Venus jobs on 100,000 GPUs, load 0.9"
  sized 100000 125000 250000 500000 1000000 -- fifo sjf backfill_easy tiresias
}

year() {
  echo "== 1,000,000 resampled Venus jobs on 3,400 GPUs (about a year), load 0.9"
  sized 3400 1000000 -- fifo sjf srtf qssf tiresias lucid backfill_easy
}

# The real Advisor in the loop; the made-up workload is made in the same process.
advised() {
  echo "== 13 days of Venus (11,534 jobs, 1,080 GPUs) with made-up metadata, the whole process (asked of lucid+sm: 3 s, 200 MB)"
  printf '%-24s %10s %10s %10s\n' policy 'CPU s' 'wall s' 'peak MB'
  for policy in lucid lucid+sm:advice=last_k lucid+sm qssf+sm tiresias+sm backfill_easy+sm slurm_backfill+sm schedmate+sm; do
    read -r _ cpu wall peak < <("$build/bench/measure" "${RUNS:-9}" "$bin" simulate \
      --trace helios:data/venus/venus_sept2020_days0-12.csv.gz --policy "$policy" --report none --out "$out/advised")
    awk -v p="$policy" -v c="$cpu" -v w="$wall" -v m="$peak" 'BEGIN { printf "%-24s %10.2f %10.2f %10.1f\n", p, c, w, m }'
  done
  echo
  echo "== 1,000,000 resampled Venus jobs on 100,000 GPUs (asked with last_k: 120 s)"
  sized 100000 1000000 -- schedmate:estimate=last_k schedmate:estimate=advisor
}

readers() {
  echo "== readers, 1,000,000 rows"
  "$build/bench/read_bench"
}

# The advisor: exact search and import at full size, estimates on made and on real histories.
store() {
  echo "== history of 1,000,000 jobs with texts, sparse rows, SQLite"
  rm -rf "$out/store"
  mkdir -p "$out/store"
  "$build/bench/store_bench" 1000000 "$out/store"
  "$build/bench/resubmit_bench" "$out/store" examples/classifier
}
dense() {
  for rows in 100000 1000000; do
    echo "== exact search over $rows vectors of 1,024 numbers"
    rm -rf "$out/dense"
    "$build/bench/dense_bench" "$rows" "$out/dense"
  done
}
advice() {
  echo "== scaled resubmissions on made histories, and the real Venus rows with made metadata"
  "$build/bench/advice_bench"
  "$build/bench/history_replay" data/venus/venus_sept2020_days0-12.csv.gz data/recipes/light.toml data
}

# How often the answers about lengths hold (docs/durations.md); the rows are in $out.
durations() {
  local study=$build/bench/duration_study
  echo "== 12 draws of Venus and of Philly, and 1,050 jobs of a real Slurm"
  "$study" made helios:data/venus/venus_sept2020_days0-12.csv.gz data/recipes/heavy.toml data 1 12 | tee "$out/durations_venus.csv"
  "$study" made philly:data/philly/philly_oct2017.csv.gz data/recipes/heavy.toml data 1 12 | tee "$out/durations_philly.csv"
  zcat tests/fixtures/sacct/duration_bed.txt.gz > "$out/bed.txt"
  "$study" sacct "$out/bed.txt" | tee "$out/durations_testbed.csv"
}

# Of this repository's own sources, or of the folders in TREES.
secrets() {
  echo "== redaction; every line that it changed is in $out/redactions.txt"
  "$build/bench/redaction_bench" "$out/redactions.txt" ${TREES:-src apps tests docs}
}

# Reading logs: classification beside Drain3 (from the Python registry), locators, tails.
logs() {
  local dir=$out/logs sources=("$shared"/eval/dev/progress.jsonl "$shared"/eval/dev/failures.jsonl)
  mkdir -p "$dir"
  if ! [ -f "${sources[0]}" ]; then echo "skipped: ${sources[0]} is not here"; return; fi
  echo "== classification of log lines on one core (asked: 1,000,000 lines/s)"
  "$build/bench/log_bench" "$dir/corpus.log" 2000000 "${sources[@]}"
  if [ -x "$dir/venv/bin/python" ] || { python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q drain3; } > "$dir/pip.log" 2>&1; then
    # It slows down as its clusters grow: minutes for all lines.
    "$dir/venv/bin/python" bench/drain3_bench.py "$dir/corpus.log" "${DRAIN3_LINES:-50000}"
  else
    echo "Drain3: skipped, it cannot be installed ($(tail -1 "$dir/pip.log"))"
  fi
  echo
  echo "== 256,000 lines of it, wall ms of the whole process (asked: algorithm1 50, scan 300), and its CPU ms"
  head -256000 "$dir/corpus.log" > "$dir/256k.log"
  for locator in algorithm1 scan tail; do
    read -r _ cpu wall peak < <("$build/bench/measure" "${RUNS:-9}" "$bin" diagnose "$dir/256k.log" --locate "$locator" --json)
    awk -v l="$locator" -v w="$wall" -v c="$cpu" -v m="$peak" \
      'BEGIN { printf "%-12s %10.0f %10.0f %10.1f MB\n", l, 1000 * w, 1000 * c, m }'
  done
  echo
  echo "== a plain log of 10 GB (sparse) and one line of 1 GB, wall ms (asked: track 100 ms; memory 100 MB)"
  rm -f "$dir/10gb.log" && truncate -s 10000000000 "$dir/10gb.log" && tail -2000 "$dir/256k.log" >> "$dir/10gb.log"
  read -r _ _ wall peak < <("$build/bench/measure" "${RUNS:-9}" "$bin" track "$dir/10gb.log" --json)
  printf '%-12s %10.0f %10.1f MB\n' "track 10 GB" "$(awk -v w="$wall" 'BEGIN { print 1000 * w }')" "$peak"
  head -c 1000000000 /dev/zero | tr '\0' x > "$dir/line.log"
  for command in track diagnose; do
    read -r _ _ wall peak < <("$build/bench/measure" 1 "$bin" "$command" "$dir/line.log" --json)
    printf '%-12s %10.0f %10.1f MB\n' "$command 1 GB" "$(awk -v w="$wall" 'BEGIN { print 1000 * w }')" "$peak"
  done
  rm -f "$dir/line.log" "$dir/10gb.log"
  follow_cost "$dir/follow.log"
}

# Share of a core that --follow takes while a log grows by 1,000 lines a second.
follow_cost() {
  local log=$1 seconds=${FOLLOW_S:-20}
  : > "$log"
  python3 -c "
import sys, time
with open(sys.argv[1], 'a', buffering=1) as out:
    begin = time.monotonic()
    for tenth in range(int(sys.argv[2]) * 10):
        out.write(''.join(f'step {tenth * 100 + i} loss 0.5 time 0.001s\\n' for i in range(100)))
        out.flush()
        time.sleep(max(0, begin + (tenth + 1) / 10 - time.monotonic()))" "$log" "$seconds" &
  read -r _ cpu wall _ < <("$build/bench/measure" 1 "$bin" track "$log" --follow --json --for "$seconds")
  wait
  awk -v c="$cpu" -v w="$wall" 'BEGIN { printf "--follow at 1,000 lines/s: %.2f %% of a core (asked: 1)\n", 100 * c / w }'
}

# Elastic jobs: whole runs beside the released simulator (Python), models, allocations beside cbc.
elastic() {
  "$build/bench/allocation" "${ROUNDS:-100}"
  echo
  "$build/bench/elastic_models"
  echo
  local sia=$shared/data/sia
  echo "== Sia's released workloads on 64 GPUs, one run, the whole process (asked: philly 1 s, newtrace 5 s of CPU, 100 MB)"
  if ! [ -d "$sia/traces" ]; then echo "skipped: $sia/traces is not here"; return; fi
  printf '%-12s %-10s %10s %10s %10s %12s %12s\n' workload fit 'CPU s' 'wall s' 'peak MB' 'released s' 'released MB'
  grep '^sia64,' bench/published.csv | while IFS=, read -r _ workload _ theirs their_mb _; do
    for fit in released best; do
      read -r _ cpu wall peak < <("$build/bench/measure" "${RUNS:-9}" "$bin" simulate --trace "sia:$sia/workloads/$workload/workload-1.csv" \
        --tables "$sia/traces" --cluster sia64 --policy sia --set elastic.perturbations=1 --set "elastic.fit=$fit" --out "$out/elastic")
      awk -v n="$workload" -v f="$fit" -v c="$cpu" -v w="$wall" -v m="$peak" -v t="$theirs" -v k="$their_mb" \
        'BEGIN { printf "%-12s %-10s %10.2f %10.2f %10.1f %12d %12d\n", n "-1", f, c, w, m, t, k }'
    done
  done
}

# How long somebody waits because of somebody else.
waits() {
  if [ "$(id -u)" != 0 ]; then echo "skipped: needs root, to be several users"; return; fi
  bench/waits.py "$build"
}

prepare
for part in "${@:-reference scale year advised readers store dense advice durations logs elastic secrets waits}"; do
  for each in $part; do "$each"; echo; done
done
