#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes are lost, the daemon is killed, the head begins anew, and each job ends once: ray_losses.py WORK DASHBOARD PROGRAM...

ROUNDS (1) of: jobs on RTB_WORKERS nodes; LOSSES (3) nodes are killed one after the other with all that runs on them, KILLS (10) kills of
the daemon at random moments between; then the whole Ray is stopped and begins anew. What ran comes back, by `recover = "act"`."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from emulated_ray import EmulatedRay, expect

WORKERS, GPUS, ROUNDS, LOSSES, KILLS, SEED = (int(os.environ.get(name, default)) for name, default in (
    ("RTB_WORKERS", 5), ("RTB_GPUS", 4), ("ROUNDS", 1), ("LOSSES", 3), ("KILLS", 10), ("SEED", 1)))
WORK, DASHBOARD, PROGRAMS = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:7]
RUNS = WORK / "runs"

# What it was and when it lived; the last word of a file is "done" where it came to its end.
JOB = """import os, sys, time
with open(f"{sys.argv[1]}/{os.environ['SCHEDMATE_JOB']}.{os.environ['SCHEDMATE_RUN']}", "a", buffering=1) as file:
    node, gpus = os.environ["SCHEDMATE_NODE"], os.environ["CUDA_VISIBLE_DEVICES"]
    until = time.time() + float(sys.argv[2])
    while time.time() < until:
        file.write(f"{time.time()} {node} {gpus}\\n")
        print("step", flush=True)
        time.sleep(0.2)
    file.write(f"{time.time()} {node} {gpus} done\\n")
"""


class Run:
    """One attempt of a job, as it saw itself."""

    def __init__(self, file):
        self.job, lines = file.name.partition(".")[0], file.read_text().splitlines()
        self.began, self.ended = (float(lines[i].split()[0]) for i in (0, -1))
        self.node, self.gpus = lines[0].split()[1], set(lines[0].split()[2].split(","))
        self.done = lines[-1].endswith("done")

    def overlaps(self, other):
        return self.began < other.ended and other.began < self.ended


def runs():
    return [Run(file) for file in RUNS.iterdir() if file.stat().st_size > 0]


def bed(*words):
    subprocess.run(["bash", os.environ["RAY_TESTBED"], *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=words[0] == "start")


class Losses(EmulatedRay):
    def __init__(self):
        super().__init__(PROGRAMS, WORK, DASHBOARD, "fifo", WORKERS, GPUS, 'order = "act"\nrecover = "act"')
        self.kills = 0

    def kill_daemon(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.begin_daemon()

    def running(self):
        return [job for job in self.jobs().values() if job["state"] == "running"]


def nodes_of(job):
    return [each["node"] for each in job["nodes"]]


def disturb(site, rng):
    """Kills one node after the other, the daemon between."""
    left = [f"w{i + 1}" for i in range(WORKERS - 1)]  # the last one is the profiler's, where fifo starts nothing
    for number in range(LOSSES):
        site.wait(lambda: any(set(nodes_of(job)) & set(left) for job in site.running()), "jobs run", 90)
        time.sleep(rng.uniform(1, 4))
        busy = [node for job in site.running() for node in nodes_of(job) if node in left]
        node = rng.choice(busy or left)
        left.remove(node)
        on_it = [job["id"] for job in site.running() if node in nodes_of(job)]
        began = time.time()
        bed("kill-node", node)
        site.forget(node)
        for _ in range(KILLS // LOSSES + (number < KILLS % LOSSES)):
            time.sleep(rng.uniform(0, 3))
            site.kill_daemon()
        back = lambda: all(any(run.job == job and run.began > began for run in runs()) or any(run.job == job and run.done for run in runs()) for job in on_it)
        site.wait(back, f"jobs {on_it} of {node} run again", 120)
        print(f"{node} with {len(on_it)} jobs: all run again after {time.time() - began:.1f} s", flush=True)


def round_of(site, number):
    rng = random.Random(1000 * SEED + number)
    jobs = [site.submit_python(WORK / "tree", ["job.py", str(RUNS), f"{rng.uniform(8, 25):.1f}"], rng.choice([1, 1, 1, 2, 2, 4])) for _ in range(24)]
    disturb(site, rng)
    site.wait(site.running, "something runs", 60)
    began = time.time()
    bed("stop")
    bed("start")
    print(f"the head is back after {time.time() - began:.0f} s", flush=True)
    for node in range(1, WORKERS + 1):
        site.watch(f"w{node}")
    ended = lambda: [job for job in jobs if site.jobs().get(job, {}).get("state") == "completed"]
    site.wait(lambda: len(ended()) == len(jobs), "all jobs are completed", 300)
    check(jobs)


def check(jobs):
    seen = [run for run in runs() if run.job in jobs]
    ends = [sum(run.job == job and run.done for run in seen) for job in jobs]
    expect(f"each of {len(jobs)} jobs came to its end once, in {len(seen)} runs: {ends}", ends == [1] * len(jobs))
    for i, a in enumerate(seen):
        for b in seen[:i]:
            if a.overlaps(b):
                expect(f"job {a.job} never ran twice at once", a.job != b.job)
                expect(f"jobs {a.job} and {b.job} never shared a GPU of {a.node}", a.node != b.node or not a.gpus & b.gpus)


def main():
    (WORK / "tree").mkdir()
    (WORK / "tree" / "job.py").write_text(JOB)
    RUNS.mkdir()
    site = Losses()
    for number in range(ROUNDS):
        round_of(site, number)
        print(f"round {number + 1}: {LOSSES * (number + 1)} nodes lost, {number + 1} heads begun anew, {site.kills} kills of the daemon: nothing doubled, nothing lost", flush=True)
    checked = subprocess.run([site.programs["client"], "audit", "--verify", "--state-dir", str(site.state)], capture_output=True, text=True)
    expect(f"the chain of the journal is whole: {checked.stdout[:200]}{checked.stderr[:200]}", checked.returncode == 0)
    site.end()


main()
