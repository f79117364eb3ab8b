#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ray_physical.sh OUT SHARED PROGRAM...: REPETITIONS (3) of POLICIES on a real Ray of 9 nodes with 8 emulated GPUs each, beside what the
# simulator said before (ray_physical.py). Half an hour a run at SPEED 20; those that are in OUT are not run again.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
out=$1 shared=$2
shift 2
physical() { python3 -B "$here/ray_physical.py" "$@"; }
[ -e "$out/draw/jobs.csv" ] || physical draw "$out"
[ -e "$out/simulated.json" ] || physical simulate "$out" "$2"
for ((repetition = 1; repetition <= ${REPETITIONS:-3}; repetition++)); do
  for policy in ${POLICIES:-lucid+sm lucid schedmate fifo}; do
    [ -e "$out/$policy-$repetition.json" ] && continue
    echo "$policy, repetition $repetition"
    RTB_WORKERS=9 RTB_GPUS=8 "$here/ray_emulated.sh" "ray_physical.py run $out --policy $policy --repetition $repetition" "$shared" "$@"
  done
done
physical report "$out"
