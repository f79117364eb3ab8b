#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_recovery.sh SCHEDMATED SCHEDMATE SCHEDMATE_READER SHARED [slurm_situations.py]: slurm_recovery.py, or another
# script, on a Slurm of its own, with slurmdbd where ACCOUNTING is set; SLURM_VIA is cluster.slurm.via, else auto.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/testbed.sh"
for each in python3 ${ACCOUNTING:+slurmdbd mariadbd sacct}; do  # of several words one would do for `command -v`
  command -v "$each" > /dev/null || { echo "skipped: needs $each (scripts/deps.sh live)"; exit 77; }
done
testbed_up "$4" -n "${NODES:-4}" -g 8 ${ACCOUNTING:+-a} -p "${SLURM_TESTBED_PORT:-24100}"
TESTBED=$testbed python3 "$here/${5:-slurm_recovery.py}" "$(realpath "$1")" "$(realpath "$2")" "$(realpath "$3")" "$work"
