# SPDX-License-Identifier: Apache-2.0
"""A daemon and its replay in a folder of their own, for tests."""
import gzip
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time


def expect(what, holds):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print("ok:", what)


def begin_process(words, **more):
    """Ends with the thread that begins it, and so with the test, even where that is killed."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words], **more)


def free_port():
    """A socket that keeps a port of 127.0.0.1 from others until a daemon listens there, and its number."""
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    return kept, kept.getsockname()[1]


def rows_of(path):
    """Of a file of JSON lines that a process writes: those that are whole."""
    text = path.read_text()
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


class Webhook:
    """Keeps what owners are told."""

    def __init__(self):
        self.heard = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.heard.append((time.time(), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


class Site:
    def __init__(self, daemon, trace, jobs, settings, listen=""):
        self.prepare(daemon, trace, jobs, settings, listen)
        self.serve()

    def prepare(self, daemon, trace, jobs, settings, listen=""):
        """Its files."""
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
            f'state_dir = "{self.state}"\n[listen]\nunix = "{self.folder}/api.sock"\n{listen or self.door()}\n[cluster]\nname = "venus"\n'
            f'[cluster.replay]\ntrace = "helios:{self.folder}/jobs.csv"\nfile = "{self.folder}/cluster.toml"\n' + settings)

    def serve(self):
        """The cluster."""
        self.replay = begin_process([self.daemon, "--config", self.config, "--replay"], stderr=subprocess.DEVNULL)
        self.wait(lambda: self.listens(self.state / "replay.sock"), "the replay listens")

    @staticmethod
    def listens(path):
        with socket.socket(socket.AF_UNIX) as each:
            try:
                each.connect(str(path))
            except OSError:
                return False
            return True

    def door(self):
        """By TCP, for the tokens of ann and bob (owners), vic (viewer) and olga (operator)."""
        self.kept, self.port = free_port()
        self.tokens = {name: "smt_" + secrets.token_hex(32) for name in ("ann", "bob", "vic", "olga")}
        roles = {"vic": "viewer", "olga": "operator"}
        file = self.folder / "tokens"
        file.write_text("".join(
            f"{hashlib.sha256(token.encode()).hexdigest()}\t{roles.get(name, 'owner')}\t{name}\t0\t{name}'s\n"
            for name, token in self.tokens.items()))
        file.chmod(0o600)
        return f'tcp = "127.0.0.1:{self.port}"\n[access]\ntokens_file = "{file}"\n'

    def start(self):
        return begin_process([self.daemon, "--config", self.config], stderr=subprocess.PIPE)

    def begin(self):
        """A daemon that answers."""
        started = self.start()
        self.wait(self.answers, "it answers")
        return started

    def give_home(self, owner, files):
        """A folder of that user with these texts by name, which a reader may read."""
        self.folder.chmod(0o755)
        with open(self.config, "a") as config:
            config.write(f'[reader]\nsocket = "{self.folder}/reader.sock"\nuid_min = 0\n')
        home = self.folder / "home"
        home.mkdir()
        for name, text in files.items():
            (home / name).write_text(text)
        for each in (home, *home.iterdir()):
            shutil.chown(each, owner, pwd.getpwnam(owner).pw_gid)
            each.chmod(0o700)
        return home

    def give_probe_secret(self, secret):
        file = self.folder / "secret"
        file.write_text(secret + "\n")
        file.chmod(0o600)
        with open(self.config, "a") as config:
            config.write(f'[probe]\nsecret_file = "{file}"\n')
        return file

    def begin_reader(self, reader):
        reads = begin_process([reader, "--config", self.config], stderr=subprocess.DEVNULL)
        self.wait(lambda: self.listens(self.folder / "reader.sock"), "the reader listens")
        return reads

    def end(self, *daemons):
        for each in (*daemons, self.replay):
            each.terminate()
            each.wait()

    def said_by(self, process, words):
        """What it has said on standard error, once that holds these words."""
        said = bytearray()
        os.set_blocking(process.stderr.fileno(), False)

        def holds():
            said.extend(process.stderr.read() or b"")
            return words in said

        self.wait(holds, f"it says {words!r}")
        os.set_blocking(process.stderr.fileno(), True)
        return bytes(said)

    @staticmethod
    def wait(holds, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                raise SystemExit(f"FAILED: not in {seconds} s: {what}")
            time.sleep(0.05)

    def ask(self, method, path, body=None, headers=None, token=None):
        """Status and document, as the operator by the unix socket, or by a token."""
        if token:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            headers = {**(headers or {}), "Authorization": f"Bearer {token}"}
        else:
            connection = self.by_socket()
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        if text is not None:
            headers = {"Content-Type": "application/json", **(headers or {})}
        connection.request(method, path, text, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if text.startswith("{") else text

    def by_socket(self):
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
        connection.sock.connect(f"{self.folder}/api.sock")
        return connection

    def call_cluster(self, call):
        """As somebody else does, at the replay itself, while no daemon is connected to it."""
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(60)
            door.connect(str(self.state / "replay.sock"))
            door.sendall(json.dumps({"do": "call", "number": 1, "call": call}).encode() + b"\n")
            return json.loads(door.makefile().readline())["outcome"]

    def all_actions(self):
        """Newest first, page by page."""
        made, cursor = [], ""
        while cursor is not None:
            page = self.ask("GET", f"/api/v1/actions?cursor={cursor}")[1]
            made, cursor = made + page["actions"], page["next"]
        return made

    def answers(self):
        try:
            return self.ask("GET", "/readyz")[1]["ready"]
        except OSError:
            return False
