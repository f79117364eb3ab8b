#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""60 jobs of six users by lucid+sm, watched from the emulated GPUs that they hold: ray_many.py WORK DASHBOARD PROGRAM...

All end; each holds the GPUs that were decided, in the order that was decided, and shares one only with whom it was packed; nothing is left."""
import collections
import json
import os
import pathlib
import pwd
import random
import subprocess
import sys
import threading
import time
import urllib.request

from emulated_ray import EmulatedRay, expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "emulation"))
import gpus as emulated  # noqa: E402

WORKERS, GPUS, JOBS, USERS = (int(os.environ.get(name, default)) for name, default in (("RTB_WORKERS", 4), ("RTB_GPUS", 4), ("JOBS", 60), ("USERS", 6)))
POLICY = "lucid+sm:profiler_nodes=1,t_prof_s=10,packing=on,cancel_after_s=15,elastic=false,pack=first,bypass=none"
WORK, DASHBOARD, PROGRAMS = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:7]
WORKLOADS = [("ResNet-50", 32, 0.25), ("EfficientNet-B4", 32, 0.4), ("UNet2D", 8, 0.3)]  # with about the seconds of a step at 20 times


class Watch(threading.Thread):
    """Who holds which GPU, five times a second: (job, pid) -> its GPUs and when it was first seen; and who was seen beside whom."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.held, self.began, self.beside, self.crowded = folder, collections.defaultdict(set), {}, set(), []
        self.start()

    def run(self):
        while True:
            for place in self.folder.glob("w*/*"):
                there = emulated.holders(place)
                for each in there:
                    key = each["job"], each["pid"]
                    self.held[key].add((place.parent.name, int(place.name)))
                    self.began.setdefault(key, each["since"])
                if len(there) > 1:
                    self.beside.add(frozenset(each["job"] for each in there[:2]))
                if len(there) > 2:
                    self.crowded.append((place, there))
            time.sleep(0.2)


def users():
    names = [f"smray{number}" for number in range(USERS)]
    for name in names:
        try:
            pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "-M", "-s", "/bin/sh", name], check=True)
    return names


def check(site, watch, jobs):
    starts = [each for each in site.actions("start") if each["call"]["job"] in jobs and each["state"] == "verified"]
    attempts = collections.defaultdict(list)
    for key in sorted(watch.began, key=watch.began.get):
        attempts[key[0]].append(key)
    decided = collections.defaultdict(list)
    for each in starts:
        decided[each["call"]["job"]].append({(node["node"], gpu) for node in each["call"]["nodes"] for gpu in node["gpus"]})
    expect(f"each of {sum(map(len, decided.values()))} starts of {len(decided)} jobs held the GPUs that were decided",
           all([watch.held[key] for key in attempts[job]] == decided[job] for job in jobs))
    begun = collections.Counter()
    times = []
    for each in starts:
        job = each["call"]["job"]
        times.append(watch.began[attempts[job][begun[job]]])
        begun[job] += 1
    late = [later - earlier for earlier, later in zip(times, times[1:])]
    expect(f"they began in the order that was decided (the most that one was passed by the next: {max(0, -min(late)):.1f} s)", min(late) > -3)
    shared = {frozenset((each["call"]["shared_with"], each["call"]["job"])) for each in starts if each["call"].get("shared_with")}
    expect(f"{len(watch.beside)} pairs were seen on one GPU, of {len(shared)} that were decided; others: {[sorted(each) for each in watch.beside - shared]}",
           watch.beside and watch.beside <= shared and not watch.crowded)


def check_nothing_left(site, folder):
    marked = lambda: subprocess.run(["grep", "-lsz", "^SCHEDMATE_RUN=sm-", *(f"/proc/{pid}/environ" for pid in filter(str.isdigit, os.listdir("/proc")))],
                                    capture_output=True, text=True).stdout.split()
    site.wait(lambda: not marked(), "no process is left", 20)
    request = urllib.request.Request(DASHBOARD + "/api/v0/placement_groups?limit=1000", headers={"Authorization": "Bearer " + os.environ["RTB_TOKEN"]})
    with urllib.request.urlopen(request, timeout=20) as answer:
        groups = json.load(answer)["data"]["result"]["result"]
    expect("no process and no placement group is left, and no GPU is held", not [each for each in groups if each["state"] != "REMOVED"] and
           not any(map(emulated.holders, folder.glob("w*/*"))))


def main():
    WORK.chmod(0o755)  # the reader reads a job's log as its user
    folder, rng = pathlib.Path(os.environ["EMULATED_GPUS"]), random.Random(1)
    folder.mkdir(exist_ok=True)
    names = users()
    site = EmulatedRay(PROGRAMS, WORK, DASHBOARD, POLICY, WORKERS, GPUS)
    watch = Watch(folder)
    jobs = {}
    for number in range(JOBS):
        model, batch, step_s = rng.choice(WORKLOADS)
        steps = round(20 * rng.uniform(10, 60) / step_s)
        gpus = rng.choice([1, 1, 1, 2, 2, 4])
        jobs[site.submit(model, batch, steps, "--cold-start", 20, gpus=gpus, user=names[number % USERS])] = names[number % USERS]
    began, ended = time.monotonic(), {}
    while len(ended) < JOBS:
        ended |= {id: job for id, job in site.jobs().items() if id in jobs and job["ended_s"]}
        if time.monotonic() - began > 1800:
            site.tell()
            expect(f"all end ({len(ended)} of {JOBS} have)", False)
        time.sleep(2)
    expect(f"{JOBS} jobs of {USERS} users are completed after {time.monotonic() - began:.0f} s",
           all(job["state"] == "completed" for job in ended.values()) and {job["user"] for job in ended.values()} == set(names))
    check(site, watch, jobs)
    check_nothing_left(site, folder)
    site.end()


main()
