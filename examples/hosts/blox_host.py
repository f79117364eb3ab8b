#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blox's simulation mode with SchedMate's order as its scheduling policy.

    python blox_host.py CHECKOUT [--trace helios:FILE] [--policy schedmate|Fifo|Las|Srtf ...]

CHECKOUT: of msr-fiddle/blox, which is not written to. Its cluster and job state, placement, metrics
and pruning run as they are, in one process: the gRPC between the two ends of its simulation mode
only hands over jobs and nodes. Jobs are the rows of a trace that SchedMate reads. Those that run go
on; the others go by expected run time, less the time that they have waited.
"""

import argparse
import contextlib
import importlib
import io
import os
import sys
import tempfile
import types
import warnings
from pathlib import Path

import schedmate
from timed import Timed

VENUS = "helios:" + str(Path(__file__).resolve().parents[2] /
                        "data/venus/venus_sept2020_days0-12.csv.gz")
GPUS_PER_NODE = 8


def rows_of(trace, count):
    """The trace's jobs, as SchedMate reads them; a replay under fifo tells them."""
    jobs = schedmate.simulate(trace, "fifo").jobs.lists()
    rows = zip(jobs["job_id"], jobs["submit_s"], jobs["duration_s"], jobs["gpus"])
    return [dict(zip(("name", "submit_time", "duration", "num_GPUs"), row)) for row in rows][:count]


def as_blox_has_it(row, first):
    begin = row["submit_time"] - first
    return {**row, "submit_time": begin, "job_arrival_time": begin, "simulation": True,
            "job_iteration_time": 1, "job_total_iteration": max(1, row["duration"]),
            "job_executed_iteration": 0}


class SchedMateOrder:
    """A scheduling policy of Blox (schedulers/scheduler_policy.py)."""
    def __init__(self, asked, first):
        self.asked, self.first, self.expected = asked, first, {}

    def schedule(self, job_state, cluster_state):
        now = job_state.time
        for number in [each for each in self.expected if each not in job_state.active_jobs]:
            self.asked.learn(self.expected.pop(number)[0], self.first + now)
        for number, job in job_state.active_jobs.items():
            if number not in self.expected:
                told = self.asked.predict(job["name"], self.first + job["submit_time"])
                self.expected[number] = (job["name"], told.run_time)

        def rank(item):
            left = self.expected[item[0]][1] - (now - item[1]["submit_time"])
            return (not item[1]["is_running"], left, item[0])
        return {"job_order": sorted(job_state.active_jobs.items(), key=rank),
                "run_all_jobs": False}


class Source:
    """What its other process sends: the nodes, and jobs when they are due."""
    def __init__(self, jobs, nodes):
        self.jobs, self.nodes = list(jobs), nodes

    def get_new_nodes(self):
        nodes, self.nodes = self.nodes, 0
        return [{"numGPUs": GPUS_PER_NODE, "ipaddr": f"node-{node}",
                 "gpuUUIDs": "\n".join(map(str, range(GPUS_PER_NODE)))} for node in range(nodes)]

    def get_jobs_sim(self, now):
        due = [job for job in self.jobs if job["job_arrival_time"] <= now]
        self.jobs = self.jobs[len(due):]
        return due


def import_host(checkout):
    """Its modules, without the gRPC of its cluster mode."""
    sys.path[:0] = [checkout, f"{checkout}/blox"]
    for name in ("grpc", "nm_pb2", "nm_pb2_grpc", "rm_pb2", "rm_pb2_grpc", "simulator_pb2",
                 "simulator_pb2_grpc", "deployment.grpc_server_rm"):
        sys.modules.setdefault(name, types.SimpleNamespace(
            Server=None, RMServer=None, insecure_channel=None))
    blox_manager, cluster_state, job_state, schedulers, placement, utils = map(
        importlib.import_module, ("blox_manager", "cluster_state", "job_state", "schedulers",
                                  "placement.placement", "utils"))
    return types.SimpleNamespace(
        Manager=blox_manager.BloxManager, Comm=blox_manager.rm_client.ResourceManagerComm,
        Cluster=cluster_state.ClusterState, Jobs=job_state.JobState, utils=utils,
        Placement=placement.JobPlacement, schedulers=schedulers)


def run(host, policy, jobs, nodes, round_s=300):
    """{name: JCT in seconds}; the loop of its las_scheduler.py."""
    args = argparse.Namespace(start_id_track=0, stop_id_track=len(jobs) - 1)
    manager = host.Manager.__new__(host.Manager)  # its own opens a server
    manager.comm_node_manager, manager.rmserver = host.Comm(0), Source(jobs, nodes)
    manager.round_duration, manager.priority_thresh, manager.time = round_s, 3600 * 1000, 0
    for name in ("exp_prefix", "scheduler_name", "acceptance_policy", "load"):
        setattr(manager, name, "run")  # of the files that it writes once all has ended
    cluster, state, placement = host.Cluster(args), host.Jobs(args), host.Placement(args)
    while len(state.finished_job) < len(jobs):
        manager.update_cluster(cluster)
        manager.update_metrics(cluster, state)
        state.add_new_jobs(manager.pop_wait_queue(True))
        host.utils.prune_jobs(state, cluster, manager)
        suspend, launch = placement.place(state, cluster, policy.schedule(state, cluster))
        manager.exec_jobs(launch, suspend, cluster, state)
        for clock in (manager, state, cluster):
            clock.time += round_s
    ends = state.job_completion_stats
    return {jobs[number]["name"]: end - begin for number, (begin, end) in ends.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=os.path.abspath)
    parser.add_argument("--trace", default=VENUS)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--policy", action="append", default=[])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["sched_policy"] = "SchedMate"  # its metrics ask whether it is Optimus
    host = import_host(args.checkout)
    rows = [row for row in rows_of(args.trace, args.jobs)
            if row["num_GPUs"] <= args.nodes * GPUS_PER_NODE]
    first = rows[0]["submit_time"]
    for name in args.policy or ["schedmate", "Fifo", "Las", "Srtf"]:
        asked = Timed(args.trace, "schedmate+sm") if name == "schedmate" else None
        policy = SchedMateOrder(asked, first) if asked else getattr(host.schedulers, name)(args)
        jobs = [as_blox_has_it(row, first) for row in rows]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)
            jct = run(host, policy, jobs, args.nodes)
            os.chdir(args.checkout)
        print(f"{name}: {len(jct)} jobs, mean JCT {sum(jct.values()) / len(jct):.0f} s")
        if asked:
            print(asked.told())


if __name__ == "__main__":
    main()
