#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang_tidy.sh [BUILD] [--product | FILE...]: clang-tidy over the compiled files of the tree (all
# but tests with --product, or those given), one process a core. A file that passed is not looked at
# again until it, a header it includes, the checks or its compile command change. Exit code 77
# (ctest: skipped) when a tool is absent.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in clang-tidy-19 python3; do
  command -v "$tool" >/dev/null || {
    echo "clang-tidy: $tool is not installed (make deps)" >&2
    exit 77
  }
done
exec python3 scripts/clang_tidy.py "$@"
