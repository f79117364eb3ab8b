#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon answers, beside a replay: api_test.py SCHEDMATED TRACE"""
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time

from site_of import Site, expect


def in_shadow(daemon, trace):
    site = Site(daemon, trace, 60, '[order]\npolicy = "fifo"\n')
    each = site.begin()
    expect("ready means that the cluster was read", site.ask("GET", "/api/v1/jobs")[0] == 200)
    site.wait(lambda: len(site.ask("GET", "/api/v1/actions")[1]["actions"]) >= 2, "it decides")
    actions = site.ask("GET", "/api/v1/actions")[1]["actions"]
    newest = site.ask("GET", "/api/v1/actions?since=-2")[1]["actions"]
    expect("the newest actions alone", len(newest) == 2 and newest[0]["id"] == newest[1]["id"] + 1 >= actions[0]["id"])
    paged = site.ask("GET", "/api/v1/actions?limit=1")[1]
    expect("newest first, in pages", paged["actions"][0]["id"] == paged["next"]
           and site.ask("GET", f"/api/v1/actions?limit=1&cursor={paged['next']}")[1]["actions"][0]["id"] == paged["next"] - 1)
    for path in ("jobs?limit=-5", "jobs?limit=0", "actions?limit=0", "actions?cursor=abc", "actions?cursor=0", "jobs?cursor=zzzz", "audit?limit=-1"):
        status, error = site.ask("GET", "/api/v1/" + path)
        expect(f"{path}: {error.get('message')}", status == 400 and path.split("?")[1].split("=")[0] in error["message"])
    step = newest[0]["steps"][0]
    entry = site.ask("GET", "/api/v1/audit?since=-1")[1]["entries"][0]
    expect("times of steps and of the chain are in words, too",
           all(each.get("when") == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(each["when_s"])) for each in (step, entry)))
    pending = site.ask("GET", "/api/v1/jobs?state=pending")[1]["jobs"][0]
    why = site.ask("GET", f"/api/v1/jobs/{pending['id']}/why")[1]["blocked_by"]
    expect(f"why nobody starts it: {why['text']}", pending["held_up_by"] == why["reason"] == "mode" and "mode.order is shadow" in why["text"])
    told = site.ask("GET", "/api/v1/cluster")[1]
    expect("the cluster tells who asks, and the modes", told["caller"]["role"] == "operator" and told["modes"]["order"] == "shadow" and told["name"] == "venus"
           and told["actions_waiting"] == 0)
    expect("in shadow each decision is recorded", {action["state"] for action in actions} == {"shadowed"})
    expect("in shadow nothing is called", (site.state / "replay.jsonl").read_text() == "")
    each.terminate()
    expect("SIGTERM ends it with 0", each.wait(timeout=60) == 0)
    site.end()


def drained_by_schedmate(daemon, trace):
    site = Site(daemon, trace, 60, '[order]\npolicy = "fifo"\n')
    name, other = [site.config.with_name("cluster.toml").read_text().split('"')[1] + end for end in ("-0", "-1")]
    for node, reason in ((name, "schedmate:other/7 Xid 79 in the log of ann"), (other, "bob: new fans")):
        expect("it is drained", site.call_cluster({"kind": "drain_node", "nodes": [{"node": node, "gpus": []}], "text": reason}) == "done")
    each = site.begin()

    def reasons(token=None):
        nodes = {node["name"]: node["reason"] for node in site.ask("GET", "/api/v1/cluster", token=token)[1]["nodes"]}
        return nodes[name], nodes[other]

    expect("an operator reads why SchedMate drained a node", reasons()[0].endswith("of ann"))
    for who in ("ann", "vic"):
        expect(f"{who} sees that it did, and what people wrote", reasons(site.tokens[who]) == ("schedmate:other/7", "bob: new fans"))
    site.end(each)


def blind(daemon, trace):
    site = Site(daemon, trace, 60, '[order]\npolicy = "fifo"\n')
    each = site.begin()
    expect("it sees the cluster", site.ask("GET", "/api/v1/cluster")[1]["trouble"] is None)
    site.replay.send_signal(signal.SIGSTOP)
    site.wait(lambda: not site.answers(), "it says that it sees nothing")
    reason = site.ask("GET", "/readyz")[1]["reasons"][0]
    expect(f"and why: {reason}", reason == "the cluster does not answer: no answer in time")
    expect("what it shows is said to be old", site.ask("GET", "/api/v1/cluster")[1]["trouble"] in reason)
    site.replay.send_signal(signal.SIGCONT)
    site.wait(site.answers, "it sees again")
    each.terminate()
    said = each.communicate()[1].decode()
    expect(f"its log tells of both, once: {said}", said.count("does not see the cluster") == 1 and said.count("sees the cluster again") == 1)
    site.end()


def by_approval(daemon, trace):
    # An action expires after two minutes.
    site = Site(daemon, trace, 60, 'speed = 30\n[order]\npolicy = "fifo"\n[mode]\norder = "approve"\n')
    each = site.begin()
    site.wait(lambda: len(site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"]) >= 2, "it asks")
    action = site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"][0]
    path = f"/api/v1/actions/{action['id']}"
    job = f"/api/v1/jobs/{action['call']['job']}"
    expect("the job waits", site.ask("GET", job)[1]["state"] == "pending")
    told = []  # known quantiles: what was foreseen is over soon on so fast a clock
    site.wait(lambda: told.append(site.ask("GET", job)[1]["eta"]) or (told[-1] and told[-1]["start_s"]["p90"] and told[-1]["end_s"]["p90"]), "its start is foreseen")
    start, end = told[-1]["start_s"], told[-1]["end_s"]
    expect("its start and end are in order, and not over", told[-1]["as_of_s"] <= start["p10"] <= start["p90"] <= end["p90"])
    why = site.ask("GET", job + "/why")[1]["blocked_by"]
    expect(f"why it waits: {why['text']}", why["reason"] == "approval" and why["action"] == action["id"])
    in_list = [each for each in site.ask("GET", "/api/v1/jobs?state=pending")[1]["jobs"] if each["id"] == action["call"]["job"]]
    expect("the job says so, too", [each["held_up_by"] for each in (*in_list, site.ask("GET", job)[1])] == ["approval"] * 2)
    for query in ("state=waiting&limit=1", "state=planned", "state=shadowed&limit=1"):
        found = site.ask("GET", "/api/v1/actions?" + query)[1]["actions"]
        expect(f"a state is looked for before the page is cut: {query}", len(found) == query.startswith("state=waiting"))
    expect("nothing is called before", (site.state / "replay.jsonl").read_text() == "")
    expect("approved", site.ask("POST", path + "/approve")[0] == 200)
    site.wait(lambda: site.ask("GET", path)[1]["state"] == "verified", "the start is seen")
    started = [line for line in (site.state / "replay.jsonl").read_text().splitlines() if '"start"' in line]
    expect("that job alone was started", len(started) == 1 and f'"{action["call"]["job"]}"' in started[0])
    by = [step["by"] for step in site.ask("GET", path)[1]["steps"] if step["state"] == "approved"]
    expect("who approved is on record", by == [f"{pwd.getpwuid(os.getuid()).pw_name} (uid {os.getuid()})"])
    other = site.ask("GET", "/api/v1/actions?state=waiting")[1]["actions"][-1]["id"]
    expect("the answer to a rejection is what is on record",
           site.ask("POST", f"/api/v1/actions/{other}/reject")[1]["state"] == "rejected")
    status, error = site.ask("POST", path + "/approve")
    expect("a second approval is a conflict", status == 409 and "its end" in error["message"])
    status, error = site.ask("POST", path + "/undo")
    expect(f"what can be done instead of an undo is said: {error['message']}",
           status == 409 and error["message"] == "start cannot be undone; cancel the job instead")
    status, error = site.ask("POST", "/api/v1/actions/99999/approve")
    expect("an unknown action is not found", status == 404)
    expect("the breaker closes", site.ask("POST", "/api/v1/breaker/close")[0] == 200)
    entries = site.ask("GET", "/api/v1/audit?since=0")[1]["entries"]
    expect("the chain tells of it", any(entry.get("state") == "approved" for entry in entries))
    changes = site.ask("GET", "/api/v1/changes?since=0")[1]
    expect("changes are told", changes["full"] or any(change["kind"] == "job" for change in changes["changes"]))
    expect("the nodes are there", site.ask("GET", "/api/v1/cluster")[1]["nodes"])
    expect("it says that it is ready", site.ask("GET", "/readyz")[1]["ready"])
    other = site.start()
    expect("a second daemon is refused", other.wait(timeout=60) == 4)
    told = other.stderr.read().decode()
    expect(f"and says by whom: {told.strip()}", f":{each.pid}" in told)
    site.end(each)


def reloaded(daemon, trace):
    site = Site(daemon, trace, 60, '[order]\npolicy = "fifo"\n')
    each = site.begin()
    site.wait(lambda: site.ask("GET", "/api/v1/actions")[1]["actions"], "it decides")
    text = site.config.read_text()
    site.config.write_text(text + '[mode]\norder = "loud"\n')
    each.send_signal(signal.SIGHUP)
    said = site.said_by(each, b"goes on with the old settings")
    expect("settings that are wrong change nothing", site.ask("GET", "/api/v1/cluster")[1]["modes"]["order"] == "shadow"
           and (site.state / "replay.jsonl").read_text() == "")
    in_state = lambda state: site.ask("GET", f"/api/v1/actions?state={state}")[1].get("actions", [])
    site.config.write_text(text + '[mode]\norder = "approve"\n')
    each.send_signal(signal.SIGHUP)
    site.wait(lambda: in_state("waiting"), "after SIGHUP its starts wait")
    waited = {action["id"] for action in in_state("waiting")}
    site.config.write_text(text + '[mode]\norder = "act"\n')
    each.send_signal(signal.SIGHUP)
    site.wait(lambda: (site.state / "replay.jsonl").read_text(), "after SIGHUP it acts")
    discarded = {action["id"]: action["steps"][-1]["note"] for action in in_state("discarded")}
    expect(f"and nothing waits on: {discarded}", not in_state("waiting") and waited <= set(discarded)
           and set(discarded.values()) == {"the mode is another one now"})
    statuses = set()
    for _ in range(20):
        each.send_signal(signal.SIGHUP)
        for method, path in (("GET", "cluster"), ("GET", "jobs?limit=1"), ("POST", "actions/999999/approve")):
            statuses.add((method, site.ask(method, f"/api/v1/{path}")[0]))
    expect(f"meanwhile everybody is answered: {statuses}", statuses == {("GET", 200), ("POST", 404)})
    metrics = site.ask("GET", "/metrics")[1]
    expect("it counts", "schedmate_calls_total" in metrics and 'schedmate_jobs{state="running"}' in metrics)
    promtool = shutil.which("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "metrics"], input=metrics, text=True, capture_output=True)
        expect(f"promtool takes its metrics {done.stderr}", done.returncode == 0)
    again = subprocess.run([daemon, "--config", site.config, "--replay"], capture_output=True, text=True, timeout=60)
    expect(f"beside its daemon a replay says why it cannot come back: {again.stderr.strip()}",
           again.returncode == 4 and f":{each.pid} is at work" in again.stderr and "begins anew" in again.stderr)
    each.terminate()
    said = (said + each.communicate()[1]).decode()
    expect("it says what it did", "read its settings again" in said and "jobs come" in said)
    site.end()
    # The cluster begins anew, the journal does not.
    again = subprocess.run([daemon, "--config", site.config, "--replay"], capture_output=True, text=True, timeout=60)
    expect(f"a replay is not begun anew under an old journal: {again.stderr.strip()}",
           again.returncode == 4 and "another state_dir" in again.stderr)


def misused(daemon, trace):
    site = Site(daemon, trace, 5, '[order]\npolicy = "fifo"\n')
    site.end()

    def ends(code, says, *words):
        done = subprocess.run([daemon, *words], capture_output=True, text=True, timeout=60)
        expect(f"{' '.join(words[:2])}: exit {code}, {says}", done.returncode == code and says in done.stderr)

    ends(2, "--bogus", "--bogus")
    ends(2, "not expected", "--check", "extra")
    ends(2, "must have the form KEY=VALUE", "--set", "nonsense")
    ends(2, "nearest: mode.order", "--set", "mode.ordr=act")
    ends(3, "cannot open", "--config", "none.toml")
    ends(3, "a replay needs a trace", "--check")
    ends(2, "unknown policy", "--config", str(site.config), "--set", "order.policy=qssf+fh")
    ends(0, "sound", "--config", str(site.config), "--set", "order.policy=lucid+sm", "--check")
    ends(0, "sound", "--config", str(site.config), "--set", "order.policy=lucid:estimate=user_mean", "--check")
    ends(2, "what only a replay knows", "--config", str(site.config), "--set", "order.policy=lucid:estimate=oracle", "--check")
    ends(2, "without +fh", "--config", str(site.config), "--set", "order.policy=schedmate+fh", "--check")
    ends(2, "cap= is for simulations", "--config", str(site.config), "--set", "order.policy=schedmate:cap=user_mean", "--check")
    ends(4, "schedmated --replay", "--config", str(site.config))
    ends(0, "sound", "--config", str(site.config), "--check")


in_shadow(*sys.argv[1:3])
drained_by_schedmate(*sys.argv[1:3])
blind(*sys.argv[1:3])
by_approval(*sys.argv[1:3])
reloaded(*sys.argv[1:3])
misused(*sys.argv[1:3])
