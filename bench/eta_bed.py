#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the queue of a real Slurm while jobs drawn from a trace run on it (docs/eta.md, "On a real Slurm").

  eta_bed.py TESTBED TRACE OUT --seed N --port P [--day D] [--layout half|quarter|one] [--minutes 44]

TESTBED is slurm-testbed.sh, TRACE the rows of Venus (job_id,user,...,gpu_num,...,submit_s,duration_s). As root, on a
machine with Slurm, munge and MariaDB. 8 nodes of 8 GPUs; time is 200 times as fast as in the trace. Each bed has a
folder and ports of its own (P to P+11), so that several can run at once. OUT gets, every 20 s, what `scontrol show`
says (snap/SECOND.txt.gz), what Slurm predicts (start/SECOND.txt) and its priorities (prio/SECOND.txt), then the
accounting (sacct.txt), plan.json and events.txt. Linux users wb00.. are made and left to the caller to delete.
"""
import argparse
import collections
import csv
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import time

FACTOR = 200  # seconds of the trace in one of the bed
GPUS = 64
LIMITS = [1, 2, 3, 5, 10, 15, 20, 30, 60]  # minutes: Slurm knows no finer ones
FIELDS = ("JobID,JobIDRaw,JobName,User,Group,Account,Cluster,Partition,QOS,State,ExitCode,Submit,Eligible,Start,End,"
          "ElapsedRaw,TimelimitRaw,NNodes,NodeList,ReqTRES,AllocTRES,Priority,Reason,WorkDir,SubmitLine")


def round_limit(seconds):
    return next((m for m in LIMITS if m * 60 >= seconds), LIMITS[-1])


def draw_plan(trace, seed, span, day, load):
    """Jobs of some users of the trace in `span` seconds from `day` on, so many that `load` of the GPUs are asked for."""
    rng = random.Random(seed)
    by_user = collections.defaultdict(list)
    with gzip.open(trace, "rt") as rows:
        for row in csv.DictReader(rows):
            gpus, at = int(row["gpu_num"]), (int(row["submit_s"]) - day * 86400) / FACTOR
            if not 1 <= gpus <= 32 or not 0 <= at < span:
                continue
            run = int(row["duration_s"]) / FACTOR
            if run < 3:  # Slurm needs a second for a job, which are 200 here: few of these
                if rng.random() < 0.65:
                    continue
                run = rng.uniform(3, 6)
            gpus = 8 * (gpus // 8) if gpus > 8 else gpus
            by_user[row["user"]].append({"t": at, "gpus": gpus, "run": round(min(run, 360), 1), "state": row["state"]})
    budget, used, kept = load * GPUS * span, 0, []
    area = lambda jobs: sum(job["gpus"] * job["run"] for job in jobs)
    for user in rng.sample(sorted(by_user), len(by_user)):
        jobs = by_user[user]
        if area(jobs) > 0.22 * budget:
            share = 0.15 * budget / area(jobs)
            jobs = [job for job in jobs if rng.random() < share]
        if used + area(jobs) > 1.05 * budget:
            continue
        kept.append(jobs)
        used += area(jobs)
        if used > 0.97 * budget:
            break
    plan = []
    for number, jobs in enumerate(kept):
        generous = math.exp(rng.uniform(math.log(2), math.log(20)))
        account = rng.randrange(4)
        for job in jobs:
            alike = sorted(each["run"] for each in jobs if each["gpus"] == job["gpus"])
            limit = round_limit(alike[int(0.75 * (len(alike) - 1))] * generous)
            if rng.random() < 0.2:
                limit = round_limit(job["run"] * math.exp(rng.uniform(math.log(2), math.log(20))))
            if rng.random() < 0.08 and job["run"] > 60:
                limit = max(m for m in LIMITS if m * 60 < job["run"])
            high = job["gpus"] <= 8 and rng.random() < 0.12
            plan.append({**job, "user": number, "account": account, "limit": limit, "qos": "high" if high else "normal"})
    return sorted(plan, key=lambda job: job["t"])


class Bed:
    def __init__(self, args):
        self.args, self.dir = args, pathlib.Path(f"/wb{args.seed}")
        self.out = pathlib.Path(args.out)
        for name in ("snap", "start", "prio"):
            (self.out / name).mkdir(parents=True, exist_ok=True)
        self.env = {**os.environ, "SLURM_CONF": f"{self.dir}/slurm.conf", "TZ": "UTC"}

    def call(self, *words, check=True):
        done = subprocess.run(words, env=self.env, capture_output=True, text=True, cwd="/tmp")
        if check and done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def up(self, plan):
        extra = pathlib.Path(f"{self.dir}.conf")
        extra.write_text("""PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairShare=10000
PriorityWeightQOS=2000
PriorityMaxAge=01:00:00
PriorityDecayHalfLife=00:20:00
PriorityCalcPeriod=00:01:00
AccountingStorageEnforce=associations,limits,qos
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,bf_interval=1,bf_resolution=1,bf_max_job_test=1000,bf_continue,bf_window=1440
""" + {"half": "PartitionName=short Nodes=n[0-3] MaxTime=00:02:00 DefMemPerCPU=100\n",
            "quarter": "PartitionName=small Nodes=n[6-7] MaxTime=00:30:00 DefMemPerCPU=100\n", "one": ""}[self.args.layout])
        subprocess.run([self.args.testbed, "up", str(self.dir), "-n", "8", "-g", "8", "-p", str(self.args.port), "-a", "-i",
                        str(extra)], env=self.env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        manage = lambda *words: self.call("sacctmgr", "-i", *words)
        manage("modify", "qos", "normal", "set", "MaxTRESPerUser=gres/gpu=32")
        manage("add", "qos", "high", "set", "Priority=100", "MaxTRESPerUser=gres/gpu=16", "GrpTRES=gres/gpu=32")
        for account in range(4):
            manage("add", "account", f"vc{account}", f"Fairshare={[10, 20, 30, 40][account]}")
        for user, account in sorted({(job["user"], job["account"]) for job in plan}):
            name = f"wb{user:02}"
            subprocess.run(["useradd", "-M", "-s", "/bin/sh", name], stderr=subprocess.DEVNULL)
            manage("add", "user", name, f"Account=vc{account}", "QOS=normal,high", "DefaultQOS=normal", "Fairshare=10")
        (self.dir / "jobs").mkdir()
        self.call("scontrol", "reconfigure")

    def partition(self, job, rng):
        if self.args.layout == "half" and job["limit"] <= 2 and job["gpus"] <= 32:
            return rng.choice(["gpu", "short", "gpu,short"])
        if self.args.layout == "quarter" and job["gpus"] <= 2 and job["limit"] <= 30:
            return rng.choice(["gpu", "small", "small"])
        return "gpu"

    def submit(self, job, rng):
        nodes = max(1, job["gpus"] // 8)
        script = self.dir / "jobs" / f"train_{job['user']:02}_{job['gpus']}.sh"
        if not script.exists():  # how long it runs and how it ends stands in no submit line
            script.write_text('#!/bin/sh\nsleep "$RUN"\n[ "$ENDS" != CANCELLED ] || scancel "$SLURM_JOB_ID"\n'
                              '[ "$ENDS" != FAILED ] || exit 1\n')
            script.chmod(0o755)
        words = ["setpriv", f"--reuid=wb{job['user']:02}", "--clear-groups", "sbatch", "-o", "/dev/null", "-N", str(nodes),
                 f"--gres=gpu:{job['gpus'] // nodes}", "--mem=10", "-t", str(job["limit"]), "-q", job["qos"], "-p",
                 self.partition(job, rng), str(script)]
        env = {**self.env, "RUN": str(job["run"]), "ENDS": job["state"]}
        done = subprocess.run(words, env=env, capture_output=True, text=True, cwd="/tmp")
        if done.returncode:
            print("refused:", " ".join(words), done.stderr.strip(), flush=True)

    def snapshot(self, second):
        begin = time.time()
        text = "".join(self.call("scontrol", "show", *what) for what in
                       (["config"], ["job", "-d"], ["node"], ["partition"], ["reservation"], ["assoc_mgr"]))
        (self.out / "start" / f"{second:05}.txt").write_text(self.call("squeue", "-h", "--start", "-o", "%i %S %r"))
        (self.out / "snap" / f"{second:05}.txt.gz").write_bytes(gzip.compress(text.encode()))
        (self.out / "prio" / f"{second:05}.txt").write_text(self.call("sprio", "-l"))
        return time.time() - begin

    def run(self, plan):
        rng = random.Random(self.args.seed + 1000)
        begin, next_job, slowest = time.time(), 0, 0
        span = self.args.minutes * 60
        node = f"n{self.args.seed % 6}"
        events = [(0.45 * span, "drain"), (0.62 * span, "resume")]
        with (self.out / "events.txt").open("w") as log:
            log.write(f"begin {begin}\n")
            next_snap = 60
            while (now := time.time() - begin) < span:
                while next_job < len(plan) and plan[next_job]["t"] <= now:
                    self.submit(plan[next_job], rng)
                    next_job += 1
                if events and events[0][0] <= now:
                    what = events.pop(0)[1]
                    self.call("scontrol", "update", f"NodeName={node}", f"State={what.upper()}", "Reason=memory")
                    log.write(f"{what} {node} {time.time()}\n")
                    log.flush()
                if now >= next_snap:
                    slowest = max(slowest, self.snapshot(next_snap))
                    next_snap += 20
                time.sleep(0.1)
            log.write(f"end {time.time()} submitted {next_job} slowest_snapshot {slowest:.2f}\n")

    def close(self):
        time.sleep(5)
        (self.out / "sacct.txt").write_text(self.call("sacct", "--allusers", "--duplicates", "--parsable2", "--starttime",
                                                      "now-1day", "--format", FIELDS))
        subprocess.run(["cp", f"{self.dir}/slurm.conf", f"{self.dir}/log/slurmctld.log", str(self.out)], check=False)


def main():
    parser = argparse.ArgumentParser()
    for name in ("testbed", "trace", "out"):
        parser.add_argument(name)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--day", type=float, default=3)
    parser.add_argument("--load", type=float, default=1.0)
    parser.add_argument("--minutes", type=float, default=44)
    parser.add_argument("--layout", choices=["half", "quarter", "one"], default="half")
    args = parser.parse_args()
    bed = Bed(args)
    plan = draw_plan(args.trace, args.seed, args.minutes * 60, args.day, args.load)
    (bed.out / "plan.json").write_text(json.dumps(plan))
    print(len(plan), "jobs of", len({job["user"] for job in plan}), "users", flush=True)
    try:
        bed.up(plan)
        bed.run(plan)
        bed.close()
    finally:
        subprocess.run([args.testbed, "down", str(bed.dir), "--purge"], check=False)


if __name__ == "__main__":
    main()
