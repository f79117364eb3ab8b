#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# main_test.sh EXAMPLES: what main() of the test programs makes of a run.
set -u
program=$1
failed=0

expect() { # RC TEXT ARGUMENT...: the program ends with RC and prints TEXT
  local want=$1 text=$2 out rc
  shift 2
  out=$("$program" "$@")
  rc=$?
  [[ $rc == "$want" && $out == *"$text"* ]] && return
  printf 'with %s: ended with %s instead of %s, or without "%s":\n%s\n' "$*" "$rc" "$want" "$text" "$out"
  failed=1
}

expect 0 "" "--test-suite=needs bread"
expect 77 "skipped: one that is not: needs a miracle" "--test-suite=needs miracle"
expect 77 "skipped: one that is not: needs a miracle" "--test-suite=needs bread,needs miracle"
expect 1 "is seen" "--test-suite=needs luck"
expect 1 "need an entry of their own" "--test-case=a number,one that is not"
expect 1 "no test case has such a name" "--test-case=nobody"
expect 0 "" "--test-case=a number"
expect 1 "51, wanted 100, at most 5 off" "--test-case=a number" --halve
expect 0 "" --list-test-cases
exit $failed
