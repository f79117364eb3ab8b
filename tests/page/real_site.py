# SPDX-License-Identifier: Apache-2.0
"""The real daemon on a replay, with a TCP door and tokens, for the page."""
import atexit
import hashlib
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon"))
from site_of import Site  # noqa: E402


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class PageSite(Site):
    """`tokens`: by role, of users root, ann and viv."""

    def __init__(self, daemon, trace, jobs, settings):
        super().__init__(daemon, trace, jobs, settings, listen="\n")
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}/"
        self.tokens = {role: f"smt_{os.urandom(32).hex()}" for role in ("operator", "owner", "viewer")}
        self.token_file = self.folder / "tokens"
        self.write_tokens()
        text = self.config.read_text().replace("[cluster]\n", f'tcp = "127.0.0.1:{self.port}"\n[access]\ntokens_file = "{self.token_file}"\n[cluster]\n', 1)
        self.config.write_text(text)

    def write_tokens(self, but=()):
        users = {"operator": "root", "owner": "ann", "viewer": "viv"}
        lines = [f"{hashlib.sha256(secret.encode()).hexdigest()}\t{role}\t{users[role]}\t1600000000\t{role}\n" for role, secret in self.tokens.items() if role not in but]
        beside = self.token_file.with_suffix(".new")
        beside.write_text("".join(lines))
        beside.chmod(0o600)
        beside.rename(self.token_file)

    def start_with(self, *words):
        started = subprocess.Popen([self.daemon, "--config", self.config, *words], stderr=subprocess.PIPE)
        atexit.register(started.kill)
        return started
