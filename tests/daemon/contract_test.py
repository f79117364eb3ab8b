#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each route's replies against the schemas of the daemon's own OpenAPI document:
contract_test.py SCHEDMATED SCHEDMATE_READER TRACE. Without root: no reader, which reads as the user, and so no replies of its routes."""
import json
import os
import sys

import jsonschema

from probe_message import SECRET, gpus, sealed
from site_of import Site

SETTINGS = 'speed = 60\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n'


class Contract:
    def __init__(self, site):
        self.site, self.held, self.seen = site, 0, set()
        self.document = site.ask("GET", "/api/v1/openapi.json")[1]
        self.operations = {}
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                self.operations[operation["operationId"]] = (method.upper(), path, operation)

    def hold(self, name, identity="", query="", wanted=None, **more):
        """Asks the route and holds the reply against its schema; gives the document."""
        method, path, operation = self.operations[name]
        status, reply = self.site.ask(method, path.replace("{ID}", identity) + query, **more)
        if wanted and status != wanted:
            raise SystemExit(f"FAILED: {name}: {status} instead of {wanted}: {reply}")
        answer = operation["responses"].get(str(status), operation["responses"]["default"])
        content = answer["content"].get("application/json")
        if content:
            self.fits(f"{name} {status}", content["schema"], reply)
            named = content["schema"].get("$ref", "").rpartition("/")[2]
            if named.startswith("schedmate.") and reply.get("schema", named) != named:
                raise SystemExit(f"FAILED: {name} {status}: it says {reply['schema']}")
        self.held += 1
        self.seen.add(name)
        return reply

    def fits(self, what, schema, document):
        try:
            jsonschema.Draft202012Validator({**schema, "components": self.document["components"]}).validate(document)
        except jsonschema.ValidationError as error:
            raise SystemExit(f"FAILED: {what}: {error.message} at {list(error.absolute_path)}")


def every_route(site):
    contract = Contract(site)
    hold = contract.hold
    for schema in contract.document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    site.wait(lambda: site.ask("GET", "/api/v1/jobs?state=completed")[1]["jobs"], "a job has ended")
    job = {"command": "python train.py", "name": "made", "run_s": 5}
    submitted = hold("submit", body=job, wanted=202, headers={"Idempotency-Key": "one"})
    hold("submit", body=job, wanted=200, headers={"Idempotency-Key": "one"})
    hold("submit", body={}, wanted=400)
    action = str(submitted["id"])
    told = []
    site.wait(lambda: told.append(hold("action", action)["job"]) or told[-1], "it is a job")
    own = told[-1]
    for name in ("healthz", "readyz", "metrics", "jobs", "cluster", "actions", "ledger", "audit", "openapi", "changes"):
        hold(name, wanted=200)
    for state in ("pending", "running", "completed"):
        listed = hold("jobs", query=f"?state={state}&limit=5", wanted=200)["jobs"]
        for each in listed[:2]:
            hold("job", each["id"], wanted=200)
            hold("why", each["id"], wanted=200)
    hold("jobs", query="?state=runing", wanted=400)
    hold("jobs", query="?limit=much", wanted=400)
    hold("job", "nobodys", wanted=404)
    long = hold("submit", body={**job, "run_s": 1000000, "limit_s": 0}, wanted=202)
    site.wait(lambda: told.append(hold("action", str(long["id"]))["job"]) or told[-1], "it is there")
    held = told[-1]
    site.wait(lambda: site.ask("GET", f"/api/v1/jobs/{held}")[1]["state"] == "running", "it runs")
    hold("cancel", held, wanted=202)
    hold("cancel", "nobodys", wanted=404)
    for name in ("approve", "reject", "undo"):
        hold(name, action, wanted=409)
        hold(name, "99999999", wanted=404)
    hold("breaker_close", wanted=200)
    hold("ledger", token=site.tokens["ann"], wanted=200)
    hold("jobs", token="smt_" + 64 * "0", wanted=401)
    hold("audit", token=site.tokens["ann"], wanted=403)
    # Rows that others answer, or do not answer yet.
    for name in set(contract.operations) - contract.seen - {"events"}:
        hold(name, own)
    print(f"ok: {contract.held} replies of {len(contract.seen)} of {len(contract.operations)} routes are as their schemas say")


def bodies(site):
    """Those of `advise` and `diagnose`: the daemon refuses what their schemas refuse, and takes what they have."""
    contract = Contract(site)
    log = {"log": "/a.log", "logs": ["/a.log", "/b.log"]}
    job = {"dir": "/runs/7", "command": "python train.py", "workdir": ".", "gpus": 8, "nodes": None, "gpu_type": "H100",
           "branch": "main", "partition": "a", "time_limit_s": 7200}
    for name, whole in (("advise", job), ("diagnose", log), ("diagnose", {"text": "Xid 79"})):
        schema = {"$ref": f"#/components/schemas/{name}.request", "components": contract.document["components"]}
        validator = jsonschema.Draft202012Validator(schema)
        known = set(contract.document["components"]["schemas"][name + ".request"]["properties"])
        if name == "advise" and known != set(whole):
            raise SystemExit(f"FAILED: the schema of {name} has {known}")
        wrong = [{}, [], {**whole, "user": "bob"}, {**whole, "text": "x", "log": "/a.log"}]
        wrong += [{**whole, field: value} for field in whole for value in (7.5, True, {}, ["a"], "\0", -1, "x" * 70000)
                  if not (field == "text" and value == "x" * 70000)]
        wrong += [{field: value for field, value in whole.items() if field != left} for left in ("dir", "command") if left in whole]
        for body, fits in [(whole, True)] + [(each, False) for each in wrong]:
            status = site.ask("POST", f"/api/v1/{name}", body=json.dumps(body))[0]
            # 503: there is no schedmate-reader here, so it would have been read.
            if (status == 503) != fits or validator.is_valid(body) != fits:
                raise SystemExit(f"FAILED: {name}: {status} for {str(body)[:200]}, {'no ' * (not validator.is_valid(body))}fit for its schema")
    print("ok: bodies of advise and diagnose are held against their schemas")


def events(site):
    """What the stream and `changes` tell: a job as lists have it without forecasts, of an action some of its fields."""
    contract = Contract(site)
    parts = contract.document["components"]["schemas"]
    job, action = parts["job"], parts["schedmate.action.v1"]["properties"]
    forecasts, told = ("eta", "held_up_by"), ("id", "state", "kind", "target")
    schemas = {"full": {"const": {}},
               "job": {**job, "properties": {**job["properties"], **{name: False for name in forecasts}},
                       "required": [name for name in job["required"] if name not in forecasts]},
               "action": {"properties": {name: action[name] for name in told}, "required": ["id", "state"], "additionalProperties": False}}
    last = contract.hold("changes", wanted=200)["last"]
    connection = site.by_socket()
    connection.request("GET", "/api/v1/events")
    stream = connection.getresponse()
    if stream.status != 200 or stream.headers["Content-Type"] != "text/event-stream":
        raise SystemExit(f"FAILED: events: {stream.status} {stream.headers}")
    site.ask("POST", "/api/v1/jobs", body={"command": "true", "run_s": 5})
    missing, kind = set(schemas), ""
    while missing:
        word, _, rest = stream.readline().decode().strip().partition(": ")
        kind = rest if word == "event" else kind
        if word == "data":
            contract.fits(f"event {kind}", schemas[kind], json.loads(rest))
            missing.discard(kind)
    connection.close()
    changes = contract.hold("changes", query=f"?since={last}", wanted=200)["changes"]
    for each in changes:
        contract.fits(f"change {each['kind']}", schemas[each["kind"]], each["data"])
    if not changes:
        raise SystemExit("FAILED: no changes are told")
    print(f"ok: events of each kind and {len(changes)} changes are as the schemas of their kinds say")


def readings(site, each, reader):
    """What a probe and a reader make possible: `probe`, `log`, `advise`, `diagnose`."""
    contract = Contract(site)
    node = contract.hold("cluster", wanted=200)["nodes"][0]["name"]
    sample = {**json.loads(gpus(30)), "node": node}
    body = json.dumps({"every_s": 10, "samples": [sample]})
    session = contract.hold("probe", body=sealed(node, 1, "ab", body), wanted=409)["session"]
    contract.hold("probe", body=sealed(node, 1, session, body), wanted=200)
    each.terminate()
    each.wait()
    if not reader:
        print("SKIPPED: log, advise and diagnose: they need root")
        return site.end()
    home = site.give_home("root", {"job.log": "step 1/2\nCUDA error: out of memory\n", "train.py": "import torch\n"})
    each = site.begin()
    reads = site.begin_reader(reader)
    job = {"command": "python train.py", "dir": str(home), "output": "job.log", "run_s": 1000000}
    action = str(contract.hold("submit", body=job, wanted=202)["id"])
    named = []
    site.wait(lambda: named.append(site.ask("GET", f"/api/v1/actions/{action}")[1]["job"]) or named[-1], "it is a job")
    site.wait(lambda: site.ask("GET", f"/api/v1/jobs/{named[-1]}/log")[0] == 200, "its log is read")
    contract.hold("log", named[-1], query="?tail=1", wanted=200)
    contract.hold("advise", body={"dir": str(home), "command": "python train.py"}, wanted=200)
    contract.hold("diagnose", body={"log": str(home / "job.log")}, wanted=200)
    contract.hold("diagnose", body={"text": "Xid 79"}, wanted=200)
    site.end(each, reads)
    print(f"ok: with a reader and a probe {contract.held} replies are as their schemas say")


def main():
    daemon, reader, trace = sys.argv[1:4]
    site = Site(daemon, trace, 300, SETTINGS)
    site.give_probe_secret(SECRET)
    each = site.begin()
    every_route(site)
    bodies(site)
    events(site)
    readings(site, each, reader if os.geteuid() == 0 else None)


main()
