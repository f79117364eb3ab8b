#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_connector.sh PROGRAM SHARED: the contract of connectors on a real Slurm (connector_on_slurm.cpp), then without its
# controller, without munge, with a client that hangs, and after a restart.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/testbed.sh"
program=$(realpath "$1")
testbed_up "$2" -n 4 -g 8 -p "${SLURM_TESTBED_PORT:-24000}"
failed=0
check() { # WHAT SUITE
  "$program" --test-suite="$2" > "$work/out" 2>&1 && echo "ok: $1 ($(grep -o "assertions: *[0-9]*" "$work/out"))" || { failed=1; echo "FAILED: $1"; cat "$work/out"; }
}
# Jobs that could start and do not: a job that is cancelled at the end of the test has all of it.
sbatch --parsable -N4 --exclusive --gres=gpu:8 -o /dev/null --wrap "sleep 3600" > /dev/null
until [ "$(squeue -h -t R | wc -l)" = 1 ]; do sleep 0.1; done
for gpus in 1 2 4; do sbatch -J "job $gpus" --gres=gpu:$gpus -t 60 -o /dev/null --wrap "sleep 3600" > /dev/null; done
sleep 2
check "the contract" up
"$testbed" ctld-stop "$dir"
check "its controller is down" down
"$testbed" ctld-start "$dir" 2> /dev/null
until scontrol ping | grep -q UP; do sleep 0.2; done
sleep 2
check "its controller is back" up
mv "$dir/munge.sock" "$dir/away.sock"
check "munge is broken" down
mv "$dir/away.sock" "$dir/munge.sock"
check "munge is back" up
mkdir "$work/bin"
for tool in squeue sinfo sprio scontrol scancel; do
  printf '#!/bin/sh\nsleep 60 &\nsleep 60\n' > "$work/bin/$tool"
  chmod +x "$work/bin/$tool"
done
PATH=$work/bin:$PATH check "clients that hang" down
exit $failed
