#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of clang_tidy.sh: which files, which have passed before, and running the others."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path.cwd()
TOOL = "clang-tidy-19"
INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def entries_of(build, wanted):
    """The compile commands of files of the tree, generated and third-party ones left out."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(ROOT) or path.is_relative_to(build):
            continue
        relative = path.relative_to(ROOT)
        is_test = relative.parts[0] == "tests" or path.stem.endswith("_test")
        chosen = not is_test if wanted == ["--product"] else not wanted or str(relative) in wanted
        if relative.parts[0] != "third_party" and chosen:
            yield relative, entry["command"]


def with_headers(path, seen):
    """The file and every header of the tree that it reaches."""
    if path in seen or not path.is_file():
        return seen
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        for folder in (path.parent, ROOT, ROOT / "src", ROOT / "include"):
            with_headers(folder / name.decode(), seen)
    return seen


def key_of(path, command, version):
    digest = hashlib.sha256(version + command.encode())
    for file in [ROOT / ".clang-tidy", *sorted(with_headers(ROOT / path, set()))]:
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def check(build, path):
    # clang does not know g++'s own warning options, and libstdc++ 12 uses what C++23 deprecates.
    quiet = ["-Wno-unknown-warning-option", "-Wno-deprecated-declarations"]
    result = subprocess.run(
        [TOOL, "--quiet", "-p", build, *(f"--extra-arg={option}" for option in quiet), path],
        capture_output=True, text=True)
    return result.returncode, result.stdout + ("" if result.returncode == 0 else result.stderr)


def main():
    build = (ROOT / (sys.argv[1] if len(sys.argv) > 1 else "build/release")).resolve()
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    passed = build / "clang-tidy-passed"
    passed.mkdir(exist_ok=True)
    keys = {path: key_of(path, command, version)
            for path, command in entries_of(build, sys.argv[2:])}
    # The largest first: no core is left alone with a long one at the end.
    todo = sorted((path for path, key in keys.items() if not (passed / key).exists()),
                  key=lambda path: -os.path.getsize(path))
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (code, output) in zip(todo, pool.map(lambda p: check(build, p), todo)):
            if code == 0:
                (passed / keys[path]).touch()
            else:
                failed.append(path)
                print(output.strip(), flush=True)
    print(f"clang-tidy: {len(keys)} files, {len(keys) - len(todo)} unchanged since they passed, "
          f"{len(failed)} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
