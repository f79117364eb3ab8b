# SPDX-License-Identifier: Apache-2.0
"""The adapters of examples/hosts over the library, without the hosts: what they ask, and what they
make of the answers. hosts_test.sh runs them in the hosts' own checkouts, where these are named."""

import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

import schedmate

ROOT = Path(__file__).resolve().parents[2]
HOSTS = ROOT / "examples" / "hosts"
sys.path.insert(0, str(HOSTS))
VENUS = f"helios:{ROOT / 'data/venus/venus_sept2020_days0-12.csv.gz'}"

ROOM = "/" + "root"  # of Sia's images
TABLE = "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n" \
        "BERT,SQuAD,32,0,84.8,99.6,62.4,20162,2\nNeuMF,MovieLens,64,0,100,10.4,2.0,2050,0\n"


def lucid_folder(folder, jobs):
    """A trace of the host's kind: (id, user, submission, duration, model)."""
    Path(folder, "single_data.csv").write_text(TABLE, encoding="utf-8")
    Path(folder, "vc_config.csv").write_text(",num\nvcA,4\nvcB,2\n", encoding="utf-8")
    profile = {"BERT": "BERT,SQuAD,32,0,99.6,62.4,20162,2",
               "NeuMF": "NeuMF,MovieLens,64,0,10.4,2.0,2050,0"}
    rows = ["job_id,user,vc,gpu_num,state,submit_time,duration,estimate,model,dataset,batchsize,amp,"
            "gpu_util,gmem_util,gmem,share_label"]
    rows += [f"{number},{user},vcA,1,COMPLETED,{submit},{duration},500,{profile[model]}"
             for number, user, submit, duration, model in jobs]
    Path(folder, "jobs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"lucid:{folder}"


class Estimates(unittest.TestCase):
    def test_they_are_what_the_simulator_tells_its_policies(self):
        """Job by job, over 13 days of Venus, with the Advisor beside the host's estimator."""
        asked = schedmate.Estimates(VENUS, "fifo:estimate=last_k,advice=advisor,shrink=false")
        unlike, seen, advised = [], [0], [0]

        class Watching:
            estimator, name = "last_k", "watching"

            def __init__(self):
                self.ids, self.queue = {}, []

            def __call__(self, view, plan):
                for number in view.ended:
                    asked.learn(self.ids.pop(getattr(number, "number", number)), view.now)
                for job in view.arrived:
                    told = asked.predict(job.id, view.now)
                    seen[0] += 1
                    advised[0] += told.advised > 0
                    if abs(told.run_time - job.estimate) > 1e-9 * job.estimate:
                        unlike.append((job.id, told.run_time, job.estimate))
                    self.ids[job.number] = job.id
                for job in list(view.waiting.values()):
                    if not plan.start(job):
                        break

        spec = {"own": Watching}
        schedmate.simulate(VENUS, spec, estimator="last_k,advice=advisor,shrink=false")
        self.assertEqual(unlike[:3], [])
        self.assertEqual(seen[0], 11534)
        self.assertGreater(advised[0], 1000)

    def test_a_trace_with_tables_of_its_own_says_what_its_jobs_are(self):
        jobs = [(1, "u", 0, 4000, "BERT"), (2, "u", 10_000, 4000, "BERT"),
                (3, "u", 20_000, 60, "NeuMF"), (4, "w", 30_000, 4000, "BERT")]
        with tempfile.TemporaryDirectory() as folder:
            trace = lucid_folder(folder, jobs)
            asked = schedmate.Estimates(trace, "fifo:estimate=advisor")
            self.assertTrue(asked.predict(1, 0).blind)
            asked.learn(1, 4000)
            again = asked.predict("2", 10_000)
            self.assertFalse(again.blind)
            self.assertAlmostEqual(again.run_time, 4000, delta=400)
            self.assertEqual((again.memory_mib, again.sharing_score), (20162, 2))
            self.assertNotEqual(asked.predict(3, 20_000).memory_mib, 20162)
            asked.learn(2, 14_000)
            self.assertFalse(asked.predict(4, 30_000).blind)

    def test_what_is_wrong_is_an_error(self):
        with self.assertRaises(schedmate.SchedMateError) as unknown:
            schedmate.Estimates(VENUS, "lucit+sm")
        self.assertEqual(unknown.exception.code, "not_found")
        with schedmate.Estimates(VENUS, "sjf") as asked:
            with self.assertRaises(schedmate.SchedMateError) as nobody:
                asked.predict("no such job", 0)
            self.assertEqual(nobody.exception.code, "not_found")
            for call in (asked.predict, asked.learn):
                with self.assertRaisesRegex(ValueError, "a time in seconds cannot be NaN"):
                    call("1", math.nan)
        with self.assertRaises(schedmate.SchedMateError) as closed:
            asked.learn("1", 0)
        self.assertEqual(closed.exception.code, "bad_call")


    def test_an_id_that_no_trace_can_have_is_an_error_and_not_a_part_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = lucid_folder(folder, [(1, "u", 0, 4000, "BERT")])
            with schedmate.Estimates(trace, "sjf") as asked:
                asked.predict("1", 0)
                for wrong in ("1\0", "\0", "1\0 and more", "1\udc80", "\ud800"):
                    for call in (asked.predict, asked.learn):
                        with self.assertRaises(schedmate.SchedMateError) as error:
                            call(wrong, 0)
                        self.assertEqual(error.exception.code, "invalid", repr(wrong))
                        self.assertIn(repr(wrong), error.exception.message)
                for late in (1e300, -1e300, 2**63, 2**64 + 5):
                    for call in (asked.predict, asked.learn):
                        with self.assertRaises(schedmate.SchedMateError) as error:
                            call("1", late)
                        self.assertEqual(error.exception.code, "invalid", late)


class FakeProfiler:
    """Lucid's, as far as the adapter touches it: one second is one call of profile()'s loop."""

    def __init__(self, jobs, limit):
        self.trace = types.SimpleNamespace(job_list=jobs)
        self.rows = {job["job_id"]: row for row, job in enumerate(jobs)}
        self.time, self.time_limit, self.end_job_num, self.running = 0, limit, 0, []
        self._vc = types.SimpleNamespace(release_resource=lambda job: True)
        self.que_list, self.scaling_time_list, self.scaling_num_list = [], [], []

    def profile(self):
        while self.end_job_num < len(self.trace.job_list):
            for job in [each for each in self.running if each["end_time"] == self.time]:
                self._vc.release_resource(job)
                self.running.remove(job)
                self.end_job_num += 1
            for job in self.trace.job_list:
                if job["submit_time"] == self.time:
                    self.que_list.append(job)
            for job in list(self.que_list):
                job["start_time"], job["profqueue"] = self.time, self.time - job["submit_time"]
                job["end_time"] = self.time + min(job["duration"], self.time_limit)
                job["toskip"], job["profiled"] = int(job["duration"] <= self.time_limit), 1
                self.que_list.remove(job)
                self.running.append(job)
            self.time += 1


class FakeCluster:
    """A virtual cluster with room for all, as far as the adapter touches it."""

    def __init__(self, name, jobs):
        self._vc_name, self.jobs, self.que_list, self.running = name, jobs, [], []
        self._vc = types.SimpleNamespace(release_resource=lambda job: True)
        self.time = 0

    def simulate(self):
        left = len(self.jobs)
        while left:
            for job in [each for each in self.running if each["end_time"] <= self.time]:
                self._vc.release_resource(job)
                self.running.remove(job)
                left -= 1
            for job in self.jobs:
                if job["submit_time"] == self.time:
                    if job["toskip"]:
                        left -= 1
                    else:
                        self.que_list.append(job)
            for job in list(self.que_list):
                job.update(start_time=self.time, end_time=self.time + job["duration"])
                self.que_list.remove(job)
                self.running.append(job)
            self.time += 1


class Lucid(unittest.TestCase):
    def test_stages_share_the_time_and_known_jobs_skip_the_profiler(self):
        together, timed = importlib.import_module("lucid_together"), importlib.import_module("timed")
        rows = [(number, "u", 100 * number, 90, "NeuMF") for number in range(1, 40)]
        rows += [(number, "u", 100 * number + 30, 300, "BERT") for number in range(101, 140)]
        rows.sort(key=lambda row: row[2])
        jobs = [{"job_id": row[0], "vc": "vcA", "gpu_num": 1, "submit_time": row[2],
                 "duration": row[3], "toskip": 0, "profiled": 0, "profqueue": 0, "gmem": None}
                for row in rows]
        with tempfile.TemporaryDirectory() as folder:
            trace = lucid_folder(folder, rows)
            asked = timed.Timed(trace, "lucid:estimate=column:estimate,advice=advisor,bypass=all,"
                                       "lenders=vcA+vcB")
            cluster = together.paced(FakeCluster)("vcA", jobs)
            profiler = FakeProfiler(jobs, 100)
            together.with_module(profiler, [cluster], asked)
        self.assertTrue(all("end_time" in job for job in jobs))
        skipped = [job for job in jobs if not job["profiled"]]
        self.assertEqual(jobs[0]["profiled"], 1)
        self.assertGreater(len(skipped), 20)
        self.assertEqual({job["gmem"] for job in skipped}, {2050, 20162})
        self.assertEqual(sum(job["toskip"] for job in jobs),
                         sum(job["profiled"] and job["duration"] <= 100 for job in jobs))
        self.assertEqual(len(asked.learning), len(jobs))
        self.assertIn("p99", asked.told())


class Sia(unittest.TestCase):
    def test_the_hosts_command_is_found_and_the_nearest_ended_job_is_the_match(self):
        sia = importlib.import_module("sia_host")
        with tempfile.TemporaryDirectory() as folder:
            for name, epochs in (("bert", 2), ("cifar10", 100)):
                job = Path(folder, name)
                job.mkdir()
                job.joinpath("adaptdljob.yaml").write_text(
                    "spec:\n  command:\n  - python3\n"
                    f"  - {ROOM}/{name}/main.py\n  - --epochs={epochs}\n  env:\n  - name: X\n",
                    encoding="utf-8")
                job.joinpath("main.py").write_text(MAIN[name], encoding="utf-8")
            self.assertEqual(sia.command_of(Path(folder, "bert")),
                             f"python3 {ROOM}/bert/main.py --epochs=2")
            matches = sia.Matches(folder, f"{folder}/state")
            first = sia_job("cifar10-1", "cifar10")
            matches.begin(first, 0)
            self.assertIsNone(first.grad_params)
            first.profiles, first.perf_params = {"aws": {(1, 1, 32): (0.1, 0)}}, {"aws": "fit"}
            first.began, first.completion_time = 60, 660
            matches.end(first)
            other, again = sia_job("bert-2", "bert"), sia_job("cifar10-3", "cifar10")
            matches.begin(other, 700)
            matches.begin(again, 760)
            self.assertEqual(again.profiles, first.profiles)
            self.assertEqual(again.grad_params, ("gradients", 128))
            self.assertIsNone(other.grad_params)
            self.assertEqual((matches.matched, matches.wrong), (1, 0))


MAIN = {
    "cifar10": """import argparse
import torch, torchvision
p = argparse.ArgumentParser()
p.add_argument('--epochs', type=int, default=3)
p.add_argument('--bs', type=int, default=128)
a = p.parse_args()
model = torchvision.models.resnet18()
data = torchvision.datasets.CIFAR10('.', train=True)
loader = torch.utils.data.DataLoader(data, batch_size=a.bs)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(a.epochs):
    for x, y in loader:
        optimizer.step()
""",
    "bert": """import argparse
import torch
from transformers import BertForQuestionAnswering
p = argparse.ArgumentParser()
p.add_argument('--epochs', type=int, default=2)
a = p.parse_args()
model = BertForQuestionAnswering.from_pretrained('bert-base-uncased')
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
for epoch in range(a.epochs):
    optimizer.step()
"""}


def sia_job(name, app):
    reference = types.SimpleNamespace(init_batch_size=128,
                                      get_grad_stats=lambda size, _: ("gradients", size))
    return types.SimpleNamespace(name=name, app_name=app, target_num_replicas=1, profiles={},
                                 perf_params={}, grad_params=None, reference_app=reference)


class Blox(unittest.TestCase):
    def test_running_jobs_first_then_the_shortest_that_did_not_wait_longer(self):
        blox = importlib.import_module("blox_host")
        rows = blox.rows_of(VENUS, 3)
        self.assertEqual(len(rows), 3)
        first = rows[0]["submit_time"]
        jobs = {number: {**blox.as_blox_has_it(row, first), "is_running": False, "waited": 0}
                for number, row in enumerate(rows)}

        class Told:
            def __init__(self, told):
                self.told, self.ended = told, []

            def predict(self, name, now):
                return types.SimpleNamespace(run_time=self.told[name])

            def learn(self, name, end):
                self.ended.append((name, end))

        lengths = {row["name"]: length for row, length in zip(rows, (900, 100, 5000))}
        asked = Told(lengths)  # of the order alone; what SchedMate tells is above
        order = blox.SchedMateOrder(asked, first)
        state = types.SimpleNamespace(time=0, active_jobs=jobs)
        names = [number for number, _ in order.schedule(state, None)["job_order"]]
        self.assertEqual(names, [1, 0, 2])
        jobs[2]["is_running"] = True
        names = [number for number, _ in order.schedule(state, None)["job_order"]]
        self.assertEqual(names, [2, 1, 0])
        del jobs[2]
        state.time = 300
        order.schedule(state, None)
        self.assertEqual(asked.ended, [(rows[2]["name"], first + 300)])


class SlurmSite(unittest.TestCase):
    def queue(self, folder, script, user, **more):
        return {"job_id": more.pop("job_id"), "job_state": "PENDING", "user_name": user,
                "current_working_directory": str(folder), "command": str(Path(folder, script)),
                "tres_req_str": "cpu=1,node=1,gres/gpu=2", "node_count": 1, "partition": "gpu",
                "time_limit": 60, "submit_time": 1_600_000_000, "priority": 1, **more}

    def test_what_is_expected_is_shorter_goes_first_and_nothing_is_recorded(self):
        site = importlib.import_module("slurm_site")
        with tempfile.TemporaryDirectory() as folder:
            job = Path(folder, "job")
            job.mkdir()
            job.joinpath("train.py").write_text(MAIN["cifar10"], encoding="utf-8")
            job.joinpath("run.sh").write_text("#!/bin/bash\npython train.py --epochs 5\n",
                                              encoding="utf-8")
            with schedmate.Session(state_dir=f"{folder}/state") as session:
                schedmate.advise(job, command="bash run.sh", user="u", gpus=2, record=True,
                                 job_id="9", submit_time_s=1_599_000_000, session=session)
                schedmate.finish("9", state="completed", duration_s=700, session=session)
                queue = {"jobs": [
                    self.queue(job, "run.sh", "w", job_id=1, time_limit={
                        "set": True, "infinite": False, "number": 30}, priority={
                            "set": True, "infinite": False, "number": 7}),
                    self.queue(job, "run.sh", "u", job_id=2),
                    self.queue(job, "gone.sh", "u", job_id=3, current_working_directory="/none"),
                    self.queue(job, "run.sh", "u", job_id=4, job_state=["RUNNING"])]}
                jobs = site.waiting_jobs(queue)
                rows = site.ranked(jobs, 1_600_000_100, lambda one: site.asked(one, session))
                with self.assertRaises(schedmate.SchedMateError):
                    schedmate.finish("1", state="completed", duration_s=1, session=session)
        self.assertEqual(rows[2]["job_id"], 3)
        by_id = {row["job_id"]: row for row in rows}
        self.assertEqual(set(by_id), {1, 2, 3})
        self.assertEqual(by_id[2]["by"], "resubmission")
        self.assertAlmostEqual(by_id[2]["expected_s"], 700, delta=100)
        self.assertEqual((by_id[1]["place_now"], by_id[1]["gpus"]), (1, 2))
        self.assertEqual(by_id[3]["expected_s"], 3600)
        self.assertIn("/none", by_id[3]["by"])


class RayDriver(unittest.TestCase):
    def test_known_trainings_go_first_share_a_gpu_and_their_ends_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            job = Path(folder, "job")
            job.mkdir()
            job.joinpath("train.py").write_text(MAIN["cifar10"], encoding="utf-8")
            job.joinpath("stand_in.sh").write_text("python train.py --epochs 5 || sleep 0.1\n",
                                                   encoding="utf-8")
            state = f"{folder}/state"
            with schedmate.Session(state_dir=state) as session:
                for number in range(3):
                    schedmate.advise(job, command="sh stand_in.sh", user="u", record=True,
                                     job_id=f"old{number}", session=session)
                    schedmate.finish(f"old{number}", state="completed", duration_s=500,
                                     gpu_util_pct=30, gpu_memory_mib=8000, session=session)
            given = [{"id": "new", "dir": folder, "command": "false", "user": "w"}]
            given += [{"id": f"again{number}", "dir": str(job), "command": "sh stand_in.sh",
                       "user": "u"} for number in range(2)]
            Path(folder, "list.json").write_text(json.dumps(given), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, HOSTS / "ray_driver.py", f"{folder}/list.json", "--gpus", "1",
                 "--state", state, "--local"], check=True, stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[1:])})
            said = done.stdout.decode().splitlines()
            with schedmate.Session(state_dir=state) as session:
                with self.assertRaises(schedmate.SchedMateError) as ended:
                    schedmate.finish("new", state="completed", duration_s=99, session=session)
        self.assertEqual(said[0], "start again0 + again1")
        self.assertEqual(said[3:], ["start new", "end   new 1"])
        self.assertEqual(ended.exception.code, "conflict")


if __name__ == "__main__":
    unittest.main()
