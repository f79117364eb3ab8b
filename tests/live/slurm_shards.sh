#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_shards.sh PROGRAM SHARED: an experiment as an array of Slurm, of which one task is killed and queued again; the CSV is
# that of one machine.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/testbed.sh"
. "$(dirname "$(realpath "$0")")/shards.sh"
program=$(realpath "$1")
testbed_up "$2" -n 4 -g 8 -p "${SLURM_TESTBED_PORT:-25400}"
make_book
job=$(sbatch --parsable --requeue --array=1-$shards -o "$work/%a.out" --open-mode=append \
  --wrap "$program evaluate shared.toml --out out --shard \$SLURM_ARRAY_TASK_ID/$shards")
for _ in $(seq 300); do # until something is kept, and not all
  [ "$(find out -path '*.runs/*' -type f 2> /dev/null | wc -l)" -ge 2 ] && break
  sleep 0.05
done
kept=$(find out -path '*.runs/*' -type f | wc -l)
[ "$kept" -lt 14 ] && scontrol requeue "${job}_2" || { echo "FAILED: task 2 was not stopped in its midst ($kept runs kept)"; exit 1; }
echo "task 2 is queued again with $kept runs kept"
for _ in $(seq 240); do
  [ -z "$(squeue -h -j "$job" 2> /dev/null)" ] && break
  sleep 1
done
cat "$work"/*.out
check_book "an array of $shards tasks of Slurm"
