# SPDX-License-Identifier: Apache-2.0
"""Policies and estimators written in Python, the results of simulations, and examples/python."""

import ast
import bisect
import collections
import contextlib
import csv
import importlib.util
import io
import math
import os
import random
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
from pathlib import Path

import schedmate
from schedmate import _progress, _structs

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "python"
VENUS = f"helios:{ROOT / 'data/venus/venus_sept2020_days0-12.csv.gz'}"
HEADER = "job_id,user,gpu_num,state,submit_time,duration,vc\n"


class HeadOfLine:
    """Strict: the first that has no room blocks all behind it."""

    def __init__(self, key):
        self.key = key
        self.queue = []

    def __call__(self, view, plan):
        for job in view.arrived:
            bisect.insort(self.queue, (self.key(job), job.number))
        while self.queue and plan.start(self.queue[0][1]):
            del self.queue[0]


class Fifo(HeadOfLine):
    uses_estimates = False

    def __init__(self):
        super().__init__(lambda job: job.submit)


class Sjf(HeadOfLine):
    def __init__(self):
        super().__init__(lambda job: job.estimate)


def first_fit(view, plan):
    for job in list(view.waiting.values()):
        plan.start(job)


class Small(unittest.TestCase):
    """Two nodes of 8 GPUs, and jobs of 100 s."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cluster = self.folder / "cluster.toml"
        self.cluster.write_text("nodes = 2\ngpus_per_node = 8\n", encoding="utf-8")
        self.trace = self.jobs([8, 4, 4, 2, 16, 1])

    def jobs(self, gpus, gap_s=10):
        path = self.folder / f"{len(gpus)}.csv"
        path.write_text(HEADER + "".join(
            f"j{i},u{i % 2},{count},COMPLETED,2020-09-01 00:{i * gap_s // 60:02}:{i * gap_s % 60:02},"
            "100,all\n" for i, count in enumerate(gpus)), encoding="utf-8")
        return f"helios:{path}"

    def run_policy(self, policy, **named):
        return schedmate.simulate(self.trace, policy, cluster=self.cluster, **named)

    def raised_by(self, policy, **named):
        """With its traceback, which assertRaises() takes away."""
        try:
            self.run_policy(policy, **named)
        except BaseException as error:  # pylint: disable=broad-exception-caught
            return error
        return self.fail("nothing was raised")

    def error_of(self, policy, **named):
        error = self.raised_by(policy, **named)
        self.assertIsInstance(error, schedmate.SchedMateError)
        return error


class Schedules(unittest.TestCase):
    def test_they_are_those_of_the_built_in_policies(self):
        """Byte for byte: the files of jobs and of the timeline, also under an estimator that learns
        and under other settings."""
        for own, name in ((Fifo, "fifo"), (Sjf, "sjf")):
            for estimator in (None, "last_k"):
                for settings in ({}, {"mode": "reference"}, {"placement": "first_fit"}):
                    with self.subTest(policy=name, estimator=estimator, settings=settings), \
                            tempfile.TemporaryDirectory() as folder, \
                            schedmate.Session(settings=settings) as session:
                        schedmate.simulate(VENUS, {"own": own, "built_in": name}, out=folder,
                                           estimator=estimator, session=session)
                        for kind in ("jobs", "timeline"):
                            ours, theirs = ((Path(folder) / f"{label}.{kind}.csv").read_bytes()
                                            for label in ("own", "built_in"))
                            self.assertGreater(len(theirs), 10_000)
                            self.assertTrue(ours == theirs, kind)

    def test_columns_are_those_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            result = schedmate.simulate(VENUS, "srtf", out=folder)
            with open(Path(folder) / "srtf.jobs.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            with open(Path(folder) / "srtf.timeline.csv", newline="", encoding="utf-8") as file:
                bins = list(csv.DictReader(file))
        run = result.runs["srtf"]
        self.assertEqual(run.jobs.rows, 11_534)
        ours, own_bins = run.jobs.lists(), run.timeline.lists()
        for name in rows[0]:
            texts = ["" if each is None else str(each) for each in ours[name]]
            self.assertEqual(texts, [row[name] for row in rows], name)
        for name in bins[0]:
            self.assertEqual([float(each) for each in own_bins[name]],
                             [float(row[name]) for row in bins], name)
        self.assertEqual(run.figures, result["labels"]["srtf"])
        mean = sum(ours["jct_s"]) / len(ours["jct_s"])
        self.assertAlmostEqual(mean, run.figures["avg_jct_s"], 3)

    def test_speed(self):
        """The 25 lines of examples/python/own_policy.py replay 11,534 jobs in under 10 s."""
        policy = runpy.run_path(str(GALLERY / "own_policy.py"))["ShortestFirstWithBackfill"]
        began = time.process_time()
        result = schedmate.simulate(VENUS, policy)
        took = time.process_time() - began
        print(f"own policy: 11,534 jobs in {took:.2f} s")
        self.assertEqual(result["labels"]["ShortestFirstWithBackfill"]["finished"], 11_534)
        self.assertLess(took, 10)

    def test_a_preemptive_policy(self):
        """Shortest remaining first; jobs keep what they did, and pay for each preemption."""
        class Preemptive:
            preempts = True

            def __call__(self, view, plan):
                for job in sorted(view.waiting.values(), key=lambda each: each.estimate)[:8]:
                    while not plan.start(job):
                        longest = max(view.running.values(), default=None,
                                      key=lambda each: each.remaining(view.now))
                        if longest is None or not view.cluster.held(longest) or \
                                longest.remaining(view.now) <= job.estimate + 120:
                            return
                        plan.preempt(longest)

        result = schedmate.simulate(VENUS, Preemptive)
        figures = result["labels"]["Preemptive"]
        self.assertEqual(figures["finished"], 11_534)
        self.assertGreater(figures["preemptions"], 100)
        jobs = result.jobs.lists()
        for end, start, duration, count, gpus in zip(jobs["end_s"], jobs["start_s"],
                                                     jobs["duration_s"], jobs["preemptions"],
                                                     jobs["gpus"]):
            self.assertGreaterEqual(end - start, duration + count * (40 if gpus <= 8 else 60))


class Views(Small):
    def test_what_a_policy_sees(self):
        seen, calls = [], []

        def watch(view, plan):
            calls.append(view.now)
            for job in view.arrived:
                self.assertIs(view.jobs[job.number], job)
                self.assertIn(job.number, view.waiting)
                seen.append((job.id, job.gpus, job.entered - job.submit, job.estimate, job.use,
                             job.distribution, job.running, job.run_since, job.speed))
            for job in view.ended:
                self.assertNotIn(job.number, view.running)
                self.assertIn(job.number, view.jobs)
                self.assertFalse(job.running)
                self.assertEqual(job.attained, 100)
            for job in view.running.values():
                self.assertTrue(job.running)
                self.assertEqual(job.run_time(view.now), view.now - job.run_since)
                self.assertEqual(job.remaining(view.now), 100 - job.run_time(view.now))
            self.assertEqual((view.cluster.total_gpus, view.cluster.gpus_per_node,
                              view.cluster.nodes, view.preemption_cost(8),
                              view.preemption_cost(9)), (16, 8, 2, 40, 60))
            first_fit(view, plan)

        result = self.run_policy(watch)
        self.assertEqual(result["labels"]["watch"]["finished"], 6)
        self.assertEqual(seen[0], ("j0", 8, 0, 100.0, None, (100.0, 100.0, 100.0), False, None, 1.0))
        self.assertEqual([each[0] for each in seen], [f"j{i}" for i in range(6)])
        self.assertEqual(calls, sorted(set(calls)))

    def test_the_cluster_as_it_is_now(self):
        done = []

        def look(view, plan):
            if not done:
                job = view.arrived[0]
                self.assertTrue(view.cluster.fits(16))
                plan.start_on(job, [(1, range(4)), (0, [4, 5, 6, 7])])
                self.assertEqual(view.cluster.held(job), [(1, (0, 1, 2, 3)), (0, (4, 5, 6, 7))])
                self.assertEqual(view.cluster.free(), [(0, 1, 2, 3), (4, 5, 6, 7)])
                self.assertEqual(view.cluster.residents(1, 3), [job])
                self.assertEqual(view.cluster.residents(1, 4), [])
                self.assertEqual((view.cluster.free_gpus, view.cluster.stranded_gpus), (8, 8))
                self.assertFalse(view.cluster.fits(9))
                self.assertFalse(view.cluster.fits(2**40))
                self.assertFalse(job.running)
            else:
                first_fit(view, plan)
            done.append(1)

        jobs = self.run_policy(look).jobs.lists()
        self.assertEqual(jobs["nodes"][0], "1:0,1,2,3;0:4,5,6,7")

    def test_sharing(self):
        class Pairs:
            shares = True

            def __call__(self, view, plan):
                for job in list(view.waiting.values()):
                    same = [each for each in view.running.values()
                            if each.gpus == job.gpus and not each.sharing]
                    if not plan.start(job) and same and job.use is not None:
                        plan.start_with(job, same[0])

        self.trace = self.jobs([8, 8, 8, 8], gap_s=5)
        result = self.run_policy(Pairs)
        jobs = result.jobs.lists()
        self.assertEqual(result["labels"]["Pairs"]["finished"], 4)
        self.assertLess(jobs["queue_s"][2], 100)

    def test_sharing_has_bounds(self):
        class Crowd:
            shares = True

            def __call__(self, view, plan):
                for job in view.arrived:
                    plan.start_on(job, [(0, range(8))])

        self.trace = self.jobs([8] * 4, gap_s=0)
        self.assertEqual(self.run_policy(Crowd)["labels"]["Crowd"]["finished"], 4)
        self.trace = self.jobs([8] * 5, gap_s=0)
        self.assertRegex(self.error_of(Crowd).message, "GPU 0 of node 0 has 4 jobs")

    def test_evicted_jobs_begin_again(self):
        class Evicts:
            preempts = True

            def __call__(self, view, plan):
                for job in view.arrived:
                    if job.gpus == 16:
                        for other in list(view.running.values()):
                            plan.evict(other)
                for job in list(view.waiting.values()):
                    plan.start(job)

        jobs = self.run_policy(Evicts).jobs.lists()
        self.assertEqual(jobs["evictions"], [1, 1, 1, 0, 0, 0])
        self.assertEqual([each - start for each, start in zip(jobs["end_s"], jobs["start_s"])][4],
                         100)
        self.assertGreater(jobs["held_gpu_s"][0], 8 * 100)

    def test_waking(self):
        calls = []

        def sleeper(view, plan):
            calls.append(view.now)
            if view.now < calls[0] + 50:
                plan.wake_at(view.now + 7)
            else:
                first_fit(view, plan)

        self.assertEqual(self.run_policy(sleeper)["labels"]["sleeper"]["finished"], 6)
        self.assertIn(calls[0] + 7, calls)

    def test_each_virtual_cluster_has_a_copy(self):
        class Counts:
            made = []

            def __init__(self):
                self.made.append(self)
                self.queue = {}

            def __call__(self, view, plan):
                self.queue.update({job.number: job for job in view.arrived})
                for number, job in list(self.queue.items()):
                    if plan.start(job):
                        del self.queue[number]

        result = schedmate.simulate(VENUS, Counts)
        clusters = len(set(result.jobs.lists()["vc"]))
        self.assertGreater(clusters, 5)
        self.assertEqual(len(Counts.made), clusters)
        one = Counts()
        again = schedmate.simulate(VENUS, {"Counts": one})
        self.assertEqual(one.queue, {})
        self.assertEqual(again.jobs.lists(), result.jobs.lists())


class Faults(Small):
    def test_what_a_policy_raises_is_raised(self):
        class Own(Exception):
            pass

        given = Own("that is it")

        def breaks(view, plan):
            first_fit(view, plan)
            if view.ended:
                raise given

        self.assertIs(self.raised_by(breaks), given)
        names = [frame.name for frame in traceback.extract_tb(given.__traceback__)]
        self.assertEqual(names[-1], "breaks")
        self.assertIn("simulate", names)
        for error in (KeyboardInterrupt, SystemExit, ZeroDivisionError):
            def breaks_so(view, plan, error=error):
                raise error
            with self.assertRaises(error):
                self.run_policy(breaks_so)

    def test_ctrl_c_while_the_library_works(self):
        """A signal is raised by the first bytecode of the next callback, in no policy yet."""
        before = signal.getsignal(signal.SIGINT)
        for seed in range(20):
            timer = threading.Timer(random.Random(seed).uniform(0.01, 0.05), os.kill,
                                    (os.getpid(), signal.SIGINT))

            def waits(view, plan, timer=timer):
                if view.arrived and view.arrived[0].number == 0:
                    timer.start()
                plan.wake_at(view.now + 1)

            with self.assertRaises(KeyboardInterrupt):
                self.run_policy(waits)
            self.assertIs(signal.getsignal(signal.SIGINT), before)

    def test_what_is_impossible(self):
        def twice(view, plan):
            plan.start(view.arrived[0])
            plan.start(view.arrived[0])

        def unknown(view, plan):
            plan.start(99)

        def huge(view, plan):
            plan.start(2**32)

        def ended(view, plan):
            for job in view.ended:
                plan.start(job)
            first_fit(view, plan)

        def long_gone(view, plan, kept=[]):
            for job in kept:
                plan.start(job)
            kept.extend(view.ended)
            first_fit(view, plan)

        def too_many(view, plan):
            plan.start_on(view.arrived[0], [(0, range(8)), (1, range(8))])

        def no_gpu(view, plan):
            plan.start_on(view.arrived[0], [(0, [8])])

        def twice_a_gpu(view, plan):
            plan.start_on(view.arrived[0], [(0, [1, 1])])

        def no_node(view, plan):
            plan.start_on(view.arrived[0], [(-1, range(8))])

        def not_running(view, plan):
            plan.preempt(view.arrived[0])

        def of_others(view, plan):
            first_fit(view, plan)
            for job in view.waiting.values():
                if not view.cluster.held(job):
                    plan.start_on(job, [(0, range(job.gpus))])

        for policy, code, says in (
                (twice, "conflict", r"job 0 \(j0\) has its GPUs already: it cannot start twice"),
                (unknown, "not_found", "no job 99 waits or runs"),
                (huge, "not_found", "no job 4294967296 waits"),
                (ended, "conflict", "has ended: it cannot start"),
                (long_gone, "not_found", "has ended, or is of another"),
                (too_many, "invalid", "asks for 8 GPUs and is given 16"),
                (no_gpu, "invalid", "its GPUs are 0 to 7"),
                (twice_a_gpu, "invalid", "each once"),
                (no_node, "not_found", "no node 4294967295 is up"),
                (not_running, "conflict", "does not run"),
                (of_others, "conflict", "does not say that it shares")):
            with self.subTest(policy=policy.__name__):
                error = self.error_of(policy)
                self.assertEqual(error.code, code)
                self.assertRegex(error.message, says)
                self.assertIn(policy.__name__, [frame.name for frame in
                                                traceback.extract_tb(error.__traceback__)])

    def test_a_fault_that_is_swallowed_still_counts(self):
        def quiet(wrong):
            def policy(view, plan):
                with contextlib.suppress(schedmate.SchedMateError):
                    wrong(view, plan)
                first_fit(view, plan)
            return policy

        for wrong in (lambda view, plan: plan.start(99), lambda view, plan: plan.start_with(next(iter(view.waiting)), 99)):
            self.assertEqual(self.error_of(quiet(wrong)).code, "not_found")

    def test_what_is_no_job_or_policy(self):
        with self.assertRaises(TypeError):
            self.run_policy(lambda view, plan: plan.start("j0"))
        with self.assertRaises(TypeError):
            self.run_policy(7)
        with self.assertRaises(TypeError):
            self.run_policy(["fifo", None])

    def test_a_plan_is_over_with_its_call(self):
        kept = []

        def keeps(view, plan):
            if kept:
                with self.assertRaises(schedmate.SchedMateError) as caught:
                    kept[0][1].start(next(iter(view.jobs)))
                self.assertEqual(caught.exception.code, "bad_call")
                with self.assertRaises(schedmate.SchedMateError):
                    kept[0][0].cluster.fits(1)
            kept.append((view, plan))
            first_fit(view, plan)

        self.assertEqual(self.run_policy(keeps)["labels"]["keeps"]["finished"], 6)
        with self.assertRaises(schedmate.SchedMateError):
            kept[-1][1].wake_at(0)
        self.assertFalse(next(iter(kept[0][0].arrived)).running)

    def test_another_thread_has_no_plan(self):
        codes = []

        def shares_it(view, plan):
            def work():
                try:
                    plan.start(next(iter(view.jobs)))
                except schedmate.SchedMateError as error:
                    codes.append(error.code)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            first_fit(view, plan)

        self.assertEqual(self.run_policy(shares_it)["labels"]["shares_it"]["finished"], 6)
        self.assertEqual(set(codes), {"bad_call"})

    def test_a_policy_may_simulate(self):
        inner = []

        def looks_ahead(view, plan):
            if not inner:
                inner.append(schedmate.simulate(self.trace, first_fit, cluster=self.cluster))
                inner.append(schedmate.track(ROOT / "tests/golden/input/run.log"))
            first_fit(view, plan)

        result = self.run_policy(looks_ahead)
        self.assertEqual(result.jobs.lists()["end_s"], inner[0].jobs.lists()["end_s"])

    def test_names_do_not_clash(self):
        def fifo(view, plan):
            first_fit(view, plan)

        self.assertEqual(self.run_policy(fifo)["labels"]["fifo"]["finished"], 6)
        self.assertEqual(self.error_of([fifo, "fifo"]).code, "unsupported")
        both = self.run_policy({"a": fifo, "b": "fifo", "c": fifo})
        self.assertEqual(list(both.runs), ["a", "b", "c"])


class Anything(Small):
    """Seeded policies that do anything: what is possible is done, what is not is an error."""

    def policy(self, seed, wild):
        chance = random.Random(seed)

        def gpus_for(view, job, shares):
            nodes = [(node, gpu) for node, gpus in enumerate(view.cluster.free())
                     for gpu in (range(8) if shares else gpus)
                     if len(view.cluster.residents(node, gpu)) < 4]
            if len(nodes) < job.gpus:
                return None
            where = {}
            for node, gpu in chance.sample(nodes, job.gpus):
                where.setdefault(node, []).append(gpu)
            return list(where.items())

        def sane(view, plan):
            for _ in range(chance.randrange(6)):
                here = [job for job in view.jobs.values() if job not in view.ended]
                if not here:
                    return
                job = chance.choice(here)
                if view.cluster.held(job):
                    chance.choice([plan.preempt, plan.evict])(job)
                elif chance.random() < 0.5:
                    plan.start(job)
                else:
                    where = gpus_for(view, job, anything.shares)
                    if where is not None:
                        plan.start_on(job, where)
            if view.waiting and chance.random() < 0.9:
                plan.wake_at(view.now + chance.randrange(1, 40))

        def insane(view, plan):
            job = chance.choice(list(view.jobs) + [0, 99, 2**32 - 1])
            where = [(chance.randrange(4), chance.sample(range(9), chance.randrange(9)))
                     for _ in range(chance.randrange(3))]
            chance.choice([lambda: plan.start(job), lambda: plan.preempt(job),
                           lambda: plan.evict(job), lambda: plan.start_on(job, where),
                           lambda: plan.start_with(job, job),
                           lambda: plan.wake_at(chance.choice([-2**70, -1, 0, 2**40, 2**70])),
                           lambda: view.cluster.held(job)])()

        def anything(view, plan):
            if wild:
                for _ in range(20):
                    with contextlib.suppress(schedmate.SchedMateError):
                        insane(view, plan)
            sane(view, plan)

        anything.shares = chance.random() < 0.5
        anything.preempts = True
        return anything

    def test_what_is_possible_is_done(self):
        done = 0
        for seed in range(60):
            chance = random.Random(seed)
            self.trace = self.jobs([chance.choice([1, 2, 4, 8, 12, 16]) for _ in range(12)])
            with self.subTest(seed=seed):
                result = self.run_policy(self.policy(seed, wild=False))
                jobs = result.jobs.lists()
                done += jobs["status"].count("finished")
                for gpus, held, status in zip(jobs["gpus"], jobs["held_gpu_s"], jobs["status"]):
                    if status == "finished":
                        self.assertGreaterEqual(held, gpus * 99)
        self.assertGreater(done, 300)

    def test_what_is_not_is_an_error(self):
        codes = collections.Counter()
        for seed in range(150):
            error = self.raised_by(self.policy(seed, wild=True))
            self.assertIsInstance(error, schedmate.SchedMateError)
            codes[error.code] += 1
        self.assertEqual(set(codes), {"not_found", "conflict", "invalid"})


class Estimators(Small):
    def test_it_is_asked_and_told(self):
        asked, told, seen = [], [], []

        class Own:
            def predict(self, job, now):
                asked.append((job.id, job.gpus, now - job.submit))
                return (50.0, 40.0, 50.0, 70.0)

            def learn(self, job, run_time, state, now):
                told.append((job.id, run_time, state))

        def look(view, plan):
            seen.extend((job.estimate, job.distribution) for job in view.arrived)
            first_fit(view, plan)

        self.run_policy(look, estimator=Own)
        self.assertEqual(asked, [(f"j{i}", gpus, 0) for i, gpus in enumerate([8, 4, 4, 2, 16, 1])])
        self.assertEqual(sorted(told), [(f"j{i}", 100, "COMPLETED") for i in range(6)])
        self.assertEqual(seen[0], (50.0, (40.0, 50.0, 70.0)))
        look.estimator = Own
        seen.clear()
        self.run_policy(look)
        self.assertEqual(seen[0], (50.0, (40.0, 50.0, 70.0)))

    def test_true_run_times_give_the_oracle(self):
        result = schedmate.simulate(VENUS, "sjf")
        truth = dict(zip(result.jobs.lists()["job_id"], result.jobs.lists()["duration_s"]))
        again = schedmate.simulate(VENUS, "sjf", estimator=lambda job, now: truth[job.id])
        self.assertEqual(again.jobs.lists(), result.jobs.lists())

    def test_faults(self):
        for said in (-1, math.nan, math.inf, (1, 3, 2, 4)):
            error = self.error_of("sjf", estimator=lambda job, now, said=said: said)
            self.assertEqual(error.code, "invalid")
        with self.assertRaises(TypeError):
            self.run_policy("sjf", estimator=lambda job, now: "long")
        with self.assertRaises(ZeroDivisionError):
            self.run_policy("sjf", estimator=lambda job, now: 1 / 0)
        self.assertEqual(self.error_of("sjf", estimator="last_q").code, "not_found")


class Results(Small):
    def test_tables(self):
        self.trace = self.jobs([8, 24, 1])
        result = self.run_policy(["fifo", "sjf"])
        self.assertIsInstance(result, dict)
        self.assertEqual(result.jobs.rows, 6)
        lists = result.jobs.lists()
        self.assertEqual(lists["label"], ["fifo"] * 3 + ["sjf"] * 3)
        self.assertEqual(lists["status"][:3], ["finished", "infeasible", "finished"])
        self.assertEqual(lists["end_s"][1:2], [None])
        self.assertEqual(result.runs["fifo"].jobs.rows, 3)
        self.assertEqual(result.runs["fifo"].total_gpus, 16)
        self.assertIn("infeasible", result.jobs._repr_html_())
        self.assertIn("6 rows", repr(result.jobs))
        self.assertGreater(result.timeline.rows, 0)

    def test_arrays_and_frames(self):
        self.trace = self.jobs([8, 24, 1])
        jobs = self.run_policy("fifo").runs["fifo"].jobs
        try:
            import numpy
        except ImportError:
            self.assertIsInstance(jobs["end_s"], list)
        else:
            self.assertEqual(jobs["gpus"].sum(), 33)
            self.assertTrue(numpy.isnan(jobs["end_s"][1]))
        try:
            import pandas
        except ImportError:
            with self.assertRaisesRegex(schedmate.SchedMateError, "frames need pandas"):
                jobs.frame()
        else:
            frame = jobs.frame()
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(frame.groupby("status")["gpus"].sum()["infeasible"], 24)

    def test_plots(self):
        result = self.run_policy(["fifo", "sjf"])
        if importlib.util.find_spec("matplotlib") is None:
            for plot in (result.plot_cdf, result.plot_timeline, result.runs["fifo"].plot_gantt):
                with self.assertRaisesRegex(schedmate.SchedMateError, "plots need matplotlib"):
                    plot()
            return
        for name, plot in (("cdf", result.plot_cdf), ("timeline", result.plot_timeline),
                           ("gantt", result.runs["fifo"].plot_gantt)):
            path = self.folder / f"{name}.png"
            figure = plot(str(path))
            self.assertEqual(path.read_bytes()[:4], b"\x89PNG")
            self.assertEqual(figure._repr_png_()[:4], b"\x89PNG")
        self.assertEqual(len(result.plot_cdf().axes[0].lines), 2)
        self.assertEqual(len(result.runs["fifo"].plot_gantt().axes[0].patches), 7)

    def test_progress(self):
        told = []
        self.run_policy(["fifo", first_fit], progress=lambda label, done: told.append((label, done)))
        self.assertEqual([done for label, done in told if label == "first_fit"],
                         [(i + 1) / 6 for i in range(6)])
        self.assertIn(("fifo", 1.0), told)

        def breaks(label, done):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.run_policy("fifo", progress=breaks)

    def test_a_bar_in_a_terminal(self):
        stream = io.StringIO()
        with contextlib.redirect_stderr(stream):
            self.run_policy("fifo")
            self.assertEqual(stream.getvalue(), "")
            self.run_policy("fifo", progress=True)
        self.assertIn("fifo [##############################] 100%", stream.getvalue())
        self.assertTrue(stream.getvalue().endswith("\r"))

    def test_a_bar_in_a_notebook(self):
        shown = []

        class Display:
            HTML = staticmethod(str)

            @staticmethod
            def display(bar, display_id):
                shown.append(bar)
                return Display

            @staticmethod
            def update(bar):
                shown.append(bar)

        original, _progress._notebook = _progress._notebook, lambda: Display
        try:
            self.run_policy("fifo")
        finally:
            _progress._notebook = original
        self.assertIn('value="1.000"', shown[-2])
        self.assertEqual(shown[-1], "")


class Package(unittest.TestCase):
    def test_structs_are_those_of_the_header(self):
        """A C program prints size and offsets; ctypes has the same."""
        compiler = os.environ.get("CC", "cc")
        structs = {"schedmate_jobs": _structs.Jobs, "schedmate_gpus": _structs.Gpus,
                   "schedmate_slice": _structs.Slice, "schedmate_slices": _structs.Slices,
                   "schedmate_numbers": _structs.Numbers, "schedmate_gpu": _structs.Gpu,
                   "schedmate_round": _structs.Round,
                   "schedmate_policy": _structs.Policy, "schedmate_estimator": _structs.Estimator,
                   "schedmate_known_job": _structs.KnownJob,
                   "schedmate_prediction": _structs.Prediction,
                   "schedmate_outcomes": _structs.Outcomes, "schedmate_hooks": _structs.Hooks}
        renamed = {"submit": "submit_s", "entered": "entered_s", "estimate": "estimate_s",
                   "expected": "expected_s", "p10": "p10_s", "p50": "p50_s", "p90": "p90_s",
                   "run_since": "run_since_s", "attained": "attained_s", "overhead": "overhead_s",
                   "now": "now_s", "preemption": "preemption_s", "run_time": "run_time_s",
                   "job_id": "id"}
        lines, ours = [], []
        for name, struct in structs.items():
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            ours.append(ctypes_sizeof(struct))
            for field, *_ in struct._fields_:
                lines.append(f'printf("%zu\\n", offsetof({name}, {renamed.get(field, field)}));')
                ours.append(getattr(struct, field).offset)
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "offsets.c"
            source.write_text("#include <schedmate_policy.h>\n#include <stdio.h>\nint main(void) {\n"
                              + "\n".join(lines) + "\nreturn 0; }\n", encoding="utf-8")
            program = str(source.with_suffix(""))
            subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror",
                            "-I", str(ROOT / "include"), str(source), "-o", program], check=True)
            theirs = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.split()
        self.assertEqual([int(each) for each in theirs], ours)

    def test_all_is_typed_and_told(self):
        folder = Path(schedmate.__file__).parent
        for name in ("policies", "results", "plots"):
            tree = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
            self.assertTrue(ast.get_docstring(tree), name)
            for node in ast.walk(tree):
                if not isinstance(node, ast.FunctionDef):
                    continue
                words = node.args.args + node.args.kwonlyargs
                self.assertTrue(node.returns, f"{name}.{node.name}")
                self.assertTrue(all(each.annotation or each.arg in ("self",) for each in words),
                                f"{name}.{node.name}")
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name[0] != "_":
                    self.assertTrue(ast.get_docstring(node), f"{name}.{node.name}")


def ctypes_sizeof(struct):
    import ctypes
    return ctypes.sizeof(struct)


class Page(unittest.TestCase):
    """The examples of docs/python.md run, one after the other."""

    def test_its_examples(self):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text("utf-8"),
                            re.DOTALL)
        self.assertEqual(len(blocks), 4)
        there, names = Path.cwd(), {}
        with tempfile.TemporaryDirectory() as folder:
            for name in ("data", "examples", "tests"):
                (Path(folder) / name).symlink_to(ROOT / name)
            os.chdir(folder)
            try:
                exec(blocks[0] + blocks[1], names)  # pylint: disable=exec-used
                self.assertEqual(list(names["result"].runs), ["mine", "fifo"])
                exec(blocks[2], names)  # pylint: disable=exec-used
                self.assertGreater(names["outlook"].run_time, 0)
                try:
                    exec(blocks[3], names)  # pylint: disable=exec-used
                except schedmate.SchedMateError as error:  # pandas or matplotlib is not there
                    self.assertEqual(error.code, "unavailable")
            finally:
                os.chdir(there)


class Gallery(unittest.TestCase):
    """Each script of examples/python runs, is short, and says what it says."""

    def run_script(self, name, *words):
        self.assertLess(len((GALLERY / name).read_text(encoding="utf-8").splitlines()), 75)
        done = subprocess.run([sys.executable, str(GALLERY / name), *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_all_are_tested(self):
        self.assertEqual({path.name for path in GALLERY.glob("*.py")},
                         {"compare_policies.py", "own_policy.py", "own_estimator.py", "what_if.py",
                          "read_repositories.py"})

    def test_compare_policies(self):
        lines = self.run_script("compare_policies.py").splitlines()
        self.assertEqual([line.split()[:2] for line in lines[1:]],
                         [[name, "11534"] for name in ("fifo", "backfill_easy", "qssf",
                                                       "sjf_oracle", "srtf_oracle")])

    def test_own_policy(self):
        lines = self.run_script("own_policy.py").splitlines()
        hours = {line.split()[0]: float(line.split()[-2]) for line in lines[:3]}
        self.assertLess(hours["own"], hours["sjf"])
        self.assertLess(hours["own"], hours["fifo"])
        self.assertIn("11534 jobs in", lines[3])

    def test_own_estimator(self):
        lines = self.run_script("own_estimator.py").splitlines()
        self.assertEqual(len(lines), 4)
        self.assertLess(float(lines[3].split()[-1]), float(lines[1].split()[-1]))

    def test_what_if(self):
        rows = [line.split() for line in self.run_script("what_if.py").splitlines()[1:]]
        self.assertEqual([row[2] for row in rows], ["fifo", "backfill"] * 3)
        self.assertGreater(float(rows[2][3]), float(rows[4][3]))

    def test_read_repositories(self):
        lines = self.run_script("read_repositories.py").splitlines()
        self.assertEqual(len(lines), 21)
        self.assertTrue(lines[-1].startswith("20 repositories in "))
        self.assertLess(sum(line.split()[1:] == ["-"] * 4 for line in lines), 3)


if __name__ == "__main__":
    unittest.main()
