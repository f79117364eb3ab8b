#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""failed_tests.py BUILD: the last 20 lines of each test that failed in ctest's last run there."""
import pathlib
import re
import sys

LINES = 20


def main(build):
    logs = pathlib.Path(build) / "Testing" / "Temporary"
    try:
        failed = [line.split(":", 1)[1] for line in (logs / "LastTestsFailed.log").read_text().split()]
        log = (logs / "LastTest.log").read_text(errors="replace")
    except OSError as error:
        sys.exit(f"failed_tests: {error.filename}: {error.strerror} (ctest writes it where a test fails)")
    outputs = dict(re.findall(r"^\d+/\d+ Testing: (\S+)\n.*?^-{20,}\n(.*?)^<end of output>", log, re.MULTILINE | re.DOTALL))
    for name in failed:
        print(f"\n--- {name} failed in {build}. Its last lines:")
        print("\n".join(outputs.get(name, "(it printed nothing)").rstrip().splitlines()[-LINES:]))


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
