#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who is killed in the middle of recoveries: slurm_kills.py SCHEDMATED SCHEDMATE SCHEDMATE_READER WORK, as slurm_rows.py. POINTS (100):
so many recoveries are under way, four at a time at points of their own, when the daemon, the controller or both are killed with
signal 9. Each must end rightly: the job runs on another node, its bad node is drained with an own mark, all is settled."""
import concurrent.futures
import os
import pathlib
import random
import sys
import time

from slurm_rows import Bed, Wrong, must, testbed, until_told
from slurm_site import NCCL, slurm

OPEN = ("intended", "called", "ambiguous", "planned", "waiting", "approved")


def kill_controller(bed):
    os.kill(int(pathlib.Path(bed.work, "tb/run/slurmctld.pid").read_text()), 9)
    time.sleep(random.uniform(0, 2))
    testbed(bed, "ctld-start")
    while "UP" not in slurm("scontrol", "ping", check=False):
        time.sleep(0.1)


def kill_daemon(bed):
    bed.site.process.kill()
    bed.site.process.wait()


def kill(bed, who):
    if who in ("daemon", "both"):
        kill_daemon(bed)
    if who in ("controller", "both"):
        kill_controller(bed)
    if who in ("daemon", "both"):
        time.sleep(random.uniform(0, 1))
        bed.site.begin()


def recover(bed, began_at):
    """One recovery, from its fault on; what was seen of it."""
    bed.mine.nodes = bed.node_names
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    time.sleep(max(0, began_at - time.time()))
    bed.site.break_gpu(node)
    bed.fail(job)
    return job, node, time.time()


def settle(bed, job, node):
    watch = bed.watch
    watch.until(lambda: watch.job(job)[0] == "RUNNING" and watch.job(job)[2] != node and watch.job(job)[1] >= 1, f"job {job} runs elsewhere", 200)
    watch.until(lambda: watch.drained(node) and watch.nodes[node][1].startswith("schedmate:bed."), f"{node} is drained", 60)
    watch.until(lambda: not any(each["state"] in OPEN for each in watch.of_job(job) + watch.of_node(node, "drain_node")), "all is settled", 90)
    watch.anew()
    must(watch.job(job)[1] == 1, f"it was started again {watch.job(job)[1]} times")
    asked = [each for each in watch.of_job(job) if each["state"] == "verified"]
    must(len(asked) <= 2 and len(bed.told(job)) <= len(asked) + 1, f"{len(asked)} requeues, told {bed.told(job)}")
    return len(asked)


def one_round(bed, who, width):
    start = time.time() + 6
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        trials = [pool.submit(recover, bed, start + random.uniform(0, 8)) for _ in range(width)]
        time.sleep(max(0, start + random.uniform(2, 10) - time.time()))
        kill(bed, who)
        killed = time.time()
        made = [each.result() for each in trials]
        again = wrong = 0
        ends = [(pool.submit(settle, bed, job, node), job, node, at) for job, node, at in made]
        for end, job, node, at in ends:
            try:
                again += end.result() > 1
            except (Wrong, SystemExit) as error:
                wrong += 1
                print(f"WRONG: {who} killed {killed - at:.1f} s after the fault of job {job} on {node}: {error}; job {bed.watch.job(job)}, node "
                      f"{bed.watch.nodes.get(node)}; {[(a['kind'], a['state'], a['steps'][-1].get('note')) for a in bed.watch.of_job(job) + bed.watch.of_node(node, 'drain_node')]}")
        bed.gone(*[job for job, _, _ in made])
        for _, _, node, _ in ends:
            bed.returned(node)
    return len(made), wrong, again


if __name__ == "__main__":
    seed = int(os.environ.get("SEED", time.time()))
    points, width = int(os.environ.get("POINTS", 100)), 4
    random.seed(seed)
    nodes = sorted(slurm("sinfo", "-h", "-N", "-o", "%N").split())
    total = {}
    bed = None
    for number in range((points + width - 1) // width):
        if bed is None:
            bed = Bed(sys.argv[1:4], sys.argv[4], f"kills{number}", nodes)
        who = ("daemon", "controller", "both")[number % 3]
        made, wrong, again = one_round(bed, who, width)
        counts = total.setdefault(who, [0, 0, 0])
        for place, value in enumerate((made, wrong, again)):
            counts[place] += value
        print(f"{who}: {made} recoveries, {wrong} ended wrongly, {again} requeued again since the controller forgot", flush=True)
        if number % 3 == 2:  # what caps and breaker remember begins anew
            bed.end()
            bed = None
    if bed is not None:
        bed.end()
    print(f"SEED {seed}:", {who: dict(zip(("recoveries", "wrong", "forgotten"), counts)) for who, counts in total.items()})
    if any(counts[1] for counts in total.values()):
        raise SystemExit("FAILED: some did not end rightly")
    print("ok: all ended rightly, and the audit chains are whole")
