#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The baseline "model without locator": log_judge.py URL LOG

Shows the last lines of the log that fit the context to a chat server, as the only judge, and prints what it says as
`schedmate diagnose --json` would: class, component, root_line, cost. Nothing of the answer is checked.
"""
import json, sys, urllib.request

CONTEXT_BYTES = 3 * (8192 - 600)
CLASSES = ["infrastructure", "framework", "user_script", "other", "none"]
COMPONENTS = ["gpu", "nvlink", "network", "node", "storage", "other", "none"]
TASK = """You read the end of the log of a deep-learning job. Say whether it failed and whose fault it was.
class: infrastructure (hardware, network, node, storage), framework (bug or version of a library), user_script (code,
arguments, data, out of memory), other (cancelled, time limit, killed), none (it did not fail).
component: of infrastructure only, else none. line: the number of the line that shows the cause, 0 for none."""
SCHEMA = {"type": "object", "additionalProperties": False, "required": ["line", "class", "component"], "properties": {
    "line": {"type": "integer"}, "class": {"type": "string", "enum": CLASSES},
    "component": {"type": "string", "enum": COMPONENTS}}}


def last_lines(path):
    shown, size = [], 0
    lines = open(path, errors="replace").read().split("\n")
    for number in range(len(lines), 0, -1):
        text = f"{number}: {lines[number - 1][:300]}"
        size += len(text.encode()) + 1
        if size > CONTEXT_BYTES:
            break
        shown.append(text)
    return "\n".join(reversed(shown))


def ask(url, text):
    body = {"model": "judge", "temperature": 0, "max_tokens": 100,
            "messages": [{"role": "system", "content": TASK}, {"role": "user", "content": text}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}}
    request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    reply = json.load(urllib.request.urlopen(request, timeout=280))
    return json.loads(reply["choices"][0]["message"]["content"]), reply.get("usage", {}).get("total_tokens", 0)


def main():
    url, path = sys.argv[1:3]
    verdict, tokens = {"class": "other", "component": "none", "line": 0}, 0
    try:
        verdict, tokens = ask(url, last_lines(path))
    except (OSError, ValueError, KeyError) as error:
        print(f"log_judge: {error}", file=sys.stderr)
    component = verdict.get("component")
    print(json.dumps({"class": verdict.get("class"), "component": None if component == "none" else component,
                      "root_line": verdict.get("line") or None,
                      "cost": {"model_calls": 1, "tokens": tokens, "model_accepted": 1, "model_dropped": 0}}))


main()
