#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# halved.sh [BUILD_FOLDER]: can the checks with near() fail? Runs every test program with half of each
# value in place of the value (--halve), and lists those checks that still hold or were not reached.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

find "$build" -name '*_test' -type f -executable -print0 |
  xargs -0 -r -I{} -P "$(nproc)" sh -c '"$0" --halve > "$1/${0##*/}" 2>&1 || true' {} "$out"
# Each prints the lines of the checks that failed as PATH:LINE: ERROR: CHECK( ... ).
sed -n 's|^\([^ :]*:[0-9]*\): .*ERROR: .*|\1|p' "$out"/*_test | sort -u > "$out/failed"

# A check may go over several lines: it is named after the first.
grep -rl '"tests/support/near.hpp"' src tests apps | grep -v '^tests/support/' |
  xargs awk -v failed="$out/failed" '
    BEGIN { while ((getline line < failed) > 0) fails[line] = 1 }
    /CHECK|REQUIRE/ { at = FNR }
    /[^a-z_]near\(/ {
      ++checks
      if (FILENAME ":" at in fails) next
      ++left
      print FILENAME ":" FNR ": " $0
    }
    END { printf "halved: %d lines with near(), %d of them not seen to fail\n", checks, left
          exit left > 0 }'
