#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The code of jobs whose command names no file is read on a real Slurm: slurm_scripts.py SCHEDMATED SCHEDMATE SCHEDMATE_READER
WORK, with SLURM_CONF (slurm_recovery.sh makes the Slurm)."""
import pwd
import sys

from slurm_site import OWNER, SlurmSite, expect, in_slurm, slurm

TRAIN = """import argparse, torch, torchvision
p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=90)
args = p.parse_args()
model = torchvision.models.resnet50()
"""


def submit(site, *words, text=None):
    entry = pwd.getpwnam(OWNER)
    made = slurm("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", "sbatch", "--parsable", "-t", "60",
                 "--gres=gpu:1", "-D", site.home, "-o", "/dev/null", *words, text=text)
    return made.strip()


def advice(site, job):
    return site.job(job).get("advice")


if __name__ == "__main__":
    site = SlurmSite(sys.argv[1:4], sys.argv[4] + "/site", "")
    (site.home / "train.py").write_text(TRAIN)
    (site.home / "train.py").chmod(0o644)
    site.begin()
    wrapped = submit(site, "--wrap", "sleep 3; python3 train.py --epochs 7 || true")
    site.wait(lambda: advice(site, wrapped), "the code of a job with --wrap is read")
    expect(f"nothing is known of it yet: {advice(site, wrapped)}", advice(site, wrapped)["source"] != "resubmission")
    site.wait(lambda: in_slurm(wrapped)[0] == "COMPLETED", "it ends")
    again = submit(site, "--wrap", "sleep 3; python3 train.py --epochs 7 || true")
    site.wait(lambda: (advice(site, again) or {}).get("source") == "resubmission", "the same again is known")
    tasks = submit(site, "-a", "0-2", text="#!/bin/bash\npython3 train.py --epochs 7; sleep 100\n")
    site.wait(lambda: all(advice(site, f"{tasks}_{i}") for i in range(3)), "a script on standard input, of all tasks of an array")
    slurm("scancel", tasks)
    site.process.terminate()
    expect("SIGTERM ends it with 0", site.process.wait(timeout=10) == 0)
