#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of golden.sh: runs groups of command lines side by side, records or compares what they do."""
import concurrent.futures
import difflib
import fcntl
import hashlib
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
NO_RECORDINGS = {"CMakeLists", "commands"}
INPUTS = {"data": "data", "examples": "examples", "fixtures": "tests/fixtures",
          "input": "tests/golden/input"}  # name in the folder of a group: in the tree
WHOLE_STREAM_BYTES = 24_000  # what is longer is kept as its first lines and its hash
WHOLE_FILE_BYTES = 8_000
HEAD_LINES = 12
HEAD_COLUMNS = 400
LIMIT_S = 120  # of one command line
TERMINAL = re.compile(r"@(\d+) ")  # before a command line: how wide the terminal is that it runs in
PROGRESS_BAR = re.compile(rb"(?:\r[^\r\n]*)*\r\x1b\[K")  # drawn, and removed at the end
COLOUR = re.compile("\x1b\\[[0-9;]*m")

# What cannot repeat, and what stands in its place. The folder of the run and that of the bundled data
# are replaced before these, by WORK and DATA.
OF_THE_MACHINE = (r"threads|memory|time zone|browser|program|libraries|sacct|scontrol|slurm\.conf|NVML|"
                  r"dcgm-exporter|Redis|model servers")
RULES = [(re.compile(pattern, re.MULTILINE), instead) for pattern, instead in [
    # facts: how long the reading took
    (r'("wall_ms": ?)[0-9.e+-]+', r"\1MASKED"),
    # simulate: CPU time of a run, the last column of its table; the column is as wide as the longest
    (r'("cpu_ms": ?)\{[^}]*\}', r"\1MASKED"),
    (r"^(\S+ .* %  +\d[\w. ]*?)  +[\d,]+\.\d$", r"\1  MASKED"),
    (r" +CPU ms((?:\x1b\[0m)?)$", r"  CPU ms\1"),
    # version, doctor: what was built, where and with what
    (r"\(commit [^,]+, .*\)$", "(commit MASKED)"),
    (r'("(?:commit|compiler|build_type)": ")[^"]*', r"\1MASKED"),
    # report.html: the commit beside the version
    (r"(program )[0-9a-f]{12}(</small>)", r"\1MASKED\2"),
    # doctor: facts of the machine; a row goes on in the lines below it
    (r"^(?:ok|absent|MISSING) +(" + OF_THE_MACHINE + r") .*$(?:\n {28} .*$)*", r"MASKED \1"),
    (r'("what": "(?:' + OF_THE_MACHINE + r')",\n *"works": )\w+(,\n *"needed": \w+,\n *"detail": ")[^"]*'
     r'(",\n *"gives": "[^"]*",\n *"mend": ")[^"]*', r"\1MASKED\2MASKED\3MASKED"),
    # evaluate: hash of the sources, which changes with any of them
    (r"^(code|same) [0-9a-f]{64}$", r"\1 MASKED"),
]]


def groups():
    """The command lines: {group: [line, ...]}."""
    found = {}
    for line in (GOLDEN / "commands.txt").read_text().splitlines():
        if line.startswith("== "):
            lines = found.setdefault(line[3:], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


class Progress:
    """One line on a terminal, nothing elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.lock = total, 0, threading.Lock()

    def step(self, group):
        with self.lock:
            self.done += 1
            if sys.stderr.isatty():
                print(f"\rgolden: {self.done} of {self.total} command lines ({group})\033[K",
                      end="\n" if self.done == self.total else "", file=sys.stderr, flush=True)


class Group:
    """Command lines that follow each other in one folder."""

    def __init__(self, name, program, folder):
        self.name, self.program, self.work = name, program, folder / name
        for inside, source in INPUTS.items():
            shutil.copytree(ROOT / source, self.work / inside)
        (self.work / "bin").mkdir()
        (self.work / "bin" / "schedmate").symlink_to(program)
        (self.work / "tmp").mkdir()
        self.environment = {
            "PATH": f"{self.work}/bin:{os.environ['PATH']}", "HOME": str(self.work),
            "XDG_STATE_HOME": f"{self.work}/state", "XDG_CONFIG_HOME": f"{self.work}/config",
            "TMPDIR": f"{self.work}/tmp", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        self.files = self.snapshot()

    def snapshot(self):
        """{path: what changes when it is written} of all files outside the state folder."""
        stats = {path.relative_to(self.work): path.stat() for path in self.work.rglob("*")
                 if path.is_file() and self.work / "state" not in path.parents}
        return {path: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for path, stat in stats.items()}

    def shown(self, heading, data):
        """A stream or file as it is recorded, "" where nothing came."""
        if not data:
            return f"--- {heading} (empty)\n" if heading.startswith("file") else ""
        text = data.decode(errors="backslashreplace")
        text = text.replace(str(self.work), "WORK")
        for place in ("data", "share/schedmate"):
            text = text.replace(os.path.normpath(self.program.parent / ".." / ".." / place), "DATA")
        for pattern, instead in RULES:
            text = pattern.sub(instead, text)
        text = re.sub(r"[^\n\x20-\x7e\x80-\U0010ffff]", lambda c: f"\\x{ord(c[0]):02x}", text)
        size = len(text.encode())
        if size > (WHOLE_FILE_BYTES if heading.startswith("file") else WHOLE_STREAM_BYTES):
            digest = hashlib.sha256(text.encode()).hexdigest()
            text = "".join(line[:HEAD_COLUMNS] + "\n" for line in text.split("\n")[:HEAD_LINES])
            heading += f" ({size} bytes, sha256 {digest}; it begins:)"
        elif not text.endswith("\n"):
            text += "\n"
            heading += " (no line end at its end)"
        return f"--- {heading}\n{text}"

    def start(self, line, **streams):
        return subprocess.Popen(["bash", "-c", line], cwd=self.work, env=self.environment,
                                stdin=subprocess.DEVNULL, **streams)

    def run_in_pipes(self, line):
        """The exit code, and what was printed as it is recorded."""
        with self.start(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            try:
                streams = running.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                running.kill()
                return None, ""
        return running.returncode, self.shown("stdout", streams[0]) + self.shown("stderr", streams[1])

    def run_in_terminal(self, line, columns):
        """As run_in_pipes, with both streams on a terminal of so many columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with self.start(line, stdout=theirs, stderr=theirs) as running:
            os.close(theirs)
            limit = threading.Timer(LIMIT_S, running.kill)
            limit.start()
            screen = b""
            try:
                while part := os.read(ours, 65536):
                    screen += part
            except OSError:  # EIO: the other side is closed
                pass
            running.wait()
            ended = limit.is_alive()
            limit.cancel()
        os.close(ours)
        screen = PROGRESS_BAR.sub(b"", screen.replace(b"\r\n", b"\n"))
        widest = max((len(each) for each in COLOUR.sub("", screen.decode()).split("\n")), default=0)
        heading = f"screen of {columns} columns" + (f", TOO WIDE: {widest}" if widest > columns else "")
        return running.returncode if ended else None, self.shown(heading, screen)

    def run(self, line):
        place = TERMINAL.match(line)
        line = line[place.end():] if place else line
        code, printed = self.run_in_terminal(line, int(place[1])) if place else self.run_in_pipes(line)
        if code is None:
            return f"$ {line}\nno end within {LIMIT_S} s\n\n"
        text = f"$ {line}\nexit {code}\n{printed}"
        before, self.files = self.files, self.snapshot()
        for path in sorted(self.files):
            if self.files[path] != before.get(path):
                text += self.shown(f"file {path}", (self.work / path).read_bytes())
        text += "".join(f"--- file {path} is gone\n" for path in sorted(before.keys() - self.files.keys()))
        return text + "\n"


def play(program):
    """{group: what its command lines do}."""
    todo = groups()
    progress = Progress(sum(map(len, todo.values())))

    def play_group(name, folder):
        group = Group(name, program, pathlib.Path(folder).resolve())
        text = ""
        for line in todo[name]:
            text += group.run(line)
            progress.step(name)
        return text

    with tempfile.TemporaryDirectory(prefix="golden-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {name: pool.submit(play_group, name, folder) for name in todo}
        return {name: text.result() for name, text in running.items()}, progress.total


def differences(name, kept, now):
    """A unified diff; each hunk names the command line before it."""
    kept, now = kept.splitlines(True), now.splitlines(True)
    for line in difflib.unified_diff(kept, now, f"recorded/{name}.txt", f"now/{name}.txt"):
        if line.startswith("@@"):
            above = kept[:int(re.match(r"@@ -(\d+)", line)[1])]
            command = next((each for each in reversed(above) if each.startswith("$ ")), "\n")
            line = line.rstrip("\n") + " " + command
        yield line


def too_wide(texts):
    """The command lines with a line that is wider than their terminal."""
    return [f"{name}: {found[2].strip()}: {found[1]}" for name, text in texts.items()
            for found in re.finditer(r"^\$ (.*)\nexit .*\n--- screen of (.*TOO WIDE.*)$", text, re.MULTILINE)]


def main(mode, program):
    began = time.monotonic()
    texts, lines = play(pathlib.Path(program).resolve(strict=True))
    wide = too_wide(texts)
    for line in wide:
        print(f"golden: {line}")
    took = f"{lines} command lines in {len(texts)} groups, {time.monotonic() - began:.0f} s"
    if mode == "--record":
        for name, text in texts.items():
            (GOLDEN / f"{name}.txt").write_text(text)
        print(f"golden: recorded {took}")
        return 1 if wide else 0
    recorded = {path.stem: path for path in GOLDEN.glob("*.txt") if path.stem not in NO_RECORDINGS}
    different = []
    for name in sorted(recorded.keys() | texts.keys()):
        kept = recorded[name].read_text() if name in recorded else ""
        if kept != texts.get(name, ""):
            different.append(name)
            sys.stdout.writelines(differences(name, kept, texts.get(name, "")))
    print(f"golden: {took}: " + ("different: " + ", ".join(different) if different else "all as recorded"))
    return 1 if different or wide else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
