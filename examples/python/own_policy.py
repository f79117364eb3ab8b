# SPDX-License-Identifier: Apache-2.0
"""A policy of one's own: shortest job first, and smaller jobs fill what the first one waits for.

own_policy.py [TRACE]
"""

import sys
import time
from bisect import insort
from pathlib import Path

import schedmate

VENUS = Path(__file__).resolve().parents[2] / "data/venus/venus_sept2020_days0-12.csv.gz"


class ShortestFirstWithBackfill:
    """The shortest job goes first. While it has no room, it has a reservation: when enough GPUs are
    free if all run as long as estimated. Others start if they end before that, or leave it its GPUs."""

    def __init__(self):
        self.queue = []  # (estimate, number, job)

    def __call__(self, view, plan):
        for job in view.arrived:
            insort(self.queue, (job.estimate, job.number, job))
        while self.queue and plan.start(self.queue[0][2]):
            del self.queue[0]
        if not self.queue or view.cluster.free_gpus == 0:
            return
        refused = first = self.queue[0][2].gpus
        until, spare = self.reservation(view, first)
        for entry in self.queue[1:]:
            job = entry[2]
            in_time = view.now + job.estimate <= until
            if job.gpus < refused and (in_time or job.gpus <= spare):
                if plan.start(job):
                    spare -= 0 if in_time else job.gpus
                    self.queue.remove(entry)
                else:
                    refused = job.gpus  # nor has a larger one room

    @staticmethod
    def reservation(view, gpus):
        until, free = view.now, view.cluster.free_gpus
        for left, size in sorted((max(job.remaining(view.now), 1), job.gpus)
                                 for job in view.running.values()):
            if free >= gpus:
                break
            until, free = view.now + left, free + size
        return until, free - gpus


def main(trace=f"helios:{VENUS}"):
    began = time.monotonic()
    result = schedmate.simulate(trace, {"own": ShortestFirstWithBackfill}, estimator="last_k")
    took = time.monotonic() - began
    others = schedmate.simulate(trace, ["fifo", "sjf:estimate=last_k@sjf"])
    for label, run in {**result.runs, **others.runs}.items():
        print(f"{label:8} mean JCT {run.figures['avg_jct_s'] / 3600:6.2f} h")
    print(f"{result.runs['own'].jobs.rows} jobs in {took:.1f} s by a policy written in Python")


if __name__ == "__main__":
    main(*sys.argv[1:])
