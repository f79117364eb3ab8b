#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lucid's released simulator with SchedMate's estimates, GPU use and bypass of its profiler.

    python lucid_host.py CHECKOUT --trace-dir DIR [--alone] [--against POLICY ...]

CHECKOUT: of S-Lab-System-Group/Lucid, which is not written to; DIR: its trace directory. A job that
arrives is told to SchedMate, whose answer takes the place of the released estimate; where it also
tells what the job does to a GPU, the job skips the profiler. Stages of the host that run one after
the other (the profiler's whole month, then each virtual cluster) go through time together here, as
what is known of a job depends on those that ended before it. --against: our own simulator on the
same input, compared job by job.
"""

import argparse
import logging
import os
import shutil
import sys
import tempfile
import types
from pathlib import Path

import schedmate
from lucid_together import paced, with_module
from timed import Timed

MODULE = "lucid:estimate=column:estimate,advice=advisor,bypass=all"


def simulated(args, folder, asked):
    """The jobs of the host's own classes, ended."""
    import cluster
    import pandas
    import utils
    from estimator import CombinedEstimator
    from policy import Lucid
    from profiler import LeastGPUFirstProfiler
    from updater import ColocateUpdater

    frame, start = utils.get_trace("Venus_Sept", args.trace_dir, read_full=True)
    trace = utils.trace_parser(frame)
    nodes = pandas.read_csv(f"{args.trace_dir}/vc_config.csv", index_col=0).to_dict()["num"]
    nodes, scale, seconds, factor = utils.profiler_config("Venus_Sept", nodes)
    log, quiet = f"{folder}/Venus_Sept", logging.getLogger("host")
    os.mkdir(log)
    profiler = LeastGPUFirstProfiler(trace, scale, seconds, factor, "consolidate", log, quiet,
                                     start)
    profiler.rows = {job["job_id"]: row for row, job in enumerate(trace.job_list)}
    estimator = CombinedEstimator(argparse.Namespace(
        experiment_name="Venus_Sept", trace_dir=args.trace_dir, scheduler="lucid"))
    if asked is None:
        profiler.profile()
        trace.reset_trace()
    else:
        asked = asked(trace.job_list, estimator.data)
    host_class = paced(Lucid)
    host_class.profiler = profiler
    hosts = [host_class(trace, vc, "consolidate", log, quiet, start, estimator,
                        ColocateUpdater(pandas.read_csv("data/colocate_info.csv")))
             for vc in cluster.Cluster(nodes, 8, 96).vc_list]
    if asked is None:
        for host in hosts:
            host.simulate()
    else:
        with_module(profiler, hosts, asked)
    return [job for job in trace.job_list if job["vc"] in nodes], asked


def export(jobs, estimates, trace_dir, folder):
    """The host's input as SchedMate reads it (docs/formats/lucid.md)."""
    import pandas
    frame = pandas.DataFrame(jobs)[["job_id", "user", "vc", "gpu_num", "state", "submit_time",
                                    "duration", "dataset", "model", "batchsize", "amp", "gpu_util",
                                    "gmem_util", "gmem"]]
    frame["estimate"] = frame["job_id"].map(dict(zip(estimates["job_id"], estimates["priority"])))
    frame["job_id"] = frame["job_id"].astype(int)
    kind = ["model", "dataset", "batchsize", "amp"]
    labels = pandas.read_csv("analyzer/single_data.csv")[kind + ["label"]]
    frame = frame.merge(labels.rename(columns={"label": "share_label"}), on=kind, how="left")
    frame.to_csv(f"{folder}/jobs.csv", index=False)
    for source in ("analyzer/single_data.csv", "data/colocate_info.csv"):
        shutil.copy(source, folder)
    shutil.copy("predictor/Venus_throughput_pred.csv", f"{folder}/throughput_pred.csv")
    shutil.copy(f"{trace_dir}/vc_config.csv", folder)
    return f"lucid:{folder}"


def differences(jobs, trace, policy, session):
    """Of our simulator from the host, job by job."""
    ours = schedmate.simulate(trace, policy, session=session).jobs.lists()
    ends = dict(zip(ours["job_id"], zip(ours["start_s"], ours["end_s"])))
    unlike = sum(ends[str(job["job_id"])] != (job["start_time"], job["end_time"]) for job in jobs)
    waited = [end - submit for end, submit in zip(ours["end_s"], ours["submit_s"])]
    print(f"{policy}: mean JCT {sum(waited) / len(waited):.2f} s here, "
          f"{unlike} of {len(jobs)} jobs start or end otherwise")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("--trace-dir", required=True, type=os.path.abspath)
    parser.add_argument("--alone", action="store_true", help="as released")
    parser.add_argument("--policy", default=MODULE, help="whose estimates are asked for")
    parser.add_argument("--against", action="append", default=[], metavar="POLICY")
    args = parser.parse_args()
    os.chdir(Path(args.checkout) / "simulation")
    sys.path.insert(0, os.getcwd())
    for name in ("tkinter", "tkinter.messagebox"):  # the host imports it, and uses nothing of it
        sys.modules.setdefault(name, types.SimpleNamespace(NO="no"))
    session = schedmate.Session(settings={"mode": "reference"})
    with tempfile.TemporaryDirectory() as folder:
        def opened(jobs, estimates):
            return Timed(export(jobs, estimates, args.trace_dir, folder), args.policy, session)
        jobs, asked = simulated(args, folder, None if args.alone else opened)
        jct = sum(job["end_time"] - job["submit_time"] for job in jobs) / len(jobs)
        print(f"{len(jobs)} jobs, mean JCT {jct:.2f} s")
        if asked is not None:
            print(asked.told())
        for policy in args.against if asked else ():
            differences(jobs, f"lucid:{folder}", policy, session)


if __name__ == "__main__":
    main()
