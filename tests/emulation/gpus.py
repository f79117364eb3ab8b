# SPDX-License-Identifier: Apache-2.0
"""Emulated GPUs: who holds which, in files of a folder that all nodes see, and how fast jobs are that share one.

FOLDER/NODE/K/ has a file for each process that holds GPU K of NODE, locked while that process lives, so that a kill frees the GPU.
What a model needs is the recipe's (data/recipes), how two slow each other down data/interference.toml's: the table of the
simulator. Only trainers and exporters look here; a scheduler sees their logs and samples. Times are seconds of the emulated
world; `speed` of them pass in one of the clock."""
import fcntl
import functools
import json
import math
import os
import pathlib
import time
import tomllib

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
MEMORY_MIB = 81920


class OutOfMemory(Exception):
    """GPU, and MiB that were free."""


def workload(model, batch, precision, recipe="heavy"):
    """What one process of it asks of each GPU: utilisations as shares, MiB, seconds, parameters in billions."""
    with open(DATA / "recipes" / f"{recipe}.toml", "rb") as file:
        read = tomllib.load(file)
    found = next((each for each in read["model"] if each["name"] == model), None)
    if found is None:
        raise ValueError(f"{recipe} has no model {model}; it has {', '.join(each['name'] for each in read['model'])}")
    factor = read["mixed_precision"] if precision.endswith("-amp") else {}
    doublings = math.log2(batch / found["batch"][0])

    def share(name):
        return min(1, factor.get(name, 1) * min(100, found[f"{name}_pct"] + found[f"{name}_doubling_pct"] * doublings) / 100)

    return {"model": model, "gpu": share("gpu_util"), "memory_use": share("memory_util"), "params_b": found["params_m"] / 1000,
            "mib": factor.get("memory", 1) * (found["memory_mib"] + found["memory_per_sample_mib"] * batch),
            "step_s": factor.get("step", 1) * (found["step_ms"] + found["step_per_sample_ms"] * batch) / 1000,
            "cold_start_s": found["cold_start_s"], "ramp_s": found["ramp_s"]}


@functools.cache
def slow_down():
    with open(DATA / "interference.toml", "rb") as file:
        return tomllib.load(file)["slow_down"]


def speed_beside(own, other):
    """Of 1 alone, as src/workload/interference.cpp has it, on average over who came first."""
    slow = slow_down()
    loss = (slow["compute"] * max(0, own["gpu"] + other["gpu"] - 1) + slow["bandwidth"] * own["memory_use"] * other["memory_use"]
            + slow["size"] * math.log10(1 + own["params_b"]) * other["gpu"])
    return 1 / (1 + (1 + slow["newcomer"]) / 2 * loss)


def lives(path):
    """Whether somebody holds its lock; who has died leaves no file."""
    try:
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    return False


def holders(gpu):
    """Of a GPU's folder: what each that holds it has said, the earliest first."""
    found = []
    for path in gpu.glob("*.json"):
        if lives(path):
            try:
                found.append(json.loads(path.read_text()))
            except FileNotFoundError:  # it goes at this moment
                continue
    return sorted(found, key=lambda each: (each["since"], each["pid"]))


class Held:
    """GPUs of this node, held until the process ends. OutOfMemory: one has not enough memory for all that share it."""

    def __init__(self, folder, node, gpus, job, needs, speed):
        self.folder, self.job, self.files, self.places, self.looked = pathlib.Path(folder), job, [], [], 0
        said = {"job": job, "pid": os.getpid(), "since": time.time(), "speed": speed, "harm": 1, **needs}
        for gpu in gpus:
            place = self.folder / node / str(gpu)
            place.mkdir(parents=True, exist_ok=True)
            with open(place / "lock", "w") as one_at_a_time:
                fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
                free = MEMORY_MIB - sum(each["mib"] for each in holders(place))
                if needs["mib"] > free:
                    raise OutOfMemory(gpu, free)
                name = place / f"{job}.{os.getpid()}"
                file = open(name, "w")
                fcntl.flock(file, fcntl.LOCK_EX)
                json.dump(said, file)
                file.flush()
                name.rename(f"{name}.json")  # seen from here on, locked and whole
                self.files.append(file)

    def speed(self):
        """Of the job's slowest GPU, on whatever node, as a share of its speed alone."""
        slowest, now = 1.0, time.monotonic()
        if now > self.looked + 2:  # on all nodes; it takes a while
            self.places, self.looked = [path.parent for path in self.folder.glob(f"*/*/{self.job}.*.json")], now
        for place in self.places:
            sharing = holders(place)
            own = next((each for each in sharing if each["job"] == self.job), None)
            for other in sharing:
                if own and other["job"] != self.job:
                    slowest = min(slowest, speed_beside(own, other) * other["harm"])
        return slowest


def use_of(gpu, now):
    """Of a GPU's folder: utilisation of computing and of memory's bandwidth as shares, MiB in use."""
    compute = bandwidth = mib = 0
    for each in holders(gpu):
        runs = (now - each["since"]) * each["speed"] - each["cold_start_s"]
        ramp = 0 if runs < 0 else min(1, 0.5 + 0.5 * runs / each["ramp_s"])
        compute, bandwidth, mib = compute + ramp * each["gpu"], bandwidth + ramp * each["memory_use"], mib + each["mib"]
    return min(1, compute), min(1, bandwidth), mib
