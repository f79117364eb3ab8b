#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""screens.py --write|--check: docs/screens.md shows the screens of 80 columns that tests/golden has of
three people's walks. Under each "$ COMMAND" of a block stands the screen of that command: --write puts
it there, --check compares, and also sees that no screen is missing and none is wider than its terminal."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "screens.md"
WALKS = ("owner", "operator", "engineer")
RECORDED = re.compile(r"^\$ (?P<line>.*)\nexit (?P<code>\d+)\n--- screen of (?P<columns>\d+) columns(?P<mark>.*)\n"
                      r"(?P<screen>(?:(?!--- |\$ ).*\n)*)", re.MULTILINE)
BLOCK = re.compile(r"^```\n\$ (?P<line>.*)\n(?P<screen>(?:(?!```).*\n)*)```\n", re.MULTILINE)
COLOUR = re.compile(r"\\x1b\[[0-9;]*m")


def main(mode):
    faults, screens = [], {}
    for walk in WALKS:
        for found in RECORDED.finditer((ROOT / "tests" / "golden" / f"{walk}.txt").read_text()):
            if found["mark"]:
                faults.append(f"{walk}: {found['columns']} columns{found['mark']}: {found['line']}")
            if found["columns"] == "80":
                screens[found["line"]] = COLOUR.sub("", found["screen"]).rstrip("\n") + "\n"
    shown = set()

    def block(found):
        line = found["line"]
        shown.add(line)
        if line not in screens:
            faults.append(f"no screen is recorded of: {line}")
        return f"```\n$ {line}\n{screens.get(line, found['screen'])}```\n"

    page = PAGE.read_text()
    wanted = BLOCK.sub(block, page)
    faults += [f"docs/screens.md lacks: {line}" for line in screens if line not in shown]
    if mode == "--write":
        PAGE.write_text(wanted)
    elif page != wanted:
        faults.append("docs/screens.md is stale: run scripts/screens.py --write")
    print("\n".join(faults) or f"screens: {len(shown)} as recorded")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
