#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_accounting.sh PROGRAM SHARED [MODULE HOST]: jobs that end and are forgotten while nobody reads (connector_on_slurm.cpp), on
# a Slurm with accounting, by the command line and by the library in that module.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/testbed.sh"
command -v slurmdbd mariadbd > /dev/null || { echo "skipped: needs slurmdbd and mariadb (scripts/deps.sh live)"; exit 77; }
export SLURM_EXTRA=MinJobAge=2
program=$(realpath "$1")
testbed_up "$2" -n 2 -g 8 -a -p "${SLURM_TESTBED_PORT:-24800}"
cat > "$work/away" << 'AWAY'
#!/bin/sh
scancel -u root
while squeue -h -t all | grep -q .; do sleep 1; done
sleep 1
AWAY
chmod +x "$work/away"
failed=0
check() { # WAY
  sbatch --gres=gpu:2 -o /dev/null --wrap "sleep 3600" > /dev/null
  sbatch --gres=gpu:1 -t 60 -o /dev/null : --gres=gpu:2 -t 60 --wrap "sleep 3600" > /dev/null
  until [ "$(squeue -h -t R | wc -l)" = 3 ]; do sleep 0.2; done
  AWAY="$work/away" "$program" --test-suite=accounting > "$work/out" 2>&1 && echo "ok: $1" || { failed=1; echo "FAILED: $1"; cat "$work/out"; }
}
check "command line"
if [ -n "${3:-}" ]; then
  SLURM_MODULE=$(realpath "$3") SLURM_LIBRARY_HOST=$(realpath "$4")
  export SLURM_MODULE SLURM_LIBRARY_HOST
  check library
fi
exit $failed
