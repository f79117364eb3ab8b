#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that people submit and cancel, beside a replay: requests_test.py SCHEDMATED TRACE"""
import http.client
import json
import random
import signal
import sys
import threading
import time

from site_of import Site, expect, rows_of


SETTINGS = 'speed = 600\n[order]\npolicy = "fifo"\n[mode]\norder = "{}"\n'
JOB = {"command": "python train.py --password hunter2hunter2", "gpus": 1, "run_s": 5, "limit_s": 60}


def submit(site, body=None, **more):
    return site.ask("POST", "/api/v1/jobs", {**JOB, **(body or {})}, **more)


def job_of(site, action, token=None):
    """What a submission became. Its end is in memory before it is in the journal: what was told once counts."""
    told = []
    site.wait(lambda: told.append(site.ask("GET", f"/api/v1/actions/{action}", token=token)[1]["job"]) or told[-1], "it is a job")
    return told[-1]


def calls(site, kind):
    return [row for row in rows_of(site.state / "replay.jsonl") if row["call"]["kind"] == kind and row["reply"]["outcome"] == "done"]


def who_may(site):
    tokens = site.tokens
    status, action = submit(site, token=tokens["ann"])
    expect("an owner submits, and it is on record", status == 202 and action["kind"] == "submit")
    expect("as himself", action["call"]["user"] == "ann" and action["steps"][0]["by"] == "token ann's")
    path = f"/api/v1/actions/{action['id']}"
    expect("nobody else sees the action", site.ask("GET", path, token=tokens["bob"])[0] == 404)
    job = "/api/v1/jobs/" + job_of(site, action["id"], tokens["ann"])
    seen = site.ask("GET", job, token=tokens["ann"])[1]
    expect("the job is his", seen["user"] == "ann" and seen["request"]["limit_s"] == 60)
    expect("nobody else sees it", site.ask("GET", job, token=tokens["bob"])[0] == 404)
    cancel = job + "/cancel"
    matrix = {
        "nobody submits": (401, site.ask("POST", "/api/v1/jobs", JOB, token="smt_" + 64 * "0")[0]),
        "a viewer submits": (403, submit(site, token=tokens["vic"])[0]),
        "an owner for another": (403, submit(site, {"user": "bob"}, token=tokens["ann"])[0]),
        "an owner for himself by name": (202, submit(site, {"user": "ann"}, token=tokens["ann"])[0]),
        "an operator for another": (202, submit(site, {"user": "bob"}, token=tokens["olga"])[0]),
        "another cancels": (404, site.ask("POST", cancel, token=tokens["bob"])[0]),
        "a viewer cancels": (403, site.ask("POST", cancel, token=tokens["vic"])[0]),
        "nobody cancels": (401, site.ask("POST", cancel, token="smt_" + 64 * "0")[0]),
        "what is not there": (404, site.ask("POST", "/api/v1/jobs/nobodys/cancel", token=tokens["ann"])[0]),
    }
    for what, (wanted, got) in matrix.items():
        expect(f"{what}: {wanted}, got {got}", wanted == got)
    site.wait(lambda: site.ask("GET", job)[1]["state"] == "completed", "it runs as long as it says")
    status, error = site.ask("POST", cancel, token=tokens["ann"])
    expect("what has ended cannot be cancelled", status == 409 and "has ended: completed" in error["message"])


def cancelled(site):
    token = site.tokens["bob"]
    for gpus, state in ((1, "running"), (64, "pending")):
        action = submit(site, {"run_s": 100000, "limit_s": 0, "gpus": gpus}, token=token)[1]["id"]
        path = f"/api/v1/jobs/{job_of(site, action, token)}"
        if state == "running":
            site.wait(lambda: site.ask("GET", path)[1]["state"] == state, "it runs")
        asked, body = [], {} if state == "running" else None
        site.wait(lambda: asked.append(site.ask("POST", path + "/cancel", body, token=token)) or asked[-1][0] != 409, "its start is not on its way")
        status, cancel = asked[-1]
        expect(f"the cancellation of what is {state} is on record", status == 202 and cancel["kind"] == "cancel")
        site.wait(lambda: site.ask("GET", path)[1]["state"] == "cancelled", "it has ended")
        told = site.ask("GET", path, token=token)[1]
        expect("the job tells of it", [each["kind"] for each in told["actions"]][-1] == "cancel"
               and told["attempts"][-1]["state"] == "cancelled")
    entries = site.ask("GET", "/api/v1/audit?since=0&limit=10000")[1]["entries"]
    expect("the chain says who", any(entry.get("by") == "token bob's" for entry in entries))
    expect("and nobody's secrets", "train.py" in json.dumps(entries) and "hunter2" not in json.dumps(entries))
    told = [site.ask("GET", "/api/v1/" + page)[1] for page in ("actions", "jobs", path[len("/api/v1/"):])]
    expect("nor do actions and jobs", "train.py" in json.dumps(told[0]) and "hunter2" not in json.dumps(told))
    bob, ann, all_of_them = (site.ask("GET", "/api/v1/ledger", token=each)[1] for each in (token, site.tokens["ann"], None))
    expect("the ledger has what he used, which is not lost", bob["used_gpu_h"] > 0 and all(row["cause"] != "cancelled" for row in bob["lost"]))
    expect("each sees his own, operators all", ann["used_gpu_h"] + bob["used_gpu_h"] <= all_of_them["used_gpu_h"] + 1e-6)


def repeated(site):
    key = {"Idempotency-Key": "again-1"}
    status, first = submit(site, headers=key, token=site.tokens["ann"])
    again, second = submit(site, {"token": "again-1"}, token=site.tokens["ann"])
    expect("a key is the same in the body", again == 200 and second["id"] == first["id"])
    again, second = submit(site, headers=key, token=site.tokens["ann"])
    expect("a repeat is the same submission, 1.0 GPUs, too", submit(site, {"gpus": 1.0, "run_s": 5.0}, headers=key, token=site.tokens["ann"])[1]["id"] == first["id"] and (status, again) == (202, 200) and first["id"] == second["id"])
    other = submit(site, headers=key, token=site.tokens["bob"])
    expect("the key of another is another's", other[0] == 202 and other[1]["id"] != first["id"])
    wrong = submit(site, {"gpus": 2}, headers=key, token=site.tokens["ann"])
    expect("a key with another request is a conflict", wrong[0] == 409 and "take a new key" in wrong[1]["message"])


def misused(site):
    wrong = [
        (None, "the body must be an object"), ("[]", "the body must be an object"), ("{", ""), ({}, "command"),
        ({**JOB, "comand": "x"}, "nearest: command"), ({**JOB, "gpus": 0}, "gpus"), ({**JOB, "gpus": 1.5}, "gpus"),
        ({**JOB, "gpus": "1"}, "gpus"), ({**JOB, "gpus": 2**64 - 1}, "gpus"), ({**JOB, "nodes": 2}, "nodes"), ({**JOB, "limit_s": -1}, "limit_s"), ({**JOB, "dir": "home"}, "dir"),
        ({**JOB, "name": "a\u0007"}, "name"), ({**JOB, "command": ""}, "command"), ({**JOB, "command": 7}, "command"),
        ({**JOB, "command": "x" * 16385}, "command"), ({**JOB, "command": '"' * 16384}, "too large"),
        ({**JOB, "user": ""}, "user"), ({**JOB, "token": "a b"}, "token"),
        ({**JOB, "name": None}, "name"),
    ]
    for body, says in wrong:
        status, error = site.ask("POST", "/api/v1/jobs", body)
        expect(f"400 that says {says!r}: {error['message'][:70]}", status == 400 and says in error["message"])
    for body, says in (({"gpus": 100000}, "no more than"), ({"partition": "nowhere"}, "partition")):
        status, error = submit(site, body)
        expect(f"409 that says {says!r}", status == 409 and says in error["message"])
    expect("a cancellation takes no fields", site.ask("POST", "/api/v1/jobs/s1/cancel", {"why": 1})[0] == 400)
    expect("a key that is none", submit(site, headers={"Idempotency-Key": "a b"})[0] == 400)
    expect("two keys", submit(site, {"token": "a"}, headers={"Idempotency-Key": "b"})[0] == 400)


def by_mode(site, daemon):
    site.config.write_text(site.config.read_text().replace('order = "act"', 'order = "shadow"'))
    daemon.send_signal(signal.SIGHUP)
    site.wait(lambda: submit(site)[0] == 409, "after SIGHUP nothing is submitted")
    expect("the refusal names the setting", "mode.order is shadow" in submit(site)[1]["message"])


def all_of_it(daemon, trace):
    slow = Site(daemon, trace, 20, SETTINGS.format("act").replace("600", "60"))  # what has ended is live for a quarter of an hour of it
    each = slow.begin()
    who_may(slow)
    slow.end(each)
    site = Site(daemon, trace, 20, SETTINGS.format("act"))
    each = site.begin()
    cancelled(site)
    repeated(site)
    misused(site)
    by_mode(site, each)
    site.end(each)


def where_the_cluster_starts(daemon, trace):
    site = Site(daemon, trace, 20, 'policy = "fifo"\n' + SETTINGS.format("act").replace("fifo", "qssf"))
    each = site.begin()
    status, error = submit(site)
    expect("where the cluster starts jobs nothing is submitted, and the setting is named",
           status == 409 and "setting cluster.replay.policy" in error["message"])
    site.end(each)


def killed(daemon, trace):
    """Clients ask until they are answered, while the daemon is killed soon after each answer: each key is one job."""
    site = Site(daemon, trace, 20, SETTINGS.format("act"))
    each = site.begin()
    keys = [f"key-{i}" for i in range(400)]
    ids = {}

    def insist(mine):
        for key in mine:
            while True:
                try:
                    status, action = submit(site, headers={"Idempotency-Key": key})
                except (OSError, ValueError, http.client.HTTPException):
                    status = 0
                if status in (200, 202):
                    ids.setdefault(key, set()).add(action["id"])
                    break
                time.sleep(0.01)  # clock: before it asks again

    clients = [threading.Thread(target=insist, args=(keys[i::8],), daemon=True) for i in range(8)]
    for client in clients:
        client.start()
    draws, kills, some_left = random.Random(1), 0, lambda: any(client.is_alive() for client in clients)
    while some_left() and kills < 60:
        answered = len(ids)
        site.wait(lambda: len(ids) > answered or not some_left(), "a client is answered")
        time.sleep(draws.uniform(0, 0.02))  # clock: where the kill falls
        each.send_signal(signal.SIGKILL)
        each.wait()
        kills += 1
        each = site.start()
    for client in clients:
        client.join()
    count = lambda: len({row["call"]["token"] for row in calls(site, "submit")})
    site.wait(lambda: count() == len(keys), "all are submitted", 120)
    each.terminate()
    each.wait()
    tokens = [row["call"]["token"] for row in calls(site, "submit")]
    expect(f"{kills} kills, {len(keys)} keys: each is one job", len(tokens) == len(set(tokens)) == len(keys))
    expect("and one action", all(len(each) == 1 for each in ids.values()) and len(ids) == len(keys))
    site.end()


all_of_it(*sys.argv[1:3])
where_the_cluster_starts(*sys.argv[1:3])
killed(*sys.argv[1:3])
