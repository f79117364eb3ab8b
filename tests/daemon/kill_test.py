#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon is killed (kill -9) at random points beside a replay that outlives it: nothing is done twice, nothing is lost.

  kill_test.py SCHEDMATED SCHEDMATE TRACE KILLS [JOBS]

TRACE is a gzip of the helios format; its first JOBS rows are replayed as fast as they can be. The replay's own ledger of
calls is held against the journal: each job has started once, every start that took effect has an action that is verified,
the audit chain is sound, and each end was told once. Every other kill comes after a call, the rest whenever, mostly while it
begins. Prints the seed of its sleeps.
"""
import collections
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

from site_of import Site


def fail(text):
    print("FAILED:", text)
    sys.exit(1)


def main():
    daemon, schedmate, trace = sys.argv[1:4]
    kills = int(sys.argv[4])
    jobs = int(sys.argv[5]) if len(sys.argv) > 5 else 300
    seed = int(os.environ.get("SEED", "1"))
    draws = random.Random(seed)
    site = Site(daemon, trace, jobs, '[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
    state = site.state
    try:
        killed = midway = 0
        while killed < kills:
            stood = called(state)
            each = site.start()
            if killed % 2:
                site.wait(lambda: called(state) > stood or ended(state) == jobs or each.poll() is not None, "it calls")
            time.sleep(draws.uniform(0, 0.02) if killed % 2 else draws.uniform(0.02, 0.15))  # clock: where the kill falls
            if each.poll() is not None:
                fail("the daemon ended by itself: " + each.stderr.read().decode())
            each.send_signal(signal.SIGKILL)
            each.wait()
            killed += 1
            midway += ended(state) < jobs
        each = site.start()
        finish(site, jobs)
        site.wait(site.answers, "it answers")
        each.send_signal(signal.SIGTERM)
        if each.wait(timeout=60) != 0:
            fail(f"SIGTERM: exit {each.returncode}")
    finally:
        site.end()
    check(state, jobs)
    if midway < 10:
        fail(f"only {midway} kills came before the last job had ended")
    verdict = subprocess.run([schedmate, "audit", "--verify", "--state-dir", state], capture_output=True, text=True)
    if verdict.returncode != 0:
        fail(verdict.stdout + verdict.stderr)
    print(f"seed {seed}: {killed} kills, {midway} of them before the last job had ended, {jobs} jobs: none started twice, none lost; {verdict.stdout.splitlines()[0]}")


def finish(site, jobs):
    """Until all have ended, as long as there is one within a minute."""
    while (seen := ended(site.state)) < jobs:
        site.wait(lambda: ended(site.state) > seen, f"another one ends, after {seen} of {jobs}")


def called(state):
    """Bytes of the ledger of calls."""
    ledger = state / "replay.jsonl"
    return ledger.stat().st_size if ledger.exists() else 0


def ended(state):
    try:
        file = sqlite3.connect(f"file:{state}/journal.sqlite?mode=ro", uri=True)
        return file.execute("SELECT count(DISTINCT subject) FROM events WHERE kind = 'job ended'").fetchone()[0]
    except sqlite3.Error:
        return 0


def check(state, rows):
    calls = [json.loads(line) for line in open(state / "replay.jsonl")]
    done = collections.Counter(each["call"]["job"] for each in calls
                               if each["call"]["kind"] == "start" and each["reply"]["outcome"] == "done")
    file = sqlite3.connect(f"file:{state}/journal.sqlite?mode=ro", uri=True)
    ends = collections.Counter(row[0] for row in file.execute("SELECT subject FROM events WHERE kind = 'job ended'"))
    twice = [job for counts in (done, ends) for job, count in counts.items() if count > 1]
    if twice:
        fail(f"twice: {twice}")
    if len(done) != rows or len(ends) != rows:
        fail(f"{len(done)} jobs started and {len(ends)} ends told, of {rows}")
    actions = [json.loads(row[0]) for row in file.execute("SELECT body FROM actions")]
    verified = collections.Counter(each["call"]["job"] for each in actions if each["state"] == "verified")
    if verified != done:
        fail(f"verified and done differ: {sorted((verified - done) + (done - verified))[:10]}")
    still = [each["id"] for each in actions if each["state"] in ("planned", "intended", "called", "ambiguous")]
    if still:
        fail(f"without an outcome: {still}")


main()
