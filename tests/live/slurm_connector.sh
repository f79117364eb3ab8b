#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_connector.sh PROGRAM SHARED [MODULE HOST]: the contract of connectors on a real Slurm (connector_on_slurm.cpp), by the
# command line and by the library in that module; then without its controller, without munge, with clients and a controller
# that hang, and after a restart.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/testbed.sh"
export SLURM_EXTRA=SlurmdTimeout=300 # no node is given up while munge or the controller is away
program=$(realpath "$1") module=${3:-} host=${4:-}
testbed_up "$2" -n 4 -g 8 -p "${SLURM_TESTBED_PORT:-24000}"
failed=0
check() { # WHAT SUITE
  "$program" --test-suite="$2" > "$work/out" 2>&1 && echo "ok: $1 ($(grep -o "assertions: *[0-9]*" "$work/out"))" || { failed=1; echo "FAILED: $1"; cat "$work/out"; }
}
# Jobs that could start and do not: a job that is cancelled at the end of the test has all of it.
sbatch --parsable -N4 --exclusive --gres=gpu:8 -o /dev/null --wrap "sleep 3600" > /dev/null
until [ "$(squeue -h -t R | wc -l)" = 1 ]; do sleep 0.1; done
submit() { for gpus in 1 2 4; do sbatch -J "job $gpus" --gres=gpu:$gpus -t 60 -o /dev/null --wrap "sleep 3600" > /dev/null; done; }
submit
sleep 2
back() { # also the nodes: until they have registered nobody can take a drain back
  until scontrol ping | grep -q UP && ! sinfo -h -N -o %T | grep -qi unk; do sleep 0.2; done
}
unanswered() {
  "$testbed" ctld-stop "$dir"
  check "its controller is down ($1)" down
  "$testbed" ctld-start "$dir" 2> /dev/null
  back
  sleep 2
  check "its controller is back ($1)" up
  submit
  mv "$dir/munge.sock" "$dir/away.sock"
  check "munge is broken ($1)" down
  mv "$dir/away.sock" "$dir/munge.sock"
  check "munge is back ($1)" up
  submit
  kill -STOP "$(cat "$dir/run/slurmctld.pid")"
  check "its controller hangs ($1)" down
  kill -CONT "$(cat "$dir/run/slurmctld.pid")"
  back
}
check "the contract (command line)" up
unanswered "command line"
submit
if [ -n "$module" ]; then
  SLURM_MODULE=$(realpath "$module") SLURM_LIBRARY_HOST=$(realpath "$host")
  export SLURM_MODULE SLURM_LIBRARY_HOST
  sbatch -a 0-5%2 --gres=gpu:1 -t 60 -o /dev/null --wrap "sleep 3600" > /dev/null
  sbatch -J 'a "b"
c|d' -H -N2 --gres=gpu:8 -o /dev/null --wrap "sleep 3600" > /dev/null
  sbatch --gres=gpu:1 -t 60 -o /dev/null : --gres=gpu:2 -t 60 --wrap "sleep 3600" > /dev/null
  said=$(sbatch --parsable --gres=gpu:8 -o /dev/null --comment=schedmate:main.ab12/5 --wrap "sleep 3600")
  scontrol update JobId="$said" Priority=1234
  sbatch --begin=now+3600 --gres=gpu:8 -x n1 -o /dev/null --wrap "sleep 3600" > /dev/null
  sleep 2
  check "both ways read the same" same
  check "the contract (library)" up
  submit
  check "both ways read the same after it" same
  unanswered library
  pid=$(cat "$dir/run/slurmctld.pid")
  AWAY="kill -STOP $pid" BACK="kill -CONT $pid" check "the controller hangs while it is read" away
  AWAY="mv $dir/munge.sock $dir/away.sock" BACK="mv $dir/away.sock $dir/munge.sock" check "munge breaks while it is read" away
  AWAY="$testbed ctld-stop $dir" BACK="$testbed ctld-start $dir" check "the controller goes while it is read" away
  back
  sleep 2
  check "the contract, after all that" up
  unset SLURM_MODULE SLURM_LIBRARY_HOST
fi
mkdir "$work/bin"
for tool in squeue sinfo sprio scontrol scancel; do
  printf '#!/bin/sh\nsleep 60 &\nsleep 60\n' > "$work/bin/$tool"
  chmod +x "$work/bin/$tool"
done
PATH=$work/bin:$PATH check "clients that hang" down
exit $failed
