# SPDX-License-Identifier: Apache-2.0
"""Those who ask a daemon, and what must not come to them, for access_test.py."""
import hashlib
import http.client
import json
import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import urllib.parse

from readings_test import TellingCluster
from site_of import Site, begin_process, free_port

OWNER, OTHER, VIEWER, OPERATOR = "nobody", "games", "daemon", "olga@site"
WORDS = {"name": "vumbrael", "command": "kessolde", "dir": "tarnixow", "output": "ploverun", "line": "ghintaro", "error": "wubbelar",
         "code": "morvathin"}
# `host` (by another Host) and `site` (from a page of another site) come with the operator's token, `uid` by the unix socket
# as the other user.
CALLERS = ("nobody", "owner", "other", "viewer", "operator", "stale", "host", "site", "uid")
AS_ANOTHER = """
import http.client, json, os, socket, sys
user, group, door = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
os.setgroups([])
os.setgid(group)
os.setuid(user)
for line in sys.stdin:
    method, path, body, headers, stream = json.loads(line)
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    connection.sock.connect(door)
    connection.request(method, path, body, headers)
    said = connection.getresponse()
    print(json.dumps([said.status, str(said.getheaders()), "" if stream and said.status == 200 else said.read().decode()]), flush=True)
    connection.close()
"""


def expect(what, holds):
    if not holds:
        raise SystemExit(f"FAILED: {what}")


class House(Site):
    """With three partitions that no job of the trace asks for; on one a node is bad."""

    def prepare(self, *words):
        super().prepare(*words)
        with open(self.folder / "cluster.toml", "a") as cluster:
            cluster.write("".join(f'[[vc]]\nname = "{name}"\nnodes = {nodes}\ngpus_per_node = 8\n'
                                  for name, nodes in (("lab", 1), ("bad", 2), ("free", 1))))
        self.folder.chmod(0o755)

    def door(self):
        """The stale token has expired."""
        self.kept, self.port = free_port()
        rows = {"owner": ("owner", OWNER), "other": ("owner", OTHER), "viewer": ("viewer", VIEWER), "operator": ("operator", OPERATOR),
                "stale": ("operator", OPERATOR)}
        self.tokens = {caller: "smt_" + secrets.token_hex(32) for caller in rows}
        file = self.folder / "tokens"
        file.write_text("".join(
            "\t".join([hashlib.sha256(token.encode()).hexdigest(), *rows[caller], "0", f"of the {caller}", *(["1"] if caller == "stale" else [])]) + "\n"
            for caller, token in self.tokens.items()))
        file.chmod(0o600)
        return f'tcp = "127.0.0.1:{self.port}"\n[access]\ntokens_file = "{file}"\n'

    def home(self, user, folder, files):
        place = self.folder / folder
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text)
        if os.geteuid() == 0:
            for each in (place, *place.iterdir()):
                shutil.chown(each, user, pwd.getpwnam(user).pw_gid)
                each.chmod(0o700)
        return place


class MarkedCluster(TellingCluster):
    """In front of the replay: somebody has given nodes these reasons, and its clock can be put forward."""

    nodes, forward = (), 0

    def before(self, send):
        """What a test waits for in hours of the cluster need not take minutes of its own."""
        if self.forward:
            by, self.forward = self.forward, 0
            now = send({"do": "advance", "to_s": 0})["now_s"]
            send({"do": "advance", "to_s": now + by})

    def tell(self, answer):
        """Nodes come where one of them has changed, so these always do."""
        if "nodes" in answer:
            self.nodes = answer["nodes"] or self.nodes
            answer["nodes"] = [{**node, "reason": self.told.get(node["name"], node["reason"])} for node in self.nodes]


class Access:
    """Asks as anybody, and holds each answer against what its reader may know."""

    def __init__(self, site):
        self.site, self.cases, self.ids, self.told = site, 0, [], {"owner", "operator"}
        self.child = None
        if os.geteuid() == 0:
            entry = pwd.getpwnam(OTHER)
            self.child = begin_process([sys.executable, "-I", "-c", AS_ANOTHER, str(entry.pw_uid), str(entry.pw_gid), f"{site.folder}/api.sock"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def callers(self):
        return [each for each in CALLERS if each != "uid" or self.child]

    def ask(self, caller, method, path, body=None, headers=None, stream=False):
        """Status, headers and text, of a stream that is begun without its text."""
        headers = dict(headers or {})
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        if text is not None:
            headers.setdefault("Content-Type", "application/json")
        if caller == "uid":
            self.child.stdin.write(json.dumps([method, path, text, headers, stream]) + "\n")
            self.child.stdin.flush()
            answer = json.loads(self.child.stdout.readline())
        else:
            token = self.site.tokens.get("operator" if caller in ("host", "site") else caller)
            headers |= {"Authorization": f"Bearer {token}"} if token and "Authorization" not in headers else {}
            headers |= {"host": {"Host": "evil.example"}, "site": {"Origin": "http://evil.example"}}.get(caller, {})
            connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=60)
            connection.request(method, path, text, headers)
            said = connection.getresponse()
            answer = [said.status, str(said.getheaders()), "" if stream and said.status == 200 else said.read().decode()]
            connection.close()
        self.hold_back(caller, f"{method} {path}", urllib.parse.unquote(path) + str(text), *answer)
        self.cases += 1
        return answer

    def hold_back(self, caller, what, asked, status, headers, text):
        """No word of the owner's comes to whoever may not know it, nor the ids of his jobs but those that were asked with."""
        if caller in self.told:
            return
        found = [field for field, word in WORDS.items() if word in headers + text and word not in asked]
        if "json" in headers or "event-stream" in headers:
            found += [each for each in self.ids if each not in asked and re.search(rf"(?<![\w-]){each}(?![\w-])", text)]
        expect(f"{caller} learns of {found} by {what}: {status} {text[:2000]}", not found)

    def json(self, caller, path, wanted=200, **more):
        status, _, text = self.ask(caller, "GET", "/api/v1/" + path, **more)
        expect(f"{path} for {caller}: {status} instead of {wanted}: {text[:300]}", status == wanted)
        return json.loads(text)

    def submit(self, caller, body):
        """Ids of the action and of the job that came of it."""
        status, _, text = self.ask(caller, "POST", "/api/v1/jobs", body)
        expect(f"a submission by {caller}: {status} {text}", status == 202)
        action, told = json.loads(text)["id"], []
        self.site.wait(lambda: told.append(self.json("operator", f"actions/{action}")["job"]) or told[-1], "it is a job")
        if caller == "owner" or body.get("user") == OWNER:
            self.ids.append(told[-1])
        return str(action), told[-1]
