#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ray_emulated.sh SCRIPT SHARED PROGRAM...: SCRIPT of this folder, with words of its own behind its name, on a real Ray with emulated
# GPUs (RTB_WORKERS nodes of RTB_GPUS).
set -uo pipefail
. "$(dirname "$(realpath "$0")")/ray_bed.sh"
script=$1 shared=$2
shift 2
programs=()
for each in "$@"; do programs+=("$(realpath "$each")"); done
export RTB_WORKERS=${RTB_WORKERS:-3} RTB_GPUS=${RTB_GPUS:-4}
ray_up "$shared" RTB_TOKEN=secret-of-a-test "RTB_WORKERS=$RTB_WORKERS" "RTB_GPUS=$RTB_GPUS"
read -ra words <<< "$script"
python3 -B "$here/${words[0]}" "${words[@]:1}" "$work" "$dashboard" "${programs[@]}"
