#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_load.sh SCHEDMATED SHARED [NODES JOBS SECONDS]: what the daemon costs beside a large Slurm: its own CPU and memory, that of
# Slurm's programs that it starts, and what it asks of the controller. By hand: it wants a quiet machine with 2 GB.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/testbed.sh"
nodes=${3:-256} jobs=${4:-2000} seconds=${5:-60} daemon=$(realpath "$1")
testbed_up "$2" -n "$nodes" -g 8 -p "${SLURM_TESTBED_PORT:-24400}"
for ((i = 0; i < jobs; i++)); do sbatch -J "job$i" -t $((10 + i % 500)) --gres=gpu:8 -o /dev/null --wrap "sleep 3600" > /dev/null; done
cat > "$work/config.toml" <<CONF
state_dir = "$work/state"
[listen]
unix = "$work/api.sock"
[cluster]
connector = "slurm"
name = "load"
CONF
"$daemon" --config "$work/config.toml" 2> "$work/err" &
started=$!
until curl -sf --unix-socket "$work/api.sock" http://localhost/readyz > /dev/null; do sleep 0.2; done
sleep 15
ticks() { awk '{ print $14 + $15, $16 + $17 }' "/proc/$started/stat"; } # own, and of its children
read -r own children < <(ticks)
sdiag > "$work/before"
sleep "$seconds"
read -r own_after children_after < <(ticks)
sdiag > "$work/after"
squeue -h -t all -o %T | sort | uniq -c
awk -v own=$((own_after - own)) -v children=$((children_after - children)) -v s="$seconds" \
  'BEGIN { printf "of a core: the daemon %.1f %%, the programs of Slurm that it starts %.1f %%\n", own / s, children / s }'
grep -E 'VmRSS|VmHWM' "/proc/$started/status"
diff <(grep REQUEST_ "$work/before" | sed 's/ave_time.*//') <(grep REQUEST_ "$work/after" | sed 's/ave_time.*//')
cat "$work/err"
