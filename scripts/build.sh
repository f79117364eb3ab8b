#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh PRESET [CMAKE-OPTION...]: configures and builds build/PRESET, with as many jobs as cores
# and memory allow. Uses ccache when it is there. TARGETS="A B" builds only these.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
options=(-DSCHEDMATE_TESTS=ON "${@:2}")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # Clones in different places share what they compile.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
fi

cmake --preset "$preset" "${options[@]}"
targets=()
[[ -n ${TARGETS:-} ]] && read -ra targets <<< "--target $TARGETS"
cmake --build "build/$preset" --parallel "$(scripts/jobs.sh)" "${targets[@]}"
