#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_san.sh: every test under address + undefined, then under the thread sanitizer. Both are run
# even if the first one fails.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=()
for preset in debug tsan; do
  printf '\ntest-san: %s\n' "$preset"
  scripts/build.sh "$preset"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel "$(nproc)" || failed+=("$preset")
done
((${#failed[@]} == 0)) || { echo "test-san: failed under: ${failed[*]}" >&2; exit 1; }
