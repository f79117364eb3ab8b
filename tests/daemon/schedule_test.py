#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Through the real processes, the socket between them and the journal, a replay at full speed has the simulator's schedule:
starts, nodes and GPUs of each job. schedule_test.py SCHEDMATED SCHEDMATE TRACE [JOBS]."""
import csv
import json
import math
import subprocess
import sys

from site_of import Site, expect

# lucid and horus share GPUs by their use, which a cluster shows by probes alone: tests/replay/same_schedule_test.cpp.
POLICIES = ("fifo", "sjf", "qssf", "backfill_easy", "slurm_backfill", "schedmate")


def crowd(site):
    """Few nodes, so that jobs wait: each VC has what its largest job needs, or an eighth of what it had."""
    with open(site.folder / "jobs.csv") as rows:
        jobs = list(csv.DictReader(rows))
    need = {}
    for job in jobs:
        need[job["vc"]] = max(need.get(job["vc"], 1), math.ceil(int(job["gpu_num"]) / 8))
    blocks = (site.folder / "cluster.toml").read_text().split("[[vc]]")[1:]
    made = []
    for block in blocks:
        name = block.split('"')[1]
        had = int(block.split("nodes = ")[1].split("\n")[0])
        made.append(f'[[vc]]\nname = "{name}"\nnodes = {max(need.get(name, 1), had // 8)}\ngpus_per_node = 8\n')
    (site.folder / "cluster.toml").write_text("".join(made))


def simulated(schedmate, site, policy):
    """Start, whether it waits, nodes with GPUs, by job. The daemon expects of a job what its user's last ones took."""
    out = site.folder / "out"
    subprocess.run([schedmate, "simulate", "--trace", f"helios:{site.folder}/jobs.csv", "--cluster", site.folder / "cluster.toml",
                    "--policy", f"{policy}:estimate=last_k", "--report", "none", "--out", out], check=True, capture_output=True)
    with open(next(out.glob("*.jobs.csv"))) as rows:
        return {row["job_id"]: (int(row["start_s"]), int(row["queue_s"]) > 0, row["vc"], row["nodes"]) for row in csv.DictReader(rows)}


def as_simulated(call):
    """'0:0,1;2:7' of a VC for a call's nodes."""
    return ";".join(f"{each['node'].rsplit('-', 1)[1]}:{','.join(map(str, each['gpus']))}" for each in call["nodes"])


def live(daemon, site, jobs):
    process = site.start()
    ledger = site.state / "replay.jsonl"
    lines = lambda: [json.loads(line) for line in ledger.read_text().splitlines()]
    site.wait(lambda: sum(each["call"]["kind"] == "start" for each in lines()) >= jobs, f"{jobs} starts", 240)
    process.terminate()
    expect("SIGTERM ends it with 0", process.wait(timeout=30) == 0)
    return {each["call"]["job"]: each for each in lines() if each["call"]["kind"] == "start"}


def main(daemon, schedmate, trace, jobs=400):
    for policy in POLICIES:
        site = Site.__new__(Site)
        site.prepare(daemon, trace, jobs, f'[order]\npolicy = "{policy}"\n[mode]\norder = "act"\npack = "act"\n')
        crowd(site)
        site.serve()
        wanted = simulated(schedmate, site, policy)
        made = live(daemon, site, len(wanted))
        site.end()
        for job, (start, _, vc, nodes) in wanted.items():
            call = made[job]["call"]
            if (made[job]["now_s"], as_simulated(call)) != (start, nodes) or not call["nodes"][0]["node"].startswith(vc + "-"):
                expect(f"{policy}: job {job} starts at {start} on {vc} {nodes}, and not as {made[job]}", False)
        waited = sum(waits for _, waits, _, _ in wanted.values())
        expect(f"{policy}: {len(wanted)} jobs start as simulated, on the same GPUs; {waited} of them waited", waited > jobs // 10)


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
