#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_order.sh SCRIPT SHARED WORD...: SCRIPT of this folder with its words, TESTBED in the place of the word TESTBED; skipped (77)
# where there is no test bed with accounting.
set -uo pipefail
here=$(dirname "$(realpath "$0")") script=$1 testbed=${SLURM_TESTBED:-$2/testbed/slurm-testbed.sh}
shift 2
if ! [ -x "$testbed" ] || [ "$(id -u)" != 0 ] || ! command -v slurmctld munged slurmdbd mariadbd > /dev/null; then
  echo "skipped: needs root, Slurm with slurmdbd and MariaDB (scripts/deps.sh live) and the test bed (set SLURM_TESTBED to slurm-testbed.sh)"
  exit 77
fi
words=()
for word in "$@"; do [ "$word" = TESTBED ] && words+=("$testbed") || words+=("$word"); done
exec python3 "$here/$script" "${words[@]}"
