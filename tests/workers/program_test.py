#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers as programs, beside a real Redis: program_test.py SCHEDMATE SCHEDMATE-READER. Without redis-server: skipped."""
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "daemon"))
from redis_of import SAFE, Redis  # noqa: E402
from site_of import Site, begin_process, expect  # noqa: E402

SCHEDMATE, READER = sys.argv[1:3]


class Place:
    def __init__(self, folder, redis):
        self.folder, self.redis = folder, redis
        self.state = folder / "state"
        self.lease_s = 60

    def words(self, *words):
        return [SCHEDMATE, *words, "--redis", self.redis.where, "--state-dir", self.state, "--set", f"workers.lease_s={self.lease_s}"]

    def run(self, *words, **more):
        return subprocess.run(self.words(*words), capture_output=True, text=True, timeout=120, **more)

    def json(self, *words):
        done = self.run(*words, "--json")
        return done.returncode, json.loads(done.stdout)

    def worker(self, *words):
        process = begin_process(self.words("worker", *words), stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "is ready" in line:
                return process
        raise SystemExit("FAILED: no worker")

    def figure(self, name):
        return self.json("work", "status")[1]["figures"].get(name, 0)

    def work_until(self, name, state, *words):
        """A worker, again and again, as leases are over and pauses, until the operation is so."""
        def is_so():
            self.run("worker", "--until-empty", *words)
            return self.json("work", "get", name)[1]["state"] == state

        Site.wait(is_so, f"{name} is {state}")


def tell_to_end(process):
    """SIGTERM, which the process has taken when this returns."""
    process.send_signal(signal.SIGTERM)
    pending = lambda: re.search(r"ShdPnd:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
    Site.wait(lambda: process.poll() is not None or int(pending()[1], 16) == 0, "SIGTERM is taken")


def a_job(folder):
    job = folder / "job"
    job.mkdir()
    (job / "train.py").write_text("import torch\nfrom torchvision.models import resnet50\nmodel = resnet50()\nfor epoch in range(20):\n    pass\n")
    log = folder / "job.log"
    log.write_text("step 1\nTraceback (most recent call last):\n  File \"train.py\", line 3\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    return job, log


def check_answers(place, job, log):
    command = ["--command", "python train.py --epochs 20"]
    put = place.json("work", "advise", job, *command, "--op", "a1")
    expect("a request is put", put == (0, {"schema": "schedmate.work.put.v1", "id": "a1", "was_there": False}))
    expect("and once", place.json("work", "advise", job, *command, "--op", "a1")[1]["was_there"])
    expect("another request has no room under its id", place.run("work", "advise", job, "--command", "true", "--op", "a1").returncode == 3)
    expect("there is no result yet", place.run("work", "get", "a1").returncode == 1)
    expect("nor one of an operation that nobody put", place.run("work", "get", "nobody").returncode == 2)
    expect("a failure is put", place.run("work", "diagnose", log, "--op", "f1").returncode == 0)
    done = place.run("worker", "--until-empty", "--json")
    expect(f"a worker does both and ends: {done.stderr}", done.returncode == 0 and json.loads(done.stdout)["results"] == 2)
    code, advice = place.json("work", "get", "a1")
    alone = json.loads(subprocess.run([SCHEDMATE, "advise", job, *command, "--user", pwd.getpwuid(os.geteuid()).pw_name, "--state-dir", place.state, "--json"], capture_output=True, text=True, check=True).stdout)
    same = ["schema", "facts", "estimate", "source", "neighbours"]
    expect("the advice is that of the command", code == 0 and [advice["result"].get(key) for key in same] == [alone.get(key) for key in same])
    code, diagnosis = place.json("work", "get", "f1")
    alone = json.loads(subprocess.run([SCHEDMATE, "diagnose", log, "--state-dir", place.state, "--json"], capture_output=True, text=True, check=True).stdout)
    expect("the diagnosis is that of the command", code == 0 and diagnosis["result"] == alone)
    text = place.run("work", "status", "--metrics").stdout
    expect("metrics say so", 'schedmate_work_total{event="done"} 2\n' in text)
    place.run("work", "advise", place.folder / "nowhere", *command, "--op", "w1")
    place.run("worker", "--until-empty")
    code, wrong = place.json("work", "get", "w1")
    expect("an error is a result, too, with its exit code", code in (2, 3) and "nowhere" in wrong["error"]["message"] and wrong["deliveries"] == 1)


def check_deaths(place, log):
    """A worker and Redis are killed while requests are put: each has its result in the end."""
    first, second = place.worker("--id", "first"), place.worker("--id", "second")
    for i in range(40):
        place.run("work", "diagnose", log, "--op", f"k{i}")
        if i == 10:
            first.kill()
        if i == 20:
            place.redis.kill()
            place.redis.start()
    Site.wait(lambda: place.figure("running") + place.figure("waiting_urgent") == 0, "all is done after a worker and Redis were killed")
    states = [place.json("work", "get", f"k{i}")[1]["state"] for i in range(40)]
    expect("none is lost", states == ["done"] * 40)
    second.send_signal(signal.SIGTERM)
    expect("SIGTERM ends a worker", second.wait(60) == 0)
    expect("that has left nothing", place.figure("running") == 0)


def check_drain(place, log):
    """A worker that is told to end while it works gives its result first, and begins nothing more."""
    with socket.socket(socket.AF_UNIX) as slow:  # a reader that answers when the worker was told
        door = place.folder / "slow.sock"
        slow.bind(str(door))
        slow.listen()
        slow.settimeout(60)
        worker = place.worker("--id", "drained", "--set", f"reader.socket={door}")
        place.run("work", "diagnose", log, "--op", "d1")
        asks = slow.accept()[0]
        asked = json.loads(asks.makefile().readline())
        place.run("work", "diagnose", log, "--op", "d2")
        tell_to_end(worker)
        asks.sendall(json.dumps({"id": asked["id"], "reply": {"result": {"schema": "schedmate.diagnosis.v1"}}}).encode() + b"\n")
    expect("it ends well", worker.wait(60) == 0)
    expect("with the result of what it had begun", place.json("work", "get", "d1")[1]["state"] == "done")
    expect("and nothing else was begun", place.json("work", "get", "d2")[1]["state"] == "waiting")
    place.run("worker", "--until-empty")


def check_leave(place, log):
    """A reader that takes a request and never answers holds a worker up; a second SIGTERM does not wait for it."""
    with socket.socket(socket.AF_UNIX) as mute:
        door = place.folder / "mute.sock"
        mute.bind(str(door))
        mute.listen()
        worker = place.worker("--id", "leaver", "--set", f"reader.socket={door}")
        place.run("work", "diagnose", log, "--op", "l1")
        Site.wait(lambda: place.json("work", "get", "l1")[1]["state"] == "running", "a worker has begun")
        tell_to_end(worker)
        expect("the first SIGTERM lets it go on", worker.poll() is None)
        worker.send_signal(signal.SIGTERM)
        code, said = worker.wait(60), worker.stderr.read()
        expect(f"the second one does not wait: code {code}: {said.strip()}", code == 4 and "other workers" in said)
    place.work_until("l1", "done")
    done = place.json("work", "get", "l1")[1]
    expect("what it held is delivered again", done["state"] == "done" and done["deliveries"] == 2)


def check_reader(place, log, job):
    """A worker with a reader answers by it; without one that listens a request is tried again, then dead, until asked for once more."""
    door = place.folder / "reader.sock"
    reader = begin_process([READER, "--socket", door, "--set", "reader.uid_min=0"], stderr=subprocess.DEVNULL)
    Site.wait(door.exists, "the reader listens")
    place.run("work", "diagnose", log, "--op", "r1")
    place.run("work", "advise", job, "--command", "python train.py", "--op", "r2")
    done = place.run("worker", "--until-empty", "--set", f"reader.socket={door}")
    expect(f"a worker asks the reader: {done.stderr}", done.returncode == 0)
    for name in ("r1", "r2"):
        code, got = place.json("work", "get", name)
        expect(f"{name} has a result: {got['error']}", code == 0)
    reader.kill()
    reader.wait()
    place.run("work", "diagnose", log, "--op", "r3")
    place.work_until("r3", "dead", "--set", f"reader.socket={door}")
    code, dead = place.json("work", "get", "r3")
    expect("without the reader it is tried again, then dead, with the reason", dead["state"] == "dead" and "reader" in dead["error"]["message"] and code == 4)
    expect("and is among the dead", [each["id"] for each in place.json("work", "dead")[1]["operations"]] == ["r3"])
    expect("it is tried again when asked to", place.run("work", "retry", "r3").returncode == 0)
    place.run("worker", "--until-empty")
    expect("and done", place.json("work", "get", "r3")[1]["state"] == "done")


def check_rights(place, log):
    other = "nobody" if os.geteuid() == 0 else "root"
    place.run("work", "diagnose", log, "--op", "o1", "--user", other)
    place.run("worker", "--until-empty")
    code, got = place.json("work", "get", "o1")
    expect("a worker without a reader reads for nobody else", code == 4 and got["error"]["code"] == "refused" and "reader.socket" in got["error"]["message"])


def check_errors(folder, log):
    plain = Redis(folder / "plain", "--requirepass", "s3cret", "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru")
    place = Place(folder, plain)
    expect("no password: refused", "NOAUTH" in place.run("worker", "--until-empty").stderr)
    wrong = place.run("worker", "--until-empty", env={**os.environ, "SCHEDMATE_REDIS_PASSWORD": "no"})
    expect("a wrong one, too", wrong.returncode == 4 and "WRONGPASS" in wrong.stderr)
    done = place.run("worker", "--until-empty", env={**os.environ, "SCHEDMATE_REDIS_PASSWORD": "s3cret"})
    expect("no log of the server: a warning", done.returncode == 0 and "appendonly" in done.stderr and "noeviction" in done.stderr)
    kept = subprocess.run([SCHEDMATE, "history", "list", "--set", f"store={plain.where}", "--state-dir", place.state],
                          env={**os.environ, "SCHEDMATE_REDIS_PASSWORD": "s3cret"}, capture_output=True, text=True)
    expect(f"the history knows the password, too: {kept.stderr}", kept.returncode == 0)
    plain.kill()
    gone = place.run("work", "diagnose", log)
    expect("a server that is away is an error with its place", gone.returncode == 4 and "plain/redis.sock" in gone.stderr)


def main():
    if shutil.which("redis-server") is None:
        print("skipped: redis-server is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="schedmate-workers-") as name:
        folder = pathlib.Path(name)
        job, log = a_job(folder)
        place = Place(folder, Redis(folder / "redis", *SAFE))
        check_answers(place, job, log)
        check_rights(place, log)
        place.lease_s = 2  # those below are to end
        check_deaths(place, log)
        check_drain(place, log)
        check_leave(place, log)
        check_reader(place, log, job)
        check_errors(folder, log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
