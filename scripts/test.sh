#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh: the fast tests under address + undefined, those that start threads under the thread
# sanitizer, then every test in release. The last thing printed is the summary of the full run.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\ntest: %s\n' "$*"; }
ctest=(ctest --output-on-failure --no-tests=error --parallel "$(nproc)")

say "build with sanitizers (address, undefined)"
TARGETS=fast_tests scripts/build.sh debug
say "fast tests with sanitizers"
"${ctest[@]}" --test-dir build/debug -L fast
say "build with the thread sanitizer"
TARGETS="sim_test conformance_test http_test client_test replay_test live_test" scripts/build.sh tsan
say "tests that start threads"
"${ctest[@]}" --test-dir build/tsan -R '^(unit_(sim|http|client|replay|live)|conformance_threads)$'
say "release build"
scripts/build.sh release
# With what tests leave idle that wait for a Slurm or a Ray. The test clang-tidy comes last, and looks at the rest for some minutes: a
# core looks at a unit in a minute, so that all of it takes two hours where nothing has passed before.
nice -n 19 scripts/clang_tidy.sh build/release --minutes 15 > build/clang_tidy.log 2>&1 &
looks=$!
trap 'kill $looks 2> /dev/null || :' EXIT
say "all tests"
"${ctest[@]}" --test-dir build/release
