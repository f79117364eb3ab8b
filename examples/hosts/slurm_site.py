#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The waiting jobs of a Slurm site, ordered by SchedMate's estimates: prints, and changes nothing.

    python slurm_site.py [--queue FILE] [--json]

For a site that has Python scripts and no daemon. It reads `squeue --json` (or FILE), asks SchedMate
about the code of each waiting job, and tells in which order they would go: expected run time, less
the time that a job has waited; where nothing is known, its time limit is what is expected. History
is that of `schedmate advise --record` and `schedmate history import`; this script records nothing.
Acting on the order is schedmated's (docs/slurm-order.md).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

import schedmate

NO_LIMIT_S = 365 * 86400


def number(value, unknown=None):
    """Of Slurm's JSON: plain, or {"set": ..., "infinite": ..., "number": ...} since 23.02."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return unknown if value is None else value


def first_of(value):
    """A state is a text, or a list since 23.11."""
    return (value[0] if value else "") if isinstance(value, list) else value


def gpus_of(job):
    """From gres/gpu=4 or gres/gpu:a100=4 of what it asks for; 1 where there is none."""
    counts = re.findall(r"gres/gpu(?::[^=,]+)?=(\d+)", job.get("tres_req_str") or "")
    return max([int(each) for each in counts], default=1) or 1


def waiting_jobs(queue):
    return [job for job in queue["jobs"] if first_of(job["job_state"]) == "PENDING"]


def asked(job, session):
    """SchedMate's advice, or why there is none."""
    folder, script = job.get("current_working_directory"), job.get("command")
    if not folder or not script:
        return None, "no script: srun or salloc"
    inside = os.path.relpath(script, folder)
    limit = number(job.get("time_limit"))
    try:
        advice = schedmate.advise(
            folder, command=f"bash {inside}", user=job.get("user_name") or str(job["user_id"]),
            gpus=gpus_of(job), nodes=max(1, number(job.get("node_count"), 1)),
            partition=job.get("partition"), roots=[f"{folder}=."],
            time_limit_s=limit * 60 if limit else None,
            submit_time_s=number(job.get("submit_time")), session=session)
    except schedmate.SchedMateError as error:
        return None, error.message
    return advice, advice["source"]


def ranked(jobs, now, ask):
    """One dict for each job, the first to go first."""
    rows = []
    for place, job in enumerate(sorted(jobs, key=lambda each: -number(each.get("priority"), 0)), 1):
        advice, why = ask(job)
        told = advice and advice["duration_s"]
        limit = number(job.get("time_limit"))
        expected = told["p50"] if told else limit * 60 if limit else NO_LIMIT_S
        facts = advice["facts"]["facts"] if advice else {}
        rows.append({"job_id": job["job_id"], "user": job.get("user_name"), "gpus": gpus_of(job),
                     "waited_s": max(0, now - number(job.get("submit_time"), now)),
                     "expected_s": expected, "by": why if told or not advice else "time limit",
                     "model": (facts.get("model_name") or {}).get("value"), "place_now": place})
    rows.sort(key=lambda row: (row["expected_s"] - row["waited_s"], row["job_id"]))
    for place, row in enumerate(rows, 1):
        row["place"] = place
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queue", help="what squeue --json printed; without it, squeue is asked")
    parser.add_argument("--state", help="folder of the history; SchedMate's own")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.queue:
        with open(args.queue, encoding="utf-8") as file:
            queue = json.load(file)
    else:
        queue = json.loads(subprocess.run(["squeue", "--json"], check=True,
                                          stdout=subprocess.PIPE).stdout)
    session = schedmate.Session(state_dir=args.state)
    begin = time.perf_counter()
    rows = ranked(waiting_jobs(queue), int(time.time()), lambda job: asked(job, session))
    taken = time.perf_counter() - begin
    if args.json:
        print(json.dumps(rows))
        return
    print(f"{'place':>5} {'now':>4} {'job':>8} {'user':10} {'gpus':>4} {'waited':>8} "
          f"{'expected':>9}  by")
    for row in rows:
        model = f" ({row['model']})" if row["model"] else ""
        print(f"{row['place']:>5} {row['place_now']:>4} {row['job_id']:>8} {row['user'] or '':10} "
              f"{row['gpus']:>4} {row['waited_s']:>7}s {row['expected_s']:>8.0f}s  "
              f"{row['by']}{model}")
    print(f"{len(rows)} waiting jobs in {taken:.2f} s; nothing was changed", file=sys.stderr)


if __name__ == "__main__":
    main()
