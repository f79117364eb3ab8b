#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each command and program has a man page, which man shows without a word of complaint and which has
every flag of --help: man_test.py BUILD COMMANDS_DEF. Skipped (77) where there is no man."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

build, commands = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
if not shutil.which("man"):
    print("no man here (man-db)")
    sys.exit(77)

names = re.findall(r"^(?:STATE_)?COMMAND\(([a-z]+),", commands, re.M)
wanted = {"man1/schedmate.1": ["schedmate"]}
wanted |= {f"man1/schedmate-{name}.1": ["schedmate", name] for name in names}
wanted |= {f"man8/{name}.8": [name] for name in ("schedmated", "schedmate-reader", "schedmate-probe")}
found = {path.relative_to(build / "man").as_posix() for path in (build / "man").rglob("*.[18]")}
faults = [f"pages: {', '.join(sorted(found ^ set(wanted)))}"] if found != set(wanted) else []

environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANROFFSEQ": "", "MAN_KEEP_FORMATTING": ""}
for page, (program, *command) in wanted.items():
    if page not in found:
        continue
    shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "--nh", "--nj", "-l", build / "man" / page],
                           capture_output=True, text=True, env=environment)
    if shown.returncode or shown.stderr:
        faults.append(f"{page}: man says: {shown.stderr}")
    said = subprocess.run([build / program, *command, "--help"], capture_output=True, text=True, check=True).stdout
    flat = re.sub(r"\s+", " ", shown.stdout)
    for line in said.splitlines():
        for part in re.split(r" {2,}", line.strip()):
            if part.startswith("Usage: "):
                part = part.removeprefix("Usage: ")
            if part and not part.endswith(":") and part not in flat:
                faults.append(f"{page}: lacks '{part}'")

print("\n".join(faults) or f"ok: {len(wanted)} man pages")
sys.exit(1 if faults else 0)
