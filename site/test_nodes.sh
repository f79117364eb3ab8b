#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A test of nodes for recover.test_command, on Slurm with NVIDIA's GPUs: test_nodes.sh [SETTING=VALUE ...], as the job that
# SchedMate submits on the nodes in question. 0: they are well; 1: they are not; 75: that could not be found out, which
# blames nobody.
#
#   TIME=240          seconds for all of it; keep recover.test_timeout_s above
#   DIAG=1            level of `dcgmi diag` on each node, where DCGM is installed; 0: none
#   PERF=all_reduce_perf  of nccl-tests, by name or path; ""; none. Several nodes need one that was built with MPI=1
#   MPI=pmix          how srun starts it
#   BUS_ONE=0         GB/s below which the bus bandwidth within a node is too low; 0: it is not judged
#   BUS_SEVERAL=0     the same between nodes
#
# Measure BUS_ONE and BUS_SEVERAL on good nodes first, and stay a fifth below.
set -uo pipefail
TIME=240 DIAG=1 PERF=all_reduce_perf MPI=pmix BUS_ONE=0 BUS_SEVERAL=0
for setting in "$@"; do
  case $setting in
    TIME=* | DIAG=* | PERF=* | MPI=* | BUS_ONE=* | BUS_SEVERAL=*) declare "$setting" ;;
    *) echo "test_nodes.sh: unknown setting '$setting'" >&2; exit 75 ;;
  esac
done
ends=$((SECONDS + TIME))
bad() { echo "bad: $*"; exit 1; }
unknown() { echo "not tested: $*"; exit 75; }
# What one program says, within the time that is left; sets out. Nonzero: its exit code, 124 if it hung.
run() { out=$(timeout -k 5 "$((ends > SECONDS ? ends - SECONDS : 1))" "$@" 2>&1); }
judge() { # CODE LOWEST WHERE
  case $1 in
    0) ;;
    124) bad "$3 hangs" ;;
    126 | 127) unknown "$PERF: $out" ;;
    *) grep -qE 'error while loading|not found|MPI_|PMI' <<<"$out" && unknown "$PERF: $out" || bad "$3: $(tail -3 <<<"$out")" ;;
  esac
  grep -qE 'Out of bounds values *: *[1-9]' <<<"$out" && bad "$3: wrong results"
  local slowest
  slowest=$(sed -nE 's/.*Avg bus bandwidth *: *([0-9.]+).*/\1/p' <<<"$out" | sort -g | head -1)
  [ -n "$slowest" ] || unknown "$PERF told no bandwidth: $(tail -3 <<<"$out")"
  awk -v is="$slowest" -v least="$2" 'BEGIN {exit !(least > 0 && is < least)}' && bad "$3: $slowest GB/s, and $2 at least are usual"
  echo "$3: $slowest GB/s"
}
[ -n "${SLURM_JOB_NODELIST:-}" ] || unknown "it runs as a job of Slurm"
nodes=${SLURM_JOB_NUM_NODES:-1}
each=(srun --ntasks-per-node=1 "--nodes=$nodes" "--ntasks=$nodes" --kill-on-bad-exit=0)

run "${each[@]}" true || unknown "srun: $out"

# The driver shows all GPUs of the job, and each answers.
run "${each[@]}" nvidia-smi --query-gpu=index,ecc.errors.uncorrected.volatile.total,retired_pages.pending --format=csv,noheader
case $? in
  0) ;;
  124) bad "nvidia-smi hangs" ;;
  2 | 127) unknown "no nvidia-smi: $out" ;;
  *) bad "nvidia-smi: $out" ;;
esac
seen=$(grep -cE '^ *[0-9]+,' <<<"$out")
want=$(((${SLURM_GPUS_ON_NODE:-0}) * nodes))
[ "$seen" -ge "$want" ] || bad "$seen GPUs of $want answer: $out"
grep -qiE 'lost|unknown error|reset required' <<<"$out" && bad "a GPU is lost: $out"
while IFS=', ' read -r gpu errors pending; do
  [[ $errors =~ ^[1-9][0-9]*$ ]] && bad "GPU $gpu has $errors uncorrected memory errors"
  [ "$pending" = Yes ] && bad "GPU $gpu waits for a reset to retire pages"
done < <(grep -E '^ *[0-9]+,' <<<"$out")

if [ "$DIAG" != 0 ]; then
  run "${each[@]}" bash -c 'command -v dcgmi > /dev/null || exit 0; dcgmi diag -r "$1" --fail-early' - "$DIAG"
  case $? in
    0) ;;
    124) bad "dcgmi diag -r $DIAG hangs" ;;
    *) grep -qiE '\|[^|]*fail' <<<"$out" && bad "dcgmi diag: $(grep -iE '\|[^|]*fail' <<<"$out" | head -3)" || unknown "dcgmi diag: $out" ;;
  esac
fi

[ -n "$PERF" ] && command -v "$PERF" > /dev/null || { echo "well; $PERF is not here"; exit 0; }
gpus=${SLURM_GPUS_ON_NODE:-1}
# Within each node first: what fails there is the node's own.
run "${each[@]}" "$PERF" -b 8M -e 256M -f 4 -n 10 -g "$gpus"
judge $? "$BUS_ONE" "within a node"
[ "$nodes" -gt 1 ] || { echo well; exit 0; }
run srun "--mpi=$MPI" "--ntasks-per-node=$gpus" "--nodes=$nodes" --kill-on-bad-exit=1 "$PERF" -b 8M -e 256M -f 4 -n 10 -g 1
judge $? "$BUS_SEVERAL" "between nodes"
echo well
