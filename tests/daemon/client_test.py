#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as a client of a daemon: client_test.py SCHEDMATED SCHEDMATE TRACE

Every command against a real daemon beside a replay, as text and as JSON; decisions of an operator; tokens; a watcher whose
daemon is killed; and places where something else than a daemon answers.
"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from site_of import Site, begin_process, free_port

DAEMON, SCHEDMATE, TRACE = sys.argv[1:4]


def expect(what, holds):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print("ok:", what, flush=True)


class Client:
    """schedmate with the settings of a site, in a home of its own."""

    def __init__(self, site):
        self.site = site
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(site.folder), "COLUMNS": "80"}

    def run(self, *words, **variables):
        """Exit code, standard output, standard error."""
        done = subprocess.run([SCHEDMATE, words[0], "--config", self.site.config, *words[1:]], capture_output=True, text=True,
                              env=self.environment | variables, cwd=self.site.folder, timeout=120)
        for line in done.stdout.splitlines():
            if len(line) > 80 and "--json" not in words:
                raise SystemExit(f"FAILED: wider than 80 columns: {words}: {line}")
        return done.returncode, done.stdout, done.stderr

    def text(self, *words, **variables):
        code, out, err = self.run(*words, **variables)
        expect(f"{' '.join(words)}: exit 0 {err}", code == 0 and out)
        return out

    def json(self, *words, **variables):
        return json.loads(self.text(*words, "--json", **variables))

    def ends(self, code, says, *words, **variables):
        got, out, err = self.run(*words, **variables)
        expect(f"{' '.join(words)[:60]}: exit {code}, {says!r} (got {got}: {err.strip()[:300]})",
               got == code and says in err and not out and err.count("\n") == 1 and "\x1b" not in err)


def reading(site, client):
    first = site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"][0]
    job = first["call"]["job"]
    site.wait(lambda: site.ask("GET", f"/api/v1/jobs/{job}")[1]["eta"], "its start is foreseen")
    expect("jobs: the job is there", re.search(rf"^{job} .*pending", client.text("jobs", "--limit", "0"), re.M))
    expect("jobs --json is the daemon's document", client.json("jobs", "--limit", "2")["schema"] == "schedmate.jobs.v1")
    expect("jobs of nobody", client.text("jobs", "--user", "nobody") == "no jobs\n")
    expect("jobs in words: what waits for an operator is not said to start", re.search(rf"^{job} .*waits for approval", client.text("jobs", "--state", "pending", "--limit", "0"), re.M))
    expect("cluster", "GPUs" in client.text("cluster") and client.json("cluster")["nodes"])
    expect("a row for each node", "vcEwI-0" in client.text("cluster", "--nodes"))
    expect("job", client.text("job", job).startswith(f"job {job}, pending"))
    expect("job --json", client.json("job", job)["schema"] == "schedmate.job.v1")
    why = client.text("why", job)
    expect("why says that an operator is waited for, and foresees nothing", f"(action {first['id']})" in why and "starts" not in why
           and client.json("why", job)["job_id"] == job)
    eta = client.text("eta", job)
    expect("nor by eta", "waits for approval" in eta and "starts" not in eta and client.json("eta", job)["samples"])
    expect("eta of all", job in client.text("eta", "--limit", "0") and client.json("eta")["jobs"])
    expect("actions", f"job {job}" in client.text("actions", "--limit", "0"))
    found = client.json("actions", "--state", "waiting", "--limit", "1")
    expect("one of those that wait", len(found["actions"]) == 1 and found["next"] and len(client.json("actions", "--state", "waiting", "--limit", "1", "--cursor", str(found["next"]))["actions"]) == 1)
    expect("the newest of them, and that there are more", "older ones" in client.text("actions", "--state", "waiting", "--limit", "1"))
    expect("all", client.json("actions", "--limit", "0")["actions"])
    expect("actions show", client.text("actions", "show", str(first["id"])).startswith(f"action {first['id']}: start"))
    client.ends(2, "no such job", "job", "nobody-knows")
    for command in ("job", "why", "eta", "track", "diagnose"):
        client.ends(2, "no job nobody-knows; elsewhere: ", command, "nobody-knows")
    client.ends(3, "give its folder and --command instead of its id", "advise", job)
    client.ends(2, "no job nobody", "job", "nobody", "--address", f"unix:{site.folder}/api.sock")
    client.ends(2, "omit it, or --from", "why", job, "--from", "q.txt", "--address", f"unix:{site.folder}/api.sock")
    for command, what in (("track", "progress"), ("diagnose", "diagnosis"), ("advise", "advice")):
        client.ends(3, f"no {what} of job {job}", command, job)
    client.ends(3, "neither progress nor a diagnosis", "ask", job, "how fast is it?")
    expect("ledger", "GPU-hours used" in client.text("ledger") and "days" in client.json("ledger"))


def deciding(site, client):
    one, other = [str(each["id"]) for each in site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"][:2]]
    expect("approve", client.json("actions", "approve", one)["id"] == int(one))
    site.wait(lambda: client.json("actions", "show", one)["state"] == "verified", "the start is seen")
    expect("who approved stands there", "approved" in client.text("actions", "show", one))
    expect("reject", ", rejected" in client.text("actions", "reject", other))
    client.ends(3, "there is nothing to decide", "actions", "approve", other)
    client.ends(3, "start cannot be undone; cancel the job instead", "actions", "undo", one)
    client.ends(2, "99999", "actions", "approve", "99999")
    client.ends(2, "nearest: approve", "actions", "aprove", one)
    job, listed = site.ask("GET", f"/api/v1/actions/{one}")[1]["call"]["job"], client.text("jobs")
    expect("its job is in the list, running or ended by now", re.search(rf"^{job}\b.*\b(running|completed)\b", listed, re.MULTILINE))
    expect("audit asks the daemon", client.json("audit", "--since", "0")["entries"] and "approved" in client.text("audit"))
    expect("audit --verify reads the journal", client.text("audit", "--verify").startswith("sound: "))
    client.ends(3, "there is no 'vc' here", "submit", "--partition", "vc", "--", "true")
    client.ends(3, "mode.order is approve", "submit", "--gpus", "1", "--", "python", "train.py", "--lr", "0.1")
    client.ends(2, "unknown flag '--limit'", "submit", "--limit", "60", "--", "x")
    client.ends(2, "nearest: --partition", "submit", "--partitoin", "vc", "--", "python", "train.py")
    client.ends(3, "mode.order is approve", "cancel", site.ask("GET", "/api/v1/jobs?state=pending")[1]["jobs"][0]["id"])
    client.ends(2, "no job nobody", "cancel", "nobody")
    expect("the breaker is closed by hand", client.text("actions", "close-breaker") == "the breaker is closed\n")
    client.ends(2, "takes no ID", "actions", "close-breaker", "1")


def tokens(site, client, port):
    http = f"http://127.0.0.1:{port}"
    secret = client.text("token", "add", "laptop", "--user", "ann", "--role", "viewer", "--days", "9").strip()
    expect("a token", re.fullmatch("smt_[0-9a-f]{64}", secret))
    client.ends(3, "choose another label", "token", "add", "laptop", "--user", "ann")
    made = client.json("token", "add", "desk", "--user", "olga", "--role", "operator")
    expect("token add --json", made["token"].startswith("smt_") and made["expires_s"] is None)
    listed = client.text("token", "list") + json.dumps(client.json("token", "list"))
    expect("the list has labels, and no secret", "laptop" in listed and "desk" in listed and "smt_" not in listed
           and not re.search("[0-9a-f]{64}", listed))
    kept = site.folder / "token"
    kept.write_text(made["token"] + "\n")
    site.wait(lambda: client.run("cluster", "--address", http, SCHEDMATE_TOKEN=secret)[0] == 0, "the daemon takes it")
    site.wait(lambda: client.run("cluster", "--address", http, "--token-file", str(kept))[0] == 0, "and the next")
    expect("by a file", client.json("actions", "--address", http, "--token-file", str(kept))["actions"])
    client.ends(4, "role", "actions", "approve", "1", "--address", http, SCHEDMATE_TOKEN=secret)
    client.ends(4, "--token-file", "jobs", "--address", http)
    client.ends(4, "--token-file", "jobs", "--address", http, SCHEDMATE_TOKEN="smt_" + "0" * 64)
    client.ends(3, "holds no token", "jobs", "--address", http, SCHEDMATE_TOKEN="a b")
    client.text("token", "revoke", "laptop")
    site.wait(lambda: client.run("cluster", "--address", http, SCHEDMATE_TOKEN=secret)[0] == 4, "a revoked one opens nothing")
    client.ends(2, "nearest: desk", "token", "revoke", "desk1")
    client.ends(2, "nearest: viewer", "token", "add", "x", "--user", "ann", "--role", "viewr")


def watching(site, client, daemon):
    """Gives the daemon that runs afterwards."""
    watcher = begin_process([SCHEDMATE, "watch", "--json", "--config", site.config], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=client.environment)
    heard = []
    reader = threading.Thread(target=lambda: heard.extend(json.loads(line) for line in watcher.stdout), daemon=True)
    reader.start()

    def approves_one():
        waiting = [each["id"] for each in site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"]]
        client.json("actions", "approve", str(waiting[0]))
        return waiting[0]

    def sees(action):
        return any(each["kind"] == "action" and each["data"]["id"] == action and each["data"]["state"] == "verified"
                   for each in list(heard))

    site.wait(lambda: heard and heard[0]["kind"] == "full", "the stream begins")
    first = approves_one()
    site.wait(lambda: sees(first), "the watcher sees a change")
    told = next(each["data"] for each in list(heard) if each["kind"] == "action" and each["data"]["id"] == first)
    expect(f"and of what: {told}", told["kind"] == "start" and told["target"][0].startswith("job "))
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    client.ends(4, "no daemon answers there", "jobs")
    client.ends(4, "no daemon answers there", "watch")
    daemon = site.begin()
    site.wait(lambda: sum(each["kind"] == "full" for each in list(heard)) >= 2, "the watcher is back")
    second = approves_one()
    site.wait(lambda: sees(second), "and sees what comes then")
    watcher.send_signal(signal.SIGINT)
    expect("Ctrl-C ends it", watcher.wait(timeout=60) == 130)
    said = watcher.stderr.read()
    expect(f"it said that it connects again: {said}", "connecting again" in said)
    reader.join()
    as_text = begin_process([SCHEDMATE, "watch", "--config", site.config, "--for", "60"], stdout=subprocess.PIPE, text=True, env=client.environment)
    expect("as text", any(re.search(r"\bjobs? runs? on\b", line) for line in as_text.stdout))
    as_text.kill()
    as_text.wait()
    expect("--for ends it", client.run("watch", "--for", "1")[0] == 0)
    return daemon


@contextlib.contextmanager
def answering(answer, wants_request=False):
    """A server that is no daemon: answer(connection), or answer(connection, request). Gives its address."""
    door = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection = door.accept()[0]
                threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection):
        with connection, contextlib.suppress(OSError):
            request = connection.recv(65536)
            if wants_request:
                answer(connection, request)
            else:
                answer(connection)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
    finally:
        door.close()


def reply(body, status="200 OK", kind="application/json"):
    return lambda connection: connection.sendall(
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


def endless(head, part):
    def answer(connection):
        connection.sendall(head)
        while True:
            connection.sendall(part)
    return answer


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n"
HOSTILE = json.dumps({"schema": "schedmate.error.v1", "code": "conflict", "message": "no\x1b[2J\n\u202eway", "mend": "x"})


def strange_answers(client):
    never = threading.Event()
    for what, answer, code, says in (
            ("no HTTP", lambda connection: connection.sendall(b"220 mail ready\r\n" * 9), 4, "no daemon"),
            ("nothing", lambda connection: None, 4, "broke before"),
            ("a web page", reply(b"<html>"), 4, "not JSON"),
            ("another document", reply(b'{"schema": "x"}'), 4, "schedmate.jobs.v1"),
            ("a thousand levels", reply(b"[" * 1000 + b"]" * 1000), 4, "not JSON"),
            ("half an answer", lambda connection: connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), 4, "broke before"),
            ("a redirect", reply(b"", "302 Found\r\nLocation: http://127.0.0.1:1/"), 4, "no daemon"),
            ("an error without words", reply(b"oops", "500 Oops"), 4, "status 500"),
            ("an error with controls", reply(HOSTILE.encode(), "409 Conflict"), 3, "no?[2J"),
            ("endless headers", endless(b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 9000 + b"\r\n"), 4, "more than any daemon"),
            ("an endless body", endless(HEAD % b"application/json", b"[" * 65536), 4, "more than any daemon"),
            ("silence", lambda connection: never.wait(), 4, "client.deadline_s"),
            ("a drop a second", endless_drops, 4, "client.deadline_s")):
        with answering(answer) as address:
            client.ends(code, says, "jobs", "--address", address, "--limit", "5",
                        "--set", f"client.deadline_s={2 if 'deadline' in says else 60}")
        print("   ", what, flush=True)
    with answering(endless(HEAD % b"text/event-stream", b"data: " + b"x" * 65536)) as address:
        client.ends(4, "too large", "watch", "--address", address, "--for", "60")
    with answering(reply(b"<html>")) as address:
        client.ends(4, "sends no events", "watch", "--address", address, "--for", "60")
    client.ends(2, "write it as unix:PATH", "jobs", "--address", "nonsense")


def submitted_once(client):
    """No answer to the first call: the next has the same key."""
    keys = []
    action = json.dumps({"schema": "schedmate.action.v1", "id": 9, "state": "verified", "job": "s1"}).encode()

    def answer(connection, request):
        keys.append(re.search(rb"Idempotency-Key: (\S+)", request)[1])
        if len(keys) > 1:
            reply(action)(connection)

    with answering(answer, wants_request=True) as address:
        expect("submit", client.text("submit", "--address", address, "--", "true") == "job s1 is submitted\n")
    expect("two calls with one key", len(keys) == 2 and keys[0] == keys[1] and len(keys[0]) == 32)


def not_read(client):
    """Why the daemon has read nothing of a job is said."""
    job = {"schema": "schedmate.job.v1", "id": "s1", "state": "failed", "note": "nothing is read", "progress": None, "diagnosis": None, "advice": None}
    with answering(reply(json.dumps(job).encode())) as address:
        for command, part in (("diagnose", "diagnosis"), ("track", "progress"), ("advise", "advice")):
            client.ends(3, f"no {part} of job s1 (state failed): nothing is read; give its", command, "s1", "--address", address)
        client.ends(3, "of job s1: nothing is read", "ask", "s1", "how fast is it?", "--address", address)


def endless_drops(connection):
    connection.sendall(HEAD % b"application/json")
    while True:
        connection.sendall(b" ")
        time.sleep(0.5)  # clock: as long as the client bears it


def main():
    _kept, port = free_port()
    site = Site(DAEMON, TRACE, 80, 'speed = 20\n[order]\npolicy = "fifo"\n[mode]\norder = "approve"\n',
                listen=f'tcp = "127.0.0.1:{port}"')
    site.config.write_text(site.config.read_text() + f'[access]\ntokens_file = "{site.folder}/tokens"\n')
    client = Client(site)
    client.ends(4, "no daemon answers there", "cluster")
    client.ends(2, "no such job", "job", "17")
    daemon = site.start()
    try:
        site.wait(site.answers, "it answers")
        site.wait(lambda: len(site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"]) >= 5, "it asks")
        reading(site, client)
        deciding(site, client)
        tokens(site, client, port)
        daemon = watching(site, client, daemon)
        submitted_once(client)
        not_read(client)
        strange_answers(client)
    finally:
        daemon.kill()
        daemon.wait()
        site.end()


main()
