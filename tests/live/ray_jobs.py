# SPDX-License-Identifier: Apache-2.0
"""ray_jobs.py SCHEDMATED SCHEDMATE FOLDER DASHBOARD: jobs of two users, submitted to SchedMate, run on the nodes and GPUs that it decided, as
the jobs themselves see it, and leave nothing behind: by fifo, then by lucid with one node as its profiler; started by Ray's Jobs API, then by a driver."""
import atexit
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

from ray_settings import ray_settings

DAEMON, CLIENT, WORK, DASHBOARD = sys.argv[1:5]
WORK = pathlib.Path(WORK)
TOKEN = os.environ["RTB_TOKEN"]
TREE = WORK / "net"
REPORTS = WORK / "reports"
SPEED = float(os.environ.get("PATIENCE", "1"))

JOB = """import json, os, sys, time
began = time.time()
print("Epoch 1 begins", flush=True)
time.sleep(float(sys.argv[2]))
gpus = [int(gpu) for gpu in os.environ["CUDA_VISIBLE_DEVICES"].split(",")]
node = os.environ["RTB_TAG"].partition(".")[2]  # what the test bed has started Ray's node with
report = {"job": os.environ["SCHEDMATE_JOB"], "run": os.environ["SCHEDMATE_RUN"], "gpus": gpus, "node": node, "told": os.environ["SCHEDMATE_NODE"],
          "rank": os.environ["NODE_RANK"], "began": began, "ended": time.time(), "dir": os.getcwd()}
with open(f"{sys.argv[1]}/{report['run']}.{report['rank']}", "w") as file:
    json.dump(report, file)
print("Training finished", flush=True)
sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
"""


def expect(what, holds):
    if not holds:
        os.system(f"tail -n 30 {WORK}/daemon.log")
        raise SystemExit(f"FAILED: {what}")
    print("ok:", what, flush=True)


def configure(policy, starts="jobs_api"):
    (WORK / "config.toml").write_text(ray_settings(WORK, DASHBOARD, "w3", policy, starts=starts))


class Bed:
    def begin(self):
        self.log = open(WORK / "daemon.log", "ab")
        self.daemon = subprocess.Popen([DAEMON, "--config", WORK / "config.toml"], stderr=self.log)
        atexit.register(self.daemon.kill)
        self.wait("the daemon answers", lambda: self.ask("cluster", may_fail=True) is not None)

    def ask(self, *words, may_fail=False):
        words = [words[0], "--json", "--address", f"unix:{WORK}/api.sock", *words[1:]]
        made = subprocess.run([CLIENT, *words], capture_output=True, text=True)
        if made.returncode != 0 and not may_fail:
            expect(f"schedmate {' '.join(words)}: {made.stderr}", False)
        return json.loads(made.stdout) if made.returncode == 0 else None

    def wait(self, what, holds, within=120):
        until = time.monotonic() + within * SPEED
        while time.monotonic() < until:
            if holds():
                return
            time.sleep(0.3)
        os.system(f"tail -n 30 {WORK}/daemon.log")
        print(json.dumps(self.ask("jobs", may_fail=True), indent=1)[:6000])
        print(json.dumps(self.ask("actions", may_fail=True))[:6000])
        raise SystemExit(f"FAILED: {what}")

    def submit(self, user, gpus, seconds, *more, words=(), script="job.py"):
        command = [sys.executable, script, str(REPORTS), str(seconds), *map(str, more)]
        action = self.ask("submit", "--user", user, "--gpus", str(gpus), "--dir", str(TREE), *words, "--", *command)
        expect(f"a job of {user} on {gpus} GPUs is submitted", action["state"] == "verified")
        return action["job"]

    def jobs(self):
        return {job["id"]: job for job in self.ask("jobs")["jobs"]}

    def job(self, job):
        return self.ask("job", job)

    def wait_for(self, jobs, state="completed", within=120):
        def ended():
            seen = self.jobs()
            return all(seen.get(job, {}).get("state") == state for job in jobs)
        self.wait(f"jobs {jobs} are {state}", ended, within)


def reports():
    return [json.loads(file.read_text()) for file in sorted(REPORTS.iterdir())]


def check_places(jobs, nodes):
    """What the jobs saw, against what was decided and among each other."""
    seen = [report for report in reports() if report["job"] in jobs]
    expect("each job has run once", sorted(report["job"] for report in seen) == sorted(jobs))
    for report in seen:
        expect(f"job {report['job']} ran on the node that it was told: {report['node']} {report['gpus']}", report["node"] == report["told"])
        expect(f"job {report['job']} ran where it may", report["node"] in nodes and report["dir"] == str(TREE))
        shown = decided(report["job"])
        expect(f"job {report['job']} ran as decided: {shown}", shown == [{"node": report["node"], "gpus": report["gpus"]}])
    for a in seen:
        for b in seen:
            if a["run"] != b["run"] and a["node"] == b["node"] and set(a["gpus"]) & set(b["gpus"]):
                expect(f"jobs {a['job']} and {b['job']} never shared a GPU", a["ended"] <= b["began"] or b["ended"] <= a["began"])


def decided(job):
    """Of the action that started it."""
    starts = [action for action in bed.ask("actions")["actions"] if action["kind"] == "start" and action["state"] == "verified" and
              action["call"].get("job") == job]
    return max(starts, key=lambda action: action["id"])["call"]["nodes"] if starts else None


def ray(path, method="GET"):
    request = urllib.request.Request(DASHBOARD + path, headers={"Authorization": "Bearer " + TOKEN}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def ours_in_proc():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"SCHEDMATE_RUN=sm-" in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
        except OSError:
            pass
    return found


def check_nothing_left():
    bed.wait("no process is left", lambda: not ours_in_proc(), 20)
    groups = ray("/api/v0/placement_groups?limit=1000")["data"]["result"]["result"]
    expect("no placement group is left", not [group for group in groups if group["state"] != "REMOVED"])
    packages = [str(file) for file in (WORK / "tb").rglob("*_ray_pkg_sm_*") if file.is_dir() and list(file.iterdir()) and "_driver_" not in file.name]
    expect(f"no package is left: {packages}", not packages)


TREE.mkdir()
REPORTS.mkdir()
(TREE / "job.py").write_text(JOB)
(WORK / "token").write_text(TOKEN + "\n")
(WORK / "token").chmod(0o600)
configure("fifo")
bed = Bed()
bed.begin()
nodes = {node["name"]: node for node in bed.ask("cluster")["nodes"]}
expect("three nodes of four GPUs", sorted(nodes) == ["w1", "w2", "w3"])
first = [bed.submit("alice" if i % 2 else "bob", gpus, 2) for i, gpus in enumerate([2, 4, 2, 1, 4, 1])]
bad = bed.submit("alice", 1, 0, 3)
late = bed.submit("bob", 1, 600, words=("--time-limit", "5s"))
bed.wait_for(first)
check_places(first, {"w1", "w2"})
bed.wait_for([bad], "failed")
bed.wait_for([late], "timeout")
file = WORK / "state" / "ray-logs" / f"{first[0]}.log"
expect("its log is here", "Epoch 1 begins\nTraining finished\n" in file.read_text())
gang = bed.submit("alice", 8, 1)
(TREE / "soon_gone.py").write_text(JOB)
copied = bed.submit("alice", 1, 1, words=("--snapshot", "--state-dir", str(WORK / "mine")), script="soon_gone.py")
(TREE / "soon_gone.py").unlink()
bed.wait_for([gang, copied], within=240)
expect("a snapshot ran as it was submitted", [report["dir"] for report in reports() if report["job"] == copied] == [str(each) for each in WORK.glob("mine/snapshots/net-*")])
runs = bed.submit("bob", 1, 600)
seen = sorted((report["rank"], report["node"], report["gpus"]) for report in reports() if report["job"] == gang)
expect(f"a job on two nodes: {seen}", [report[2] for report in seen] == [[0, 1, 2, 3]] * 2 and {report[1] for report in seen} == {"w1", "w2"})
bed.wait_for([runs], "running")
bed.wait("it is there", lambda: ours_in_proc())
bed.ask("cancel", runs)
bed.wait_for([runs], "cancelled")
check_nothing_left()

configure("lucid:profiler_nodes=1,t_prof_s=30")
bed.daemon.send_signal(signal.SIGHUP)
bed.wait("the settings are read again", lambda: "read its settings again" in (WORK / "daemon.log").read_text())
second = [bed.submit("alice" if i % 2 else "bob", gpus, 2) for i, gpus in enumerate([1, 2, 1])]
bed.wait_for(second)
check_places(second, {"w1", "w2", "w3"})

# A daemon that is killed loses no job that waits, and none that runs.
third = [bed.submit("alice", 4, 3) for _ in range(4)]
bed.daemon.kill()
bed.daemon.wait()
configure("lucid:profiler_nodes=1,t_prof_s=30", "driver")
bed.begin()
bed.wait_for(third)
check_places(third, {"w1", "w2", "w3"})

# From then on a driver starts jobs. One that is ended loses nothing, either.
fourth = [bed.submit("bob", gpus, 4) for gpus in (1, 2, 1)]
fourth.append(bed.submit("alice", 8, 4, words=("--nodes", "2")))
bed.wait_for(fourth[:3], "running")
drivers = lambda: [job["submission_id"] for job in ray("/api/jobs/") if "-driver-" in (job["submission_id"] or "") and job["status"] == "RUNNING" and "-suite-" not in job["submission_id"]]
ended = drivers()
expect(f"one driver runs: {ended}", len(ended) == 1)
ray(f"/api/jobs/{ended[0]}/stop", "POST")
bed.wait_for(fourth)
check_places(fourth[:3], {"w1", "w2", "w3"})
expect("another one has begun", len(drivers()) == 1 and drivers() != ended)
expect("and no job was started again", {bed.job(job)["restarts"] for job in fourth} == {0})
expect("a job on two nodes runs once on each", sorted(report["rank"] for report in reports() if report["job"] == fourth[3]) == ["0", "1"])
check_nothing_left()
bed.daemon.terminate()
expect("the daemon ends well", bed.daemon.wait(timeout=20) == 0)
