#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_load.sh SCHEDMATED SHARED [NODES JOBS SECONDS WAY...]: what the daemon costs beside a large Slurm, by its library and by
# the command line (auto, cli): its own CPU and memory with that of its library's process, that of Slurm's programs that it
# starts, and what it asks of the controller. With SCHEDMATE, that program, also how long sbatch takes with and without the hook `tag`
# while the daemon reads. By hand: it wants a quiet machine with 2 GB.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/testbed.sh"
nodes=${3:-256} jobs=${4:-2000} seconds=${5:-60} daemon=$(realpath "$1") ways=("${@:6}")
((${#ways[@]})) || ways=(libslurm cli)
testbed_up "$2" -n "$nodes" -g 8 -p "${SLURM_TESTBED_PORT:-24400}"
for ((i = 0; i < jobs; i++)); do sbatch -J "job$i" -t $((10 + i % 500)) --gres=gpu:8 -o /dev/null --wrap "sleep 3600" > /dev/null; done
own_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
library() { pgrep -P "$started" -f slurm-library; }
measure() { # WAY
  mkdir "$work/$1"
  cat > "$work/$1/config.toml" <<CONF
state_dir = "$work/$1/state"
[listen]
unix = "$work/$1/api.sock"
[cluster]
connector = "slurm"
name = "load"
[cluster.slurm]
via = "$1"
CONF
  "$daemon" --config "$work/$1/config.toml" 2> "$work/$1/err" &
  started=$!
  until curl -sf --unix-socket "$work/$1/api.sock" http://localhost/readyz > /dev/null; do sleep 0.2; done
  scripts() { sdiag | awk '/REQUEST_BATCH_SCRIPT/ { print $4 }' | head -1; }
  local was=
  until [ -n "$was" ] && [ "$was" = "$(scripts)" ]; do was=$(scripts); sleep 10; done # all job scripts are read: 20/s at most
  local own child children own_after child_after=0 pid
  pid=$(library) child=0
  own=$(own_ticks "$started") children=$(awk '{ print $16 + $17 }' "/proc/$started/stat")
  [ -n "$pid" ] && child=$(own_ticks "$pid")
  sdiag > "$work/$1/before"
  sleep "$seconds"
  own_after=$(own_ticks "$started")
  [ -n "$pid" ] && child_after=$(own_ticks "$pid")
  sdiag > "$work/$1/after"
  echo "== $1, load of the machine $(cut -d' ' -f1 /proc/loadavg)"
  awk -v own=$((own_after - own)) -v child=$((child_after - child)) -v s="$seconds" \
    -v children=$(($(awk '{ print $16 + $17 }' "/proc/$started/stat") - children)) \
    'BEGIN { printf "of a core: the daemon %.1f %%, its library'"'"'s process %.1f %%, programs that it starts %.1f %%\n", own / s, child / s, children / s }'
  grep -hE 'Name|VmRSS|VmHWM' "/proc/$started/status" ${pid:+"/proc/$pid/status"} | paste -sd' '
  diff <(grep REQUEST_ "$work/$1/before" | sed 's/ave_time.*//') <(grep REQUEST_ "$work/$1/after" | sed 's/ave_time.*//')
  cat "$work/$1/err"
  [ -n "${SCHEDMATE:-}" ] && python3 "$here/slurm_load_submit.py" "$(realpath "$SCHEDMATE")"
  kill "$started"
  wait "$started"
  started=
}
squeue -h -t all -o %T | sort | uniq -c
for way in "${ways[@]}"; do measure "$way"; done
