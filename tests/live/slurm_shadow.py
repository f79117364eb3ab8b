#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Work on a real Slurm with everything installed and all modes as they come, at shadow: slurm_shadow.py SCHEDMATED SCHEDMATE
SCHEDMATE_READER WORK, as slurm_recovery.py. MINUTES (60): for how long. The controller must get no request that changes anything,
and once the hooks are removed nothing may be left of them."""
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import time

from slurm_recovery import SCRIPT
from slurm_site import SlurmSite, calls_in_sdiag, expect, in_slurm, slurm

CHANGES = ("REQUEST_UPDATE_JOB", "REQUEST_UPDATE_NODE", "REQUEST_JOB_REQUEUE", "REQUEST_KILL_JOB", "REQUEST_SUSPEND_INT",
           "REQUEST_CANCEL_JOB_STEP", "REQUEST_CREATE_RESERVATION", "REQUEST_UPDATE_RESERVATION", "REQUEST_UPDATE_PARTITION")
FOLDER = pathlib.Path(os.environ["SLURM_CONF"]).parent


def files():
    """All beside slurm.conf, and the names of all in the spools; Slurm's own state changes by itself."""
    beside = {str(path): (path.stat().st_mode, path.stat().st_uid, hashlib.sha256(path.read_bytes()).hexdigest())
              for path in FOLDER.iterdir() if path.is_file()}
    return beside, {str(path) for path in (FOLDER / "spool").rglob("*") if "job" not in path.name}


def hooks(site, what):
    subprocess.run([site.schedmate, "slurm", what, "--write", "--config", site.config], check=True, stdout=subprocess.DEVNULL)
    slurm("scontrol", "reconfigure")
    time.sleep(1)


def shadowed(site):
    made = {}
    for each in site.actions():
        made.setdefault((each["call"]["kind"], each["state"]), []).append(each["id"])
    return {kind: len(ids) for kind, ids in made.items()}


def work(site, until, draw):
    """A queue that is mostly full; every five minutes a GPU is lost while its job fails, and comes back."""
    next_loss = time.time() + 60
    lost = 0
    while time.time() < until:
        waiting = len(slurm("squeue", "-h", "-t", "PD", "-o", "%i").split())
        if waiting < 12:
            site.submit(f"sleep {draw.choice([5, 20, 60, 120])}\n", f"--gres=gpu:{draw.choice([1, 1, 2, 4, 8])}",
                        name=draw.choice(["bert", "vit", "llama"]))
        if time.time() > next_loss:
            next_loss += 300
            job = site.submit(SCRIPT, "--gres=gpu:2", name="train")
            site.wait(lambda: in_slurm(job)[0] == "RUNNING", "the one that will fail runs", 600)
            node = in_slurm(job)[2]
            time.sleep(4)
            site.break_gpu(node)
            (site.home / f"fail.{job}").touch()
            site.wait(lambda: in_slurm(job)[0] == "FAILED", "it failed", 60)
            time.sleep(15)
            site.mend_gpu(node)
            lost += 1
        time.sleep(2)
    return lost


def main():
    minutes = float(os.environ.get("MINUTES", 60))
    draw = random.Random(7)
    as_it_was, spool = files()
    site = SlurmSite(sys.argv[1:4], sys.argv[4] + "/shadow", "")
    hooks(site, "install")
    before = calls_in_sdiag()
    site.begin()
    probes = [site.probe(f"n{i}") for i in range(4)]
    modes = site.ask("GET", "/api/v1/cluster")[1]["modes"]
    expect(f"as it comes: {modes}", set(modes.values()) == {"shadow"})
    lost = work(site, time.time() + 60 * minutes, draw)
    made = {kind: count - before.get(kind, 0) for kind, count in calls_in_sdiag().items()}
    decided = shadowed(site)
    print(f"{minutes:.0f} minutes, {lost} GPUs lost; decided: {decided}")
    print("requests to the controller:", dict(sorted(made.items())))
    expect("it has decided things, and all of them are on record only", decided and {state for _, state in decided} == {"shadowed"})
    expect("the controller got no request that changes anything", all(made.get(kind, 0) == 0 for kind in CHANGES))
    expect("nobody was told anything", site.webhook.heard == [])
    audit = subprocess.run([site.schedmate, "audit", "--verify", "--state-dir", site.state], capture_output=True, text=True)
    expect(f"the audit chain is whole: {audit.stdout.strip()[:100]}", audit.returncode == 0)
    for each in (*probes, site.process):
        each.terminate()
        each.wait()
    hooks(site, "uninstall")
    expect("slurm.conf and all beside it are as they were, byte for byte", files()[0] == as_it_was)
    expect(f"the spools have no file that they had not: {files()[1] - spool}",
           not any("schedmate" in name for name in files()[1] - spool))


if __name__ == "__main__":
    main()
