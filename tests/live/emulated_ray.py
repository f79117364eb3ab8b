# SPDX-License-Identifier: Apache-2.0
"""A daemon over a real Ray whose GPUs are emulated (tests/emulation), with the probes of its nodes and a reader, for the tests beside it."""
import atexit
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "daemon"))
from ray_settings import ray_settings  # noqa: E402
from site_of import Site, expect  # noqa: E402, F401

EMULATION = pathlib.Path(__file__).resolve().parent.parent / "emulation"


class EmulatedRay(Site):
    """programs: schedmated, schedmate, schedmate-probe, schedmate-reader. The last node is the profiler's, where the policy has one."""

    def __init__(self, programs, work, dashboard, policy, nodes, gpus, modes='order = "act"\npack = "act"', follow_s=3):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all that it started ends, too
        self.programs = dict(zip(("daemon", "client", "probe", "reader"), map(os.path.realpath, programs)))
        self.folder, self.nodes, self.gpus = pathlib.Path(work) / "site", nodes, gpus
        self.folder.mkdir()
        self.state = self.folder / "state"
        for name, text in (("token", os.environ["RTB_TOKEN"]), ("secret", "0123456789abcdef0123456789abcdef")):
            (self.folder / name).write_text(text + "\n")
            (self.folder / name).chmod(0o600)
        self.config = self.folder / "config.toml"
        self.config.write_text(ray_settings(self.folder, dashboard, f"w{nodes}" if policy.startswith("lucid") else "", policy, modes, os.environ.get("RAY_STARTS", "driver")) + f"""[caps]
actions_per_hour = 1000000
burst = 1000
requeues_per_job = 100
requeues_per_user_hour = 1000
[probe]
secret_file = "{self.folder}/secret"
[recover]
follow_s = {follow_s}
[reader]
socket = "{self.folder}/reader.sock"
uid_min = 0
""")
        self.begin_reader(self.programs["reader"])
        self.begin_daemon()
        self.wait(lambda: len(self.cluster()["nodes"]) == self.nodes, "it sees its nodes", 120)
        self.watchers = {}
        for node in range(1, nodes + 1):
            self.watch(f"w{node}")

    def begin_daemon(self):
        self.process = subprocess.Popen([self.programs["daemon"], "--config", self.config], stderr=open(self.folder / "err", "a"))
        atexit.register(self.process.kill)
        until = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"FAILED: the daemon has ended or does not answer: {(self.folder / 'err').read_text()[-2000:]}")
            time.sleep(0.5)

    def watch(self, node):
        exporter = subprocess.Popen([sys.executable, EMULATION / "exporter.py", os.environ["EMULATED_GPUS"], node, str(self.gpus)],
                                    stdout=subprocess.PIPE, text=True)
        atexit.register(exporter.kill)
        url = f"http://127.0.0.1:{exporter.stdout.readline().strip()}/metrics"
        probe = subprocess.Popen([self.programs["probe"], "--config", self.config, "--node", node, "--every", "2", "--dcgm", url,
                                  "--address", f"unix:{self.folder}/api.sock", "--kernel-log", "/dev/null"], stderr=open(self.folder / f"{node}.err", "w"))
        atexit.register(probe.kill)
        self.watchers[node] = [exporter, probe]

    def forget(self, node):
        """Its probe dies with it."""
        for each in self.watchers.pop(node, []):
            each.kill()
            each.wait()

    def cluster(self):
        return self.ask("GET", "/api/v1/cluster")[1]

    def submit(self, model, batch, steps, *flags, gpus=1, user="root", precision="fp32", speed=20, nodes=1):
        words = ["train.py", "--model", model, "--batch-size", str(batch), "--precision", precision, "--max-steps", str(steps), "--speed", str(speed), *map(str, flags)]
        return self.submit_python(EMULATION, words, gpus, user, nodes)

    def submit_python(self, folder, words, gpus=1, user="root", nodes=1):
        words = [self.programs["client"], "submit", "--json", "--address", f"unix:{self.folder}/api.sock", "--user", user, "--gpus", str(gpus), "--nodes", str(nodes),
                 "--dir", folder, "--", sys.executable, "-B", *words]
        made = subprocess.run(words, capture_output=True, text=True)
        if made.returncode != 0:
            expect(f"it is submitted: {made.stdout}{made.stderr}", False)
        return json.loads(made.stdout)["job"]

    def wait(self, holds, what, seconds=60):
        ends = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > ends:
                self.tell()
                raise SystemExit(f"FAILED: not in {seconds} s: {what}")
            time.sleep(0.5)

    def tell(self):
        """What there is, for whoever looks at a test that has failed."""
        for job in self.jobs().values():
            print(job["id"], job["state"], job["partition"], job["nodes"], job["restarts"], job.get("health"), job.get("progress"))
        for kind in ("start", "evict"):
            for each in self.actions(kind)[-60:]:
                print(each["id"], kind, each["call"].get("job"), each["call"].get("nodes"), each["call"].get("shared_with"), each["state"], each["why"])
        print(json.dumps(self.cluster())[:5000])

    def jobs(self):
        return {job["id"]: job for job in self.ask("GET", "/api/v1/jobs?limit=1000")[1]["jobs"]}

    def actions(self, kind):
        return sorted((each for each in self.all_actions() if each["call"]["kind"] == kind), key=lambda each: each["id"])

    def cancel(self, jobs):
        for job in jobs:
            self.ask("POST", f"/api/v1/jobs/{job}/cancel", {})

    def end(self):
        self.process.terminate()
        expect("the daemon ends well", self.process.wait(timeout=30) == 0)

