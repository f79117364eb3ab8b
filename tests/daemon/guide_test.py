#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The settings in the guides are sound: guide_test.py SCHEDMATED SOURCE_FOLDER"""
import pathlib
import subprocess
import sys
import tempfile
import textwrap

daemon, source = sys.argv[1], pathlib.Path(sys.argv[2])


def settings_in(text):
    """Of each block: all of ```toml, or what follows `$ cat FILE.toml` up to an empty line."""
    for block in text.split("```")[1::2]:
        language, _, body = block.partition("\n")
        if language == "toml":
            yield body
        elif body.startswith("$ cat "):
            yield body.partition("\n")[2].partition("\n\n")[0]


for guide in ("operator.md", "daemon.md"):
    blocks = list(settings_in((source / "docs" / guide).read_text()))
    if not blocks:
        sys.exit(f"FAILED: {guide} has no settings")
    for more in ["", *blocks[1:]]:  # what comes later is added to the first
        settings = textwrap.dedent(blocks[0]) + textwrap.dedent(more)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(settings.replace("/usr/share/schedmate", str(source / "data")))  # where they are installed
            file.flush()
            done = subprocess.run([daemon, "--config", file.name, "--check"], cwd=source, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            sys.exit(f"FAILED: settings of {guide}: {done.stderr}")
    print(f"ok: {guide}: settings are sound")
