#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stays in force while SchedMate orders the queue of a real Slurm: slurm_in_force.py SCHEDMATED SCHEDMATE TESTBED. Fair share,
QOS, explicit priorities and site factors of administrators, holds; with the daemon dead, too. About a minute."""
import os
import signal
import sys
import time

from order_bed import FILLER, SPAN, Bed, Daemon, fresh, wait
from slurm_site import expect

PAST = [{"user": user, "gpus": 1, "run": run} for user, run in (("om00", 20), ("om01", 900), ("om02", 60)) for _ in range(4)]


def main():
    bed = Bed(sys.argv[3], fresh("/tmp/omforce"), int(os.environ.get("SLURM_TESTBED_PORT", 20200)), nodes=2)
    bed.add_users(["om00", "om01", "om02", "om03", FILLER])
    job = lambda user, *flags, gpus=1: bed.submit({"user": user, "gpus": gpus, "run": 600, "limit": 60}, *flags)
    for _ in range(2):  # of a user who has much of the cluster already
        bed.submit({"user": "om02", "gpus": 8, "run": 600, "limit": 60})
    wait(lambda: len(bed.call("squeue", "-h", "-t", "R", "-o", "%i").split()) == 2, "it is full")
    before, outright, factor = job("om01"), job("om00"), job("om00")  # said before the daemon could have ordered them
    say = lambda id, what: bed.call("scontrol", "update", f"JobId={id}", what)
    say(outright, "Priority=40")
    say(factor, "SiteFactor=33")
    daemon = Daemon(sys.argv[1:3], bed, 'order = "act"\n', PAST)
    daemon.begin()
    short, long, heavy, unknown = job("om00"), job("om01"), job("om02"), job("om03")
    high = job("om01", "-q", "high")
    outright_later, factor_later, held = job("om00"), job("om00"), job("om00", "-H")
    ordered = (before, short, long, heavy, unknown, high)
    later = (outright_later, factor_later)
    rows = wait(lambda: (rows := bed.priorities()) and all(rows.get(id, {}).get("site") for id in ordered + later) and rows, "orders are set", 60, 0.5)
    site = {id: rows[id]["site"] for id in ordered}
    expect(f"an order only raises, within a tenth of the weights: {sorted(site.values())}", all(0 < each <= SPAN for each in site.values()))
    expect("the short one more than the long one", site[short] > site[long])
    expect("a job of before the daemon, too", abs(site[before] - site[long]) <= SPAN / 50)
    expect("the unknown user's in between", site[long] <= site[unknown] <= site[short])
    expect("a better QOS stays ahead of a better order", rows[high]["qos"] == 1000 and rows[high]["priority"] > rows[short]["priority"])
    expect("the priority is what Slurm makes of all its parts",
           all(abs(row["priority"] - row["site"] - row["age"] - row["share"] - row["qos"]) <= 4 for id, row in rows.items() if id != outright))
    orders = lambda: [each["call"]["job"] for each in daemon.actions("set_order")]
    expect("what an administrator has said outright is untouched", rows[outright]["priority"] == 40 and outright not in orders())
    expect("and a site factor of an administrator", rows[factor]["site"] == 33 and factor not in orders())
    say(outright_later, "Priority=40")
    say(factor_later, "SiteFactor=33")
    given = [orders().count(id) for id in later]
    expect("and what its owner holds", "JobHeldUser" in bed.call("squeue", "-h", "-j", held, "-o", "%r"))
    expect("nothing is written where annotate is in shadow", "schedmate" not in bed.call("scontrol", "show", "job", short))

    rows = wait(lambda: (rows := bed.priorities()) and rows[heavy]["share"] < rows[short]["share"] - SPAN and rows, "fair share has counted", 150, 1)
    expect(f"who has used much comes last, whatever his order: {rows[heavy]}", rows[heavy]["priority"] < rows[long]["priority"])
    rows = bed.priorities()
    expect("nor is what he says after an order was given", rows[outright_later]["priority"] == 40 and rows[factor_later]["site"] == 33 and
           [orders().count(id) for id in later] == given)

    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    late = job("om00")
    late_row = wait(lambda: bed.priorities().get(late), "Slurm has a priority for it")
    rows = bed.priorities()
    behind = [id for id, row in rows.items() if id not in (late, outright, outright_later) and row["priority"] < late_row["priority"]]
    expect(f"a job that comes while the daemon is dead is neutral and not last: {late_row}", late_row["site"] == 0 and heavy in behind)
    kept = {id: row["site"] for id, row in rows.items()}
    aged = lambda now, then: 0 <= now - then <= SPAN / 25  # waiting raises, too
    expect("the others keep what they were given", all(aged(kept[id], site[id]) for id in ordered))
    with open(daemon.config, "a") as config:
        config.write('annotate = "act"\n')
    daemon.begin()
    wait(lambda: aged(bed.priorities()[late]["site"], site[short]), "it is ordered once the daemon is back", 30, 0.5)
    wait(lambda: "AdminComment=schedmate: expected to run for" in bed.call("scontrol", "show", "job", late), "and annotated, where that may act", 30, 0.5)
    rows = bed.priorities()
    expect("nothing else has changed", all(aged(rows[id]["site"], site[id]) for id in ordered) and
           all(rows[id]["site"] == 33 for id in (factor, factor_later)) and all(rows[id]["priority"] == 40 for id in (outright, outright_later)))
    expect("SIGTERM ends it", daemon.end() is None)
    time.sleep(0.1)
    bed.down()


if __name__ == "__main__":
    main()
