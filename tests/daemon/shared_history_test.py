#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A history in Redis, and actions in the journal all the same: shared_history_test.py SCHEDMATED SCHEDMATE TRACE.
Without redis-server: skipped."""
import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys

from redis_of import SAFE, Redis
from site_of import Site, expect


def outcomes(schedmate, site):
    """How jobs ended that are in the history."""
    listed = subprocess.run([schedmate, "history", "list", "--config", site.config, "--limit", "100000", "--json"], capture_output=True, text=True)
    if listed.returncode != 0:
        raise SystemExit(f"FAILED: the history cannot be read: {listed.stderr}")
    return {job["job_id"]: job["outcome"]["state"] for job in json.loads(listed.stdout)["jobs"] if job["outcome"]}


def kept(schedmate, site):
    """Jobs whose ends are in the history."""
    return set(outcomes(schedmate, site))


def entries(site):
    """Of the journal's audit chain."""
    with contextlib.closing(sqlite3.connect(f"file:{site.state}/journal.sqlite?mode=ro", uri=True)) as journal:
        return journal.execute("SELECT max(sequence) FROM audit").fetchone()[0] or 0


def ended(site):
    listed = site.ask("GET", "/api/v1/jobs?limit=100000")[1]["jobs"]
    return {job["id"] for job in listed if job["ended"]}


def main(daemon, schedmate, trace):
    site = Site(daemon, trace, 5000, 'speed = 600\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
    redis = Redis(site.folder, *SAFE)
    site.config.write_text(f'store = "{redis.where}"\n' + site.config.read_text())
    process = site.begin()
    site.wait(lambda: len(ended(site)) >= 5, "jobs have ended")
    first = ended(site)
    site.wait(lambda: first <= kept(schedmate, site), "they are in the history")
    expect(f"{len(first)} jobs that ended are in Redis", redis.ask("DBSIZE") != ":0" and not (site.state / "history.sqlite").exists())
    stood = entries(site)
    expect(f"{stood} entries of the audit chain are in the SQLite file", stood > 0)
    redis.kill()
    away = ended(site)
    site.wait(lambda: entries(site) > stood + 20, "without Redis actions are recorded")
    site.wait(lambda: len(ended(site) - away) >= 3, "without Redis jobs are followed to their ends")
    expect("with Redis killed the daemon goes on, and its actions are recorded", site.ask("GET", "/readyz")[1]["ready"])
    missed = ended(site) - away
    waiting = lambda: float(next(line.split()[1] for line in site.ask("GET", "/metrics")[1].splitlines() if line.startswith("schedmate_history_waiting ")))
    site.wait(lambda: waiting() >= len(missed), "their ends wait for the history")
    redis.start()
    site.wait(lambda: missed <= kept(schedmate, site), "Redis is back and has them")
    redis.kill()
    process.terminate()
    expect("it ends with 0", process.wait(timeout=60) == 0)
    site.end()
    killed(daemon, schedmate, trace, redis)
    long_ago(daemon, schedmate, trace)
    checked = subprocess.run([schedmate, "audit", "--verify", "--config", site.config], capture_output=True, text=True)
    expect(f"the chain holds {checked.stdout.splitlines()[:1]}{checked.stderr.strip()}", checked.returncode == 0)


def killed(daemon, schedmate, trace, redis):
    """While ends wait for the history. Jobs are short, and followed in real time, so for a quarter of an hour after their ends."""
    site = Site(daemon, trace, 50, 'speed = 1\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
    rows = site.folder / "jobs.csv"
    head, *_ = rows.read_text().splitlines()
    rows.write_text("\n".join([head, *(f"{900000 + n},ann,vcEwI,1,1,1,COMPLETED,{n // 10},1" for n in range(50))]) + "\n")
    site.end()
    site.serve()
    site.config.write_text(f'store = "{redis.where}"\n' + site.config.read_text())
    process = site.begin()
    site.wait(lambda: len(ended(site)) >= 10, "jobs have ended without Redis")
    missed = ended(site)
    process.kill()
    process.wait()
    redis.start()
    expect("nothing of them is in the history", not missed & kept(schedmate, site))
    process = site.begin()
    site.wait(lambda: missed <= kept(schedmate, site), "the next daemon gives it to the history")
    states = outcomes(schedmate, site)
    expect("as the cluster shows them", all(states[job] == "completed" for job in missed))
    print("ok: a daemon that is killed while ends wait for the history loses none")
    process.terminate()
    process.wait()
    redis.kill()
    site.end()


def long_ago(daemon, schedmate, trace):
    """Killed so long after the ends that neither the cluster nor the journal tells of them."""
    site = Site(daemon, trace, 5000, 'speed = 600\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
    redis = Redis(site.folder / "redis", *SAFE)
    site.config.write_text(f'store = "{redis.where}"\n' + site.config.read_text())
    redis.kill()
    process = site.begin()
    site.wait(lambda: len(ended(site)) >= 5, "jobs have ended without Redis")
    missed = ended(site)
    site.wait(lambda: not missed & ended(site), "they are followed no more")
    process.kill()
    process.wait()
    expect("their ends are on the disk", (site.state / "ends.sqlite").exists())
    redis.start()
    expect("nothing of them is in the history", not missed & kept(schedmate, site))
    process = site.begin()
    site.wait(lambda: missed <= kept(schedmate, site), "the next daemon gives it to the history")
    site.wait(lambda: not (site.state / "ends.sqlite").exists(), "nothing waits on the disk")
    print(f"ok: {len(missed)} ends that waited are kept however long ago they were")
    process.terminate()
    process.wait()
    redis.kill()
    site.end()


if __name__ == "__main__":
    if not shutil.which("redis-server"):
        print("SKIPPED: needs redis-server (apt-get install redis-server)")
        sys.exit(77)
    main(*sys.argv[1:4])
