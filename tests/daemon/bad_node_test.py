#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bad node in a replay: a job fails there, its log blames all its nodes, tests of halves find which it is, and it is
drained: bad_node_test.py SCHEDMATED SCHEDMATE_READER TRACE. Needs root, since the reader reads as the owner; without: skipped."""
import os
import subprocess
import sys

from site_of import Site, expect, rows_of

OWNER = "nobody"
LOG = "".join(f"step {n}/1000 loss {5 - n / 500:.3f} 1.5 s/it\n" for n in range(1, 300)) + \
    "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution\n"
VC = "vcKrE"  # of four nodes
NODES = [f"{VC}-{number}" for number in range(4)]
BAD = NODES[2]
SETTINGS = f'''speed = 60
bad_nodes = ["{BAD}:0"]
[order]
policy = "fifo"
[mode]
order = "act"
recover = "MODE"
[recover]
witness_wait_s = 1
'''


def beside_a_bad_node(daemon, reader, trace, mode):
    site = Site(daemon, trace, 1, SETTINGS.replace("MODE", mode), listen="\n")
    home = site.give_home(OWNER, {"job.log": LOG})
    site.begin_reader(reader)
    process = site.begin()
    job = {"user": OWNER, "dir": str(home), "command": "true", "output": "job.log", "gpus": 32, "run_s": 60, "partition": VC}
    expect("a job is submitted", site.ask("POST", "/api/v1/jobs", job)[0] == 202)
    return site, process


def actions(site, kind):
    made = site.ask("GET", "/api/v1/actions?limit=1000")[1]["actions"]
    return sorted((each for each in made if each["call"]["kind"] == kind), key=lambda each: each["id"])


def tested(site):
    """The nodes of each call for a test, as the cluster got it."""
    rows = [row["call"] for row in rows_of(site.state / "replay.jsonl")]
    return [[node["node"] for node in call["nodes"]] for call in rows if call["kind"] == "test_nodes"]


def found_and_undone(*programs):
    site, process = beside_a_bad_node(*programs, "act")
    for level in (1, 2, 4):  # as each is on its way
        site.wait(lambda: len(tested(site)) >= level, f"test {level} is called")
        process.kill()
        process.wait()
        process = site.begin()
    site.wait(lambda: [each["state"] for each in actions(site, "drain_node")] == ["verified"], "a node is drained")
    expect("its halves were tested, each of them once, over three times kill -9",
           sorted(tested(site)) == sorted([NODES, NODES[:2], NODES[2:], [NODES[2]], [NODES[3]]]))
    expect("with the outcomes that are true", [(each["state"], each["steps"][-1]["note"].split(":")[0]) for each in actions(site, "test_nodes")
                                               if BAD not in [node["node"] for node in each["call"]["nodes"]]] == 2 * [("verified", "passed")])
    drain = actions(site, "drain_node")[0]
    expect(f"the right one, by two witnesses: {drain['why'][-2:]}", [node["node"] for node in drain["call"]["nodes"]] == [BAD]
           and [line.split(":")[0] for line in drain["why"][-2:]] == [f"log of {BAD}", f"test of {BAD}"])

    def state():
        return {node["name"]: node["state"] for node in site.ask("GET", "/api/v1/cluster")[1]["nodes"]}[BAD]

    expect("it is out of service", state() == "drained")
    status, undo = site.ask("POST", f"/api/v1/actions/{drain['id']}/undo")
    expect(f"an operator takes that back: {status}", status in (200, 202))
    site.wait(lambda: actions(site, "drain_node")[0]["state"] == "undone" and state() == "up", "it is in service again")
    site.wait(lambda: actions(site, "requeue_excluding")[0]["state"] == "failed", "what a replay cannot do fails")
    process.terminate()
    expect("SIGTERM ends it with 0", process.wait(timeout=60) == 0)
    site.end()


def in_shadow(*programs):
    site, process = beside_a_bad_node(*programs, "shadow")
    site.wait(lambda: actions(site, "notify"), "the failure is dealt with")
    expect("in shadow the test is on record", [each["state"] for each in actions(site, "test_nodes")] == ["shadowed"])
    expect("and nothing is called", tested(site) == [] and actions(site, "drain_node") == [])
    site.end(process)


def settings(daemon, trace):
    site = Site(daemon, trace, 1, "")
    for nodes, words in (("vcKrE-4", "no node vcKrE-4"), ("vcKrE-1:9:5", "NODE:FROM_S:UNTIL_S"), ("vcKr", "no node")):
        done = subprocess.run([daemon, "--config", site.config, "--check", "--set", f"cluster.replay.bad_nodes={nodes}"],
                              capture_output=True, text=True, timeout=60)
        expect(f"{nodes}: {done.stderr.strip()}", done.returncode == 3 and words in done.stderr)
    site.end()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    found_and_undone(*sys.argv[1:4])
    in_shadow(*sys.argv[1:4])
    settings(sys.argv[1], sys.argv[3])
