# SPDX-License-Identifier: Apache-2.0
"""What if the cluster were smaller, or larger? The same jobs on shares of Venus' nodes.

what_if.py
"""

import csv
import tempfile
from pathlib import Path

import schedmate

VENUS = Path(__file__).resolve().parents[2] / "data/venus"
TRACE = f"helios:{VENUS / 'venus_sept2020_days0-12.csv.gz'}"


def cluster(share, folder):
    """A file with so many of each virtual cluster's nodes (docs/formats/cluster.md)."""
    with open(VENUS / "venus_vc_config.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    path = Path(folder) / f"{share}.toml"
    path.write_text("gpus_per_node = 8\n" + "".join(
        f'[[vc]]\nname = "{name}"\nnodes = {max(1, round(int(nodes) * share))}\n'
        for name, nodes in rows), encoding="utf-8")
    return path


def main():
    print(f"{'nodes':>6}{'GPUs':>7}{'policy':>16}{'mean wait h':>13}{'too large':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for share in (0.8, 1.0, 1.2):
            result = schedmate.simulate(TRACE, ["fifo", "backfill_easy:estimate=last_k@backfill"],
                                        cluster=cluster(share, folder))
            for label, run in result.runs.items():
                figures = run.figures
                print(f"{share:6.0%}{run.total_gpus:7}{label:>16}"
                      f"{figures['avg_queue_s'] / 3600:13.2f}{figures['infeasible']:11}")


if __name__ == "__main__":
    main()
