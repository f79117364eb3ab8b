#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh: the gate (docs/testing.md). What reads foreign bytes or makes raw system calls under address +
# undefined, then all of the gate in release. Both are run even if the first fails; the last lines of what
# failed come last. Two tests a core run at once, since many wait.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\ntest: %s (%d s)\n' "$*" "$SECONDS"; }
failed=()
run() { # BUILD LABEL
  rm -f "build/$1/Testing/Temporary/LastTestsFailed.log"
  ctest --test-dir "build/$1" --output-on-failure --no-tests=error --parallel "$(($(nproc) * 2))" -L "^$2\$" || failed+=("$1")
}

say "build with sanitizers (address, undefined)"
TARGETS=sanitized_tests scripts/build.sh debug
say "tests with sanitizers"
run debug sanitized
say "release build"
scripts/build.sh release
say "all tests"
run release gate
say "done"
for build in "${failed[@]}"; do python3 scripts/failed_tests.py "build/$build" || :; done
((${#failed[@]} == 0))
