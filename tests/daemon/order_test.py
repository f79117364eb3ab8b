#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon beside a replay that starts jobs itself: order_test.py SCHEDMATED TRACE"""
import subprocess
import sys

from site_of import Site, expect, rows_of


def calls(site):
    return rows_of(site.state / "replay.jsonl")


def ordered(daemon, trace, host):
    print(f"beside {host}:")
    site = Site(daemon, trace, 2000, f'policy = "{host}"\n[order]\npolicy = "schedmate"\n[mode]\norder = "act"\n')
    each = site.begin()
    site.wait(lambda: len(calls(site)) > 50, "it orders")
    made = calls(site)
    expect("nothing but orders is called", {call["call"]["kind"] for call in made} == {"set_order"})
    expect("they raise, within the span", all(0 < call["call"]["order"] <= 1000 for call in made))
    # One order may start a job before the call for it comes.
    expect("the cluster takes them, or the job runs by then", {call["reply"]["text"] for call in made} <=
           {"", "it does not wait"} and sum(call["reply"]["outcome"] == "done" for call in made) > len(made) / 2)
    status, answer = site.ask("POST", "/api/v1/jobs", {"command": "x", "gpus": 1})
    expect("a submission is refused, with the setting", status == 409 and "cluster.replay.policy" in str(answer))
    expect("it is ready without reservation", site.ask("GET", "/readyz")[1]["reasons"] == [])
    action = site.ask("GET", "/api/v1/actions?limit=1")[1]["actions"][0]
    expect("an order says why", any(words in action["why"][0] for words in ("expected to run", "middle")))
    each.terminate()
    expect("SIGTERM ends it with 0", each.wait(timeout=60) == 0)
    site.end()


def in_shadow(daemon, trace):
    site = Site(daemon, trace, 6000, 'policy = "fifo"\nspeed = 10000\n')
    each = site.begin()
    site.wait(lambda: site.ask("GET", "/api/v1/actions?state=shadowed&limit=5")[1]["actions"], "it says what it would do")

    def waiting():
        for job in site.ask("GET", "/api/v1/jobs?state=pending")[1]["jobs"]:
            place = site.ask("GET", f"/api/v1/jobs/{job['id']}")[1].get("order")
            if place:
                return place
        return None

    places = []
    site.wait(lambda: (found := waiting()) and places.append(found) is None, "a job that waits has a place")
    place = places[0]
    expect(f"and another one that it would have: {place}", 1 <= place["would_be"] <= place["of"] and 1 <= place["now"] <= place["of"])
    expect("nothing is called", calls(site) == [])
    site.end(each)


def without_order(daemon, trace):
    site = Site(daemon, trace, 50, 'policy = "schedmate"\n[mode]\norder = "act"\n')
    each = site.begin()
    reasons = site.ask("GET", "/readyz")[1]["reasons"]
    expect(f"a mode that the cluster cannot carry out is named: {reasons}", "mode.order acts as shadow" in reasons[0])
    site.end(each)
    for setting, code, words in (("order.policy=fifo", 2, "sjf, srtf, qssf, schedmate"),
                                 ("order.span=0", 3, "order.span"),
                                 ("cluster.replay.policy=lucid", 2, "cluster.replay.policy"),
                                 ("cluster.replay.policy=fofo", 2, "fifo")):
        done = subprocess.run([daemon, "--config", site.config, "--check", "--set", setting], capture_output=True,
                              text=True, timeout=60)
        expect(f"{setting}: exit {code}, {done.stderr.strip()}", done.returncode == code and words in done.stderr)


for policy in ("fifo", "slurm_backfill"):
    ordered(*sys.argv[1:3], policy)
in_shadow(*sys.argv[1:3])
without_order(*sys.argv[1:3])
