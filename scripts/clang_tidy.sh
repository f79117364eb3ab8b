#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang_tidy.sh [BUILD] [FILE...] [--last N]: clang-tidy over what BUILD compiles of the tree (or the
# sources given), one process a core. In a unity build several sources are looked at together. What passed
# is not looked at again until a source, a header that it includes, the checks or the compiler's options
# change. With --last only the N sources that were committed last are looked at, each alone. Exit code 77 (ctest: skipped)
# when a tool is absent.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in clang-tidy-19 python3; do
  command -v "$tool" >/dev/null || {
    echo "clang-tidy: $tool is not installed (make deps)" >&2
    exit 77
  }
done
exec python3 scripts/clang_tidy.py "$@"
