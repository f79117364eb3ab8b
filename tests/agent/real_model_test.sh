#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent with a real, very small model on loopback. $1 is the program real_model, $2 the folder
# of reference data. The test bed lies in it, or where LLM_TESTBED says; without it, skipped.
set -u
testbed=${LLM_TESTBED:-$2/testbed/llm-testbed.sh}
port=18777
if ! [ -x "$testbed" ]; then
  echo "skipped: no test bed for models (set LLM_TESTBED to llm-testbed.sh)"
  exit 77
fi
if ! url=$("$testbed" start "$port"); then
  echo "skipped: the test bed cannot start here"
  exit 77
fi
"$1" "$url/v1"
result=$?
"$testbed" stop "$port"
exit "$result"
