#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each route's replies against the schemas of the daemon's own OpenAPI document: contract_test.py SCHEDMATED TRACE"""
import json
import sys

import jsonschema

from site_of import Site

SETTINGS = 'speed = 600\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n'


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
            schema = {**content["schema"], "components": self.document["components"]}
            try:
                jsonschema.Draft202012Validator(schema).validate(reply)
            except jsonschema.ValidationError as error:
                raise SystemExit(f"FAILED: {name} {status}: {error.message} at {list(error.absolute_path)}")
        self.held += 1
        self.seen.add(name)
        return reply


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


def main():
    site = Site(*sys.argv[1:3], 300, SETTINGS)
    each = site.begin()
    every_route(site)
    bodies(site)
    site.end(each)


main()
