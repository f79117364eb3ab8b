#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hosts_test.sh LIBRARY SOURCE [HOST [CHECKOUT [DATA]]]: the adapters of examples/hosts. Without a host their own parts; with one the
# adapter in the host's checkout, in a short form, by $HOSTS_PYTHON (a Python with what the host needs; python3). 77: there is
# none. LUCID_CHECKOUT and LUCID_TRACE, SIA_CHECKOUT, BLOX_CHECKOUT and SLURM_TESTBED go before the arguments.
set -euo pipefail
library=$1 source=$2 host=${3:-} checkout=${4:-} data=${5:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SCHEDMATE_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/python
export HOME=$work XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
python=${HOSTS_PYTHON:-python3}

skip() { printf 'skipped: %s\n' "$*"; exit 77; }
needs() { # WHAT VARIABLE
  checkout=${!2:-$checkout}
  [[ -d $checkout ]] || skip "needs a checkout of $1: set $2, or SCHEDMATE_$2 in the CMake cache"
  shift 2
  "$python" -c "import ${1// /, }" 2> "$work/none" || skip "$python lacks $1: set HOSTS_PYTHON"
}
says() { # PATTERN COMMAND...
  local pattern=$1
  shift
  "$@" > "$work/said" 2> "$work/complained" || { cat "$work/said" "$work/complained"; exit 1; }
  cat "$work/said"
  grep -qE "$pattern" "$work/said" || { printf 'expected: %s\n' "$pattern"; exit 1; }
}

case $host in
  "") cd "$source" && python3 tests/library/hosts_cases.py ;;
  lucid)
    needs S-Lab-System-Group/Lucid LUCID_CHECKOUT "numpy pandas"
    data=${LUCID_TRACE:-$data}
    [[ -r $data/cluster_full_log.csv ]] || skip "needs a trace directory of Lucid's: set LUCID_TRACE"
    # One virtual cluster of a few days: our simulator gives the same, job by job.
    "$python" "$source/tests/library/lucid_part.py" "$data" "$work/part"
    says "0 of [1-9][0-9]* jobs start or end otherwise" "$python" "$source/examples/hosts/lucid_host.py" "$checkout" \
      --trace-dir "$work/part" --against "lucid:estimate=column:estimate,advice=advisor,bypass=all"
    ;;
  sia)
    needs siasosp23/artifacts SIA_CHECKOUT "numpy pandas scipy cvxpy autograd rich"
    says "[1-9][0-9]* jobs matched, 0 of them" "$python" "$source/examples/hosts/sia_host.py" "$checkout" --first 12
    ;;
  blox)
    needs msr-fiddle/blox BLOX_CHECKOUT "numpy pandas"
    says "schedmate: 60 jobs, mean JCT" "$python" "$source/examples/hosts/blox_host.py" "$checkout" --jobs 60
    ;;
  slurm)
    checkout=${SLURM_TESTBED:-$checkout/testbed/slurm-testbed.sh}
    [[ -x $checkout && $(id -u) = 0 ]] && command -v slurmctld munged > "$work/none" ||
      skip "needs root, Slurm and the test bed (set SLURM_TESTBED to slurm-testbed.sh)"
    tb=$work/tb
    trap '"$checkout" down "$tb" --purge > "$work/none" 2>&1; rm -rf "$work"' EXIT
    "$checkout" up "$tb" -n 1 -g 2 -c 8 -p "${SLURM_TESTBED_PORT:-23200}" > "$work/up.log" 2>&1 || { cat "$work/up.log"; exit 1; }
    eval "$("$checkout" env "$tb")"
    cp -r "$source/examples/classifier" "$tb/job" && cd "$tb/job"
    for name in short long; do printf '#!/bin/bash\npython train.py --epochs 20 --seed 1 # %s\n' $name > $name.sh; done
    PAST='[("short.sh", 600), ("long.sh", 6100)]' "$python" -c '
import os, schedmate
for script, seconds in eval(os.environ["PAST"]):
    schedmate.advise(".", command="bash " + script, user="root", record=True, job_id=script, submit_time_s=1_600_000_000)
    schedmate.finish(script, state="completed", duration_s=seconds)'
    sbatch -Q --gres=gpu:2 -n1 -t 60 -o /dev/null --wrap 'sleep 600'  # clock: a job
    sbatch -Q --gres=gpu:1 -n1 -t 240 -o /dev/null long.sh
    sbatch -Q --gres=gpu:1 -n1 -t 240 -o /dev/null short.sh
    settable() { scontrol show job -o | grep -oE "(JobId|Priority|Nice|TimeLimit|Partition|Requeue|[A-Za-z]*Comment|ReqNodeList|ExcNodeList)=[^ ]*"; }
    settable > "$work/before"
    says '"job_id": 3,.*"job_id": 2,' "$python" "$source/examples/hosts/slurm_site.py" --json
    settable | diff "$work/before" - || { printf 'something was changed\n'; exit 1; }
    ;;
  *) printf 'hosts_test: no host %s\n' "$host"; exit 2 ;;
esac
