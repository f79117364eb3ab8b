#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each situation of a real Slurm many times: slurm_rows.py SCHEDMATED SCHEDMATE SCHEDMATE_READER WORK, on the Slurm that
SLURM_CONF names (slurm_recovery.sh makes it: 12 nodes). ROUNDS (1): how often each; ROWS: only these (names); JSON: where the
figures go; SEED. Prints one table: how often, how often it ended rightly, and seconds from fault to verdict, from verdict to
drain, and until the job ran elsewhere since Slurm let it."""
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

from slurm_site import ACT, NCCL, STEPS, SlurmSite, gpus, slurm

TESTBED = os.environ.get("TESTBED", "")
ROUNDS = int(os.environ.get("ROUNDS", 1))


class Wrong(Exception):
    """The trial did not end as it must."""


def must(holds, what):
    if not holds:
        raise Wrong(what)


class Watch(threading.Thread):
    """What Slurm and the daemon show, read five times a second for all trials together."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.changed, self.over = site, threading.Condition(), False
        self.jobs, self.nodes, self.actions, self.at = {}, {}, [], 0
        self.start()

    def run(self):
        while not self.over:
            began = time.time()
            try:
                self.read()
            except (OSError, ValueError, KeyError, subprocess.TimeoutExpired, IndexError):
                pass  # something was killed: the next one
            time.sleep(max(0.02, 0.2 - (time.time() - began)))

    def read(self):
        jobs, nodes = {}, {}
        lines = subprocess.run(["squeue", "-h", "-a", "-t", "all", "-O", "JobID:12,State:16,RestartCnt:6,EligibleTime:24,NodeList:80"],
                               capture_output=True, text=True, timeout=12)
        states = subprocess.run(["sinfo", "-h", "-N", "-o", "%N|%T|%E"], capture_output=True, text=True, timeout=12)
        if lines.returncode or states.returncode:
            return
        for line in lines.stdout.splitlines():
            words = line.split()
            jobs[words[0]] = (words[1], int(words[2]), words[4] if len(words) > 4 else "", words[3])
        for line in states.stdout.splitlines():
            name, state, reason = line.split("|", 2)
            nodes[name] = (state, "" if reason == "none" else reason)
        actions = self.site.actions()
        with self.changed:
            self.jobs, self.nodes, self.actions, self.at = jobs, nodes, actions, time.time()
            self.changed.notify_all()

    def until(self, holds, what, seconds=60):
        """When it held first."""
        due = time.time() + seconds
        with self.changed:
            while not holds():
                if not self.changed.wait(max(0.01, due - time.time())) and time.time() > due:
                    raise Wrong(f"not in {seconds} s: {what}")
            return self.at

    def anew(self):
        """What is shown now, and not before."""
        now = time.time()
        self.until(lambda: self.at > now + 0.3, "it is read")

    def job(self, id):
        return self.jobs.get(id, ("", -1, "", ""))

    def of_job(self, id, kind="requeue_excluding"):
        return [each for each in self.actions if each["call"].get("job") == id and each["kind"] == kind]

    def of_node(self, node, kind, since=0):
        return [each for each in self.actions if each["kind"] == kind and each["steps"][0]["when_s"] >= int(since) and
                any(on["node"] == node for on in each["call"]["nodes"])]

    def drained(self, node):
        return self.nodes.get(node, ("", ""))[0].startswith("drain")


class Bed:
    """A daemon with settings beside the Slurm, for some rows."""

    def __init__(self, programs, work, name, nodes, slurm_settings="", caps=None, **recover):
        self.faults = pathlib.Path(work) / f"{name}-faults"
        self.faults.mkdir()
        self.faults.chmod(0o777)
        recover = {"witness_wait_s": 5, "follow_s": 1, "hung_restart_s": 4, "test_timeout_s": 60, "return_after_s": 0,
                   "test_command": f'"{pathlib.Path(__file__).parent}/node_test.sh {self.faults}"', **recover}
        self.site = SlurmSite(programs, f"{work}/{name}", ACT, recover="".join(f"{k} = {v}\n" for k, v in recover.items()),
                              caps={"drained_nodes_max": 100, "drained_pct_max": 100, **(caps or {})}, slurm_settings=slurm_settings)
        self.site.begin()
        self.work, self.node_names = work, nodes
        self.probes = {node: self.site.probe(node) for node in nodes}
        self.watch = Watch(self.site)
        self.numbers = iter(range(10**6))
        self.lock, self.mine = threading.Lock(), threading.local()
        self.free = queue.SimpleQueue()  # of nodes, for one trial each
        for first in range(0, len(nodes) // 3 * 3, 3):
            self.free.put(nodes[first:first + 3])
        self.site.wait(lambda: all(each["gpus_state"] for each in self.site.ask("GET", "/api/v1/cluster")[1]["nodes"]), "the probes are heard")

    def end(self):
        self.watch.over = True
        self.watch.join()
        for user in ("games", "root"):
            slurm("scancel", "-u", user, check=False)
        for _ in range(150):
            left = slurm("scontrol", "show", "reservation", check=False)
            if "schedmate_" not in left:
                break
            time.sleep(0.2)
        for each in (*self.probes.values(), self.site.process, self.site.reader):
            each.terminate()
            each.wait()
        checked = subprocess.run([self.site.schedmate, "audit", "--verify", "--state-dir", self.site.state], capture_output=True, text=True)
        for node in self.node_names:
            slurm("scontrol", "update", f"NodeName={node}", "State=UNDRAIN", check=False)
        if checked.returncode != 0:
            raise SystemExit(f"FAILED: the audit chain: {checked.stdout}{checked.stderr}")
        if "schedmate_" in left:
            raise SystemExit(f"FAILED: a test has left {left}")

    def run(self, script, *flags, wait=True, name=None):
        """A job of its own on the nodes of this trial, and its first node."""
        others = ",".join(node for node in self.node_names if node not in self.mine.nodes)
        with self.lock:
            flags = [*flags, "-x", others] if others else flags
            job = self.site.submit(script, *flags, name=name or f"train{next(self.numbers)}")
        if not wait:
            return job, ""
        self.watch.until(lambda: self.watch.job(job)[0] == "RUNNING", f"job {job} runs", 120)
        self.site.wait(lambda: self.site.job(job).get("state") == "running", "the daemon sees it run")
        return job, self.watch.job(job)[2]

    def fail(self, job):
        (self.site.home / f"fail.{job}").touch()

    def told(self, job):
        return [text["text"] for _, text in self.site.webhook.heard if text["job"] == job]

    def has_passed(self, node, since):
        return any(each["steps"][-1].get("note") == "passed" and len(each["call"]["nodes"]) == 1
                   for each in self.watch.of_node(node, "test_nodes", since))

    def gone(self, *jobs):
        slurm("scancel", *jobs)
        for job in jobs:
            self.watch.until(lambda: self.watch.job(job)[0] not in ("RUNNING", "PENDING", "COMPLETING"), "it is gone")

    def returned(self, node):
        """An operator takes the drain back."""
        self.site.mend_gpu(node)
        (self.faults / node).unlink(missing_ok=True)
        self.watch.anew()
        for drain in self.watch.of_node(node, "drain_node"):
            if drain["state"] == "verified":
                self.site.ask("POST", f"/api/v1/actions/{drain['id']}/undo")
        self.watch.until(lambda: not self.watch.drained(node), f"{node} is back")

    def spoil(self, node, ecc=True):
        """A new error for NVML alone."""
        with self.lock, open(self.site.folder / f"{node}.json", "a") as state:
            state.write(gpus(ecc=next(self.numbers) + 1) if ecc else gpus(links=next(self.numbers) + 1))

    def kernel(self, node, line):
        with open(self.site.folder / f"{node}.log", "a") as log:
            log.write(line)

    def times(self, job, node, began, drains=True):
        """From a fault to where the job runs again, elsewhere and once."""
        watch, made = self.watch, {}
        if drains:
            verdict = watch.until(lambda: watch.of_node(node, "drain_node", began), "a verdict", 30)
            drained = watch.until(lambda: watch.drained(node), "the drain", 30)
            must(watch.nodes[node][1].startswith("schedmate:bed."), f"the reason is ours: {watch.nodes[node]}")
            made = {"fault to verdict": verdict - began, "verdict to drain": drained - verdict}
        watch.until(lambda: watch.job(job)[1] == 1, "requeued", 120)
        running = watch.until(lambda: watch.job(job)[0] == "RUNNING" and watch.job(job)[1] == 1, "it runs again", 120)
        eligible = eligible_at(job)
        if eligible:
            made["eligible to running"] = max(0.0, running - eligible)
        must(node not in hosts(watch.job(job)[2]), f"elsewhere: {node}, then {watch.job(job)[2]}")
        return made

    def once(self, job):
        self.watch.anew()
        must(self.watch.job(job)[1] == 1, f"restarted {self.watch.job(job)[1]} times")
        must([each["state"] for each in self.watch.of_job(job)] == ["verified"], f"requeued once: {self.watch.of_job(job)}")
        self.site.wait(lambda: self.told(job), "the owner is told")
        must(len(self.told(job)) == 1, f"told once: {self.told(job)}")


def eligible_at(job):
    for each in json.loads(slurm("squeue", "--json", "-t", "all"))["jobs"]:
        if str(each["job_id"]) == job:
            return each["eligible_time"]
    return 0


def hosts(nodes):
    return slurm("scontrol", "show", "hostnames", nodes).split() if nodes else []


def until_told(text, status=1):
    """Steps, then waits for its file, and ends with this text; later attempts run on."""
    return (f'if [ "${{SLURM_RESTART_COUNT:-0}}" = 0 ]; then\ncat <<\'LOG\'\n{STEPS}LOG\n'
            f'while [ ! -e fail.$SLURM_JOB_ID ]; do sleep 0.1; done\ncat <<\'LOG\'\n{text}LOG\nexit {status}\nfi\nsleep 3600\n')


# Rows: each gives seconds by name, or raises Wrong. ---------------------------------------------------------------------------

def lost_gpu(bed):
    """Xid 79, the GPU lost for NVML, a NCCL error in the log: drained, requeued elsewhere, told, counted."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    began = time.time()
    bed.site.break_gpu(node)
    bed.fail(job)
    made = bed.times(job, node, began)
    bed.once(job)
    kept = bed.site.state / "logs" / f"{job}.0.log"
    must(kept.exists() and "NCCL error" in kept.read_text(), "the log was kept before the requeue truncated it")
    bed.gone(job)
    bed.returned(node)
    return made


def idle_node(bed, last=False):
    """A node where nobody works, held by a short job of ours that ends."""
    job, _ = bed.run("sleep 1\n", "--gres=gpu:8", "--exclusive", wait=False)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "COMPLETED", "it has ended", 120)
    return bed.watch.job(job)[2]


def nvml_alone_bad(bed):
    """An ECC error by NVML alone on a node whose test fails: tested, drained."""
    node = idle_node(bed)
    (bed.faults / node).touch()
    began = time.time()
    bed.spoil(node)
    tested = bed.watch.until(lambda: bed.watch.of_node(node, "test_nodes", began), "a test", 60)
    drained = bed.watch.until(lambda: bed.watch.drained(node), "a drain", 90)
    must(bed.watch.of_node(node, "drain_node", began)[-1]["why"][0] == "rule one_witness", "by test and witness")
    bed.returned(node)
    return {"witness to test": tested - began, "witness to drain by test": drained - began}


def nvml_alone_well(bed):
    """An NVLink error by NVML alone on a node whose test passes: nothing is drained."""
    node = idle_node(bed)
    began = time.time()
    bed.spoil(node, ecc=False)
    bed.watch.until(lambda: bed.has_passed(node, began),
                    "a test that passes", 90)
    bed.watch.anew()
    must(not bed.watch.drained(node) and not bed.watch.of_node(node, "drain_node", began), "no drain")
    return {}


def log_alone(bed):
    """Only the log blames the machine, whose test passes: started again, nothing drained."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    began = time.time()
    bed.fail(job)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "RUNNING" and bed.watch.job(job)[1] == 1, "it runs again", 90)
    bed.watch.until(lambda: bed.has_passed(node, began), "a test", 90)
    bed.once(job)
    must(not bed.watch.of_node(node, "drain_node", began), "no drain")
    bed.gone(job)
    return {}


def log_alone_bad(bed):
    """The log blames the machine, and its test agrees: drained by these two."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    (bed.faults / node).touch()
    bed.fail(job)
    bed.watch.until(lambda: bed.watch.drained(node), "a drain", 90)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "RUNNING" and bed.watch.job(job)[1] == 1, "it runs again", 90)
    bed.once(job)
    must(bed.watch.job(job)[2] != node, "elsewhere: the test keeps others off the node")
    bed.gone(job)
    bed.returned(node)
    return {}


def set_epilog(work):
    """A check of the site's own, after each job: it fails on a node for which WORK/epilog-NODE is there."""
    script = pathlib.Path(work, "epilog.sh")
    script.write_text(f'#!/bin/sh\n[ ! -e "{work}/epilog-$SLURMD_NODENAME" ]\n')
    script.chmod(0o755)
    with open(os.environ["SLURM_CONF"], "a") as conf:
        conf.write(f"\nEpilog={script}\n")
    slurm("scontrol", "reconfigure")


def site_check(bed):
    """The log blames the machine, and the site's own epilog takes the node out: requeued elsewhere; the drain is the site's."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    failing = pathlib.Path(bed.work, f"epilog-{node}")
    failing.touch()
    began = time.time()
    bed.fail(job)
    bed.watch.until(lambda: bed.watch.nodes.get(node, ("", ""))[1] == "Epilog error", "Slurm drains it", 60)
    made = bed.times(job, node, began, drains=False)
    bed.once(job)
    why = bed.watch.of_job(job)[0]["why"]
    must(f"site of {node}: Epilog error" in why, f"it is a witness: {why}")
    must(not bed.watch.of_node(node, "drain_node", began) and not bed.watch.of_node(node, "undrain_node", began), "the site's drain stays")
    must(bed.watch.drained(node), "it is drained still")
    failing.unlink()
    bed.gone(job)
    slurm("scontrol", "update", f"NodeName={node}", "State=UNDRAIN")
    bed.watch.until(lambda: not bed.watch.drained(node), f"{node} is back")
    return made


def bad_between(bed):
    """A link between two good nodes: found, said, nothing drained."""
    job, nodes = bed.run(until_told(NCCL), "-N2", "--gres=gpu:8")
    one, other = hosts(nodes)
    (bed.faults / f"{one}-{other}").touch()
    bed.fail(job)

    def remark():
        return any(f"what lies between {one} and {other}" in str(each) or f"what lies between {other} and {one}" in str(each)
                   for each in bed.site.ask("GET", "/api/v1/audit?limit=1000")[1].get("entries", []))
    bed.site.wait(remark, f"the link between {one} and {other} is found", 180)
    bed.watch.anew()
    must(not bed.watch.drained(one) and not bed.watch.drained(other), "no drain")
    (bed.faults / f"{one}-{other}").unlink()
    bed.watch.until(lambda: bed.watch.job(job)[0] == "RUNNING" and bed.watch.job(job)[1] == 1, "it runs again", 90)
    bed.gone(job)
    return {}


def hang(bed):
    """The log is silent and the GPUs idle: told, restarted once; the second time told, no more."""
    steps = "for n in $(seq 1 100); do echo step $n/1000 loss 3.1 0.2 s/it; sleep 0.2; done\ntouch silent.$SLURM_JOB_ID\nsleep 3600\n"
    job, node = bed.run(steps, "--gres=gpu:8")
    bed.site.idle_gpu(node)
    bed.site.wait((bed.site.home / f"silent.{job}").exists, "it is silent", 60)
    began = time.time()
    told = bed.watch.until(lambda: bed.told(job), "the owner is told", 60)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "RUNNING" and bed.watch.job(job)[1] == 1, "restarted", 90)
    second = bed.watch.job(job)[2]
    bed.site.idle_gpu(second)
    bed.watch.until(lambda: len(bed.told(job)) > 1, "told of the second one", 90)
    time.sleep(8)
    bed.watch.anew()
    must(bed.watch.job(job)[:2] == ("RUNNING", 1) and len(bed.told(job)) == 2, f"restarted once, told twice: {bed.told(job)}")
    must("not restarted again" in bed.told(job)[1], bed.told(job)[1])
    bed.gone(job)
    for each in (node, second):
        bed.site.mend_gpu(each)
    return {"silence to told": told - began}


LEFT_ALONE = {
    "user bug": "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\nKeyError: 'lable'\n",
    "out of memory": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; 79.15 GiB total capacity)\n",
    "disk full": "Traceback (most recent call last):\n  File \"train.py\", line 9, in save\nOSError: [Errno 28] No space left on device: '/scratch/ckpt.pt'\n",
    "wrong path": "Traceback (most recent call last):\n  File \"train.py\", line 2, in <module>\nFileNotFoundError: [Errno 2] No such file or directory: '/data/imagnet'\n",
}


def left_alone(bed):
    """A bug, no memory, a full disk, a wrong path: the owner is told, nothing else happens."""
    jobs = {what: bed.run(until_told(text), "--gres=gpu:1", wait=False)[0] for what, text in LEFT_ALONE.items()}
    for job in jobs.values():
        bed.fail(job)
    for what, job in jobs.items():
        bed.watch.until(lambda: bed.told(job), f"{what}: its owner is told", 120)
    time.sleep(2)
    bed.watch.anew()
    for what, job in jobs.items():
        must(bed.watch.job(job)[:2] == ("FAILED", 0) and len(bed.told(job)) == 1, f"{what}: left alone: {bed.watch.job(job)} {bed.told(job)}")
        must(not bed.watch.of_job(job), f"{what}: no requeue")
    return {}


def cancelled_or_late(bed):
    """Cancelled by its owner: nobody is told; over its time limit: told, left alone."""
    late, _ = bed.run(until_told(""), "--gres=gpu:1", "-t", "0:01")
    job, _ = bed.run(until_told(""), "--gres=gpu:1")
    slurm("scancel", job)
    bed.watch.until(lambda: bed.told(late), "told of its limit", 150)
    time.sleep(2)
    bed.watch.anew()
    must(bed.watch.job(late)[:2] == ("TIMEOUT", 0) and not bed.watch.of_job(late), f"left alone: {bed.watch.job(late)}")
    must(bed.watch.job(job)[:2] == ("CANCELLED", 0) and not bed.told(job), "a cancelled one: nobody is told")
    return {}


LINK = "[  {n}.000000] mlx5_core 0000:1a:00.0 ib0: Link down\n"


def flap(bed):
    """One alert of the network: nothing. The second within five minutes: tested, and drained if the test agrees."""
    node = idle_node(bed)
    (bed.faults / node).touch()
    began = time.time()
    bed.kernel(node, LINK.format(n=next(bed.numbers)))
    time.sleep(9)
    bed.watch.anew()
    must(not bed.watch.of_node(node, "test_nodes", began), "nothing after one alert")
    second = time.time()
    bed.kernel(node, LINK.format(n=next(bed.numbers)))
    drained = bed.watch.until(lambda: bed.watch.drained(node), "a drain after the second", 90)
    bed.returned(node)
    return {"second alert to drain by test": drained - second}


def same_step(bed):
    """The same cause at the same step as before: it stops, and the owner is told."""
    text = f"cat <<'LOG'\n{STEPS}LOG\nwhile [ ! -e fail.$SLURM_JOB_ID ]; do sleep 0.1; done\ncat <<'LOG'\n{NCCL}LOG\nexit 1\n"
    job, node = bed.run(text, "--gres=gpu:8")
    bed.fail(job)
    bed.watch.until(lambda: bed.watch.job(job)[1] == 1, "started again", 90)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "FAILED" and bed.watch.job(job)[1] == 1, "fails again", 90)
    bed.watch.until(lambda: len(bed.told(job)) == 2, "told again", 90)
    time.sleep(2)
    bed.watch.anew()
    must(bed.watch.job(job)[:2] == ("FAILED", 1) and "at the same step" in bed.told(job)[1], f"it stops: {bed.told(job)}")
    return {}


def not_rewritten(bed):
    """Requeue=0, and a job that asks for the node by name: left, the owner told."""
    made = []
    for flags in (["--no-requeue"], ["-w", idle_node(bed)]):
        job, node = bed.run(until_told(NCCL), "--gres=gpu:8", *flags)
        bed.site.break_gpu(node)
        bed.fail(job)
        bed.watch.until(lambda: [each["state"] for each in bed.watch.of_job(job)] == ["failed"], "not requeued")
        bed.watch.until(lambda: bed.told(job), "told")
        must(bed.watch.job(job)[:2] == ("FAILED", 0), "it stays")
        made.append(node)
        bed.returned(node)
    return {}


# Nodes that die: Slurm takes 16 to 30 s to say so. -----------------------------------------------------------------------------

def testbed(bed, *words):
    subprocess.run([TESTBED, words[0], bed.work + "/tb", *words[1:]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def back(bed, node):
    testbed(bed, "node-start", node)
    bed.watch.until(lambda: bed.watch.nodes[node][0] in ("idle", "mixed", "allocated"), "the node is back", 90)


def node_dies(bed):
    """slurmd and all that it started are killed: Slurm requeues the job, SchedMate does not."""
    job, node = bed.run(until_told(""), "--gres=gpu:8")
    began = time.time()
    testbed(bed, "node-stop", node)
    running = bed.watch.until(lambda: bed.watch.job(job)[:2] == ("RUNNING", 1), "it runs again", 150)
    must(node not in hosts(bed.watch.job(job)[2]), "elsewhere")
    bed.watch.anew()
    must(not [each for each in bed.watch.of_job(job) if each["state"] == "verified"], "not by SchedMate")
    bed.gone(job)
    back(bed, node)
    return {"death to running": running - began}


def pids(pattern, node):
    """Processes of a node: SLURMD_NODENAME in their environment, or its log open."""
    found = []
    for each in pathlib.Path("/proc").iterdir():
        if not each.name.isdigit():
            continue
        try:
            environ = (each / "environ").read_bytes().split(b"\0")
            name = (each / "comm").read_text().strip()
        except OSError:
            continue
        if f"SLURMD_NODENAME={node}".encode() in environ and f"SLURM_CONF={os.environ['SLURM_CONF']}".encode() in environ:
            if pattern in ("", name):
                found.append(int(each.name))
    return found


def killed_first(bed):
    """The tasks die before slurmstepd: Slurm says FAILED, 0:9. Then the node is gone, and that is the witness."""
    job, node = bed.run(until_told(""), "--gres=gpu:8")
    began = time.time()
    bed.site.wait(lambda: pids("slurm_script", node), "its script runs")
    steps = pids("slurmstepd", node)
    for some in ([pid for pid in pids("", node) if pid not in steps], steps):
        for pid in some:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        time.sleep(0.3)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "FAILED", "Slurm says FAILED", 30)
    testbed(bed, "node-stop", node)
    running = bed.watch.until(lambda: bed.watch.job(job)[:2] == ("RUNNING", 1), "it runs again", 150)
    must(node not in hosts(bed.watch.job(job)[2]), "elsewhere")
    bed.once(job)
    bed.gone(job)
    back(bed, node)
    return {"death to running": running - began}


def other_host(bed):
    """The other node of a job dies, not that of its script."""
    script = 'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then\nsrun sh -c "sleep 3600" || exit 1\nfi\nsleep 3600\n'
    job, nodes = bed.run(script, "-N2", "--gres=gpu:8")
    node = hosts(nodes)[1]
    time.sleep(1)
    began = time.time()
    testbed(bed, "node-stop", node)
    running = bed.watch.until(lambda: bed.watch.job(job)[:2] == ("RUNNING", 1), "it runs again", 150)
    must(node not in hosts(bed.watch.job(job)[2]), f"elsewhere: {bed.watch.job(job)}")
    bed.watch.anew()
    must(bed.watch.job(job)[1] == 1, "once")
    bed.gone(job)
    back(bed, node)
    return {"death to running": running - began}


# People ------------------------------------------------------------------------------------------------------------------------

def person_drains(bed):
    """Before the verdict: the person's reason stays."""
    node = idle_node(bed)
    slurm("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=fan is loud")
    bed.site.break_gpu(node)
    time.sleep(4)
    bed.watch.anew()
    must(bed.watch.nodes[node][1] == "fan is loud", f"the reason stays: {bed.watch.nodes[node]}")
    bed.site.mend_gpu(node)
    slurm("scontrol", "update", f"NodeName={node}", "State=RESUME")
    return {}


def person_resumes(bed):
    """After the drain: it stays in service."""
    node = idle_node(bed)
    bed.site.break_gpu(node)
    bed.watch.until(lambda: bed.watch.drained(node), "a drain")
    bed.watch.until(lambda: [each["state"] for each in bed.watch.of_node(node, "drain_node")][-1] == "verified", "seen")
    slurm("scontrol", "update", f"NodeName={node}", "State=RESUME")
    bed.watch.until(lambda: "superseded" in [each["state"] for each in bed.watch.of_node(node, "drain_node")], "superseded")
    bed.site.break_gpu(node)
    time.sleep(4)
    bed.watch.anew()
    must(not bed.watch.drained(node), "not drained again")
    bed.site.mend_gpu(node)
    return {}


def person_requeues(bed):
    """Just when SchedMate would: it is started again once."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    bed.site.break_gpu(node)
    bed.fail(job)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "FAILED" or bed.watch.job(job)[1] > 0, "it has failed")
    time.sleep(random.uniform(0, 1))
    slurm("scontrol", "requeue", job, check=False)
    bed.watch.until(lambda: bed.watch.job(job)[:2] == ("RUNNING", 1), "it runs again", 90)
    time.sleep(3)
    bed.watch.anew()
    must(bed.watch.job(job)[1] == 1, "once")
    bed.gone(job)
    bed.returned(node)
    return {}


def person_holds(bed):
    """After the requeue: it stays held."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    bed.site.break_gpu(node)
    bed.fail(job)
    bed.watch.until(lambda: bed.watch.job(job)[1] == 1, "requeued")
    slurm("scontrol", "hold", job)
    time.sleep(9)
    bed.watch.anew()
    must(bed.watch.job(job)[:2] == ("PENDING", 1), f"it stays held: {bed.watch.job(job)}")
    bed.gone(job)
    bed.returned(node)
    return {}


def person_cancels(bed):
    """At any time: it stays cancelled."""
    job, node = bed.run(until_told(NCCL), "--gres=gpu:8")
    bed.site.break_gpu(node)
    bed.fail(job)
    time.sleep(random.uniform(0, 4))
    slurm("scancel", job, check=False)
    time.sleep(8)
    bed.watch.anew()
    state = bed.watch.job(job)
    must(state[0] in ("CANCELLED", "RUNNING", "PENDING", "FAILED"), state)
    if state[0] in ("RUNNING", "PENDING"):  # it was cancelled as it had failed, which Slurm takes for nothing
        slurm("scancel", job)
        time.sleep(8)
        bed.watch.anew()
        must(bed.watch.job(job)[0] == "CANCELLED", f"it stays cancelled: {bed.watch.job(job)}")
    bed.watch.until(lambda: not [each for each in bed.watch.of_node(node, "drain_node") if each["state"] in ("intended", "called")], "settled")
    bed.returned(node)
    return {}


# Nodes that return, spares, a switch -------------------------------------------------------------------------------------------

def mended(bed):
    """An own drain whose node passes its test in a reservation is taken back; a person's is not."""
    node, others = idle_node(bed), idle_node(bed)
    (bed.faults / node).touch()
    bed.site.break_gpu(node)
    bed.watch.until(lambda: bed.watch.drained(node), "a drain")
    if others != node:
        slurm("scontrol", "update", f"NodeName={others}", "State=DRAIN", "Reason=fan is loud")
    bed.site.mend_gpu(node)
    bed.watch.until(lambda: any(each["steps"][-1].get("note", "").startswith("failed") for each in bed.watch.of_node(node, "test_nodes")),
                    "a test that fails", 120)
    bed.watch.anew()  # it is woken for each test, while a reservation keeps others off
    bed.watch.until(lambda: bed.watch.drained(node) and bed.watch.nodes[node][1].startswith("schedmate:bed."), "it stays drained")
    (bed.faults / node).unlink()
    mended = time.time()
    bed.watch.until(lambda: [each["state"] for each in bed.watch.of_node(node, "drain_node")][-1] == "undone", "undone", 180)
    back = bed.watch.until(lambda: not bed.watch.drained(node), "it is back")
    if others != node:
        must(bed.watch.nodes[others][1] == "fan is loud", "the person's stays")
        slurm("scontrol", "update", f"NodeName={others}", "State=RESUME")
    return {"mended to returned": back - mended}


def spare(bed):
    """One node of the reservation is released for one that is drained."""
    slurm("scontrol", "create", "reservation", "ReservationName=spares", "StartTime=now", "Duration=UNLIMITED", "Flags=MAINT,IGNORE_JOBS",
          "Nodes=n10,n11", "Users=root")
    node = idle_node(bed)
    began = time.time()
    bed.site.break_gpu(node)
    released = bed.watch.until(lambda: [each["state"] for each in bed.watch.actions if each["kind"] == "release_spare"][-1:] == ["verified"] and
                               [each for each in bed.watch.actions if each["kind"] == "release_spare"][-1]["steps"][0]["when_s"] >= int(began), "a release")
    must(len(hosts_reserved("spares")) == 1, f"one is left: {hosts_reserved('spares')}")
    bed.returned(node)
    time.sleep(2)
    must(len(hosts_reserved("spares")) == 1, "one for one")
    slurm("scontrol", "delete", "ReservationName=spares")
    return {"fault to spare": released - began}


def hosts_reserved(name):
    text = slurm("scontrol", "-o", "show", "reservation", name, check=False)
    nodes = [word[6:] for word in text.split() if word.startswith("Nodes=")]
    return hosts(nodes[0]) if nodes else []


def switch(bed):
    """Ten nodes at once: the breaker, one message, nothing drained beyond the cap, what piled up is discarded."""
    heard = len(bed.site.webhook.heard)
    for node in bed.node_names[:10]:
        bed.site.break_gpu(node)
    bed.site.wait(lambda: bed.site.ask("GET", "/api/v1/cluster")[1].get("breaker_open"), "the breaker is open")
    time.sleep(6)
    bed.watch.anew()
    out = [node for node in bed.node_names if bed.watch.drained(node)]
    messages = [text for _, text in bed.site.webhook.heard[heard:] if "acts no more" in text["text"]]
    must(len(out) <= 2 and len(messages) == 1, f"drained {out}, messages {messages}")
    must(not [each for each in bed.watch.actions if each["state"] == "waiting"], "nothing waits")
    for node in bed.node_names[:10]:
        bed.site.mend_gpu(node)
    bed.site.ask("POST", "/api/v1/breaker/close")
    for node in out:
        bed.returned(node)
    return {"drained": len(out)}


PLAIN = [lost_gpu, nvml_alone_bad, nvml_alone_well, log_alone, log_alone_bad, hang, left_alone, cancelled_or_late, flap, same_step,
         not_rewritten]
DEATHS = [node_dies, killed_first, other_host]
PEOPLE = [person_drains, person_resumes, person_requeues, person_holds, person_cancels]
GROUPS = [  # name, rows, trials at a time, settings
    ("plain", PLAIN, 4, {}),
    ("between", [bad_between], 2, {}),  # nodes must be left of which nobody says anything bad
    ("deaths", DEATHS, 4, {"witness_wait_s": 60}),
    ("people", PEOPLE, 4, {}),
    ("mended", [mended], 4, {"return_after_s": 3}),
    ("spare", [spare], 1, {"spares": True}),
    ("switch", [switch], 1, {"caps": True}),
    ("site", [site_check], 3, {}),  # last: its epilog stays
]


def trial(row, bed):
    began = time.time()
    bed.mine.nodes = nodes = bed.free.get()
    try:
        return one_trial(row, bed, began)
    finally:
        bed.free.put(nodes)


def one_trial(row, bed, began):
    try:
        return row.__name__, row(bed) or {}, "", time.time() - began
    except Wrong as wrong:
        return row.__name__, {}, str(wrong), time.time() - began
    except (Exception, SystemExit):  # noqa: BLE001  a trial that breaks is one that is wrong
        return row.__name__, {}, traceback.format_exc(limit=3), time.time() - began


def run_group(programs, work, nodes, group, rows, results):
    """A fresh daemon for each few trials, which have their own nodes: what was said of a node counts for ten minutes, what people lift is
    left alone for a day."""
    name, _, width, options = group
    trials = [row for row in rows for _ in range(ROUNDS)]
    for first in range(0, len(trials), width):
        settings, caps = "", {}
        recover = {key: value for key, value in options.items() if key.endswith("_s")}
        if "spares" in options:
            settings = 'spares = "spares"\n'
        if "caps" in options:
            caps = {"drained_nodes_max": 2, "drained_pct_max": 20, "breaker_pct": 5}
        bed = Bed(programs, work, f"{name}{first}", nodes, settings, caps=caps, **recover)
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            for made in pool.map(lambda row: trial(row, bed), trials[first:first + width]):
                results.append(made)
                print(f"{'ok' if not made[2] else 'WRONG'}: {made[0]} in {made[3]:.1f} s {made[2]}", flush=True)
        bed.end()


def percentile(values, of):
    values = sorted(values)
    return values[min(len(values) - 1, int(of * len(values)))]


def table(results):
    by_row = collections.defaultdict(list)
    for made in results:
        by_row[made[0]].append(made)
    rows = {}
    for name, all_of in by_row.items():
        figures = collections.defaultdict(list)
        for _, seconds, _, _ in all_of:
            for what, value in seconds.items():
                figures[what].append(value)
        rows[name] = {"trials": len(all_of), "right": sum(not each[2] for each in all_of), "wrong": [each[2] for each in all_of if each[2]],
                      "figures": {what: {"n": len(values), "p50": round(percentile(values, 0.5), 2), "p99": round(percentile(values, 0.99), 2),
                                         "max": round(max(values), 2)} for what, values in figures.items()}}
    print(f"{'row':20} {'right':>7}  seconds: p50 p99")
    for name, row in rows.items():
        print(f"{name:20} {row['right']:3}/{row['trials']:<3}  " +
              "; ".join(f"{what} {value['p50']} {value['p99']}" for what, value in row["figures"].items()))
    return rows


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # what was started goes with it
    seed = int(os.environ.get("SEED", time.time()))
    random.seed(seed)
    print("SEED", seed, "ROUNDS", ROUNDS)
    programs, work = sys.argv[1:4], sys.argv[4]
    wanted = os.environ.get("ROWS", "").split()
    nodes = sorted(slurm("sinfo", "-h", "-N", "-o", "%N").split(), key=lambda each: int(each[1:]))
    results, left = [], ""
    for group in GROUPS:
        rows = [row for row in group[1] if not wanted or row.__name__ in wanted or group[0] in wanted]
        if site_check in rows:
            set_epilog(work)
        try:
            run_group(programs, work, nodes, group, rows, results)
        except SystemExit as wrong:  # figures of what was done are kept
            left = str(wrong)
            break
    rows = table(results)
    if os.environ.get("JSON"):
        pathlib.Path(os.environ["JSON"]).write_text(json.dumps({"seed": seed, "rounds": ROUNDS, "rows": rows}, indent=1))
    if left or any(row["wrong"] for row in rows.values()):
        raise SystemExit(left or "FAILED: some trials did not end as they must")
