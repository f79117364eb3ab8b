#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts trainings as Ray tasks, in SchedMate's order, two to a GPU where that is known to be safe.

    python ray_driver.py TRAININGS.json --gpus 4 [--address auto | --local]

TRAININGS.json: [{"id", "dir", "command", "user", "gpus"}]. Ray has no queue that one could order:
this driver holds one, shortest first by expected run time, the unknown last, and a task is handed
over when its GPUs are free. Two trainings of one GPU share it where earlier runs like both of them
were measured: together at most SHARED_PCT of its time, and SHARED_MIB of its memory. Each end is
told to SchedMate. --local: processes of this machine instead of Ray.
"""

import argparse
import json
import os
import subprocess
import time

import schedmate

SHARED_PCT, SHARED_MIB = 100.0, 72_000.0


class Training:
    """One of the list, and what SchedMate says of it."""

    def __init__(self, given, session):
        self.id, self.dir, self.command = given["id"], given["dir"], given["command"]
        self.gpus = given.get("gpus", 1)
        advice = schedmate.advise(self.dir, command=self.command, user=given["user"],
                                  gpus=self.gpus, job_id=self.id, record=True, session=session)
        told = advice["duration_s"]
        self.expected = told["p50"] if told else float("inf")
        self.util_pct, self.memory_mib = advice["gpu_util_pct"], advice["gpu_memory_mib"]

    def may_share(self, other):
        known = None not in (self.util_pct, self.memory_mib, other.util_pct, other.memory_mib)
        return known and self.gpus == other.gpus == 1 \
            and self.util_pct + other.util_pct <= SHARED_PCT \
            and self.memory_mib + other.memory_mib <= SHARED_MIB


def in_order(trainings):
    """Groups that start together: alone, or two that share a GPU; the first to go first."""
    left = sorted(trainings, key=lambda each: each.expected)
    groups = []
    while left:
        first = left.pop(0)
        partner = next((each for each in left if first.may_share(each)), None)
        if partner is not None:
            left.remove(partner)
        groups.append([first] if partner is None else [first, partner])
    return groups


class OnRay:
    """A group of two is a placement group of one GPU, of which each has half."""

    def __init__(self, address):
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
        self.ray, self.strategy, self.groups = ray, PlacementGroupSchedulingStrategy, {}
        ray.init(address=address, log_to_driver=False)

        @ray.remote(max_retries=0)
        def train(command, folder):
            return subprocess.run(command, shell=True, cwd=folder, check=False).returncode

        self.train = train

    def start(self, group):
        if len(group) == 1:
            return [self.train.options(num_gpus=group[0].gpus).remote(group[0].command,
                                                                      group[0].dir)]
        shared = self.ray.util.placement_group([{"GPU": 1, "CPU": len(group)}])
        strategy = self.strategy(shared)
        tasks = [self.train.options(num_gpus=1 / len(group), scheduling_strategy=strategy).remote(
            each.command, each.dir) for each in group]
        self.groups[tasks[0]] = (shared, set(tasks))
        return tasks

    def wait(self, tasks):
        done = self.ray.wait(tasks, num_returns=1)[0][0]
        for first, (shared, left) in list(self.groups.items()):
            left.discard(done)
            if not left:
                self.ray.util.remove_placement_group(shared)
                del self.groups[first]
        try:
            return done, self.ray.get(done)
        except self.ray.exceptions.RayError:
            return done, -1


class OnThisMachine:

    def start(self, group):
        return [subprocess.Popen(each.command, shell=True, cwd=each.dir,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for each in group]

    def wait(self, tasks):
        while True:
            for task in tasks:
                if task.poll() is not None:
                    return task, task.returncode
            time.sleep(0.01)


def drive(groups, gpus, cluster, session, say=print):
    """Starts them in this order; a later one never passes an earlier one that does not fit."""
    waiting, running, free = list(groups), {}, gpus
    while waiting or running:
        while waiting and waiting[0][0].gpus <= free:
            group = waiting.pop(0)
            free -= group[0].gpus
            left = set(group)
            for training, task in zip(group, cluster.start(group)):
                running[task] = (training, left, time.time())
            say("start " + " + ".join(each.id for each in group))
        if not running:
            raise SystemExit(f"{waiting[0][0].id} asks for more GPUs than there are")
        task, code = cluster.wait(list(running))
        training, left, begin = running.pop(task)
        left.discard(training)
        free += 0 if left else training.gpus
        schedmate.finish(training.id, state="failed" if code else "completed", replace=True,
                         duration_s=round(time.time() - begin), session=session)
        say(f"end   {training.id} {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trainings")
    parser.add_argument("--gpus", type=int, required=True)
    parser.add_argument("--state", help="folder of the history; SchedMate's own")
    parser.add_argument("--address", default="auto")
    parser.add_argument("--local", action="store_true")
    args = parser.parse_args()
    with open(args.trainings, encoding="utf-8") as file:
        given = json.load(file)
    session = schedmate.Session(state_dir=args.state and os.path.abspath(args.state))
    groups = in_order([Training(each, session) for each in given])
    drive(groups, args.gpus, OnThisMachine() if args.local else OnRay(args.address), session)


if __name__ == "__main__":
    main()
