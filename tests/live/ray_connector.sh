#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ray_connector.sh PROGRAM SHARED [jobs_api|driver]: the contract of connectors on a real Ray (connector_on_ray.cpp) with a token where Ray knows
# tokens; then without its head, and after the head was started again.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/ray_bed.sh"
program=$(realpath "$1")
ray_up "$2" RTB_TOKEN=secret-of-a-test
export RAY_URL=$dashboard RAY_TOKEN=$RTB_TOKEN RAY_WORK=$work RAY_STARTS=${3:-jobs_api}
failed=0
check() { # WHAT SUITE
  "$program" --test-suite="$2" > "$work/out" 2>&1 && echo "ok: $1 ($(grep -o "assertions: *[0-9]*" "$work/out"))" || { failed=1; echo "FAILED: $1"; cat "$work/out"; }
}
check "the contract" up
check "nothing of it is left behind" left
ray_stop
check "its head is down" down
ray_start || exit 1
check "its head was started again: what ran is lost, and told as lost" again
exit $failed
