#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedmate-reader as a process, with real users: users_test.py SCHEDMATE_READER. Without root: skipped."""
import atexit
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon"))
from site_of import Site, begin_process, expect  # noqa: E402

ANN, BOB, EVE = (20000 + os.getpid() % 10000 * 3 + number for number in range(3))  # others than of a run beside this one


class Asker:
    """A connection; answers may come in any order."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")
        self.id = 0
        self.early = {}

    def send(self, user, what, **members):
        self.id += 1
        line = json.dumps({"id": self.id, "user": str(user), "what": what, **members}, separators=(",", ":"))
        self.socket.sendall(line.encode() + b"\n")
        return self.id

    def answer(self, number):
        while number not in self.early:
            line = self.lines.readline()
            if not line:
                raise EOFError
            said = json.loads(line)
            self.early[said["id"]] = said["reply"]
        return self.early.pop(number)

    def ask(self, user, what, **members):
        return self.answer(self.send(user, what, **members))

    def error(self, user, what, **members):
        return self.ask(user, what, **members).get("error", {"code": "none", "message": ""})


class Reader:
    def __init__(self, program, *settings, user=0):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.folder.chmod(0o755)
        os.chown(self.folder, user, user)
        self.path = self.folder / "reader.sock"
        words = [program, "--socket", self.path, "--set", f"reader.askers={BOB}"]
        for each in settings:
            words += ["--set", each]
        become = {"user": user, "group": user, "extra_groups": []} if user else {}
        self.process = begin_process(words, stderr=subprocess.PIPE, **become)
        atexit.register(self.end)
        said = self.process.stderr.readline().decode()
        expect(f"it is ready: {said.strip()}", "ready on" in said)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.process.returncode


class Home:
    """Folders of users, each closed to the others."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.folder.chmod(0o755)
        atexit.register(lambda: shutil.rmtree(self.folder, ignore_errors=True))
        for name, user in (("ann", ANN), ("bob", BOB)):
            self.own(self.folder / name, user, 0o700)

    def own(self, path, user, mode, text=None):
        if text is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.chown(path, user, user)
        path.chmod(mode)
        return str(path)


TRAIN = """import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=90)
parser.add_argument("--batch-size", type=int, default=256)
args = parser.parse_args()
model = __import__("torchvision").models.resnet50()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(args.epochs):
    pass
"""
LOG = "".join(f"Epoch: [1][{step}/5005] Time 0.251 (0.250) Loss 3.4{step % 10}\n" for step in range(0, 2000, 10))


def owner_of(path):
    try:
        return path.lstat().st_uid
    except FileNotFoundError:
        return None  # another test's, gone meanwhile


def whose_rights(program, home):
    reader = Reader(program)
    asker = Asker(reader.path)
    log = home.own(home.folder / "ann/job.log", ANN, 0o600, LOG + "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123456789\n")
    tail = asker.ask(ANN, "tail", log=log, lines=3)["result"]
    expect("a user's own log, its last lines", len(tail["lines"]) == 3 and "1990/5005" in tail["lines"][1])
    expect("without secrets", "hf_abc" not in json.dumps(tail) and "[redacted]" in tail["lines"][2])
    status = os.stat(log)
    expect("inode, size and time of the file", tail["file"] == {
        "inode": status.st_ino, "size": status.st_size, "mtime_s": int(status.st_mtime)})
    track = asker.ask(ANN, "track", log=log)["result"]
    expect("how far the job is", track["step"] == 1990 and track["file"]["inode"] == status.st_ino)
    error = asker.error(BOB, "tail", log=log)
    expect(f"another's log is refused: {error['message']}", error["code"] == "refused" and "Permission denied" in error["message"])
    of_group = home.own(home.folder / "group.log", 0, 0o640, "the group of root reads this\n")
    expect("groups of the reader are gone", asker.error(ANN, "tail", log=of_group)["code"] == "refused")
    secret = home.own(home.folder / "root.txt", 0, 0o600, "only root reads this\n")
    os.symlink(secret, home.folder / "ann/link.log")
    os.symlink("/etc/shadow", home.folder / "ann/shadow.log")
    for name in ("link.log", "shadow.log"):
        for what in ("tail", "track", "diagnose"):
            answer = asker.ask(ANN, what, log=str(home.folder / "ann" / name))
            expect(f"{what} by {name} gives nothing of root's", "only root" not in json.dumps(answer)
                   and "Permission denied" in json.dumps(answer))
    os.mkfifo(home.folder / "ann/fifo.log")
    os.chown(home.folder / "ann/fifo.log", ANN, ANN)
    for what in ("tail", "track", "diagnose", "failure"):
        for name in (str(home.folder / "ann/fifo.log"), "/dev/stdin", "/dev/fd/0"):
            expect(f"{name} is no log to {what}", asker.error(ANN, what, log=name)["code"] == "invalid")
    expect("a device is none", asker.error(ANN, "tail", log="/dev/zero")["code"] == "invalid")
    for_all = home.own(home.folder / "all.log", ANN, 0o644, LOG)  # it is not the file that refuses
    expect("a log that is readable for all", "result" in asker.ask(BOB, "tail", log=for_all))
    for user, code in ((0, "refused"), (999, "refused"), ("no-such-user", "not_found")):
        error = asker.error(user, "tail", log=for_all)
        expect(f"{user} is none for whom it reads: {error['message']}", error["code"] == code)
    expect("a path must be absolute", "absolute" in asker.error(ANN, "tail", log="job.log")["message"])
    huge = home.folder / "ann/huge.log"
    with open(huge, "wb") as file:
        file.truncate(1 << 40)
        file.seek(0, 2)
        file.write(("\n" + LOG).encode())
    os.chown(huge, ANN, ANN)
    tail = asker.ask(ANN, "tail", log=str(huge), lines=2)["result"]
    expect("the end of a log of 1 TiB", "1990/5005" in tail["lines"][-1])
    expect("the reader ends well", reader.end() == 0)


def trees_and_texts(program, home):
    reader = Reader(program)
    asker = Asker(reader.path)
    tree = home.folder / "ann/job"
    home.own(tree, ANN, 0o700)
    home.own(tree / "train.py", ANN, 0o600, TRAIN)
    asked = {"dir": str(tree), "command": "torchrun --nproc_per_node=8 train.py --epochs 20", "gpus": 8, "nodes": 1}
    advice = asker.ask(ANN, "advise", **asked)["result"]
    expect("advice", advice["schema"] == "schedmate.advice.v1" and advice["known"] is False)
    facts = advice["facts"]["facts"]
    expect("with facts of a tree that only its owner reads", "resnet50" in json.dumps(facts))
    facts = asker.ask(ANN, "facts", dir=asked["dir"], command=asked["command"])["result"]
    expect("facts alone", facts["schema"] == "schedmate.facts.v1")
    expect("another may not", asker.error(BOB, "advise", **asked)["code"] == "refused")
    os.symlink("/etc/shadow", tree / "config.yaml")
    answer = json.dumps(asker.ask(ANN, "advise", **{**asked, "command": "python train.py --config config.yaml"}))
    expect("a link out of the tree gives nothing", "root:" not in answer)
    text = "step 1 loss 2.5\nTraceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n" \
           "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    verdict = asker.ask(ANN, "diagnose", text=text)["result"]
    log = home.own(home.folder / "ann/oom.log", ANN, 0o600, text)
    of_file = asker.ask(ANN, "diagnose", log=log)["result"]
    expect(f"a text is diagnosed: {verdict['reason']}", verdict["schema"] == "schedmate.diagnosis.v1"
           and "memory" in json.dumps(verdict).lower())
    expect("as a file with the same text is", of_file["class"] == verdict["class"] and of_file["root_line"] == verdict["root_line"])
    steps = home.own(home.folder / "ann/steps.log", ANN, 0o600, "".join(f"step {n}/100 loss 2.5\n" for n in range(1, 40)) + text.split("\n", 1)[1])
    failure = asker.ask(ANN, "failure", log=steps)["result"]
    expect(f"a failure is what it died of and how far it had come: {failure['progress']}", failure["diagnosis"]["class"] == verdict["class"] and
           failure["progress"]["step"] == 39)
    left = [each for each in pathlib.Path("/tmp").glob("schedmate-*") if owner_of(each) in (ANN, BOB)]
    expect("nothing is left in /tmp", not left)
    reader.end()


def who_may_ask(program, home):
    reader = Reader(program)
    expect("the socket is its first asker's alone", (os.stat(reader.path).st_mode & 0o777, os.stat(reader.path).st_uid) == (0o600, BOB))
    os.chmod(reader.path, 0o666)  # now the peer's uid alone decides

    def asked_by(user):
        text = (f"import os, socket; os.setgroups([]); os.setgid({user}); os.setuid({user}); s = socket.socket(socket.AF_UNIX);"
                f"s.connect('{reader.path}');"
                f"s.sendall(b'{{\"id\":1,\"user\":\"{ANN}\",\"what\":\"tail\",\"log\":\"/x\"}}\\n'); print(s.recv(1000).decode())")
        return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout

    expect("an asker of the settings may", '"not_found"' in asked_by(BOB))
    expect("another user may not", "may not ask this reader" in asked_by(EVE))
    asker = Asker(reader.path)
    asker.socket.sendall(b"nonsense\n")
    expect("a line that is none ends the connection, and says why", b"begins with" in asker.lines.readline()
           and asker.lines.readline() == b"")
    asker = Asker(reader.path)
    try:
        asker.socket.sendall(b"x" * (4 << 20))
    except OSError:
        pass
    expect("so does a line without an end", b"more than" in asker.lines.readline())
    expect("the next one is served", Asker(reader.path).error(ANN, "tail", log="/x")["code"] == "not_found")
    reader.end()


def as_itself(program, home):
    reader = Reader(program, user=ANN)
    asker = Asker(reader.path)
    log = home.own(home.folder / "ann/own.log", ANN, 0o600, LOG)
    expect("without rights it reads for its own user", asker.ask(ANN, "tail", log=log, lines=1)["result"]["lines"])
    error = asker.error(BOB, "tail", log=log)
    expect(f"and says that it cannot for another: {error['message']}", error["code"] == "refused" and "its unit" in error["message"])
    reader.end()


def hold_children(reader, user):
    """Stops them; gives the pids of those that are."""
    held = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            told = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
            if int(told["PPid"]) == reader.process.pid and int(told["Uid"].split()[0]) == user:
                if "T" in told["State"].split():
                    held.append(int(pid))
                else:
                    os.kill(int(pid), signal.SIGSTOP)
        except OSError:
            pass  # it has ended
    return held


def beside_a_flood(program, home):
    """As long as none of a flood goes on, another's requests are answered."""
    reader = Reader(program, "reader.deadline_s=600")
    big = home.folder / "ann/big.log"
    home.own(big, ANN, 0o600, LOG * 4000)
    small = home.own(home.folder / "bob/small.log", BOB, 0o600, LOG)
    asker, flood = Asker(reader.path), Asker(reader.path)
    for _ in range(18):
        flood.send(ANN, "diagnose", logs=[str(big)] * 4)
    Site.wait(lambda: len(hold_children(reader, ANN)) == 2, "two children of the flood are held")
    unread = lambda: struct.unpack("i", fcntl.ioctl(flood.socket, termios.FIONREAD, bytes(4)))[0]
    before = unread()
    expect("another is answered", all(len(asker.ask(BOB, "tail", log=small, lines=10)["result"]["lines"]) == 10 for _ in range(50)))
    expect("meanwhile none of the flood is", unread() == before and len(hold_children(reader, ANN)) == 2)
    for _ in range(20):
        flood.send(ANN, "diagnose", log=str(big))
    expect("whoever floods is told", any(b"busy" in flood.lines.readline() for _ in range(20)))
    reader.end()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIPPED: needs root, to be several users")
        sys.exit(77)
    for case in (whose_rights, trees_and_texts, who_may_ask, as_itself, beside_a_flood):
        case(sys.argv[1], Home())
