#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_hooks.sh SCHEDMATE SHARED: slurm_hooks.py on a Slurm of its own, as why_blockers.sh; some two minutes.
set -uo pipefail
export TZ=UTC
testbed=${SLURM_TESTBED:-$2/testbed/slurm-testbed.sh}
if ! [ -x "$testbed" ] || [ "$(id -u)" != 0 ] || ! command -v slurmctld munged > /dev/null ||
  ! ls /usr/lib/*/slurm-wlm/job_submit_lua.so > /dev/null 2>&1; then
  echo "skipped: needs root, Slurm with its Lua plug-in and the test bed (set SLURM_TESTBED to slurm-testbed.sh)"
  exit 77
fi
work=$(mktemp -d /tmp/hookXXXX) dir=$work/tb
chmod 755 "$work"
trap '"$testbed" down "$dir" --purge > /dev/null 2>&1; rm -rf "$work"' EXIT
"$testbed" up "$dir" -n 2 -g 2 -p "${SLURM_TESTBED_PORT:-25000}" > "$work/up.log" 2>&1 || { cat "$work/up.log"; exit 1; }
TESTBED=$testbed python3 "$(dirname "$(realpath "$0")")/slurm_hooks.py" "$(realpath "$1")" "$dir"
