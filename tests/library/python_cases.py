# SPDX-License-Identifier: Apache-2.0
"""The Python package schedmate, from the tree or installed. SCHEDMATE_PROGRAM is the command line
that its documents are held against. By hand, EVAL_TREES is a folder of the repositories of
eval/jobs (eval/README.md), which are compared, too.
"""

import ast
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import schedmate

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCHEDMATE_PROGRAM"]
INPUT = ROOT / "tests" / "golden" / "input"
VENUS = f"helios:{ROOT / 'data/venus/venus_sept2020_days0-12.csv.gz'}"


def by_program(*words):
    """The document of the command line, whatever its exit code."""
    done = subprocess.run([PROGRAM, *map(str, words), "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


def timeless(document):
    """Without what differs from one run to the next."""
    if isinstance(document, dict):
        return {key: timeless(value) for key, value in document.items()
                if key not in ("wall_ms", "cpu_ms")}
    return [timeless(each) for each in document] if isinstance(document, list) else document


def cases_of_eval(count):
    """Jobs as (tree, command, workdir, gpus, nodes): those whose trees are there, else their
    commands on the example."""
    trees = os.environ.get("EVAL_TREES")
    for name in sorted((ROOT / "eval" / "jobs").glob("*.jsonl")):
        for line in name.read_text(encoding="utf-8").splitlines()[:count]:
            job = json.loads(line)
            tree, workdir = ROOT / "examples" / "classifier", "."
            if trees:
                tree, workdir = Path(trees) / job["repo"].replace("/", "__"), job["workdir"]
                if not tree.exists():
                    continue
            yield tree, job["command"], workdir, job.get("gpus", 1), job.get("nodes", 1)


class Documents(unittest.TestCase):
    """Each function gives what the command of its name prints with --json."""

    def assertSame(self, ours, theirs):
        self.assertEqual(timeless(ours), timeless(theirs))
        self.assertNotEqual(theirs.get("schema"), "schedmate.error.v1")

    def test_facts(self):
        compared = 0
        for tree, command, workdir, gpus, nodes in cases_of_eval(2):
            with self.subTest(tree=tree, command=command):
                self.assertSame(
                    schedmate.facts(tree, command=command, workdir=workdir, gpus=gpus, nodes=nodes),
                    by_program("facts", tree, "--command", command, "--workdir", workdir, "--gpus",
                               gpus, "--nodes", nodes))
                compared += 1
        self.assertGreater(compared, 7)

    def test_facts_of_what_the_command_asks(self):
        job, command = INPUT / "job", "srun -N 2 --gpus 8 python train.py"
        self.assertSame(
            schedmate.facts(job, command=command, gpus=None, nodes=None, explain=True),
            by_program("facts", job, "--command", command, "--explain"))

    def test_facts_that_are_sure(self):
        job, command = INPUT / "job", "python train.py --config conf.yaml"
        for least in (0.95, "auto"):
            self.assertSame(schedmate.facts(job, command=command, min_confidence=least),
                            by_program("facts", job, "--command", command, "--gpus", "1", "--nodes", "1", "--min-confidence", least))
        for least in (1.5, "some"):
            with self.assertRaisesRegex(schedmate.SchedMateError, "0 to 1, or auto"):
                schedmate.facts(job, command=command, min_confidence=least)

    def test_advise_with_a_history(self):
        with tempfile.TemporaryDirectory() as folder, \
                schedmate.Session(state_dir=folder) as session:
            command = "python train.py --epochs 20"
            tree = ROOT / "examples" / "classifier"
            schedmate.advise(tree, command=command, user="ann", job_id="17", record=True,
                             submit_time_s=1_700_000_000, session=session)
            ours = schedmate.advise(tree, command=command, user="ann", submit_time_s=1_700_000_900,
                                    time_limit_s=7200, session=session)
            theirs = by_program("advise", tree, "--command", command, "--user", "ann", "--gpus", 1,
                                "--nodes", 1, "--submit-time", 1_700_000_900, "--time-limit", 7200,
                                "--state-dir", folder)
        self.assertSame(ours, theirs)

    def test_logs(self):
        for name in ("run.log", "failed.log", "gpu.log", "storage.log", "laps.log", "fan.log"):
            log = INPUT / name
            with self.subTest(log=name):
                self.assertSame(schedmate.track(log), by_program("track", log))
                self.assertSame(schedmate.diagnose(log), by_program("diagnose", log))
                question = "why did it stop? how fast is it?"
                self.assertSame(schedmate.ask(log, question), by_program("ask", log, question))

    def test_logs_of_ranks_and_witnesses(self):
        ranks = [INPUT / "rank0.log", INPUT / "rank1.log"]
        self.assertSame(schedmate.diagnose(ranks), by_program("diagnose", *ranks))
        self.assertSame(schedmate.track(ranks), by_program("track", *ranks))
        gpu, job = INPUT / "gpu.log", INPUT / "node_job.json"
        node = f"n11={INPUT / 'node.log'}"
        self.assertSame(
            schedmate.diagnose(gpu, job=job, kernel_logs=[node], nvml_from=[INPUT / "nvml.json"]),
            by_program("diagnose", gpu, "--job", job, "--kernel-log", node, "--nvml-from",
                       INPUT / "nvml.json"))

    def test_simulate(self):
        with tempfile.TemporaryDirectory() as folder:
            ours = schedmate.simulate(VENUS, ["fifo", "lucid@packed"], out=folder)
            self.assertTrue((Path(folder) / "packed.jobs.csv").exists())
            theirs = by_program("simulate", "--trace", VENUS, "--policy", "fifo", "--policy",
                                "lucid@packed", "--out", folder)
            self.assertSame(ours, theirs)
            without = schedmate.simulate(VENUS, ["fifo", "lucid@packed"])
        self.assertEqual(without["labels"].keys(), theirs["labels"].keys())
        self.assertIsNone(without["out"])
        self.assertEqual(timeless(without)["labels"], timeless(theirs)["labels"])

    def test_eta(self):
        self.assertSame(
            schedmate.eta(from_=f"trace:{VENUS}", at="+2d", policy="fifo", samples=5),
            by_program("eta", "--from", f"trace:{VENUS}", "--at", "+2d", "--policy", "fifo",
                       "--samples", 5))


class Errors(unittest.TestCase):
    def code_of(self, call, *words, **named):
        with self.assertRaises(schedmate.SchedMateError) as caught:
            call(*words, **named)
        self.assertTrue(caught.exception.message)
        self.assertEqual(str(caught.exception), caught.exception.message)
        return caught.exception.code

    def test_codes(self):
        self.assertEqual(self.code_of(schedmate.facts, "/no/such", command="python x.py"),
                         by_program("facts", "/no/such", "--command", "python x.py")["code"])
        self.assertEqual(self.code_of(schedmate.simulate, VENUS, "fifi"), "not_found")
        self.assertEqual(self.code_of(schedmate.facts, ".", command=""), "unsupported")
        self.assertEqual(self.code_of(schedmate.facts, ".", command="x", gpus="8"), "unsupported")
        self.assertEqual(self.code_of(schedmate.track, "/no/such.log"),
                         by_program("track", "/no/such.log")["code"])
        self.assertEqual(self.code_of(schedmate.Session, settings={"sed": 1}), "not_found")

    def test_names_that_are_no_text(self):
        self.assertEqual(self.code_of(schedmate.track, "/tmp/\udcff.log"), "invalid")
        self.assertEqual(self.code_of(schedmate.track, "a\0b"), "invalid")
        self.assertEqual(self.code_of(schedmate.track, "-"), "unsupported")

    def test_without_the_library(self):
        done = subprocess.run([sys.executable, "-c", "import schedmate"], stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "SCHEDMATE_LIBRARY": "/no/such.so"}, cwd=str(Path(schedmate.__file__).parents[1]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: libschedmate.so cannot be loaded (/no/such.so", done.stderr)

    def test_a_closed_session(self):
        session = schedmate.Session(settings={"llm.use": "none", "seed": 3, "strict": True})
        self.assertEqual(schedmate.track(INPUT / "run.log", session=session)["schema"],
                         "schedmate.progress.v1")
        session.close()
        session.close()
        self.assertEqual(self.code_of(schedmate.track, INPUT / "run.log", session=session),
                         "bad_call")

    def test_an_error_can_be_sent_to_another_process(self):
        error = pickle.loads(pickle.dumps(schedmate.SchedMateError("invalid", "x", "y")))
        self.assertEqual((error.code, error.message, error.mend), ("invalid", "x", "y"))


def step_in_child(log):
    return schedmate.track(log)["step"]


class Processes(unittest.TestCase):
    def test_other_threads_run_meanwhile(self):
        """The lock of the interpreter is free: this thread counts while another one simulates."""
        ended = []

        def work():
            schedmate.simulate(VENUS, "srtf")
            ended.append(time.monotonic())

        helper = threading.Thread(target=work)
        began, seen = time.monotonic(), []
        helper.start()
        while helper.is_alive():
            seen.append(time.monotonic())
            time.sleep(0.001)
        helper.join()
        inside = [instant for instant in seen if began < instant < ended[0]]
        self.assertGreater(len(inside), 20)

    def test_many_threads_get_the_same(self):
        answers = []

        def work():
            for _ in range(3):
                answers.append(timeless(schedmate.facts(
                    ROOT / "examples" / "classifier", command="python train.py --epochs 20")))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 18)
        self.assertTrue(all(answer == answers[0] for answer in answers))

    def test_children_by_fork(self):
        step = step_in_child(str(INPUT / "run.log"))
        with multiprocessing.get_context("fork").Pool(3) as pool:
            steps = pool.map(step_in_child, [str(INPUT / "run.log")] * 6)
        self.assertEqual(steps, [step] * 6)


class Package(unittest.TestCase):
    def test_it_is_typed_and_told(self):
        folder = Path(schedmate.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)
                     and not node.name.startswith("_")]
        self.assertEqual({node.name for node in functions},
                         {"facts", "advise", "track", "diagnose", "finish", "ask", "eta", "simulate"})
        for node in functions:
            self.assertIn("Gives {", ast.get_docstring(node))
            self.assertTrue(all(each.annotation for each in node.args.args + node.args.kwonlyargs))

    def test_its_example_holds(self):
        example = schedmate.__doc__.split(">>> ")
        lines = [part.splitlines()[0] for part in example[1:]]
        there = Path.cwd()
        os.chdir(ROOT)
        try:
            names = {}
            for line in lines[:-1]:
                exec(line, names)  # pylint: disable=exec-used
            self.assertEqual(eval(lines[-1], names),  # pylint: disable=eval-used
                             ast.literal_eval(example[-1].splitlines()[1].strip()))
        finally:
            os.chdir(there)

    def test_the_version_is_that_of_the_program(self):
        self.assertEqual(schedmate.version, by_program("version")["version"])


if __name__ == "__main__":
    print(f"schedmate {schedmate.version} under Python {sys.version.split()[0]}")
    unittest.main()
