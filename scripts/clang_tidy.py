#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of clang_tidy.sh: which units, which have passed before, and running the others."""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import typing

ROOT = pathlib.Path.cwd()
TOOL = "clang-tidy-19"
INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


class Unit(typing.NamedTuple):
    path: pathlib.Path  # what is compiled: a source, or a file that includes several (unity build)
    sources: list       # sources of the tree in it
    options: list       # of the compiler


def options_of(command):
    """Those of a compile command, without launcher, compiler, output and source."""
    words = shlex.split(command)[:-1]
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    out = words.index("-o")
    return [word for word in words[:out] + words[out + 2:] if word != "-c"]


def units_of(build):
    """What is compiled of the tree, generated and third-party files left out."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.parent.name == "Unity":
            sources = [pathlib.Path(name.decode()) for name in INCLUDE.findall(read(path))]
        else:
            sources = [path]
        sources = [source.relative_to(ROOT) for source in sources
                   if source.is_relative_to(ROOT) and not source.is_relative_to(build)]
        sources = [source for source in sources if source.parts[0] != "third_party"]
        if sources:
            yield Unit(path, sources, options_of(entry["command"]))


def chosen(units, wanted):
    """All units, or each named source on its own."""
    if not wanted:
        return {unit.path: unit for unit in units}
    return {source: Unit(ROOT / source, [source], unit.options)
            for unit in units for source in unit.sources if str(source) in wanted}


@functools.cache
def read(path):
    return path.read_bytes()


def with_headers(path, seen):
    """The file and every header of the tree that it reaches."""
    if path in seen or not path.is_file():
        return seen
    seen.add(path)
    for name in INCLUDE.findall(read(path)):
        for folder in (path.parent, ROOT, ROOT / "src", ROOT / "include"):
            with_headers(folder / name.decode(), seen)
    return seen


def key_of(unit, version):
    digest = hashlib.sha256(version + shlex.join(unit.options).encode())
    for file in [ROOT / ".clang-tidy", *sorted(with_headers(unit.path, set()))]:
        digest.update(str(file).encode() + b"\0" + read(file) + b"\0")
    return digest.hexdigest()


def check(unit):
    # clang does not know g++'s own warning options, and libstdc++ 12 uses what C++23 deprecates.
    quiet = ["-Wno-unknown-warning-option", "-Wno-deprecated-declarations"]
    checks = [] if unit.path == ROOT / unit.sources[0] else ["--checks=-bugprone-suspicious-include"]
    result = subprocess.run(
        [TOOL, "--quiet", *checks, unit.path, "--", *unit.options, *quiet],
        capture_output=True, text=True)
    return result.returncode, result.stdout + ("" if result.returncode == 0 else result.stderr)


def main():
    build = (ROOT / (sys.argv[1] if len(sys.argv) > 1 else "build/release")).resolve()
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    # Beside the compiler's cache, where there is one that outlives the build folder.
    cache = os.environ.get("CCACHE_DIR")
    passed = (pathlib.Path(cache) if cache else build) / "clang-tidy-passed"
    passed.mkdir(parents=True, exist_ok=True)
    units = list(chosen(units_of(build), sys.argv[2:]).values())
    keys = [passed / key_of(unit, version) for unit in units]
    # The largest first: no core is left alone with a long one at the end.
    todo = sorted(((unit, key) for unit, key in zip(units, keys) if not key.exists()),
                  key=lambda each: -sum(os.path.getsize(source) for source in each[0].sources))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (_, key), (code, output) in zip(todo, pool.map(lambda each: check(each[0]), todo)):
            if code == 0:
                key.touch()
            else:
                failed += 1
                print(output.strip(), flush=True)
    files = len({source for unit in units for source in unit.sources})
    print(f"clang-tidy: {files} files in {len(units)} units, {len(units) - len(todo)} unchanged since "
          f"they passed, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
