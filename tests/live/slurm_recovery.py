#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failures on a real Slurm, recovered while nobody looks: slurm_recovery.py SCHEDMATED SCHEDMATE SCHEDMATE_READER WORK, with
SLURM_CONF (slurm_recovery.sh makes the Slurm)."""
import json
import sys
import time

from slurm_site import ACT, NCCL, STEPS, SlurmSite, calls_in_sdiag, expect, in_slurm, node_state, slurm

# The first attempt fails once a file says so; the others run on.
SCRIPT = f"""if [ "${{SLURM_RESTART_COUNT:-0}}" = 0 ]; then
cat <<'LOG'
{STEPS}LOG
while [ ! -e fail.$SLURM_JOB_ID ]; do sleep 0.1; done
cat <<'LOG'
{NCCL}LOG
exit 1
fi
sleep 3600
"""
times = {}


def note(what, seconds):
    times.setdefault(what, []).append(seconds)


def since(site, holds, what, began, seconds=60):
    site.wait(holds, what, seconds)
    return time.time() - began


def run_job(site, *flags, script=SCRIPT, name="train"):
    job = site.submit(script, *flags, name=name)
    site.wait(lambda: in_slurm(job)[0] == "RUNNING", f"job {job} runs")
    site.wait(lambda: site.job(job).get("state") == "running", "the daemon sees it run")
    return job, in_slurm(job)[2]


def told(site, job):
    return [text for _, text in site.webhook.heard if f"Job {job} " in str(text)]


def eligible_at(job):
    return next(each["eligible_time"] for each in json.loads(slurm("squeue", "--json"))["jobs"] if str(each["job_id"]) == job)


def gone(site, job):
    slurm("scancel", job)
    site.wait(lambda: in_slurm(job)[0] not in ("RUNNING", "PENDING", "COMPLETING"), "it is gone")


def mended(site, node):
    """An operator takes the drain back."""
    site.mend_gpu(node)
    drain = [each for each in site.actions("drain_node") if each["state"] == "verified"][-1]
    status, _ = site.ask("POST", f"/api/v1/actions/{drain['id']}/undo")
    expect(f"an operator takes the drain back: {status}", status in (200, 202))
    site.wait(lambda: node_state(node)[1] == "", f"{node} is in service again")


def lost_gpu(site):
    """Xid 79 in the kernel's log, the GPU lost for NVML, a NCCL error in the job's log."""
    job, node = run_job(site, "--gres=gpu:4")
    began = time.time()
    site.break_gpu(node)
    (site.home / f"fail.{job}").touch()
    verdict = since(site, lambda: any(node in str(each["call"]) for each in site.actions("drain_node")), "a verdict", began)
    drained = since(site, lambda: "DRAIN" in node_state(node)[0], "the node is drained", began)
    reason = node_state(node)[1]
    expect(f"with an own reason: {reason}", reason.startswith("schedmate:bed."))
    requeued = since(site, lambda: in_slurm(job)[1] == "1", "the job is requeued", began)
    eligible = eligible_at(job) - began
    running = since(site, lambda: in_slurm(job)[0] == "RUNNING" and in_slurm(job)[1] == "1", "it runs again", began)
    note("fault to verdict", verdict)
    note("verdict to drain", drained - verdict)
    note("fault to requeue", requeued)
    note("requeue to running elsewhere", running - requeued)
    note("eligible to running elsewhere", running - eligible)
    expect(f"elsewhere: {node}, then {in_slurm(job)[2]}", in_slurm(job)[2] != node)
    site.wait(lambda: told(site, job), "the owner is told")
    time.sleep(3)
    expect("once", len(told(site, job)) == 1)
    expect("it was requeued once", in_slurm(job)[1] == "1" and
           [each["state"] for each in site.actions("requeue_excluding") if each["call"]["job"] == job] == ["verified"])
    site.wait(lambda: site.job(job).get("state") == "running", "the daemon sees it run again")
    attempts = [(each["state"], [held["node"] for held in each["nodes"]]) for each in site.job(job)["attempts"]]
    expect(f"both attempts are known: {attempts}", attempts == [("failed", [node]), ("running", [in_slurm(job)[2]])])
    ledger = site.ask("GET", "/api/v1/ledger")[1]
    expect(f"GPU time lost is counted: {str(ledger)[:200]}", "infrastructure" in str(ledger))
    return job, node


def humans_win(site):
    job, node = lost_gpu(site)
    drain = [each["id"] for each in site.actions("drain_node") if each["state"] == "verified"][-1]
    slurm("scontrol", "update", f"NodeName={node}", "State=RESUME")
    site.wait(lambda: site.ask("GET", f"/api/v1/actions/{drain}")[1]["state"] == "superseded", "a person resumes the node: superseded")
    site.break_gpu(node)
    time.sleep(4)
    expect("it is not drained again", "DRAIN" not in node_state(node)[0])
    site.mend_gpu(node)
    gone(site, job)
    slurm("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=fan is loud")
    site.break_gpu("n3")
    time.sleep(4)
    expect("what a person drained keeps the person's reason", node_state("n3")[1] == "fan is loud")
    slurm("scontrol", "update", "NodeName=n3", "State=RESUME")
    site.mend_gpu("n3")


def user_bug(site):
    """A fault of the program is for its owner."""
    script = f"cat <<'LOG'\n{STEPS}Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\n" \
             "KeyError: 'lable'\nLOG\nsleep 2\nexit 1\n"
    job = site.submit(script, "--gres=gpu:1", name="bug")
    site.wait(lambda: told(site, job), "its owner is told")
    time.sleep(3)
    expect(f"and nothing else is done: {str(told(site, job)[0])[:150]}", in_slurm(job)[:2] == ["FAILED", "0"] and len(told(site, job)) == 1)


def in_shadow(programs, work):
    """As installed."""
    site = SlurmSite(programs, work + "/shadow", "")
    before = calls_in_sdiag()
    site.begin()
    probes = [site.probe(f"n{i}") for i in range(4)]
    time.sleep(3)
    job, node = run_job(site, "--gres=gpu:4")
    site.break_gpu(node)
    (site.home / f"fail.{job}").touch()
    site.wait(lambda: [each["state"] for each in site.actions("requeue_excluding") if each["call"]["job"] == job] == ["shadowed"],
              "in shadow the requeue is on record")
    expect("and the drain", {each["state"] for each in site.actions("drain_node")} == {"shadowed"})
    time.sleep(2)
    made = {kind: count - before.get(kind, 0) for kind, count in calls_in_sdiag().items()}
    expect(f"and the controller got no request that changes anything: {made}",
           all(made.get(kind, 0) == 0 for kind in ("REQUEST_UPDATE_JOB", "REQUEST_UPDATE_NODE", "REQUEST_JOB_REQUEUE",
                                                   "REQUEST_KILL_JOB", "REQUEST_SUSPEND_INT")))
    expect("nor was anybody told", site.webhook.heard == [])
    for each in (*probes, site.process):
        each.terminate()
        each.wait()


if __name__ == "__main__":
    programs, work = sys.argv[1:4], sys.argv[4]
    site = SlurmSite(programs, work + "/act", ACT)
    site.begin()
    probes = [site.probe(f"n{i}") for i in range(4)]
    site.wait(lambda: all(each["gpus_state"] for each in site.ask("GET", "/api/v1/cluster")[1]["nodes"]), "the probes are heard")
    for _ in range(2):
        job, node = lost_gpu(site)
        mended(site, node)
        gone(site, job)
    humans_win(site)
    user_bug(site)
    print("seconds:", {what: [round(each, 2) for each in sorted(seconds)] for what, seconds in times.items()})
    site.process.terminate()
    expect("SIGTERM ends it with 0", site.process.wait(timeout=10) == 0)
    for each in probes:
        each.terminate()
        each.wait()
    in_shadow(programs, work)
