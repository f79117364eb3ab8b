#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What else goes wrong on a real Slurm, and who dies meanwhile: slurm_situations.py SCHEDMATED SCHEDMATE SCHEDMATE_READER WORK, as
slurm_recovery.py. ROUNDS (2): how often the daemon is killed, the controller
stopped, and both; SEED: when."""
import os
import random
import subprocess
import sys
import time

from slurm_recovery import ACT, gone, mended, run_job, told
from slurm_site import SlurmSite, expect, in_slurm, node_state, slurm

TESTBED = os.environ["TESTBED"]
WORK = sys.argv[4] if len(sys.argv) > 4 else ""


def requeues(site, job):
    return [each["state"] for each in site.actions("requeue_excluding") if each["call"]["job"] == job]


def testbed(*words):
    subprocess.run([TESTBED, words[0], WORK + "/tb", *words[1:]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def log_alone(site):
    job, node = run_job(site, "--gres=gpu:1")
    (site.home / f"fail.{job}").touch()
    site.wait(lambda: in_slurm(job)[:2] == ["RUNNING", "1"], "only the log blames the machine: started again")
    expect("and nothing is drained", "DRAIN" not in node_state(node)[0] and site.actions("drain_node") == [])
    gone(site, job)


def not_rewritten(site):
    for what, flags in (("must not be requeued", ["--no-requeue"]), ("asks for its node by name", ["-w", "n2"])):
        job, node = run_job(site, "--gres=gpu:1", *flags)
        site.break_gpu(node)
        (site.home / f"fail.{job}").touch()
        site.wait(lambda: requeues(site, job) == ["failed"], f"a job that {what}: not requeued")
        site.wait(lambda: told(site, job), "its owner is told")
        expect("it stays as it ended", in_slurm(job)[:2] == ["FAILED", "0"])
        mended(site, node)


def dies(site, kill, rounds, what):
    """A GPU is lost, and somebody is killed within the next two seconds."""
    for _ in range(rounds):
        job, node = run_job(site, "--gres=gpu:2")
        site.break_gpu(node)
        (site.home / f"fail.{job}").touch()
        after = random.uniform(0, 2)
        time.sleep(after)
        kill(site)
        site.wait(lambda: in_slurm(job)[:2] == ["RUNNING", "1"] and in_slurm(job)[2] != node,
                  f"{what} is ended {after:.2f} s after the fault: it runs elsewhere", 120)
        site.wait(lambda: node_state(node)[1].startswith("schedmate:bed."), "its node is drained", 90)
        site.wait(lambda: not any(each["state"] in ("intended", "called", "ambiguous", "planned")
                                  for each in site.actions()), "all is settled", 90)
        expect(f"{what} was ended {after:.2f} s after the fault: started again once, told at most once",
               in_slurm(job)[1] == "1" and len(told(site, job)) <= 1)
        mended(site, node)
        gone(site, job)


def kill_daemon(site):
    site.process.kill()
    site.process.wait()
    site.begin()


def stop_controller(site):
    """As an administrator does: one that is killed forgets what it has not saved yet, whole jobs even."""
    testbed("ctld-stop")
    time.sleep(random.uniform(0, 3))
    testbed("ctld-start")


def kill_both(site):
    site.process.kill()
    site.process.wait()
    stop_controller(site)
    while "UP" not in slurm("scontrol", "ping", check=False):
        time.sleep(0.2)
    site.begin()


def node_dies(site):
    """Slurm itself requeues the job; one that must not be is left, and its owner told."""
    again, node = run_job(site, "--gres=gpu:1", "-w", "n3")
    once = site.submit("sleep 3600\n", "--gres=gpu:1", "-w", "n3", "--no-requeue", name="once")
    site.wait(lambda: in_slurm(once)[0] == "RUNNING", "another one runs there")
    slurm("scontrol", "update", f"JobId={again}", "ReqNodeList=", check=False)
    testbed("node-stop", "n3")
    site.wait(lambda: node_state("n3")[0].startswith("DOWN"), "a node that died is down", 90)
    site.wait(lambda: in_slurm(once)[0] == "NODE_FAIL" and in_slurm(again)[1] == "1", "Slurm requeues who may be", 90)
    site.wait(lambda: told(site, once), "the owner of the other is told", 90)
    time.sleep(3)
    expect("each was started at most once more", in_slurm(again)[1] == "1" and in_slurm(once)[:2] == ["NODE_FAIL", "0"])
    expect("and SchedMate requeued neither", requeues(site, again) == [] and requeues(site, once) in ([], ["failed"]))
    testbed("node-start", "n3")
    site.wait(lambda: node_state("n3")[0].startswith("IDLE"), "the node is back", 60)
    gone(site, again)


def away(site):
    testbed("ctld-stop")
    site.wait(lambda: not site.answers(), "/readyz says that the controller is away")
    reasons = site.ask("GET", "/readyz")[1]
    time.sleep(6)
    began = time.time()
    site.ask("GET", "/api/v1/cluster")
    expect(f"it answers meanwhile, in {time.time() - began:.3f} s: {str(reasons)[:200]}", time.time() - began < 1)
    testbed("ctld-start")
    site.wait(site.answers, "and is ready again")


if __name__ == "__main__":
    seed = int(os.environ.get("SEED", time.time()))
    print("SEED", seed)
    random.seed(seed)
    rounds = int(os.environ.get("ROUNDS", 2))
    site = SlurmSite(sys.argv[1:4], WORK + "/act", ACT)
    site.begin()
    probes = [site.probe(f"n{i}") for i in range(4)]
    site.wait(lambda: all(each["gpus_state"] for each in site.ask("GET", "/api/v1/cluster")[1]["nodes"]), "the probes are heard")
    log_alone(site)
    not_rewritten(site)
    away(site)
    dies(site, kill_daemon, rounds, "the daemon")
    dies(site, stop_controller, rounds, "the controller")
    dies(site, kill_both, rounds, "each")
    node_dies(site)
    site.process.terminate()
    site.process.wait()
    checked = subprocess.run([site.schedmate, "audit", "--verify", "--state-dir", site.state], capture_output=True, text=True)
    expect(f"the audit chain is whole: {checked.stdout.strip()[:100]}{checked.stderr.strip()[:100]}", checked.returncode == 0)
