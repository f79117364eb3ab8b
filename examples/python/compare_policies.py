# SPDX-License-Identifier: Apache-2.0
"""Policies side by side on the jobs of Venus: figures, and a plot where matplotlib is installed.

compare_policies.py [TRACE [PLOT.png]]
"""

import sys
from pathlib import Path

import schedmate

VENUS = Path(__file__).resolve().parents[2] / "data/venus/venus_sept2020_days0-12.csv.gz"
POLICIES = ["fifo", "backfill_easy:estimate=last_k", "qssf:estimate=last_k", "sjf@sjf_oracle",
            "srtf@srtf_oracle"]


def hours(values):
    return sum(values) / len(values) / 3600


def main(trace=f"helios:{VENUS}", plot=None):
    result = schedmate.simulate(trace, POLICIES)
    print(f"{'policy':16}{'jobs':>8}{'mean wait h':>13}{'mean JCT h':>12}{'p99 JCT h':>11}")
    for label, run in result.runs.items():
        jobs = run.jobs.lists()
        done = [row for row, end in enumerate(jobs["end_s"]) if end is not None]
        jct = sorted(jobs["jct_s"][row] for row in done)
        waits = [jobs["queue_s"][row] for row in done]
        print(f"{label:16}{len(done):8}{hours(waits):13.2f}{hours(jct):12.2f}"
              f"{jct[len(jct) * 99 // 100] / 3600:11.1f}")
    if plot is not None:
        result.plot_cdf(plot)
        print("plot:", plot)


if __name__ == "__main__":
    main(*sys.argv[1:])
