#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A journal that lost something, is broken, or cannot be written: nothing is called. record_test.py SCHEDMATED SCHEDMATE TRACE"""
import resource
import signal
import sqlite3
import subprocess
import sys

from site_of import Site, begin_process, expect

SETTINGS = 'speed = 600\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n'
JOB = {"command": "python train.py", "gpus": 1, "run_s": 600}


def calls(site):
    return (site.state / "replay.jsonl").read_text()


def readiness(site):
    try:
        return site.ask("GET", "/readyz")[1]
    except OSError:
        return {"ready": False, "reasons": []}


def not_ready(site, words):
    site.wait(lambda: any(words in reason for reason in readiness(site)["reasons"]), words)
    expect(f"not ready: {readiness(site)['reasons']}", not readiness(site)["ready"])


def in_doubt(schedmate, site, words):
    """A daemon that shows the cluster, and acts once an operator agrees."""
    audit = subprocess.run([schedmate, "audit", "--verify", "--state-dir", site.state], capture_output=True, text=True)
    expect(f"the audit says so: {audit.stdout.strip()[:100]}", audit.returncode == 1 and words in audit.stdout)
    before = calls(site)
    each = site.start()
    not_ready(site, words)
    status, error = site.ask("POST", "/api/v1/jobs", JOB)
    expect(f"a submission is refused: {error['message'][:80]}", status == 409 and words in error["message"])
    expect("it shows jobs", site.ask("GET", "/api/v1/jobs")[1]["jobs"])
    began = site.ask("GET", "/api/v1/cluster")[1]["now_s"]
    site.wait(lambda: site.ask("GET", "/api/v1/cluster")[1]["now_s"] > began + 600, "time goes on")
    expect("nothing is called", calls(site) == before and site.ask("GET", "/api/v1/cluster")[1]["breaker_open"])
    expect("nobody but an operator agrees", site.ask("POST", "/api/v1/breaker/close", token=site.tokens["ann"])[0] == 403)
    expect("an operator agrees", site.ask("POST", "/api/v1/breaker/close")[0] == 200)
    site.wait(site.answers, "it is ready")
    expect("a submission is taken", site.ask("POST", "/api/v1/jobs", JOB)[0] == 202)
    site.wait(lambda: calls(site) != before, "it calls")
    return each


def kill(each):
    each.send_signal(signal.SIGKILL)
    each.wait()


def damaged(daemon, schedmate, trace):
    site = Site(daemon, trace, 60, SETTINGS)
    each = site.begin()
    site.wait(lambda: calls(site), "it calls")
    each.terminate()  # carries the log over
    each.wait()
    each = site.begin()
    before = calls(site)
    expect("a submission is taken", site.ask("POST", "/api/v1/jobs", JOB)[0] == 202)
    site.wait(lambda: calls(site) != before, "it calls")
    kill(each)
    (site.state / "journal.sqlite-wal").unlink()
    each = in_doubt(schedmate, site, "gone back")
    kill(each)
    each = site.begin()
    expect("what was agreed to is no doubt again", readiness(site)["ready"])
    kill(each)
    with sqlite3.connect(site.state / "journal.sqlite") as journal:
        journal.execute("UPDATE audit SET entry = entry || ' ' WHERE sequence = (SELECT min(sequence) + 1 FROM audit)")
    journal.close()
    each = in_doubt(schedmate, site, "its hash does not fit")
    kill(each)
    each = site.begin()
    site.end(each)


def disk_takes(each, much):
    limit = resource.RLIM_INFINITY
    resource.prlimit(each.pid, resource.RLIMIT_FSIZE, (limit if much else 0, limit))


def full_disk(daemon, trace):
    site = Site(daemon, trace, 60, SETTINGS)
    # Writes beyond the limit fail, as on a full disk: Python ignores SIGXFSZ, and so does what it starts.
    start = lambda *words: begin_process([*words, daemon, "--config", site.config], stderr=subprocess.DEVNULL, restore_signals=False)
    each = start()
    site.wait(site.answers, "it answers")
    site.wait(lambda: calls(site), "it calls")
    disk_takes(each, False)
    expect("what cannot be recorded is refused", site.ask("POST", "/api/v1/jobs", JOB)[0] == 503)
    for _ in range(2):
        not_ready(site, "nothing can be recorded")
        before = calls(site)
        began = site.ask("GET", "/api/v1/cluster")[1]["now_s"]
        site.wait(lambda: site.ask("GET", "/api/v1/cluster")[1]["now_s"] > began + 600, "it reads on")
        expect("it shows jobs", site.ask("GET", "/api/v1/jobs")[1]["jobs"])
        status, error = site.ask("POST", "/api/v1/jobs", JOB)
        expect(f"it says why it takes none: {error['message'][:80]}", status == 503 and "recorded" in error["message"])
        expect("nothing is called", calls(site) == before)
        disk_takes(each, True)
        site.wait(site.answers, "it comes back by itself")
        site.wait(lambda: site.ask("POST", "/api/v1/jobs", JOB)[0] == 202, "a submission is taken")
        kill(each)
        each = start("prlimit", "--fsize=0:unlimited")  # it begins so, too
    site.end(each)


if __name__ == "__main__":
    damaged(*sys.argv[1:])
    full_disk(sys.argv[1], sys.argv[3])
