# SPDX-License-Identifier: Apache-2.0
"""What libschedmate.so offers is what src/face/libschedmate.map lists and the headers declare.

abi_test.py LIBRARY MAP HEADER...
"""

import re
import subprocess
import sys


def listed(text):
    """{node: names}"""
    nodes = re.findall(r"(\w+)\s*\{\s*global:(.*?)(?:local:.*?)?\}", text, re.DOTALL)
    return {node: set(re.findall(r"(\w+);", names)) for node, names in nodes}


def exported(library):
    """Names with their version: of the library's own, not of what it uses."""
    rows = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          stdout=subprocess.PIPE).stdout.decode().splitlines()
    return {row.split()[-1] for row in rows}


def soname(library):
    rows = subprocess.run(["readelf", "-d", library], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    return re.search(r"SONAME.*\[(.*)\]", rows).group(1)


def main():
    library, map_file, *headers = sys.argv[1:]
    with open(map_file, encoding="utf-8") as file:
        nodes = listed(re.sub(r"#.*", "", file.read()))
    names = {name for each in nodes.values() for name in each}
    wanted = {f"{name}@@{node}" for node, each in nodes.items() for name in each} | set(nodes)
    # Older binutils list a node without a version, newer ones with its own.
    found = {name.split("@")[0] if name.split("@")[0] in nodes else name
             for name in exported(library)}
    declared = set()
    for header in headers:
        with open(header, encoding="utf-8") as file:
            declared |= set(re.findall(r"^SCHEDMATE_EXPORT[^(]*?(\w+)\(", file.read(),
                                       re.MULTILINE))
    faults = [f"not in the library: {name}" for name in sorted(wanted - found)]
    faults += [f"exported, and not listed: {name}" for name in sorted(found - wanted)]
    faults += [f"declared or listed alone: {name}" for name in sorted(declared ^ names)]
    if soname(library) != "libschedmate.so.0":
        faults.append(f"soname: {soname(library)}")
    print("\n".join(faults) if faults else f"{len(declared)} functions, as listed")
    return 1 if faults else 0


sys.exit(main())
