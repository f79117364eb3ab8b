#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs, advice and diagnoses by the daemon, beside a reader: readings_test.py SCHEDMATED SCHEDMATE_READER TRACE.
Needs root, since users read their own; without: skipped."""
import json
import os
import pwd
import socket
import subprocess
import sys
import threading

from site_of import Site, expect

OWNER, VIEWER = "nobody", "daemon"
ASKS = """
import http.client, json, os, socket, sys
user, group, door, method, path, body = json.load(sys.stdin)
os.setgroups([])
os.setgid(group)
os.setuid(user)
connection = http.client.HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.settimeout(600)
connection.sock.connect(door)
connection.request(method, path, body, {"Content-Type": "application/json"} if body is not None else {})
said = connection.getresponse()
print(json.dumps([said.status, dict(said.getheaders()), json.loads(said.read())]))
"""


class TellingCluster:
    """In front of the replay: it tells more than that knows, of each job where it runs and logs."""

    def __init__(self, site, told):
        self.real = str(site.state / "real.sock")
        os.rename(site.state / "replay.sock", self.real)
        self.told = told
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(str(site.state / "replay.sock"))
        self.door.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def tell(self, answer):
        for job in answer.get("jobs", []):
            job.update(self.told)

    def before(self, send):
        """What is sent to the replay before it is asked next."""

    def serve(self):
        while True:
            client, _ = self.door.accept()
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(self.real)
            asked, answers = client.makefile("rb"), behind.makefile("rb")

            def send(line):
                behind.sendall(line)
                return json.loads(answers.readline())

            for line in asked:
                self.before(lambda request: send(json.dumps(request).encode() + b"\n"))
                answer = send(line)
                self.tell(answer)
                client.sendall(json.dumps(answer).encode() + b"\n")


def asked_by(site, user, method, path, body=None):
    """Status, headers and document, as another user; of no answer 0, and why."""
    entry = pwd.getpwnam(user)
    asked = [entry.pw_uid, entry.pw_gid, f"{site.folder}/api.sock", method, path, json.dumps(body) if body is not None else None]
    done = subprocess.run([sys.executable, "-I", "-c", ASKS], input=json.dumps(asked), capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else (0, {}, {"message": done.stderr.strip()[-200:]})


def main(daemon, reader, trace):
    site = Site(daemon, trace, 20, '[order]\npolicy = "fifo"\n[access]\nviewers = ["daemon"]\nviewers_see = "all"\n', listen="\n")
    log = "".join(f"step {n}/100 loss 0.{n}\n" for n in range(100)) + "password = hunter2hunter2\nlast line\n"
    home = site.give_home(OWNER, {"job.log": log, "train.py": "import torch\nfor epoch in range(20):\n    pass\n"})
    TellingCluster(site, {"user": OWNER, "dir": str(home), "command": "python train.py", "output": "job.log"})
    process = site.begin()
    job = site.ask("GET", "/api/v1/jobs?limit=1")[1]["jobs"][0]["id"]
    path = f"/api/v1/jobs/{job}/log"
    status, headers, error = asked_by(site, OWNER, "GET", path)
    expect(f"without a reader: {status}, {error['message']}", status == 503 and "reader.socket" in error["message"])
    reads = site.begin_reader(reader)

    status, headers, answer = asked_by(site, OWNER, "GET", path + "?tail=2")
    expect("the owner reads the log's last lines, without secrets",
           status == 200 and answer["lines"] == ["password = [redacted]", "last line"] and answer["job_id"] == job)
    expect("so does an operator", site.ask("GET", path)[1]["lines"][-1] == "last line")
    status, headers, error = asked_by(site, VIEWER, "GET", path)
    expect("a viewer of all jobs does not", status == 403 and "owner" in error["message"])
    expect("a number of lines must be one", asked_by(site, OWNER, "GET", path + "?tail=x")[0] == 400)
    expect("a job that is not there has none", asked_by(site, OWNER, "GET", "/api/v1/jobs/none/log")[0] == 404)

    body = {"dir": str(home), "command": "python train.py", "gpus": 1}
    status, headers, advice = asked_by(site, OWNER, "POST", "/api/v1/advise", body)
    expect("advice", status == 200 and advice["schema"] == "schedmate.advice.v1")
    status, headers, error = asked_by(site, OWNER, "POST", "/api/v1/advise", {**body, "dir": "/root"})
    expect(f"of a folder that is not the asker's: {status}", status in (403, 404))
    status, headers, error = asked_by(site, OWNER, "POST", "/api/v1/advise", {**body, "comand": "x"})
    expect(f"a name that is unknown: {error['message']}", status == 400 and "nearest: command" in error["message"])
    expect("a body is needed", asked_by(site, OWNER, "POST", "/api/v1/advise")[0] in (400, 411))
    expect("viewers have no advice", asked_by(site, VIEWER, "POST", "/api/v1/advise", body)[0] == 403)
    status, headers, verdict = asked_by(site, OWNER, "POST", "/api/v1/diagnose", {"text": "CUDA error: out of memory\n"})
    expect("a diagnosis", status == 200 and verdict["schema"] == "schedmate.diagnosis.v1")
    expect("whose witnesses speak of no flag", verdict["witness"] and not any("--" in each["says"] for each in verdict["witness"]))
    status, headers, error = asked_by(site, OWNER, "POST", "/api/v1/diagnose", {"log": "/etc/shadow"})
    expect(f"of root's file: {status}", status == 403)

    reads.kill()
    reads.wait()
    status, headers, error = asked_by(site, OWNER, "GET", path)
    expect(f"with the reader gone: {error['message']}", status == 503 and headers.get("Retry-After"))
    reads = site.begin_reader(reader)
    site.wait(lambda: asked_by(site, OWNER, "GET", path)[0] == 200, "it is asked again when it is back")
    process.terminate()
    expect("the daemon ends with 0", process.wait(timeout=60) == 0)
    reads.terminate()
    expect("so does the reader", reads.wait(timeout=60) == 0)
    site.end()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIPPED: needs root, to be several users")
        sys.exit(77)
    main(*sys.argv[1:4])
