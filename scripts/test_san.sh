#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_san.sh: the gate under address + undefined, then what has threads under the thread sanitizer. Both are
# run even if the first one fails.
set -euo pipefail
cd "$(dirname "$0")/.."

threads=(sim http replay reader daemon eta store study workers)
failed=()
run() { # PRESET SELECTION...
  ctest --test-dir "build/$1" --output-on-failure --no-tests=error --parallel "$(($(nproc) * 2))" "${@:2}" || failed+=("$1")
}
printf '\ntest-san: address, undefined\n'
scripts/build.sh debug
run debug -L '^gate$'
printf '\ntest-san: threads\n'
TARGETS="conformance_test ${threads[*]/%/_test}" scripts/build.sh tsan
run tsan -R "^(unit_($(IFS='|' && echo "${threads[*]}"))|conformance_threads)\$"
((${#failed[@]} == 0)) || { echo "test-san: failed under: ${failed[*]}" >&2; exit 1; }
