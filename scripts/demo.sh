#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh: the parts of SchedMate on the data and the example of this repository. First the
# simulator replays the bundled Venus days (docs/formats/helios.md) under every policy; policies that
# need a duration get one from the past (`last_k`), never the true one. Then the advisor reads
# examples/classifier and answers for three submissions. Last, examples/trainer really trains: its log is
# tracked while it grows, and four ways to fail are diagnosed; jobs are resized on mixed GPU types; at the end
# hosts stand beside the same hosts with SchedMate. SCHEDMATE names another program.
set -euo pipefail
cd "$(dirname "$0")/.."

schedmate=${SCHEDMATE:-build/release/schedmate}
example=examples/classifier
state=demo-out/advisor
monday=1760313600  # 2025-10-13, fixed: the same demonstration every day
width=120          # longer lines are cut
. scripts/site.sh

heading() { printf '\n== %s\n' "$*"; }

# HOUR USER COMMAND [FLAG...]: a submission of the example, made that many hours after monday.
advise() {
  local hour=$1 user=$2 command=$3
  "$schedmate" advise "$example" --command "$command" --gpus 4 --user "$user" \
    --submit-time $((monday + hour * 3600)) --state-dir "$state" "${@:4}"
}

# An earlier job: what the cluster would report when it is submitted, and again when it ends.
past_job() {
  local hour=$1 user=$2 end=$3 duration_s=$4 command=$5
  local id="$user-$hour"
  advise "$hour" "$user" "$command" --job-id "$id" --record >/dev/null
  "$schedmate" history finish "$id" --state "$end" --duration-s "$duration_s" \
    --state-dir "$state" >/dev/null
}

# Advice; its facts are shown once, by `facts`.
ask() {
  printf '$ schedmate advise %s --gpus 4 --user %s --command "%s"\n' "$example" "$2" "$3"
  advise "$@" | cut -c -"$width"
}

simulator() {
  heading "Simulator: 13 days of a real cluster (1,080 GPUs) under eight policies"
  "$schedmate" simulate \
    --trace helios:data/venus/venus_sept2020_days0-12.csv.gz \
    --policy fifo \
    --policy sjf:estimate=last_k \
    --policy srtf:estimate=last_k \
    --policy qssf \
    --policy tiresias \
    --policy horus \
    --policy lucid \
    --policy backfill_easy \
    --out demo-out
  [[ -s demo-out/report.html ]] || { echo "demo: no demo-out/report.html was written" >&2; exit 1; }
}

advisor() {
  local large="./run.sh configs/resnet50.yaml" small="./run.sh configs/resnet18.yaml"

  heading "Advisor: what is this job? Read from its files; nothing is run"
  echo "\$ schedmate facts $example --gpus 4 --command \"$large --seed 11\""
  "$schedmate" facts "$example" --gpus 4 --command "$large --seed 11" | cut -c -"$width"

  heading "Advisor: a made-up history. Each job gets advice at submission and is scored at its end"
  rm -rf "$state"
  past_job 1 ann completed 3480 "$large --seed 1"
  past_job 3 bob completed 1130 "$small --seed 1"
  past_job 5 ann completed 3555 "$large --seed 2"
  past_job 7 bob failed 45 "$small --batch-size 8192"
  past_job 8 bob completed 1165 "$small --seed 2 --lr 0.1"
  past_job 9 ann completed 3510 "$large --seed 3"
  past_job 11 bob completed 385 "$small --epochs 20"
  past_job 13 ann completed 3600 "$large --seed 4 --lr 0.2"
  past_job 25 ann completed 3425 "$large --seed 5 --lr 0.2"
  past_job 27 ann completed 1210 "$large --epochs 30"
  past_job 29 ann completed 3530 "$large --seed 6 --weight-decay 1e-4"
  past_job 31 ann completed 3660 "$large --seed 7 --weight-decay 1e-4"
  past_job 33 bob completed 1150 "$small --seed 3"
  past_job 49 ann completed 3495 "$large --seed 8"
  past_job 51 ann completed 3390 "$large --seed 9"
  past_job 53 ann completed 3545 "$large --seed 10"
  "$schedmate" history list --state-dir "$state"
  echo
  "$schedmate" history calibration --state-dir "$state"

  heading "Advisor: ann submits the same training with another seed"
  ask 72 ann "$large --seed 11"
  heading "Advisor: the same with twice the epochs (180 instead of 90)"
  ask 72 ann "$large --seed 11 --epochs 180"
  heading "Advisor: carol has no history; other users ran jobs like hers"
  ask 72 carol "$small --epochs 30"
}

# LOG FLAG...: a run of the example trainer. Its shell reports a kill, as that of a batch script does.
train() {
  local log=$1
  bash -c 'python3 "$@"; exit $?' batch_script examples/trainer/train.py \
    --out "$logs/out" "${@:2}" >"$log" 2>&1 || true
}

elastic() {
  heading "Elastic jobs on three GPU types (made-up tables): 120 s of profiling on each type, or what similar jobs showed"
  "$schedmate" simulate \
    --trace sia:data/elastic/syn/jobs.csv --tables syn --cluster syn40 \
    --policy sia --policy sia+sm --policy gavel --policy fifo \
    --set elastic.profile_s=120 --set elastic.perturbations=5 \
    --out demo-out/elastic
}

with_schedmate() {
  heading "Host against host + SchedMate: real rows, made-up workloads, the Advisor in the loop"
  echo "(ln ratio: mean over jobs of ln(JCT of the arm / of its host), below 0 is faster; average JCT x: host / arm, dominated by a few"
  echo "long jobs; 95 % intervals over draws of workload and submissions; share of bound: of what zero waiting and no sharing would save,"
  echo "which no scheduler exceeds. The gain of lucid+sm includes its queue, which reads nothing; docs/evaluation.md says what this shows"
  echo "and what it does not)"
  "$schedmate" evaluate examples/with_schedmate.toml --out demo-out/with-schedmate --threads "$(nproc)"
  [[ -s demo-out/with-schedmate/evaluation.html ]] || {
    echo "demo: no demo-out/with-schedmate/evaluation.html was written" >&2
    exit 1
  }
}

logs() {
  logs=demo-out/logs
  rm -rf "$logs" && mkdir -p "$logs"
  heading "Logs: a real training, tracked while it runs"
  train "$logs/run.log" --style megatron --steps 250 --pace 0.008 &
  local training=$!
  sleep 1.2
  echo "\$ schedmate track $logs/run.log"
  "$schedmate" track "$logs/run.log" | cut -c -"$width"
  wait "$training"
  heading "Logs: four runs that fail"
  local how
  for how in exception killed disk-full refused; do
    train "$logs/$how.log" --fail "$how"
    echo "\$ schedmate diagnose $logs/$how.log"
    "$schedmate" diagnose "$logs/$how.log" | cut -c -"$width"
    echo
  done
  heading "Logs: questions"
  "$schedmate" ask "$logs/disk-full.log" "how fast is it? did it save a checkpoint? why did it stop?" \
    --state-dir "$state" | cut -c -"$width"
}

queue() {
  heading "Queue: when will it start? Venus at a busy hour, and what then happened"
  local from=(--from trace:helios:data/venus/venus_sept2020_days0-12.csv.gz --at +9-14 --policy backfill_easy
    --state-dir "$state")
  echo "\$ schedmate eta calibration ${from[*]}"
  "$schedmate" eta calibration "${from[@]}" --days 6 --instants 60 --samples 50 --threads "$(nproc)"
  echo
  echo "\$ schedmate eta ${from[*]} --outcome"
  "$schedmate" eta "${from[@]}" --outcome --limit 10 --threads "$(nproc)" | cut -c -"$width"
}

# Half a minute. The cluster is a process of its own.
daemon() {
  heading "Daemon: beside a replay of Venus, 600 times as fast as real, for half a minute (make live goes on)"
  local folder cluster daemon
  folder=$(mktemp -d)
  site_settings "$folder"
  site_start "$folder"
  sleep 28
  echo "\$ schedmate jobs --limit 8"
  "$schedmate" jobs --limit 8 --config "$folder/site.toml" | cut -c -"$width"
  sleep 2
  site_stop
  "$schedmate" audit --verify --state-dir "$folder/state"
  rm -r "$folder"
}

next_steps() {
  heading "Where to go next"
  cat <<END
The program is $schedmate: its --help, and that of each command, says what it needs.
  $schedmate doctor          what this machine has of what SchedMate uses
  $schedmate job JOB         what became of a job, by its id, log or folder
  $schedmate facts TREE --command "python train.py ..."
  make live                  the daemon beside the same cluster, with its page
README.md goes on from here; docs/slurm.md and docs/ray.md are for a cluster of your own.
END
}

simulator
advisor
logs
queue
elastic
with_schedmate
daemon
next_steps
