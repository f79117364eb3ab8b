#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ray_jobs.sh SCHEDMATED SCHEDMATE SHARED: the daemon as the scheduler of a real Ray (ray_jobs.py).
set -uo pipefail
. "$(dirname "$(realpath "$0")")/ray_bed.sh"
daemon=$(realpath "$1") client=$(realpath "$2")
ray_up "$3" RTB_TOKEN=secret-of-a-test
python3 "$here/ray_jobs.py" "$daemon" "$client" "$work" "$dashboard"
