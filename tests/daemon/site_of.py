# SPDX-License-Identifier: Apache-2.0
"""A daemon and its replay in a folder of their own, for tests."""
import atexit
import gzip
import http.client
import json
import pathlib
import socket
import subprocess
import tempfile
import time


class Site:
    def __init__(self, daemon, trace, jobs, settings, listen=""):
        self.daemon = daemon
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.state = self.folder / "state"
        with gzip.open(trace, "rt") as rows, open(self.folder / "jobs.csv", "w") as part:
            part.writelines(row for row, _ in zip(rows, range(jobs + 1)))
        vcs = pathlib.Path(trace).with_name("venus_vc_config.csv").read_text().split()[1:]
        (self.folder / "cluster.toml").write_text("".join(
            '[[vc]]\nname = "{}"\nnodes = {}\ngpus_per_node = 8\n'.format(*line.split(",")) for line in vcs))
        self.config = self.folder / "config.toml"
        self.config.write_text(
            f'state_dir = "{self.state}"\n[listen]\nunix = "{self.folder}/api.sock"\n{listen}\n[cluster]\nname = "venus"\n'
            f'[cluster.replay]\ntrace = "helios:{self.folder}/jobs.csv"\nfile = "{self.folder}/cluster.toml"\n' + settings)
        self.replay = subprocess.Popen([daemon, "--config", self.config, "--replay"], stderr=subprocess.DEVNULL)
        atexit.register(self.replay.kill)
        self.wait(lambda: (self.state / "replay.sock").exists(), "the replay listens")

    def start(self):
        started = subprocess.Popen([self.daemon, "--config", self.config], stderr=subprocess.PIPE)
        atexit.register(started.kill)
        return started

    def end(self):
        self.replay.terminate()
        self.replay.wait()

    @staticmethod
    def wait(holds, what, seconds=60):
        deadline = time.time() + seconds
        while not holds():
            if time.time() > deadline:
                raise SystemExit(f"FAILED: not in {seconds} s: {what}")
            time.sleep(0.05)

    def ask(self, method, path):
        """Status and document."""
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(30)
        connection.sock.connect(f"{self.folder}/api.sock")
        connection.request(method, path)
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if text.startswith("{") else text

    def answers(self):
        try:
            return self.ask("GET", "/readyz")[1]["ready"]
        except OSError:
            return False
