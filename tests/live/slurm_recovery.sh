#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_recovery.sh SCHEDMATED SCHEDMATE SCHEDMATE_READER SHARED [slurm_situations.py]: slurm_recovery.py, or the other script,
# on a Slurm of its own.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/testbed.sh"
testbed_up "$4" -n 4 -g 8 -p "${SLURM_TESTBED_PORT:-24100}"
TESTBED=$testbed python3 "$here/${5:-slurm_recovery.py}" "$(realpath "$1")" "$(realpath "$2")" "$(realpath "$3")" "$work"
