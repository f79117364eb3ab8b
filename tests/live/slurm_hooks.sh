#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_hooks.sh SCHEDMATE SCHEDMATED SHARED: slurm_hooks.py on a Slurm of its own; some four minutes.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/testbed.sh"
if ! ls /usr/lib/*/slurm-wlm/job_submit_lua.so > /dev/null 2>&1; then
  echo "skipped: needs Slurm's Lua plug-in"
  exit 77
fi
testbed_up "$3" -n 2 -g 2 -p "${SLURM_TESTBED_PORT:-25000}"
TESTBED=$testbed python3 "$here/slurm_hooks.py" "$(realpath "$1")" "$(realpath "$2")" "$dir"
