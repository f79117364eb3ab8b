#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each administrator level of a Slurm with accounting may do, right by right: slurm_rights.py SCHEDMATED SCHEDMATE TESTBED.
Each request is made as the daemon makes it, by a user of that level, and what Slurm then shows decides; then the daemon is asked
which of its modes it could not carry out as that user. Prints the table of docs/slurm.md."""
import os
import re
import subprocess
import sys
import time

from order_bed import Bed, fresh, make_user, wait
from slurm_site import expect

LEVELS = {"omadmin": "Administrator", "omoper": "Operator", "omnone": "None"}
OWNER = "om00"
# What docs/slurm.md says; "yes" where the change is seen afterwards.
EXPECTED = {
    "site factor of another's job": "yes yes no", "hold another's job (Priority=0)": "yes yes no", "release it": "yes yes no",
    "AdminComment": "yes no no", "hold and mark in one request": "yes no no", "requeue another's job": "yes yes no",
    "exclude a node from it": "yes yes no", "cancel it": "yes yes no", "drain a node": "yes no no", "undrain a node": "yes no no",
    "reserve a node (MAINT,IGNORE_JOBS)": "yes yes no", "delete the reservation": "yes yes no",
    "read others' jobs": "yes yes yes", "script of another's job": "yes yes no"}


class Rights:
    def __init__(self, bed):
        self.bed = bed

    def shows(self, kind, name, pattern):
        return bool(re.search(pattern, self.bed.call("scontrol", "show", kind, name, check=False)))

    def job(self, *flags, run=3600):
        return self.bed.submit({"user": OWNER, "gpus": 1, "run": run, "limit": 120}, "--requeue", *flags)

    def runs(self):
        id = self.job("-x", "n1,n3")
        wait(lambda: self.shows("job", id, "JobState=RUNNING"), "a job runs")
        return id

    def waits(self):
        return self.job("-w", "n0")

    def update(self, user, *words):
        self.bed.call("scontrol", "update", *words, user=user, check=False)

    def tried(self, user):
        """By what is tried, whether it shows afterwards."""
        bed, made = self.bed, {}
        waiting, running = self.waits(), self.runs()
        of = f"JobId={waiting}"
        site = lambda: next((row["site"] for id, row in bed.priorities().items() if id == waiting), 0)
        wait(lambda: waiting in bed.priorities(), "a job waits")
        self.update(user, of, "SiteFactor=77")
        made["site factor of another's job"] = site() == 77
        self.update(user, of, "Priority=0")
        held = made["hold another's job (Priority=0)"] = self.shows("job", waiting, r"Priority=0\b")
        if not held:
            bed.call("scontrol", "hold", waiting)
        bed.call("scontrol", "release", waiting, user=user, check=False)
        made["release it"] = not self.shows("job", waiting, r"Priority=0\b")
        bed.call("scontrol", "release", waiting, check=False)
        self.update(user, of, "AdminComment=words")
        made["AdminComment"] = self.shows("job", waiting, "AdminComment=words")
        self.update(user, of, "Priority=0", "AdminComment=schedmate:x/1")
        made["hold and mark in one request"] = self.shows("job", waiting, "AdminComment=schedmate:x/1") and self.shows("job", waiting, r"Priority=0\b")
        bed.call("scontrol", "requeue", running, user=user, check=False)
        made["requeue another's job"] = wait_for(lambda: self.shows("job", running, "Restarts=1"))
        if not made["requeue another's job"]:
            bed.call("scontrol", "requeue", running)
        wait(lambda: self.shows("job", running, "JobState=PENDING"), "it waits again")
        self.update(user, f"JobId={running}", "ExcNodeList=n1,n2")
        made["exclude a node from it"] = self.shows("job", running, "ExcNodeList=n.*2")
        bed.call("scancel", running, user=user, check=False)
        made["cancel it"] = wait_for(lambda: self.shows("job", running, "JobState=CANCELLED"))
        self.update(user, "NodeName=n3", "State=DRAIN", "Reason=tried")
        made["drain a node"] = self.shows("node", "n3", r"State=\S*DRAIN")
        self.update("root", "NodeName=n3", "State=DRAIN", "Reason=tried")
        self.update(user, "NodeName=n3", "State=UNDRAIN")
        made["undrain a node"] = not self.shows("node", "n3", r"State=\S*DRAIN")
        self.update("root", "NodeName=n3", "State=RESUME")
        reserve = ("scontrol", "create", "reservation", "ReservationName=tried", "StartTime=now", "Duration=10", "Nodes=n3",
                   "Flags=MAINT,IGNORE_JOBS", "Users=root")
        bed.call(*reserve, user=user, check=False)
        made["reserve a node (MAINT,IGNORE_JOBS)"] = self.shows("reservation", "tried", "Nodes=n3")
        if not made["reserve a node (MAINT,IGNORE_JOBS)"]:
            bed.call(*reserve)
        bed.call("scontrol", "delete", "ReservationName=tried", user=user, check=False)
        made["delete the reservation"] = not self.shows("reservation", "tried", "Nodes=n3")
        bed.call("scontrol", "delete", "ReservationName=tried", check=False)
        made["read others' jobs"] = waiting in bed.call("squeue", "-h", "-o", "%i", user=user)
        made["script of another's job"] = "sleep" in bed.call("scontrol", "write", "batch_script", waiting, "-", user=user, check=False)
        for id in (waiting, running):
            bed.call("scancel", id, check=False)
        wait(lambda: len(bed.call("squeue", "-h", "-o", "%i").split()) == 1, "they are gone")
        return made


def wait_for(holds, seconds=4):
    end = time.time() + seconds
    while time.time() < end:
        if holds():
            return True
        time.sleep(0.2)
    return False


def reasons(daemon, bed, user):
    """Which modes a daemon of that user could not carry out."""
    folder = bed.dir / f"of-{user}"
    folder.mkdir()
    subprocess.run(["chown", user, folder], check=True)
    config = folder / "config.toml"
    config.write_text(f'state_dir = "{folder}/state"\n[listen]\nunix = "{folder}/api.sock"\n[cluster]\nconnector = "slurm"\nname = "bed"\n'
                      f'[cluster.slurm]\nconf = "{bed.env["SLURM_CONF"]}"\n[mode]\norder = "act"\nrecover = "act"\nannotate = "act"\n')
    started = subprocess.Popen(["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups", daemon, "--config", config], env=bed.env,
                               stderr=subprocess.DEVNULL)
    ask = ["curl", "-s", "--unix-socket", f"{folder}/api.sock", "http://localhost/readyz"]
    told = wait(lambda: said if '"ready":true' in (said := subprocess.run(ask, capture_output=True, text=True).stdout) else "", "it is ready", 60, 0.3)
    started.terminate()
    started.wait()
    return told


def main():
    bed = Bed(sys.argv[3], fresh("/tmp/omrights"), int(os.environ.get("SLURM_TESTBED_PORT", 20160)), nodes=4)
    bed.add_users([OWNER])
    for name, level in LEVELS.items():
        make_user(name)
        bed.call("sacctmgr", "-i", "add", "user", name, "Account=lab", f"AdminLevel={level}")
    bed.submit({"user": OWNER, "gpus": 8, "run": 3600, "limit": 120}, "-w", "n0")
    time.sleep(2)
    rights = Rights(bed)
    made = {level: rights.tried(name) for name, level in LEVELS.items()}
    print("| | " + " | ".join(LEVELS.values()) + " |\n| --- | --- | --- | --- |")
    wrong = []
    for what, words in EXPECTED.items():
        seen = " ".join("yes" if made[level][what] else "no" for level in LEVELS.values())
        print(f"| {what} | {seen.replace(' ', ' | ')} |")
        if seen != words:
            wrong.append(f"{what}: {seen}, not {words}")
    lacks = {level: reasons(sys.argv[1], bed, name) for name, level in LEVELS.items()}
    print(lacks)
    bed.down()
    expect(f"as docs/slurm.md says {wrong}", not wrong)
    acts_as = {level: [mode for mode in ("order", "recover", "annotate") if f"mode.{mode} acts as shadow" in text] for level, text in lacks.items()}
    expect(f"and /readyz names what each may not do: {acts_as}", acts_as == {"Administrator": [], "Operator": ["annotate"], "None": ["order", "recover", "annotate"]}
           and "mode.recover drains no nodes" in lacks["Operator"])


if __name__ == "__main__":
    main()
