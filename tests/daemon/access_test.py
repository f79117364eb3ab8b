#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who is answered what: access_test.py SCHEDMATED SCHEDMATE_READER TRACE

Each route of the daemon's own OpenAPI document with each kind of caller. Jobs of one user carry words that stand nowhere
else: they reach him and operators, and by no way anybody else, unless the settings say so. Without root: no reader, which
reads as the user, and nobody by another uid.
"""
import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import sys

from callers import CALLERS, OPERATOR, OTHER, OWNER, VIEWER, WORDS, Access, House, MarkedCluster, expect
from probe_message import SECRET

LOG = "".join(f"step {n}/1000 loss {5 - n / 500:.3f} 1.5 s/it\n" for n in range(1, 300)) + f"saved the weights of {WORDS['line']}\n" \
    f"RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution of {WORDS['error']}\n"
CODE = "import torch\nfrom torchvision.models import resnet50\nmodel = resnet50()  # {}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" \
    "for epoch in range(20):\n    optimizer.step()\n"
SETTINGS = """speed = 30
bad_nodes = ["bad-0"]
[order]
policy = "fifo"
[mode]
order = "act"
recover = "approve"
[recover]
witness_wait_s = 1
"""
# Without news of a cluster nothing is forgotten, and no node looked at.
MOVES = {"command": "true", "gpus": 1, "partition": "free", "run_s": 1}
# R: as if it were read, which needs a reader.
TABLE = """
route         request                              nobody owner other viewer operator stale host site uid
page          GET  /                               200    200   200   200    200      401   421  403  200
page_file     GET  /page/page.css                  200    200   200   200    200      401   421  403  200
healthz       GET  /healthz                        200    200   200   200    200      401   421  403  200
readyz        GET  /readyz                         200    200   200   200    200      401   421  403  200
metrics       GET  /metrics                        200    200   200   200    200      401   421  403  200
jobs          GET  /api/v1/jobs                    401    200   200   200    200      401   421  403  200
job           GET  /api/v1/jobs/{job}              401    200   404   404    200      401   421  403  404
why           GET  /api/v1/jobs/{job}/why          401    200   404   404    200      401   421  403  404
log           GET  /api/v1/jobs/{job}/log          401    R     404   404    R        401   421  403  404
cluster       GET  /api/v1/cluster                 401    200   200   200    200      401   421  403  200
actions       GET  /api/v1/actions                 401    200   200   200    200      401   421  403  200
action        GET  /api/v1/actions/{action}        401    200   404   404    200      401   421  403  404
approve       POST /api/v1/actions/{action}/approve 401   403   403   403    409      401   421  403  403
reject        POST /api/v1/actions/{action}/reject 401    403   403   403    409      401   421  403  403
undo          POST /api/v1/actions/{action}/undo   401    403   403   403    409      401   421  403  403
audit         GET  /api/v1/audit                   401    403   403   403    200      401   421  403  403
ledger        GET  /api/v1/ledger                  401    200   200   200    200      401   421  403  200
events        GET  /api/v1/events                  401    200   200   200    200      401   421  403  200
changes       GET  /api/v1/changes                 401    200   200   200    200      401   421  403  200
openapi       GET  /api/v1/openapi.json            200    200   200   200    200      401   421  403  200
submit        POST /api/v1/jobs                    401    409   409   403    409      401   421  403  409
cancel        POST /api/v1/jobs/{job}/cancel       401    202   404   403    202      401   421  403  404
breaker_close POST /api/v1/breaker/close           401    403   403   403    200      401   421  403  403
advise        POST /api/v1/advise                  401    R     403   403    404      401   421  403  403
diagnose      POST /api/v1/diagnose                401    R     403   403    404      401   421  403  403
probe         POST /api/v1/probe                   400    400   400   400    400      401   421  403  400
"""


def made(site, access, folder):
    """Jobs of the owner, by what becomes of them, and their actions; one of the other waits behind them."""
    job = {"name": f"train {WORDS['name']}", "command": f"python train.py --tag {WORDS['command']}", "dir": str(folder),
           "output": f"{WORDS['output']}.log", "gpus": 8}
    jobs, actions = {}, {}
    for what, more in {"failed": {"partition": "bad", "gpus": 16, "run_s": 10}, "done": {"partition": "free", "run_s": 20},
                       "runs": {"partition": "lab", "run_s": 10**7},
                       "of owner": {"partition": "lab", "run_s": 5}, "of operator": {"partition": "lab", "run_s": 5},
                       "waits": {"partition": "lab", "run_s": 5}}.items():
        actions[what], jobs[what] = access.submit("owner", {**job, **more})
    _, jobs["other"] = access.submit("other", {"command": "true", "gpus": 8, "partition": "lab", "run_s": 5})
    site.wait(lambda: access.json("owner", f"jobs/{jobs['runs']}")["state"] == "running", "it runs")
    for what, state in (("failed", "failed"), ("done", "completed")):
        site.wait(lambda: access.json("owner", f"jobs/{jobs[what]}")["state"] == state, f"it has {state}")
    return jobs, actions


def matrix(access, jobs, actions, folder, has_reader):
    """The whole table. The routes are those that the daemon says it has."""
    rows = [row.split() for row in TABLE.strip().split("\n")[1:]]
    served = {operation["operationId"]: (method.upper(), path) for path, methods in access.json("nobody", "openapi.json")["paths"].items()
              for method, operation in methods.items()}
    expect(f"each route has a row: {set(served) ^ {row[0] for row in rows}}", sorted(served) == sorted(row[0] for row in rows))
    bodies = {"submit": {"command": "true", "partition": "nowhere"}, "advise": {"dir": str(folder), "command": "python train.py"},
              "diagnose": {"log": f"{folder}/{WORDS['output']}.log"}, "probe": "{}"}
    expect("the table has all callers", tuple(TABLE.split("\n")[1].split()[2:]) == CALLERS)
    for name, method, path, *_ in rows:
        pattern = re.escape(served[name][1]).replace(r"\{ID\}", "[^/]+")
        expect(f"{name} is {served[name]}", served[name][0] == method and re.fullmatch(pattern, path))

    def check(caller, name, method, path, *wanted):
        job = jobs[f"of {caller}" if name == "cancel" and f"of {caller}" in jobs else "runs"]
        target, body = path.format(job=job, action=actions["runs"]), bodies.get(name, {} if method == "POST" else None)
        status, headers, text = access.ask(caller, method, target, body, stream=name == "events")
        code = wanted[CALLERS.index(caller)]
        if name in ("advise", "diagnose") and not has_reader and code in ("R", "403", "404") and caller not in ("viewer", "site"):
            code = "R"
        code = {"R": "200" if has_reader else "503"}.get(code, code)
        if code == "403" and name in ("approve", "reject", "undo", "audit", "breaker_close") and caller in ("owner", "other", "uid", "viewer"):
            expect(f"{name}: {text}", f"the role {'viewer' if caller == 'viewer' else 'owner'} may not use this route" in text)
        expect(f"{name} for {caller}: {status} instead of {code}: {text[:300]}", str(status) == code)
        if status >= 400 and name != "probe":
            error = json.loads(text)
            expect(f"{name} for {caller}: an error says what and how to mend it: {text}",
                   error["schema"] == "schedmate.error.v1" and error["message"] and error["mend"])
        if method == "GET" and not (caller == "uid" and name == "events"):
            head = access.ask(caller, "HEAD", target)
            expect(f"HEAD of {name} for {caller}: {head}", head[0] == status and not head[2])

    for row in rows:
        for caller in access.callers():
            if caller != "stale":
                check(caller, *row)
    # Wrong tokens are held back, so these are asked with at once.
    with concurrent.futures.ThreadPoolExecutor(len(rows)) as at_once:
        list(at_once.map(lambda row: check("stale", *row), rows))
    print(f"ok: {len(rows)} routes for {len(access.callers())} kinds of callers")


def as_if_there_were_none(access, jobs, actions):
    """An answer about somebody else's job or action is the one about what is not there."""
    paths = [("GET", "jobs/{}", jobs["runs"]), ("GET", "jobs/{}", jobs["failed"]), ("GET", "jobs/{}/why", jobs["waits"]), ("GET", "jobs/{}/log", jobs["failed"]),
             ("POST", "jobs/{}/cancel", jobs["runs"]), ("GET", "actions/{}", actions["runs"]), ("GET", "actions/{}", actions["failed"])]
    for caller in [each for each in access.callers() if each in ("other", "viewer", "uid")]:
        for method, path, name in paths:
            none = "999999" if path.startswith("actions") else "s999999"
            answers = [access.ask(caller, method, "/api/v1/" + path.format(each)) for each in (name, none)]
            expect(f"{method} {path} for {caller}: {answers}", answers[0][0] == answers[1][0] and answers[0][2] == answers[1][2].replace(none, name))
    print("ok: what is another's is as if it were not there")


def spelled_otherwise(access, job):
    """Escapes, dots and routes that there are not lead nowhere else."""
    escaped = "".join(f"%{ord(letter):02x}" for letter in job)
    expect("an escaped id is the id", access.json("owner", f"jobs/{escaped}")["id"] == job)
    for path, status in {f"jobs/{escaped}": 404, f"jobs/{escaped}/why": 404, f"jobs/{escaped}/log": 404, f"jobs/{job}%00": 400, f"jobs/{job}%0a": 400,
                         f"jobs/x%2f..%2f{job}": 400, f"jobs/x/../{job}": 400, f"jobs/.%2e/jobs/{job}": 400, f"jobs/%25{escaped[1:]}": 404,
                         f"jobs/{job}%3fuser={OWNER}": 404, f"jobs/{job}%20": 404, f"jobs/{job}/": 404, f"jobs//{job}": 404, f"jobs/{job}%c0%ae": 400,
                         f"jobs/{job}?user={OWNER}": 400, f"jobs/{job}/requeue": 404, f"jobs/{job}/explain": 404, f"audit/{job}": 404,
                         f"actions?user={OWNER}": 400, f"audit?user={OTHER}": 403, f"events?user={OWNER}": 400, f"changes?since=0&user={OWNER}": 400}.items():
        got, _, text = access.ask("other", "GET", "/api/v1/" + path)
        expect(f"{path}: {got} instead of {status}: {text[:200]}", got == status)
    for method, path in (("POST", f"jobs/{job}/requeue"), ("POST", f"jobs/{job}/explain"), ("DELETE", f"jobs/{job}"), ("PUT", f"jobs/{job}"), ("POST", f"jobs/{job}")):
        got = access.ask("other", method, "/api/v1/" + path, {})[0]
        expect(f"{method} {path}: {got}", got in (404, 405))
    print("ok: an id spelled otherwise opens nothing")


def forged(access, job):
    """What a caller says of himself counts for nothing."""
    operator, owner = access.site.tokens["operator"], access.site.tokens["owner"]
    lies = [{f"X-{name}": who} for name in ("Schedmate-User", "Remote-User", "Forwarded-User", "Schedmate-Role") for who in (OWNER, "operator")]
    lies += [{"Cookie": f"token={operator}; Authorization=Bearer {operator}"}, {"Forwarded": "for=127.0.0.1;user=root"}, {"X-Forwarded-For": "127.0.0.1"},
             {"X-HTTP-Method-Override": "POST"}, {"X-Original-URL": "/api/v1/audit"}, {"Proxy-Authorization": f"Bearer {owner}"}]
    for headers in lies:
        for caller in ("other", "viewer"):
            got, _, text = access.ask(caller, "GET", f"/api/v1/jobs/{job}", headers=headers)
            expect(f"{headers} by {caller}: {got}", got == 404)
        got = access.ask("nobody", "GET", "/api/v1/jobs", headers=headers)[0]
        expect(f"{headers} by nobody: {got}", got == 401)
        expect(f"{headers} for the chain", access.ask("other", "GET", "/api/v1/audit", headers=headers)[0] == 403)
    for value in (f"Basic {operator}", operator, f"Bearer {operator[:-1]}", f"Bearer {operator}0", "Bearer", f"Bearer {hashlib.sha256(operator.encode()).hexdigest()}"):
        got = access.ask("forger", "GET", f"/api/v1/jobs/{job}", headers={"Authorization": value})[0]
        expect(f"{value[:12]}...: {got}", got == 401)
    if access.child:
        for headers in ({"Authorization": f"Bearer {operator}"}, {"X-Remote-User": "root"}):
            expect("on the unix socket the uid alone counts", access.ask("uid", "GET", f"/api/v1/jobs/{job}", headers=headers)[0] == 404)
    got, _, text = access.ask("other", "POST", "/api/v1/jobs", {"command": "true", "user": OWNER})
    expect(f"nobody submits as another: {got} {text}", got == 403 and "only operators submit for others" in text)
    print("ok: forged headers change nothing")


def lists(access, jobs):
    mine = [jobs["other"]]
    for query in ("", f"?user={OWNER}", "?state=running", "?state=pending", "?state=failed", "?since=0", "?limit=1", f"?cursor=after:{jobs['failed'][:-1]}", f"?user={OTHER}"):
        for caller in [each for each in access.callers() if each in ("other", "viewer", "uid")]:
            listed = access.json(caller, "jobs" + query)["jobs"]
            expect(f"jobs{query} for {caller}: {listed}", {job["user"] for job in listed} <= {OTHER} and (caller != "viewer" or not listed))
    expect("the own one is there", [job["id"] for job in access.json("other", "jobs")["jobs"]] == mine)
    for query in ("", "?state=waiting", "?state=verified", "?state=shadowed", "?since=0", "?since=-1000", "?limit=1"):
        for caller in ("other", "viewer"):
            for action in access.json(caller, "actions" + query)["actions"]:
                call = action["call"]
                expect(f"actions{query} for {caller}: {action}", caller == "other" and (call.get("job") in mine or call.get("user") == OTHER))
    why = access.json("other", f"jobs/{jobs['other']}/why")["blocked_by"]
    expect(f"jobs that it waits for are counted: {why}", why and not why["jobs"] and why["jobs_of_others"] >= 1)
    why = access.json("operator", f"jobs/{jobs['other']}/why")["blocked_by"]
    expect(f"and named to operators: {why}", set(why["jobs"]) & set(access.ids))
    used = {caller: access.json(caller, "ledger")["used_gpu_h"] for caller in ("owner", "other", "viewer", "operator")}
    expect(f"GPU time is the own: {used}", used["owner"] > 0 == used["viewer"] and used["operator"] >= used["owner"] > used["other"])
    nodes = {caller: {node["name"]: node["jobs"] for node in access.json(caller, "cluster")["nodes"]}["lab-0"] for caller in used}
    expect(f"jobs on a node: {nodes}", nodes["other"] == nodes["viewer"] == [] and nodes["owner"] == nodes["operator"] and nodes["owner"][0]["id"] == jobs["runs"])
    print("ok: lists and sums are of the own jobs")


def streams(access, begun):
    """From before the owner's jobs to a job of the listener's own: what comes between is for others."""
    for caller, user in (("owner", OWNER), ("other", OTHER), ("viewer", VIEWER), ("operator", OPERATOR)):
        told = access.json(caller, f"changes?since={begun}")
        connection = http.client.HTTPConnection("127.0.0.1", access.site.port, timeout=60)
        connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {access.site.tokens[caller]}", "Last-Event-ID": str(begun)})
        stream = connection.getresponse()
        expect(f"a stream for {caller}: {stream.status}", stream.status == 200)
        _, own = access.submit("operator", {"command": "true", "user": user, "partition": "lab", "gpus": 8, "run_s": 5})
        text = ""
        while f'"id":"{own}"' not in text:
            line = stream.readline().decode()
            expect(f"the stream of {caller} goes on", line)
            text += line
        connection.close()
        access.hold_back(caller, "the stream of events", "", 200, str(stream.getheaders()), text)
        sees = [WORDS["name"] in each for each in (text, json.dumps(told))]
        expect(f"{caller} hears of the owner's jobs: {sees}", sees == [caller in access.told] * 2 and not told["full"])
        expect(f"{caller} hears of actions", ("event: action" in text) == (caller == "operator"))
        access.cases += 1
    for caller in ("other", "viewer"):
        for last in ("x", "-1", "1 2"):
            got = access.ask(caller, "GET", "/api/v1/events", headers={"Last-Event-ID": last})[0]
            expect(f"Last-Event-ID {last}: {got}", got == 400)
        for since in ("0", "1", str(begun + 10**6), "-5"):
            expect(f"changes after {since} are read anew", access.json(caller, f"changes?since={since}")["full"])
    expect("nobody hears anything", access.ask("nobody", "GET", "/api/v1/events", headers={"Last-Event-ID": str(begun)})[0] == 401)
    print("ok: events are told to whom they concern")


def seen(access, caller, path):
    """Which of the owner's words an answer holds."""
    text = access.ask(caller, "GET", "/api/v1/" + path)[2]
    return {field for field, word in WORDS.items() if word in text}


def where_they_should(access, jobs, actions, has_reader):
    """Without this nothing above could fail."""
    request = {"name", "command", "dir", "output"}
    for caller in ("owner", "operator"):
        expect(f"jobs for {caller}", "name" in seen(access, caller, "jobs"))
        expect(f"a job for {caller}", seen(access, caller, f"jobs/{jobs['runs']}") >= request)
        expect(f"an action for {caller}", seen(access, caller, f"actions/{actions['runs']}") >= request)
        expect(f"actions for {caller}", seen(access, caller, "actions") >= request)
        if has_reader:
            told = seen(access, caller, f"jobs/{jobs['failed']}")
            followed = {job["id"] for job in access.json(caller, "jobs")["jobs"]}
            expect(f"a failure and its facts for {caller}: {told}", told >= request | {"error", "code"} or jobs["failed"] not in followed)
            expect(f"a log for {caller}", seen(access, caller, f"jobs/{jobs['runs']}/log") >= {"line", "error"})
    expect("the chain for operators", seen(access, "operator", "audit?since=0") >= request)
    print("ok: the owner and operators see them")


def suspected(access, job):
    """A node is suspect for the owner's failure: which job that was is for operators, that it is suspect for all."""
    site = access.site
    told = lambda caller: {node["name"]: node["suspect"] for node in access.json(caller, "cluster")["nodes"]}["bad-0"]
    answers = []

    def all_of_it():
        answers[:] = [told(caller) for caller in ("operator", "owner", "other", "viewer", "operator")]
        return all(answers)

    site.wait(all_of_it, "the node is suspect")
    expect(f"operators read why: {answers[0]}", f"job {job} " in answers[0]["why"])
    expect(f"others that it is: {answers[1:4]}", all(each["why"] == "test_nodes" for each in answers[1:4]))
    print("ok: why a node is suspect is for operators")


def advised(access, folder, theirs):
    """Advice to the other on the same program: the owner's runs are counted."""
    for where, status in ((theirs, 200), (folder, 403)):
        got, _, text = access.ask("other", "POST", "/api/v1/advise", {"dir": str(where), "command": "python train.py", "gpus": 8})
        expect(f"advice to the other: {got} {text[:300]}", got == status)
    _, own = access.submit("other", {"command": "python train.py", "dir": str(theirs), "gpus": 8, "partition": "free", "run_s": 5})
    told = lambda caller: access.json(caller, f"jobs/{own}")["advice"] or {}
    access.site.wait(lambda: told("operator").get("neighbours"), "it has advice")
    advice = told("other")
    expect(f"past runs of the owner are counted: {advice}", advice["neighbours"] == [] and advice["neighbours_of_others"] > 0)
    _, _, text = access.ask("other", "POST", "/api/v1/advise", {"dir": str(theirs), "command": "python train.py", "gpus": 8})
    similar = json.loads(text)["similar"]
    expect(f"advice on request stands on them, too: {text[:300]}", similar and all(each["job_id"] in (None, own) for each in similar))
    expect("and named to operators", {each["job_id"] for each in told("operator")["neighbours"]} <= set(access.ids))
    print("ok: advice stands on the owner's runs without naming them")


def beside_another_instance(access, cluster):
    """It has drained a node by the owner's log: who reads that nothing is called any more reads no line of that."""
    cluster.told["bad-0"] = f"schedmate:there.5/8 log of bad-0: {WORDS['error']}"
    access.site.wait(lambda: access.ask("other", "POST", "/api/v1/jobs", MOVES) and "another instance" in access.ask("nobody", "GET", "/readyz")[2],
                     "the other one is seen")
    for caller in ("nobody", "other", "viewer"):
        for path in ("/readyz", "/metrics", "/api/v1/cluster", "/api/v1/actions", "/api/v1/changes"):
            access.ask(caller, "GET", path)
    got, _, text = access.ask("other", "POST", "/api/v1/jobs", {"command": "true"})
    expect(f"nothing is submitted: {got} {text}", got == 409 and "another instance" in text)
    expect("operators read the line", WORDS["error"] in access.ask("operator", "GET", "/api/v1/cluster")[2])
    print("ok: a mark is told without what stands behind it")


def of_the_past(access, cluster, jobs, has_reader):
    """What is followed no more is the history's, with the same rights."""
    job = jobs["done"]
    cluster.forward = 3600
    access.site.wait(lambda: access.submit("other", MOVES) and job not in {each["id"] for each in access.json("owner", "jobs")["jobs"]},
                     "it is followed no more")
    for caller in access.callers():
        wanted = {"nobody": 401, "stale": 401, "host": 421, "site": 403, "owner": 200, "operator": 200}.get(caller, 404)
        got, _, text = access.ask(caller, "GET", f"/api/v1/jobs/{job}")
        expect(f"a job of the past for {caller}: {got} instead of {wanted}: {text}", got == wanted)
        for path in (f"jobs/{job}/log", f"jobs/{job}/why", f"jobs/{job}/cancel"):
            got = access.ask(caller, "POST" if path.endswith("cancel") else "GET", "/api/v1/" + path)[0]
            expect(f"{path} of the past for {caller}: {got}", got == (404 if wanted == 200 else 403 if caller == "viewer" and path.endswith("cancel") else wanted))
    for caller in ("owner", "operator"):
        expect(f"what the history has for {caller}", seen(access, caller, f"jobs/{job}") >= {"command", "dir"} | ({"code"} if has_reader else set()))
    print("ok: so it is with jobs of the past")


def viewers_of_all(access, jobs, actions):
    """Where the settings say so, viewers see what owners see, but logs, the chain and decisions."""
    access.told = access.told | {"viewer"}
    expect("jobs", "name" in seen(access, "viewer", "jobs"))
    request = {"name", "command", "dir", "output"}
    for path in (f"jobs/{jobs['runs']}", f"actions/{actions['runs']}", "actions"):
        expect(f"{path} for a viewer of all", seen(access, "viewer", path) >= request)
    for method, path, wanted in (("GET", f"jobs/{jobs['runs']}/log", 403), ("GET", "audit", 403), ("POST", f"jobs/{jobs['runs']}/cancel", 403),
                                 ("POST", f"actions/{actions['runs']}/approve", 403), ("POST", "jobs", 403), ("POST", "breaker/close", 403)):
        got, _, text = access.ask("viewer", method, "/api/v1/" + path, {} if method == "POST" else None)
        expect(f"{method} {path} for a viewer of all: {got}", got == wanted and not any(word in text for word in WORDS.values()))
    nodes = {node["name"]: node["jobs"] for node in access.json("viewer", "cluster")["nodes"]}["lab-0"]
    expect(f"the map: {nodes}", [job["id"] for job in nodes] == [jobs["runs"]])
    for caller in ("other", "nobody"):
        for path in ("jobs", f"jobs/{jobs['runs']}", "actions", f"actions/{actions['runs']}", "cluster"):
            access.ask(caller, "GET", "/api/v1/" + path)
    print("ok: viewers of all jobs see them, and no more")


def main(daemon, reader, trace):
    has_reader = os.geteuid() == 0
    site = House(daemon, trace, 5, SETTINGS)
    site.give_probe_secret(SECRET)
    folder = site.home(OWNER, WORDS["dir"], {f"{WORDS['output']}.log": LOG, "train.py": CODE.format(WORDS["code"])})
    theirs = site.home(OTHER, "theirs", {"train.py": CODE.format("mine")})
    with open(site.config, "a") as config:
        config.write(f'[reader]\nsocket = "{site.folder}/reader.sock"\nuid_min = 0\n')
    reads = [site.begin_reader(reader)] if has_reader else []
    cluster = MarkedCluster(site, {})
    process = site.begin()
    access = Access(site)
    begun = access.json("operator", "changes")["last"]
    jobs, actions = made(site, access, folder)
    if has_reader:
        site.wait(lambda: {"error", "code"} <= seen(access, "operator", f"jobs/{jobs['failed']}"), "it is known what it was and why it has failed")
        suspected(access, jobs["failed"])
    where_they_should(access, jobs, actions, has_reader)
    lists(access, jobs)
    as_if_there_were_none(access, jobs, actions)
    streams(access, begun)
    spelled_otherwise(access, jobs["runs"])
    forged(access, jobs["runs"])
    matrix(access, jobs, actions, folder, has_reader)
    if has_reader:
        advised(access, folder, theirs)
    of_the_past(access, cluster, jobs, has_reader)
    beside_another_instance(access, cluster)
    process.terminate()
    said = process.communicate()[1].decode()
    expect(f"its own log has none of it: {said}", not any(word in said for word in WORDS.values()))
    site.config.write_text(site.config.read_text().replace("[access]\n", '[access]\nviewers_see = "all"\n'))
    process = site.begin()
    site.wait(lambda: access.ask("operator", "GET", "/api/v1/jobs")[0] == 200, "it has read the cluster")
    viewers_of_all(access, jobs, actions)
    print(f"ok: {access.cases} answers")
    if not has_reader:
        print("SKIPPED: log, advise, diagnose and callers by uid: they need root")
    site.end(process, *reads)


main(*sys.argv[1:4])
