# SPDX-License-Identifier: Apache-2.0
"""lucid_part.py TRACE_DIR OUT: of a trace directory of Lucid's simulator one small virtual cluster and the two whose nodes its
profiler borrows, for the first days of September."""

import csv
import sys
from pathlib import Path

KEPT = ("vcKrE", "vc8Gr", "vcefl")
LAST = "2020-09-03"


def main():
    source, out = map(Path, sys.argv[1:])
    out.mkdir()
    with open(source / "cluster_full_log.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = min(rows, key=lambda row: row["submit_time"])  # the zero of its clock
    kept = [first] + [row for row in rows if row is not first and row["vc"] in KEPT
                      and "2020-09-01" <= row["submit_time"] < LAST]
    kept[0] = {**first, "vc": KEPT[0]}
    with open(out / "cluster_full_log.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(kept)
    nodes = (source / "vc_config.csv").read_text(encoding="utf-8").splitlines()
    chosen = nodes[:1] + [row for row in nodes[1:] if row.split(",")[0] in KEPT]
    (out / "vc_config.csv").write_text("\n".join(chosen) + "\n", encoding="utf-8")


main()
