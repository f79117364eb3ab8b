#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What SchedMate's order is worth on a real Slurm: slurm_order.py SCHEDMATED SCHEDMATE TESTBED OUT [--repetitions 5] [--jobs 300].

In each repetition the same jobs, of users with a past but for one, are submitted at once to two Slurms side by side, each behind
eight jobs that fill it. One has its own order and a daemon in shadow, which says what it expects of it; beside the other the daemon acts.
As root, with Slurm, munge and MariaDB; six minutes a repetition. Linux users om00.. are made and left to the caller to delete."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

from order_bed import FILLER, GPUS, NODES, ORDER, UNKNOWN, USERS, Bed, Daemon, controller_began, draw_work, fresh, load, log_times, name_of, wait


def run_arm(args):
    """One Slurm from its start to its end; what was seen goes to OUT/ARM-SEED.json."""
    work, past = draw_work(args.seed, args.jobs, args.area)
    filling = [{"user": FILLER, "gpus": GPUS, "run": 60 + 6 * i, "limit": 3} for i in range(NODES)]
    bed = Bed(args.testbed, fresh(f"/tmp/om{args.port}"), args.port)
    bed.add_users([name_of(user) for user in range(USERS)] + [FILLER])
    daemon = Daemon(args.programs, bed, f'order = "{"act" if args.arm == "act" else "shadow"}"\n', past)
    daemon.begin()
    fillers = [bed.submit(job) for job in filling]
    wait(lambda: len(bed.call("squeue", "-h", "-t", "R", "-o", "%i").split()) == NODES, "it is full", 60)
    began, loads = time.time(), [load()]
    ids = [bed.submit(job) for job in work]
    submitted = time.time()
    told = []
    effect = wait(lambda: first_effect(daemon, told, len(ids), submitted), "the effect is told", 120, 0.5) if args.arm == "own" else None
    orders = []
    while len(bed.call("squeue", "-h", "-o", "%i").split()) > 0:
        loads.append(load())
        orders.append((time.time() - began, {id: row["site"] for id, row in bed.priorities().items()}))
        time.sleep(5)
        if time.time() > began + 3600:
            raise SystemExit("FAILED: the jobs do not end in an hour")
    time.sleep(2)
    shown = {str(job["job_id"]): job for job in bed.jobs()}
    logged = log_times(bed)
    stamps = {path.name: path.read_text().split() for path in bed.stamps.iterdir()}
    rows = []
    for id, job in [*zip(fillers, filling), *zip(ids, work)]:
        rows.append({"id": id, **job, "submit": shown[id]["submit_time"], "start": shown[id]["start_time"], "end": shown[id]["end_time"],
                     "state": shown[id]["job_state"], "stamps": [float(each[1:]) for each in stamps.get(id, [])], **logged.get(id, {})})
    last = {}
    for _, sites in orders:
        last.update(sites)
    made = {"arm": args.arm, "seed": args.seed, "began": began, "submitted_s": submitted - began, "effect": effect, "told": told, "jobs": rows,
            "past": past, "order": ORDER, "controller_began": controller_began(bed), "orders": last, "first_orders": orders[:20], "actions": count(daemon), "load": statistics.mean(loads)}
    pathlib.Path(args.out, f"{args.arm}-{args.seed}.json").write_text(json.dumps(made))
    daemon.end()
    bed.down()


def count(daemon):
    made = {}
    for each in daemon.all_actions():
        kind = f"{each['call']['kind']} {each['state']}"
        made[kind] = made.get(kind, 0) + 1
    return made


def first_effect(daemon, told, jobs, submitted):
    """Of a forecast that knows all of them and what each would be given."""
    cluster = daemon.ask("/api/v1/cluster")
    effect = cluster["order_effect"]
    if effect is None:
        return None
    if not told or told[-1] != effect:
        told.append(effect)
    return {**effect, "seconds_after": time.time() - submitted} if effect["waiting"] >= jobs else None


def of_jobs(run, only=lambda job: True):
    return [job for job in run["jobs"] if job["user"] != FILLER and only(job)]


def mean_wait(run, only=lambda job: True):
    return statistics.mean(job["start"] - job["submit"] for job in of_jobs(run, only))


def interval(values):
    """Half the 95 % interval of a mean by Student's t."""
    t = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}.get(len(values), 2.0)
    return t * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def report(out):
    pairs = []
    for path in sorted(pathlib.Path(out).glob("own-*.json")):
        act = path.with_name(path.name.replace("own", "act"))
        if act.exists():
            pairs.append((json.loads(path.read_text()), json.loads(act.read_text())))
    print("| seed | own: wait s | told of own | act: wait s | told of act | change % | told % | unknown: own, act s | load |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    columns = {key: [] for key in ("own", "told_own", "act", "told_act", "change", "told_change", "off_own", "off_act", "unknown", "unknown_s")}
    for own, act in pairs:
        bad = [job for run in (own, act) for job in run["jobs"] if job["state"] != "COMPLETED"]
        effect = own["effect"]
        row = {"own": mean_wait(own), "act": mean_wait(act), "told_own": effect["wait_s"]["now"]["mean"], "told_act": effect["wait_s"]["would_be"]["mean"],
               "told_change": effect["change_pct"]["mean"]}
        row["change"] = 100 * (row["act"] / row["own"] - 1)
        row["off_own"], row["off_act"] = 100 * (row["told_own"] / row["own"] - 1), 100 * (row["told_act"] / row["act"] - 1)
        is_unknown = lambda job: job["user"] == UNKNOWN
        unknown = mean_wait(own, is_unknown), mean_wait(act, is_unknown)
        row["unknown"] = 100 * (unknown[1] / unknown[0] - 1)
        for key, value in row.items():
            columns[key].append(value)
        print(f"| {own['seed']} | {row['own']:.1f} | {row['told_own']:.1f} ({row['off_own']:+.1f} %) | {row['act']:.1f} | {row['told_act']:.1f} ({row['off_act']:+.1f} %) | "
              f"{row['change']:+.1f} | {row['told_change']:+.1f} ({effect['change_pct']['p10']:+.1f} to {effect['change_pct']['p90']:+.1f}) | {unknown[0]:.1f}, {unknown[1]:.1f} ({row['unknown']:+.1f} %) | "
              f"{own['load']:.1f} |" + (f" NOT COMPLETED: {len(bad)}" if bad else ""))
    if not pairs:
        return
    print()
    for key, words in (("own", "mean wait under Slurm's own order, s"), ("act", "under SchedMate's, s"), ("change", "change, %"), ("told_change", "change that shadow told, %"),
                       ("off_own", "told of own order, off by, %"), ("off_act", "told of the other, off by, %"), ("unknown", "unknown user, change, %")):
        print(f"{words}: {statistics.mean(columns[key]):.1f} ± {interval(columns[key]):.1f}")
    print("calls in act:", [run[1]["actions"] for run in pairs])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs=2)
    parser.add_argument("testbed")
    parser.add_argument("out")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="seed of the first repetition")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--area", type=float, default=130, help="GPU seconds of a job on average")
    parser.add_argument("--at-once", type=int, default=1, help="repetitions that run side by side")
    parser.add_argument("--port", type=int, default=20000)
    parser.add_argument("--arm", choices=["own", "act"], help="this one alone, of --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    if args.arm:
        return run_arm(args)
    if not args.report:
        seeds = list(range(args.first, args.first + args.repetitions))
        while seeds:
            now, seeds = seeds[:args.at_once], seeds[args.at_once:]
            arms = []
            for i, (seed, arm) in enumerate((seed, arm) for seed in now for arm in ("own", "act")):
                arms.append(subprocess.Popen([sys.executable, *sys.argv[:5], "--jobs", str(args.jobs), "--area", str(args.area), "--seed", str(seed), "--arm",
                                              arm, "--port", str(args.port + 20 * i)]))
                time.sleep(5)
            if any([arm.wait() for arm in arms]):
                raise SystemExit(f"FAILED: one of repetitions {now}")
    report(args.out)


if __name__ == "__main__":
    main()
