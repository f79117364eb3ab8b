#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check]: formats the C++ files of the tree, or lists which ones are not. Exit code 77
# (ctest: skipped) when clang-format 19 is absent.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v clang-format-19 >/dev/null || {
  echo "format: clang-format-19 is not installed (make deps)" >&2
  exit 77
}
options=(-i)
[[ ${1-} == --check ]] && options=(--dry-run -Werror)
find apps bench include src tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -r -n 20 -P "$(nproc)" clang-format-19 "${options[@]}"
