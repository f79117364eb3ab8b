#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of clang_tidy.sh: which units, which have passed before, and running the others."""
import argparse
import concurrent.futures
import fcntl
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
    """Those of a compile command, without launcher, compiler, output, source and what makes tests quick to build."""
    words = shlex.split(command)[:-1]
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    out = words.index("-o")
    return [word for word in words[:out] + words[out + 2:] if word not in ("-c", "-O0")]


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


def last_changed():
    """When each file of the tree was committed last."""
    when, commit = {}, 0
    log = subprocess.run(["git", "log", "--format=%ct", "--name-only"], capture_output=True, text=True)
    for line in log.stdout.splitlines():
        if line.isdigit():
            commit = int(line)
        elif line:
            when.setdefault(line, commit)
    return when


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--last", type=int, metavar="N", help="only the N sources that were committed last, each alone")
    args = parser.parse_args()
    if args.last is not None and args.last < 1:
        parser.error("--last: at least 1")
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    # Beside the compiler's cache, where there is one that outlives the build folder.
    cache = os.environ.get("CCACHE_DIR")
    build = (ROOT / args.build).resolve()
    if not (build / "compile_commands.json").exists():
        parser.error(f"{args.build} is no build folder: it has no compile_commands.json (scripts/build.sh release)")
    passed = (pathlib.Path(cache) if cache else build) / "clang-tidy-passed"
    passed.mkdir(parents=True, exist_ok=True)
    lock = open(passed / "lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # what another run is looking at has passed then, or not
    units = list(chosen(units_of(build), args.files).values())
    known = {str(source) for unit in units for source in unit.sources}
    if absent := set(args.files) - known:
        parser.error(f"not compiled in {args.build}: {', '.join(sorted(absent))} (paths from {ROOT.name}/)")
    when = last_changed()

    def turn(unit):  # of those committed together the largest first: no core is left alone with a long one at the end
        return (max(when.get(str(source), sys.maxsize) for source in unit.sources),
                sum(map(os.path.getsize, unit.sources)), str(unit.path))

    if args.last is not None:
        units = list(chosen(units, known).values())
    units.sort(key=turn, reverse=True)
    left = units[args.last:] if args.last is not None else []
    units = units[:len(units) - len(left)]
    keyed = [(unit, passed / key_of(unit, version)) for unit in units]
    todo = [(unit, key) for unit, key in keyed if not key.exists()]
    failed = 0

    def look(unit, key):
        code, output = check(unit)
        if code == 0:
            key.touch()
        return code, output

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, output in pool.map(lambda each: look(*each), todo):
            if code:
                failed += 1
                print(output.strip(), flush=True)
    print(f"clang-tidy: {len(known)} files in {len(units) + len(left)} units, {len(units) - len(todo)} unchanged since "
          f"they passed, {failed} with findings" + (f", {len(left)} not looked at (make tidy)" if left else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
