#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares policies over draws of the invented workload, the first policy being the host.

  scripts/draws.py --trace venus --draws 6 --rows /tmp/rows.csv lucid:estimate=gbdt lucid+sm \
    'lucid+sm workload_shuffle=own'

What follows a policy after a space are settings for it alone, --set KEY=VALUE is for all. Draw k has the seed k for the workload, submissions that are up to 2 s later (drawn with k, the same
for all policies), and, with --like, a trace of its own. Jobs of the first three days count in no
figure. Each finished run is a line of --rows, by trace, workload, draw, policy and program, so that a
run that was interrupted goes on where it stopped. What it prints: the mean JCT; times shorter than
the host's, mean over draws with its 95 % interval (Student's t), and each draw; the share of the
bound (no scheduler beats zero waiting and no sharing: host mean - arm mean over host mean - mean
duration); mean ln JCT ratio of the two geometric means; p99 over the host's; and how many users with
20 jobs or more have a mean, over draws, that is more than doubled.
"""
import argparse
import csv
import gzip
import hashlib
import json
import math
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = {
    "venus": ("helios", "venus/venus_sept2020_days0-12.csv.gz", "venus/venus_vc_config.csv"),
    "philly": ("philly", "philly/philly_oct2017.csv.gz", "philly/philly_vc_config.csv"),
}
WARM_UP_S = 3 * 86_400
# Two-sided 95 % quantiles of Student's t by degrees of freedom; beyond, the normal one is near.
STUDENT = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
           2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093]


def moved_trace(name: str, draw: int, folder: Path) -> list[str]:
    """The bundled trace with each submission 0, 1 or 2 s later."""
    form, path, vcs = BUNDLED[name]
    lines = gzip.open(ROOT / "data" / path, "rt").read().splitlines()
    header = lines[0].split(",")
    column = header.index("submit_s")
    drawn = random.Random(draw)
    rows = [line.split(",") for line in lines[1:]]
    for row in rows:
        row[column] = str(int(row[column]) + drawn.randint(0, 2))
    rows.sort(key=lambda row: int(row[column]))
    out = folder / f"{name}_moved.csv"
    out.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    shutil.copy(ROOT / "data" / vcs, folder / f"{name}_vc_config.csv")
    return ["--trace", f"{form}:{out}"]


def drawn_trace(program: str, like: str, days: int, draw: int, folder: Path) -> list[str]:
    out = folder / "like"
    subprocess.run([program, "generate", "--like", like, "--days", str(days), "--seed", str(draw),
                    "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    return ["--trace", f"helios:{out}/jobs.csv", "--cluster", f"{out}/cluster.toml"]


def figures_of(path: Path) -> dict:
    """Of one run: what the comparison needs, and the sums of each user."""
    rows = [row for row in csv.DictReader(path.open()) if row["status"] == "finished"]
    first = min(int(row["submit_s"]) for row in rows)
    rows = [row for row in rows if int(row["submit_s"]) >= first + WARM_UP_S]
    times = sorted(max(1, int(row["jct_s"])) for row in rows)
    users: dict[str, list[int]] = {}
    for row in rows:
        user = users.setdefault(row["user"], [0, 0])
        user[0] += 1
        user[1] += int(row["jct_s"])
    return {
        "jobs": len(times),
        "mean": sum(times) / len(times),
        "duration": sum(int(row["duration_s"]) for row in rows) / len(rows),
        "p99": times[math.ceil(0.99 * len(times)) - 1],
        "ln": sum(map(math.log, times)) / len(times),
        "users": users,
    }


class Rows:
    """The runs that are done. A line that was cut off is not one."""

    def __init__(self, path: Path):
        self.path = path
        self.done: dict[str, dict] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                key, figures = json.loads(line)
            except ValueError:
                continue
            self.done[key] = figures

    def add(self, key: str, figures: dict) -> None:
        self.done[key] = figures
        with self.path.open("a") as out:
            out.write(json.dumps([key, figures]) + "\n")
            out.flush()
            os.fsync(out.fileno())


def run_draw(options: argparse.Namespace, draw: int, keys: dict[str, str], rows: Rows) -> None:
    todo = [policy for policy in options.policies if keys[policy] not in rows.done]
    if not todo:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = (drawn_trace(options.program, options.like, options.days, draw, folder)
                  if options.like else moved_trace(options.trace, draw, folder))
        for policy in todo:
            out = folder / "out"
            spec, *settings = policy.split()
            settings = [f"workload={options.workload}", f"seed={draw}", *options.set, *settings]
            subprocess.run([options.program, "simulate", *source,
                            *(word for each in settings for word in ("--set", each)), "--report",
                            "none", "--out", str(out), "--policy", f"{spec}@it"],
                           check=True, stdout=subprocess.DEVNULL)
            rows.add(keys[policy], figures_of(out / "it.jobs.csv"))


def interval(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    t = STUDENT[len(values) - 2] if len(values) - 2 < len(STUDENT) else 1.96
    return mean, t * spread / math.sqrt(len(values))


def doubled_users(host: list[dict], arm: list[dict]) -> int:
    def sums(runs: list[dict]) -> dict[str, list[int]]:
        total: dict[str, list[int]] = {}
        for run in runs:
            for user, (jobs, time) in run["users"].items():
                of_user = total.setdefault(user, [0, 0])
                of_user[0] += jobs
                of_user[1] += time
        return total
    before, after = sums(host), sums(arm)
    return sum(1 for user, (jobs, time) in before.items()
               if jobs >= 20 * len(host) and after.get(user, [0, 0])[1] > 2 * time)


def print_table(policies: list[str], runs: dict[str, list[dict]]) -> None:
    host = runs[policies[0]]
    waits = sum(run["mean"] - run["duration"] for run in host)
    bound = sum(run["mean"] for run in host) / sum(run["duration"] for run in host)
    print(f"draws {len(host)}, bound {bound:.3f} times shorter")
    for policy in policies:
        arm = runs[policy]
        ratios = [one["mean"] / other["mean"] for one, other in zip(host, arm)]
        mean, half = interval(ratios)
        saved = sum(one["mean"] - other["mean"] for one, other in zip(host, arm))
        logs = sum(other["ln"] - one["ln"] for one, other in zip(host, arm)) / len(arm)
        tail = sum(run["p99"] for run in arm) / sum(run["p99"] for run in host)
        print(f"{policy}\n  JCT {sum(run['mean'] for run in arm) / len(arm):.0f} s, "
              f"{mean:.3f} +-{half:.3f} times shorter "
              f"({' '.join(f'{ratio:.3f}' for ratio in ratios)}), {saved / waits:.0%} of the bound, "
              f"ln {logs:+.3f}, p99 {tail:.3f}, users doubled {doubled_users(host, arm)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", choices=sorted(BUNDLED), default="venus")
    parser.add_argument("--like", default="", help="a cluster of generate --like instead")
    parser.add_argument("--days", type=int, default=10, help="with --like")
    parser.add_argument("--workload", default="heavy", help="heavy, light or none")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--program", default=str(ROOT / "build/release/schedmate"))
    parser.add_argument("policies", nargs="+")
    options = parser.parse_args()
    rows = Rows(options.rows)
    program = hashlib.sha256(Path(options.program).read_bytes()).hexdigest()[:12]
    source = f"{options.like}-{options.days}" if options.like else options.trace
    options.policies = list(dict.fromkeys(options.policies))
    runs: dict[str, list[dict]] = {policy: [] for policy in options.policies}
    for draw in range(1, options.draws + 1):
        workload = "+".join([options.workload, *options.set])
        keys = {policy: f"{source} {workload} {draw} {policy} {program}"
                for policy in options.policies}
        run_draw(options, draw, keys, rows)
        for policy in options.policies:
            runs[policy].append(rows.done[keys[policy]])
    print_table(options.policies, runs)


if __name__ == "__main__":
    main()
