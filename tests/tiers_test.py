#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tiers_test.py BUILD: each test has exactly one tier, and nothing is sanitized outside the gate (docs/testing.md)."""
import json
import pathlib
import subprocess
import sys
import tempfile

TIERS = {"gate", "live", "storm", "bench"}


def labels_of(test):
    return {label for each in test.get("properties", []) if each["name"] == "LABELS" for label in each["value"]}


def main(build):
    # In another folder, for a second ctest in the same one wipes the log of the first.
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n')
        listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", "-C", "by_hand"],
                                capture_output=True, text=True, check=True).stdout
    tests = json.loads(listed)["tests"]
    wrong = 0
    for test in tests:
        labels = labels_of(test)
        if len(labels & TIERS) != 1 or not labels <= TIERS | {"sanitized"} or "sanitized" in labels and "gate" not in labels:
            wrong += 1
            print(f"{test['name']}: labels {sorted(labels)}; want one of {sorted(TIERS)}, with `sanitized` in the gate alone")
    print(f"{len(tests)} tests, {wrong} without a tier")
    return 1 if wrong or not tests else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
