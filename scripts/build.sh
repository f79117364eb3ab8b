#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh PRESET [CMAKE-OPTION...]: configures and builds build/PRESET, with as many jobs as cores
# and memory allow. Uses ccache when it is there. TARGETS="A B" builds only these.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
options=(-DSCHEDMATE_TESTS=ON "${@:2}")
command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

cmake --preset "$preset" "${options[@]}"
targets=()
[[ -n ${TARGETS:-} ]] && read -ra targets <<< "--target $TARGETS"
cmake --build "build/$preset" --parallel "$(scripts/jobs.sh)" "${targets[@]}"
