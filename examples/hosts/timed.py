# SPDX-License-Identifier: Apache-2.0
"""schedmate.Estimates with a watch, for the adapters beside it."""

import time

import schedmate


def spread(seconds):
    """Median and 99th percentile, as text."""
    if not seconds:
        return "no call"
    ranked = sorted(seconds)
    return (f"{len(ranked)} calls, p50 {1000 * ranked[len(ranked) // 2]:.3f} ms, "
            f"p99 {1000 * ranked[min(len(ranked) - 1, 99 * len(ranked) // 100)]:.3f} ms")


class Timed(schedmate.Estimates):
    """How long its calls take; `advised`: those about jobs of which it had advice to give."""

    def __init__(self, trace, policy, session=None):
        super().__init__(trace, policy, session=session)
        self.asking, self.advised, self.learning = [], [], []
        self.with_use = 0

    def predict(self, job_id, now):
        begin = time.perf_counter()
        told = super().predict(job_id, now)
        taken = time.perf_counter() - begin
        self.asking.append(taken)
        if told.advised > 0 or told.sharing_score is not None:
            self.advised.append(taken)
        self.with_use += told.sharing_score is not None
        return told

    def learn(self, job_id, end):
        begin = time.perf_counter()
        super().learn(job_id, end)
        self.learning.append(time.perf_counter() - begin)

    def told(self):
        return (f"asked: {spread(self.asking)}; with advice: {spread(self.advised)}; "
                f"told of ends: {spread(self.learning)}; with GPU use: {self.with_use}")
