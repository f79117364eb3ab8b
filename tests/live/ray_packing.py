#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packings that hurt are found from logs alone, those that do not are left alone: ray_packing.py WORK DASHBOARD PROGRAM...

On a real Ray with emulated GPUs lucid+sm measures jobs on its profiler's node and packs them two by two. Every fourth job
harms whom it meets, which then runs at HARM of its speed. ROUNDS of this, on RTB_WORKERS nodes of RTB_GPUS GPUs."""
import os
import pathlib
import statistics
import sys
import time

from emulated_ray import EmulatedRay, expect

WORKERS, GPUS, ROUNDS = (int(os.environ.get(name, default)) for name, default in (("RTB_WORKERS", 3), ("RTB_GPUS", 4), ("ROUNDS", 1)))
HARM, ENDLESS, WITHIN = 0.4, 10**7, 60
POLICY = "lucid+sm:profiler_nodes=1,t_prof_s=25,packing=on,cancel_after_s=15,elastic=false,pack=first,reserve=false,bypass=none"
WORK, DASHBOARD, PROGRAMS = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:7]


def when(action, state):
    return next(each["when_s"] for each in action["steps"] if each["state"] == state)


def round_of(site, pairs):
    """Seconds until each bad pair was ended (None: it was not, or too late), and whether each good one was left."""
    harmful = {site.submit("ResNet-50", 32, ENDLESS, "--harm", HARM if number % 4 == 1 else 1): number % 4 == 1 for number in range(2 * pairs)}
    mine = lambda kind: [each for each in site.actions(kind) if each["call"]["job"] in harmful and each["state"] == "verified"]
    packed = lambda: [each for each in mine("start") if each["call"].get("shared_with")]
    last = lambda: max((when(each, "verified") for each in packed()), default=time.time())
    site.wait(lambda: len(packed()) > pairs // 2 and time.time() > last() + 75, f"{pairs} pairs or nearly as many, and no more of them", 120 + 20 * pairs)
    bad, good, ends = [], [], mine("evict")
    for start in packed():
        newcomer, resident = start["call"]["job"], start["call"]["shared_with"]
        after = min((when(each, "planned") - when(start, "verified") for each in ends if each["call"]["job"] == newcomer and each["id"] > start["id"]), default=None)
        if harmful[newcomer]:
            bad.append(after if after is not None and after <= WITHIN else None)
        elif not harmful[resident]:
            good.append(after is None)
    site.cancel(harmful)
    site.wait(lambda: not [1 for job in site.jobs().values() if job["state"] in ("running", "pending")], "all are cancelled", 120)
    return bad, good


def main():
    site = EmulatedRay(PROGRAMS, WORK, DASHBOARD, POLICY, WORKERS, GPUS)
    bad, good = [], []
    for number in range(ROUNDS):
        more = round_of(site, (WORKERS - 1) * GPUS)
        bad, good = bad + more[0], good + more[1]
        found = [each for each in bad if each is not None]
        print(f"round {number + 1}: bad pairs: {len(found)} of {len(bad)} found within {WITHIN} s (median {statistics.median(found or [0]):.0f}, "
              f"largest {max(found or [0])}); good pairs: {sum(good)} of {len(good)} left alone", flush=True)
    if len(found) < 0.95 * len(bad) or sum(good) < 0.98 * len(good) or not bad or not good:
        site.tell()
        expect("95 % of the bad pairs are found, 98 % of the good ones are left alone", False)
    site.end()


main()
