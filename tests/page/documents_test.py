#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The made documents against the schemas of the API, so that the page is not tested on what no daemon gives: documents_test.py"""
import json
import pathlib
import urllib.request

import jsonschema

from made_server import MadeServer

OPENAPI = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs/api/openapi.json").read_text())


def fault(path, document):
    """What is wrong with the reply of a route, or None."""
    schema = OPENAPI["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    errors = jsonschema.Draft202012Validator({**schema, "components": OPENAPI["components"]}).iter_errors(document)
    return next((f"{error.message[:300]} at {list(error.absolute_path)}" for error in errors), None)


def main():
    server = MadeServer()
    ids = {each["state"]: each["id"] for each in server.jobs.values()}
    routes = [("cluster", ""), ("jobs", ""), ("actions", ""), ("actions/{ID}", "41"), ("ledger", ""), ("audit", ""), ("changes", "")]
    for identity in ids.values():
        routes += [("jobs/{ID}", identity), ("jobs/{ID}/why", identity), ("jobs/{ID}/log", identity)]
    for route, identity in routes:
        with urllib.request.urlopen(f"{server.address}api/v1/{route.replace('{ID}', identity)}") as reply:
            document = json.load(reply)
        wrong = fault(f"/api/v1/{route}", document)
        if wrong:
            raise SystemExit(f"FAILED: {route} {identity}: {wrong}")
        if route != "jobs/{ID}/log" and not fault(f"/api/v1/{route}", {**document, "to_come": 1}):
            raise SystemExit(f"FAILED: {route}: what no daemon gives is not found")
    print(f"ok: {len(routes)} made documents are as the API has them")
    server.stop()


main()
