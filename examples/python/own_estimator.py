# SPDX-License-Identifier: Apache-2.0
"""An estimator of one's own, under a policy of SchedMate's: the median of a user's last jobs.

own_estimator.py [TRACE]
"""

import sys
from collections import defaultdict, deque
from pathlib import Path
from statistics import median

import schedmate

VENUS = Path(__file__).resolve().parents[2] / "data/venus/venus_sept2020_days0-12.csv.gz"


class MedianOfLast:
    """Of the last 20 jobs of this user with as many GPUs, else of all with as many, else an hour.
    It is asked of each job that enters, and told of each that has ended: it cannot look ahead."""

    def __init__(self):
        self.own = defaultdict(lambda: deque(maxlen=20))
        self.all = defaultdict(lambda: deque(maxlen=200))

    def predict(self, job, now):
        for runs in (self.own[job.user, job.gpus], self.all[job.gpus]):
            if runs:
                return median(runs)
        return 3600.0

    def learn(self, job, run_time, state, now):
        self.own[job.user, job.gpus].append(run_time)
        self.all[job.gpus].append(run_time)


def main(trace=f"helios:{VENUS}"):
    policy = {"qssf": "qssf"}
    print("mean job completion time under qssf, in hours, by what it believes:")
    for name, estimator in (("median of last", MedianOfLast), ("last_k", "last_k"),
                            ("oracle", "oracle")):
        result = schedmate.simulate(trace, policy, estimator=estimator)
        print(f"  {name:16}{result.runs['qssf'].figures['avg_jct_s'] / 3600:8.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
