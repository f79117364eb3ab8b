#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Through the real processes, the socket between them and the journal, a replay at full speed has the simulator's schedule:
starts, nodes and GPUs of each job. schedule_test.py SCHEDMATED SCHEDMATE TRACE [JOBS]."""
import csv
import math
import subprocess
import sys

from site_of import Site, expect, rows_of

POLICIES = ("fifo", "sjf", "qssf", "backfill_easy", "slurm_backfill", "schedmate")
# These share GPUs by their use, which is made up here: a light, a middling and a heavy kind of job.
SHARING = ("horus", "lucid")
# A daemon does not know how many jobs will come, and lucid asks for that.
OPTIONS = {"lucid": "elastic=false,packing=on"}
KINDS = ({"model": "light", "gpu_util": 20, "gmem_util": 10, "gmem": 2000, "share_label": 0},
         {"model": "middling", "gpu_util": 50, "gmem_util": 30, "gmem": 6000, "share_label": 1},
         {"model": "heavy", "gpu_util": 95, "gmem_util": 80, "gmem": 20000, "share_label": 2})


def crowd(site, lent):
    """Few nodes, so that jobs wait: each VC has what its largest job needs, or an eighth of what it had, and those it lends."""
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
        made.append(f'[[vc]]\nname = "{name}"\nnodes = {max(need.get(name, 1), had // 8) + lent}\ngpus_per_node = 8\n')
    (site.folder / "cluster.toml").write_text("".join(made))


def add_use(site):
    """The same jobs as a folder of the format lucid, which tells their use of GPUs."""
    folder = site.folder / "use"
    folder.mkdir()
    with open(site.folder / "jobs.csv") as rows, open(folder / "jobs.csv", "w") as out:
        writer = None
        for number, job in enumerate(csv.DictReader(rows)):
            made = {"job_id": job["job_id"], "user": job["user"], "vc": job["vc"], "gpu_num": job["gpu_num"], "state": job["state"],
                    "submit_time": job["submit_s"], "duration": job["duration_s"], "dataset": "any", "batchsize": 1, "amp": 0, **KINDS[number % len(KINDS)]}
            writer = writer or csv.DictWriter(out, made)
            if number == 0:
                writer.writeheader()
            writer.writerow(made)
    site.config.write_text(site.config.read_text().replace(f"helios:{site.folder}/jobs.csv", f"lucid:{folder}"))


def simulated(schedmate, site, policy):
    """What became of each job, by its id: its last start, and the GPUs of that. The daemon expects of a job what its user's last
    ones took."""
    out = site.folder / "out"
    trace = f"lucid:{site.folder}/use" if policy in SHARING else f"helios:{site.folder}/jobs.csv"
    subprocess.run([schedmate, "simulate", "--trace", trace, "--cluster", site.folder / "cluster.toml",
                    "--policy", ",".join([f"{policy}:estimate=last_k", *filter(None, [OPTIONS.get(policy)])]), "--report", "none", "--out", out], check=True, capture_output=True)
    with open(next(out.glob("*.jobs.csv"))) as rows:
        return {row["job_id"]: row for row in csv.DictReader(rows)}


def as_simulated(call):
    """'0:0,1;2:7' of a VC for a call's nodes."""
    return ";".join(f"{each['node'].rsplit('-', 1)[1]}:{','.join(map(str, each['gpus']))}" for each in call["nodes"])


def live(daemon, site, starts):
    process = site.start()
    ledger = site.state / "replay.jsonl"
    lines = lambda: rows_of(ledger)
    site.wait(lambda: sum(each["call"]["kind"] == "start" for each in lines()) >= starts, f"{starts} starts", max(600, starts))
    process.terminate()
    expect("SIGTERM ends it with 0", process.wait(timeout=60) == 0)
    made = {}
    for each in lines():
        if each["call"]["kind"] == "start":
            made.setdefault(each["call"]["job"], []).append(each)
    return made


def main(daemon, schedmate, trace, jobs=400, policies=(*POLICIES, *SHARING)):
    for policy in policies:
        site = Site.__new__(Site)
        row = ":".join([policy, OPTIONS[policy]] if policy in OPTIONS else [policy])
        site.prepare(daemon, trace, jobs, f'[order]\npolicy = "{row}"\n[mode]\norder = "act"\npack = "act"\n[caps]\nactions_per_hour = 1000000\n')
        crowd(site, 1 if policy == "lucid" else 0)
        if policy in SHARING:
            add_use(site)
        site.serve()
        wanted = simulated(schedmate, site, policy)
        profiled = sum(row.get("profiled") == "1" and row["finished_in_profiler"] == "0" for row in wanted.values())
        made = live(daemon, site, len(wanted) + profiled)
        site.end()
        for job, row in wanted.items():
            last = made[job][-1]
            if last["now_s"] != int(row["start_s"]) or as_simulated(last["call"]) != row["nodes"]:
                expect(f"{policy}: job {job} runs as {row}, and not as {made[job]}", False)
        waited = sum(int(row["queue_s"]) > 0 for row in wanted.values())
        expect(f"{policy}: {len(wanted)} jobs start as simulated, on the same GPUs; {waited} of them waited", waited > jobs // 10)
        if policy in SHARING:
            packed = sum(int(row["packed_at_s"]) > 0 for row in wanted.values())
            expect(f"{policy}: {packed} shared GPUs, {profiled} went on after the profiler", packed > jobs // 20)


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:5]), *([sys.argv[5].split(",")] if len(sys.argv) > 5 else []))
