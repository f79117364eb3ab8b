#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# golden.sh --record|--check [PROGRAM]: runs the command lines of tests/golden/commands.txt with PROGRAM
# (default: build/release/schedmate) and writes what they do to tests/golden/GROUP.txt, or compares it
# with what is written there: a unified diff of what differs, one line of summary, exit code 0 or 1.
# Exit code 77 (ctest: skipped) when python3 is absent.
set -euo pipefail
if [[ ${1-} != --record && ${1-} != --check || $# -gt 2 ]]; then
  echo "usage: golden.sh --record|--check [PROGRAM]" >&2
  exit 2
fi
command -v python3 >/dev/null || {
  echo "golden: python3 is not installed (make deps)" >&2
  exit 77
}
root=$(cd "$(dirname "$0")/.." && pwd)
PYTHONUTF8=1 exec python3 "$root/scripts/golden.py" "$1" "${2:-$root/build/release/schedmate}"
