#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sia's released simulator, whose jobs begin with what similar jobs measured before them.

    python sia_host.py CHECKOUT [--workload philly/workload-1.csv] [--alone] [--first N]

CHECKOUT: of siasosp23/artifacts, which is not written to. Each job that is submitted is one of the
trainings in adaptdl/benchmark/models, by the command that is written there. SchedMate reads it
and names similar jobs that have ended; the throughputs that the best of them had measured, and its
first statistics of gradients, are the new job's from the start, and what it measures comes on top.
Each job has a user of its own, so that nothing is found by who submitted it.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path

import schedmate
from timed import spread

EPOCH = 1_600_000_000
PARAMETERS = dict(policy="sia", policy_p_val=-0.5, mip_lambda_n=1.1, mip_lambda_a=0.01, debug=False,
                  cluster_scale=None, project_throughputs=True, interval=60, output=None,
                  share_max_replicas=True, disable_bsz_tuning=False, oracle_num_nodes=0,
                  oracle_num_replicas=0)  # of its run_experiment.sh


def command_of(folder):
    """As the host's own job file has it: python3 main.py --flags"""
    words, inside = [], False
    for line in (folder / "adaptdljob.yaml").read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if inside and not text.startswith("- "):
            break
        if inside:
            words.append(text[2:])
        inside = inside or text == "command:"
    return " ".join(words)


class Matches:
    """Between the host's jobs and SchedMate."""
    def __init__(self, models, state):
        self.models, self.jobs, self.asked = Path(models), {}, []
        self.finished, self.matched, self.wrong = [], 0, 0  # the last: other applications
        self.session = schedmate.Session(state_dir=state, settings={"llm.use": "none"})

    def similar_to(self, job, second):
        """The best job that has ended, by what SchedMate reads of both; None: there is none."""
        folder, inside = self.models / job.app_name, f"/{job.app_name}/"
        command = command_of(folder)  # of its image, in which the folder lies elsewhere
        there = next(word.partition(inside)[0] for word in command.split() if inside in word)
        begin = time.perf_counter()
        advice = schedmate.advise(
            folder, command=command, user=f"user-{len(self.asked)}", record=True,
            gpus=int(job.target_num_replicas), roots=[f"{there}{inside[:-1]}=."], job_id=job.name,
            submit_time_s=EPOCH + int(second), session=self.session)
        self.asked.append(time.perf_counter() - begin)
        return next((self.jobs[each["job_id"]] for each in advice["similar"]
                     if each["job_id"] in self.jobs), None)

    def begin(self, job, second):
        donor = self.similar_to(job, second)
        if donor is None:
            return
        self.matched += 1
        self.wrong += donor.app_name != job.app_name
        for kind, profile in donor.profiles.items():
            job.profiles[kind] = dict(profile)
            job.perf_params[kind] = donor.perf_params[kind]
        first = donor.reference_app
        job.grad_params = first.get_grad_stats(first.init_batch_size, 0)

    def end(self, job):
        begin = time.perf_counter()
        schedmate.finish(job.name, state="completed", session=self.session,
                         duration_s=int(job.completion_time - job.began))
        self.finished.append(time.perf_counter() - begin)
        self.jobs[job.name] = job  # from now on it is a donor

    def told(self):
        return (f"advise: {spread(self.asked)}; finish: {spread(self.finished)}; "
                f"{self.matched} jobs matched, {self.wrong} of them to another application")


def bootstrapped(cluster, matches):
    """The host's class, whose policy looks at jobs that SchedMate has told of."""
    class Bootstrapped(cluster):
        def get_job_infos(self):
            for job in self.jobs:
                if job.placement and not hasattr(job, "began"):
                    job.began = job.current_time - job.attained_service / sum(job.placement)
                if job.submission_time <= self.current_time and not hasattr(job, "asked"):
                    job.asked = True
                    matches.begin(job, self.current_time)
                elif job.completion_time is not None and not hasattr(job, "told"):
                    job.told = True
                    matches.end(job)
            return super().get_job_infos()
    return Bootstrapped


def use_a_solver():
    """The host asks for CBC. Where cvxpy has none, HiGHS of SciPy solves to the same gap."""
    import cvxpy
    if "CBC" in cvxpy.installed_solvers():
        return "CBC"
    solve, cvxpy.CBC = cvxpy.Problem.solve, "CBC"
    cvxpy.Problem.solve = lambda self, **_: solve(self, solver=cvxpy.SCIPY,
                                                  scipy_options={"mip_rel_gap": 1e-4})
    return "HiGHS"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("--workload", default="philly/workload-1.csv")
    parser.add_argument("--alone", action="store_true", help="as released")
    parser.add_argument("--first", type=int, help="jobs of the workload; all")
    args = parser.parse_args()
    root = Path(args.checkout).resolve()
    os.chdir(root / "sia-simulator")
    sys.path.insert(0, os.getcwd())
    solver = use_a_solver()
    import multi_simulator
    import pandas
    with tempfile.TemporaryDirectory() as folder:
        rows = pandas.read_csv(f"workloads/{args.workload}").head(args.first or 10**9)
        rows.to_csv(f"{folder}/workload.csv", index=False)
        matches = Matches(root / "adaptdl/benchmark/models", f"{folder}/state")
        if not args.alone:
            multi_simulator.Cluster = bootstrapped(multi_simulator.Cluster, matches)
        with open(os.devnull, "w", encoding="utf-8") as quiet, contextlib.redirect_stdout(quiet):
            _, jct = multi_simulator.multi_simulate(
                argparse.Namespace(workload=f"{folder}/workload.csv", **PARAMETERS))
        ranked = sorted(jct.values())
        print(f"{args.workload}, {len(ranked)} jobs, {solver}: mean JCT "
              f"{sum(ranked) / len(ranked) / 3600:.4f} h, p99 "
              f"{ranked[99 * len(ranked) // 100] / 3600:.3f} h")
        if not args.alone:
            print(matches.told())


if __name__ == "__main__":
    main()
