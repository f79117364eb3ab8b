#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What infrastructure failures cost, restarted by hand or by the Failure Handler, on the same rows.

  scripts/failures.py --draws 6 --rows /tmp/failures.jsonl

Each draw is an Acme-like month (generate --like acme-kalos) with failures of its own, the same for
all arms: schedmate+sm, whose owners restart after each of the published mean delays (NVLink, node,
network), and schedmate+fh, whose handler does after a minute and restarts 3 % of what owners broke in
vain. Jobs of the first three days count in no figure. Of the jobs that failed at least once it prints

  lost        GPU hours a failure: work since the last checkpoint, and GPUs held until it was noticed
  vain        GPU hours a failure: restarts of what owners broke, of the jobs that did not fail otherwise:
              the same of these, and what checkpoints and restarts cost them
  back, again hours from a failure until the job is queued, and until it runs again
  ETTR (B)    productive time / time since the first start (ByteDance, MegaScale and ByteRobust)
  ETTR (M)    productive time / time since submission, queues included (Meta, Kokolis et al. 2024)
              both weighted by GPUs
  goodput     of all jobs: productive GPU time / GPUs x time from the first submission to the last end
              (Meta), and productive GPU time / GPU time held

as mean over draws with its 95 % interval; differences from the handler are paired by draw.
"""
import argparse
import csv
import hashlib
import subprocess
import tempfile
from pathlib import Path

import draws

HAND = {"NVLink": 5736, "node": 6168, "network": 35526}


def figures_of(path: Path, gpus: int) -> dict[str, float]:
    rows = [row for row in csv.DictReader(path.open()) if row["status"] == "finished"]
    first = min(int(row["submit_s"]) for row in rows)
    rows = [row for row in rows if int(row["submit_s"]) >= first + draws.WARM_UP_S]

    def total(of: list[dict], value) -> float:
        return float(sum(value(row) for row in of))

    def number(column: str):
        return lambda row: float(row[column])

    def work(row: dict) -> float:
        return int(row["gpus"]) * int(row["duration_s"])

    def since(column: str):
        return lambda row: int(row["gpus"]) * (int(row["end_s"]) - int(row[column]))

    def waited_again(row: dict) -> int:
        return int(row["queue_s"]) - (int(row["start_s"]) - int(row["submit_s"]))

    def lost(row: dict) -> float:
        """Of work, and to checkpoints and restarts."""
        return number("lost_gpu_s")(row) + number("overhead_gpu_s")(row)

    failed = [row for row in rows if int(row["failures"]) > 0]
    if not failed:
        raise SystemExit("failures: no job failed in this draw; failures have to be more frequent")
    failures = total(failed, number("failures"))
    span = max(int(row["end_s"]) for row in rows) - min(int(row["submit_s"]) for row in rows)
    down = total(failed, number("down_s"))
    return {
        "failures": failures,
        "lost": total(failed, lost) / 3600 / failures,
        "vain": (total(rows, lost) - total(failed, lost)) / 3600 / failures,
        "back": down / 3600 / failures,
        "again": (down + total(failed, waited_again)) / 3600 / failures,
        "ettr_b": total(failed, work) / total(failed, since("start_s")),
        "ettr_m": total(failed, work) / total(failed, since("submit_s")),
        "goodput": total(rows, work) / (gpus * span),
        "of_held": total(rows, work) / total(rows, number("held_gpu_s")),
        "jct_h": total(rows, number("jct_s")) / len(rows) / 3600,
    }


def run(options: argparse.Namespace, draw: int, todo: dict[str, list[str]],
        rows: draws.Rows) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        like = folder / "like"
        subprocess.run([options.program, "generate", "--like", options.like, "--days", "30",
                        "--gpus", str(options.gpus), "--seed", str(draw), "--out", str(like)],
                       check=True, stdout=subprocess.DEVNULL)
        for key, arguments in todo.items():
            out = folder / "out"
            subprocess.run([options.program, "simulate", "--trace", f"helios:{like}/jobs.csv",
                            "--cluster", f"{like}/cluster.toml", "--set", "workload=heavy",
                            "--set", f"seed={draw}", "--report", "none", "--out", str(out),
                            *arguments], check=True, stdout=subprocess.DEVNULL)
            rows.add(key, figures_of(out / "it.jobs.csv", options.gpus))


def print_arm(name: str, arm: list[dict], host: list[dict]) -> None:
    print(f"{name} ({sum(each['failures'] for each in arm) / len(arm):.0f} failures a draw)")
    for figure in arm[0]:
        if figure == "failures":
            continue
        mean, half = draws.interval([each[figure] for each in arm])
        more, more_half = draws.interval([one[figure] - other[figure]
                                          for one, other in zip(arm, host)])
        against = "" if arm is host else f"   {more:+.4f} +-{more_half:.4f} against the handler"
        print(f"  {figure:8} {mean:.4f} +-{half:.4f}{against}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--like", default="acme-kalos")
    parser.add_argument("--gpus", type=int, default=1200)
    parser.add_argument("--hours", type=int, default=3860, help="GPU hours between failures")
    parser.add_argument("--policy", default="schedmate", help="the standalone scheduler")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--program", default=str(draws.ROOT / "build/release/schedmate"))
    options = parser.parse_args()
    program = hashlib.sha256(Path(options.program).read_bytes()).hexdigest()[:12]
    always = ["--set", f"cost.failure_gpu_hours={options.hours}",
              "--set", "cost.handler_false_pct=3"]
    advised = f"{options.policy}:advice=advisor"
    arms = {f"by hand, {name}": [*always, "--set", f"cost.manual_restart_s={delay}",
                                 "--policy", f"{advised}@it"] for name, delay in HAND.items()}
    arms["handler"] = [*always, "--policy", f"{advised},handler=true@it"]
    rows = draws.Rows(options.rows)
    results: dict[str, list[dict]] = {name: [] for name in arms}
    for draw in range(1, options.draws + 1):
        keys = {name: f"failures 2 {options.like} {options.gpus} {draw} {' '.join(arguments)} "
                      f"{program}" for name, arguments in arms.items()}
        todo = {keys[name]: arms[name] for name in arms if keys[name] not in rows.done}
        if todo:
            run(options, draw, todo, rows)
        for name, key in keys.items():
            results[name].append(rows.done[key])
    for name, arm in results.items():
        print_arm(name, arm, results["handler"])


if __name__ == "__main__":
    main()
