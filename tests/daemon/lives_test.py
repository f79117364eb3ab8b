#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon learns of jobs besides what the cluster shows: lives_test.py SCHEDMATED SCHEDMATE_READER SCHEDMATE TRACE.
Needs root, since the reader reads as the owner; without: skipped."""
import collections
import os
import signal
import subprocess
import sys

from readings_test import OWNER, TellingCluster
from site_of import Site, Webhook, expect

STEPS = "".join(f"step {n}/1000 loss {5 - n / 500:.3f} 1.5 s/it\n" for n in range(1, 300))
OF_PROGRAM = STEPS + 'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n' \
    "    loss = los.backward()\nNameError: name 'los' is not defined\n"
OF_MACHINE = STEPS + "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution\n"


def site_with(programs, log, speed):
    daemon, reader, trace = programs
    site = Site(daemon, trace, 80, f'speed = {speed}\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n', listen="\n")
    with open(site.config, "a") as config:
        config.write("[recover]\nwitness_wait_s = 1\n")
    home = site.give_home(OWNER, {"job.log": log, "train.py": "import torch\nmodel = torch.nn.Linear(2, 2)\nfor epoch in range(20):\n    pass\n"})
    TellingCluster(site, {"user": OWNER, "dir": str(home), "command": "python train.py", "output": "job.log"})
    site.begin_reader(reader)
    return site


def jobs(site, **wanted):
    listed = site.ask("GET", "/api/v1/jobs?limit=1000")[1]["jobs"]
    return [job for job in listed if all(job[key] == value for key, value in wanted.items())]


def notices(site):
    """Notifications by job."""
    made = site.all_actions()
    return collections.Counter(action["call"]["job"] for action in made if action["call"]["kind"] == "notify")


def failures_of_the_program(programs, schedmate):
    site = site_with(programs, OF_PROGRAM, 100)
    process = site.begin()
    site.wait(lambda: len(notices(site)) >= 5, "failures are dealt with")
    failed = [job for job in jobs(site, state="failed") if job["verdict"]]
    expect(f"{len(failed)} jobs have failed by their programs", {job["verdict"] for job in failed} == {"user_script"})
    document = site.ask("GET", f"/api/v1/jobs/{failed[0]['id']}")[1]
    expect(f"one says why, by its log: {document['diagnosis']['reason']}",
           document["diagnosis"]["class"] == "user_script" and document["health"] == "failed")
    expect("with the line", document["diagnosis"]["evidence"][0]["line"] > 299)
    told = [action for action in document["actions"] if action["call"]["kind"] == "notify"]
    expect("its owner would be told, in shadow", len(told) == 1 and told[0]["state"] == "shadowed"
           and "rule owner" in told[0]["why"][0] and told[0]["call"]["user"] == OWNER)
    expect("the attempt says why, too", document["attempts"][-1]["why"] == document["diagnosis"]["reason"])
    lost = {row["cause"]: row["attempts"] for row in site.ask("GET", "/api/v1/ledger")[1]["lost"]}
    expect(f"the ledger has it by its cause: {lost}", lost.get("user_script", 0) >= len(failed))
    expect("nothing else would be done about it", {action["call"]["kind"] for action in document["actions"]} <= {"notify", "start"})
    before = notices(site)
    process.kill()
    process.wait()
    process = site.begin()
    again = site.ask("GET", f"/api/v1/jobs/{failed[0]['id']}")[1]
    expect("after kill -9 it still says why", again["diagnosis"]["reason"] == document["diagnosis"]["reason"])
    site.wait(lambda: len(notices(site)) > len(before), "more failures are dealt with")
    after = notices(site)
    expect("no failure is told of twice", set(after.values()) == {1} and set(before) <= set(after))
    site.wait(lambda: failed[0]["id"] not in {job["id"] for job in jobs(site)}, "it is followed no more", 180)
    past = site.ask("GET", f"/api/v1/jobs/{failed[0]['id']}")
    expect("then the history answers, with the cause",
           past[0] == 200 and past[1]["diagnosis"]["reason"] == document["diagnosis"]["reason"] and past[1]["state"] == "failed")
    process.terminate()
    expect("SIGTERM ends it with 0", process.wait(timeout=60) == 0)
    history = subprocess.run([schedmate, "history", "list", "--state-dir", site.state, "--json"], capture_output=True, text=True)
    expect("the history has them with their ends", history.stdout.count('"failed"') >= 5)
    site.end()


def failures_of_a_machine(programs):
    site = site_with(programs, OF_MACHINE, 100)
    process = site.begin()
    site.wait(lambda: len(notices(site)) >= 3, "failures are dealt with")
    made = site.all_actions()
    kinds = {action["call"]["kind"] for action in made if action["why"] and action["why"][0].startswith("rule machine_unwitnessed")}
    expect(f"by the log alone nodes are tested and jobs restarted, and none is drained: {kinds}",
           kinds == {"test_nodes", "requeue_excluding", "notify"})
    expect("all of it in shadow", {action["state"] for action in made if action["call"]["kind"] in kinds} == {"shadowed"})
    site.end(process)


def progress(programs):
    site = site_with(programs, STEPS, 100)
    process = site.begin()
    site.wait(lambda: any(job["progress"] for job in jobs(site, state="running")), "a job that runs has progress")
    job = next(job for job in jobs(site) if job["progress"])
    document = site.ask("GET", f"/api/v1/jobs/{job['id']}")[1]
    expect("step, of, loss and step time", [document["progress"][key] for key in ("step", "of", "step_time_s")] == [299, 1000, 1.5])
    site.wait(lambda: site.ask("GET", f"/api/v1/jobs/{job['id']}")[1]["advice"], "advice on its code")
    document = site.ask("GET", f"/api/v1/jobs/{job['id']}")[1]
    expect("as it was given, with the past runs behind it",
           set(document["advice"]) == {"source", "held_s", "known", "not_known", "duration_s", "time_limit", "early_end", "runs_by_state", "neighbours", "neighbours_of_others"})
    fact = document["facts"]["facts"]["framework"]
    expect(f"and facts with their lines: {fact}", fact["value"] == "pytorch" and fact["evidence"][0]["line"] == 1)
    expect(f"while it runs it is well, slow or hung: {document['health']}", document["health"])
    site.ask("POST", f"/api/v1/jobs/{job['id']}/cancel", {})
    site.wait(lambda: site.ask("GET", f"/api/v1/jobs/{job['id']}")[1]["ended_s"], "it is cancelled")
    expect("and is not said to hang afterwards", site.ask("GET", f"/api/v1/jobs/{job['id']}")[1]["health"] is None)
    site.end(process)


def owners_are_told(programs):
    site = site_with(programs, OF_PROGRAM, 100)
    text = site.config.read_text().replace('order = "act"\n', 'order = "act"\nnotify = "act"\n')
    site.config.write_text(text)
    process = site.begin()
    reasons = site.ask("GET", "/readyz")[1]["reasons"]
    expect(f"where nobody can be told that is said: {reasons}", any("notify.webhook" in each for each in reasons))
    hook = Webhook()
    mails = site.folder / "mails"
    site.config.write_text(text + f'[notify]\nwebhook = "{hook.url}"\nmail_command = "cat >>{mails}"\n')
    process.send_signal(signal.SIGHUP)
    site.wait(lambda: len(hook.heard) >= 3, "owners are told of failures")
    posted = [notice for _, notice in hook.heard]
    expect(f"by the webhook: {posted[0]}", posted[0]["schema"] == "schedmate.notice.v1" and posted[0]["user"] == OWNER
           and f"Job {posted[0]['job']}" in posted[0]["text"] and "ended as FAILED" in posted[0]["text"])
    site.wait(lambda: mails.exists() and mails.read_text().count(f"To: {OWNER}") >= 3, "and by mail")
    site.wait(lambda: all(each["state"] == "verified" for each in site.ask("GET", "/api/v1/actions?limit=1000")[1]["actions"]
                          if each["call"]["kind"] == "notify" and each["mode"] == "act"), "each is on record")
    told = collections.Counter(notice["job"] for _, notice in hook.heard)
    expect("nobody is told twice", set(told.values()) == {1})
    process.terminate()
    process.wait()
    site.end()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    programs = (sys.argv[1], sys.argv[2], sys.argv[4])
    failures_of_the_program(programs, sys.argv[3])
    failures_of_a_machine(programs)
    progress(programs)
    owners_are_told(programs)
