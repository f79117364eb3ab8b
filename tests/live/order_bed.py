# SPDX-License-Identifier: Apache-2.0
"""A real Slurm with accounting, fair share and QOS, jobs of users with a past to run on it, and a daemon beside: what slurm_order.py
and slurm_fidelity.py stand on."""
import atexit
import calendar
import csv
import json
import math
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import http.client

USERS, UNKNOWN, FILLER = 12, "om11", "omfill"
NODES, GPUS = 8, 8
# A second here is about a minute of a site: a week of waiting is 168 minutes, and so on.
CONF = """PriorityType=priority/multifactor
PriorityFlags=NO_FAIR_TREE
PriorityWeightAge=1000
PriorityWeightFairShare=2000
PriorityWeightQOS=1000
PriorityMaxAge=02:48:00
PriorityDecayHalfLife=02:48:00
PriorityCalcPeriod=00:01:00
AccountingStorageEnforce=associations,limits,qos
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,bf_interval=1,bf_resolution=1,bf_max_job_test=1000,bf_continue,bf_window=1440
MinJobAge=3600
PartitionName=DEFAULT TRESBillingWeights=CPU=0.0,GRES/gpu=1.0
JobFileAppend=1
"""
SPAN = 400  # a tenth of the weights
ORDER = {"least_work_s": 10, "most_work_s": 4000, "ageing_s": 10080}


def name_of(user):
    return f"om{user:02}"


def draw_work(seed, jobs, mean_area):
    """Jobs to be submitted at once, of so many GPU seconds each on average, and runs of the past by all users but one: each user has a
    few kinds of jobs."""
    rng = random.Random(seed)
    kinds = []
    for user in range(USERS):
        for gpus in rng.sample([1, 1, 1, 2, 4, 8], rng.choice([1, 2, 3])):
            if any(kind["user"] == name_of(user) and kind["gpus"] == gpus for kind in kinds):
                continue
            kinds.append({"user": name_of(user), "gpus": gpus, "median": math.exp(rng.uniform(math.log(5), math.log(90))),
                          "share": rng.uniform(0.5, 1.5), "generous": math.exp(rng.uniform(math.log(1.5), math.log(10)))})
    for gpus in (1, 4):
        kinds.append({"user": UNKNOWN, "gpus": gpus, "median": math.exp(rng.uniform(math.log(5), math.log(90))), "share": 0.5, "generous": 3})

    def run(kind):
        return min(kind["median"] * math.exp(rng.gauss(0, 0.35)), 150)

    shares = [kind["share"] for kind in kinds]
    drawn = rng.choices(kinds, shares, k=jobs)
    runs = [run(kind) for kind in drawn]
    area = sum(kind["gpus"] * length for kind, length in zip(drawn, runs)) / jobs
    scale = mean_area / area
    work = [{"user": kind["user"], "gpus": kind["gpus"], "run": round(max(3, scale * length), 2),
             "limit": next((m for m in (1, 2, 5, 10, 20, 60) if 60 * m >= 1.25 * scale * max(length, kind["median"] * kind["generous"])), 60)}
            for kind, length in zip(drawn, runs)]
    past = [{"user": kind["user"], "gpus": kind["gpus"], "run": round(max(3, scale * run(kind)))}
            for kind in kinds if kind["user"] != UNKNOWN for _ in range(6)]
    rng.shuffle(past)
    return work, past


class Bed:
    def __init__(self, testbed, folder, port, conf=CONF, nodes=NODES):
        self.testbed, self.dir, self.port = testbed, pathlib.Path(folder), port
        self.dir.mkdir(parents=True)
        self.dir.chmod(0o755)
        (self.dir / "conf").write_text(conf)
        self.env = {**os.environ, "SLURM_CONF": f"{self.dir}/tb/slurm.conf", "TZ": "UTC"}
        atexit.register(self.down)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        for tries in range(3):  # MariaDB does not always come up on a busy machine
            done = subprocess.run([testbed, "up", f"{self.dir}/tb", "-n", str(nodes), "-g", str(GPUS), "-p", str(port), "-a", "-i",
                                   f"{self.dir}/conf"], env=self.env, capture_output=True, text=True)
            if done.returncode == 0:
                break
            self.down()
        else:
            raise SystemExit(f"FAILED: no test bed: {done.stdout[-500:]}{done.stderr[-500:]}")
        self.stamps = self.dir / "stamps"
        self.stamps.mkdir()
        self.stamps.chmod(0o777)

    def down(self):
        subprocess.run([self.testbed, "down", f"{self.dir}/tb", "--purge"], env=self.env, capture_output=True)

    def call(self, *words, check=True, user=None):
        words = [str(word) for word in words]
        if user:
            entry = pwd.getpwnam(user)
            words = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", *words]
        done = subprocess.run(words, env=self.env, capture_output=True, text=True, cwd="/tmp", timeout=60)
        if check and done.returncode:
            raise SystemExit(f"FAILED: {' '.join(words)}: {done.stdout.strip()} {done.stderr.strip()}")
        return done.stdout

    def add_users(self, names):
        manage = lambda *words: self.call("sacctmgr", "-i", *words)
        manage("add", "qos", "high", "set", "Priority=100")
        manage("add", "account", "lab", "Fairshare=100")
        for name in names:
            make_user(name)
            manage("add", "user", name, "Account=lab", "QOS=normal,high", "DefaultQOS=normal", "Fairshare=10")
        self.call("scontrol", "reconfigure")

    def submit(self, job, *flags, name="job"):
        """Stamps of its own say when it really ran."""
        nodes = max(1, job["gpus"] // GPUS)
        script = (f"date +b%s.%N >> {self.stamps}/$SLURM_JOB_ID; sleep {job['run']}; date +e%s.%N >> {self.stamps}/$SLURM_JOB_ID")
        return self.call("sbatch", "--parsable", "-J", name, "-o", "/dev/null", "-N", nodes, f"--gres=gpu:{job['gpus'] // nodes}",
                         "--mem=10", "-t", job.get("limit", 10), *flags, "--wrap", script, user=job["user"]).strip()

    def jobs(self):
        return json.loads(self.call("squeue", "--json", "--states=all"))["jobs"]

    def priorities(self):
        """Of those that wait: priority, and its parts by the names of sprio."""
        rows = {}
        for line in self.call("sprio", "-h", "-o", "%i|%Y|%S|%A|%F|%Q").splitlines():
            id, total, site, age, share, qos = (part.strip() for part in line.split("|"))
            rows[id] = {"priority": int(total), "site": int(site), "age": int(age), "share": int(share), "qos": int(qos)}
        return rows


def make_user(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        subprocess.run(["useradd", "-M", "-s", "/bin/sh", name], check=True, capture_output=True)


class Daemon:
    """Beside a bed, with a history of its own."""

    def __init__(self, programs, bed, modes, past=(), settings=""):
        self.programs, self.bed, self.folder = programs, bed, bed.dir / "daemon"
        self.folder.mkdir(exist_ok=True)
        self.config = self.folder / "config.toml"
        order = "".join(f"{key} = {value}\n" for key, value in ORDER.items())
        self.config.write_text(f'state_dir = "{self.folder}/state"\n[listen]\nunix = "{self.folder}/api.sock"\n[cluster]\n'
                               f'connector = "slurm"\nname = "bed"\n[cluster.slurm]\nvia = "cli"\nconf = "{bed.env["SLURM_CONF"]}"\n'
                               f'[order]\n{order}[mode]\n{modes}{settings}')
        self.process = None
        if past:
            self.remember(past)

    def remember(self, past):
        """Runs of the last hours, as sacct shows them."""
        rows, at = [], time.time() - 6 * 3600
        stamp = lambda when: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when))
        for number, job in enumerate(past):
            begin = at + 60 * number
            nodes = max(1, job["gpus"] // GPUS)
            rows.append({"JobID": 900000 + number, "User": job["user"], "Partition": "gpu", "State": "COMPLETED", "Submit": stamp(begin - 5),
                         "Eligible": stamp(begin - 5), "Start": stamp(begin), "End": stamp(begin + job["run"]), "ExitCode": "0:0", "NNodes": nodes,
                         "JobName": "past", "AllocTRES": f"billing=1,cpu=1,gres/gpu={job['gpus']},mem=10M,node={nodes}",
                         "ReqTRES": f"billing=1,cpu=1,gres/gpu={job['gpus']},mem=10M,node={nodes}"})
        with open(self.folder / "past.txt", "w") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="|")
            writer.writeheader()
            writer.writerows(rows)
        done = subprocess.run([self.programs[1], "history", "import", f"sacct:{self.folder}/past.txt", "--config", self.config],
                              capture_output=True, text=True, env=self.bed.env)
        if done.returncode:
            raise SystemExit(f"FAILED: the past: {done.stdout}{done.stderr}")

    def begin(self):
        self.process = subprocess.Popen([self.programs[0], "--config", self.config], stderr=open(self.folder / "err", "a"), env=self.bed.env)
        atexit.register(self.process.kill)
        wait(self.answers, "the daemon answers")

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)

    def ask(self, path, method="GET"):
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(30)
        connection.sock.connect(f"{self.folder}/api.sock")
        connection.request(method, path)
        return json.loads(connection.getresponse().read())

    def answers(self):
        try:
            return self.ask("/readyz")["ready"]
        except OSError:
            return False

    def all_actions(self):
        """Newest first, page by page."""
        made, cursor = [], ""
        while cursor is not None:
            page = self.ask(f"/api/v1/actions?cursor={cursor}")
            made, cursor = made + page["actions"], page["next"]
        return made

    def actions(self, kind):
        return [each for each in self.all_actions() if each["call"]["kind"] == kind]


def wait(holds, what, seconds=60, often=0.1):
    deadline = time.time() + seconds
    while not (found := holds()):
        if time.time() > deadline:
            raise SystemExit(f"FAILED: not in {seconds} s: {what}")
        time.sleep(often)
    return found


def load():
    return os.getloadavg()[0]


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def controller_began(bed):
    """Its calculations of priorities come every minute from then on."""
    with open(bed.dir / "tb/log/slurmctld.log", errors="replace") as log:
        for line in log:
            stamp = re.match(r"\[(\d+-\d+-\d+T\d+:\d+:\d+)\.(\d+)\] Running as primary controller", line)
            if stamp:
                return calendar.timegm(time.strptime(stamp[1], "%Y-%m-%dT%H:%M:%S")) + int(stamp[2]) / 1000
    return 0


def log_times(bed):
    """When slurmctld gave each job its nodes, heard that its script was over, and had its nodes free again, in seconds since 1970."""
    told = {}
    kinds = ((r"sched/backfill: _start_job: Started JobId=(\d+)", "allocated"), (r"sched: Allocate JobId=(\d+)", "allocated"),
             (r"_job_complete: JobId=(\d+) done", "completed"), (r"cleanup_completing: JobId=(\d+) completion process took", "cleared"))
    for line in open(bed.dir / "tb/log/slurmctld.log", errors="replace"):
        stamp = re.match(r"\[(\d+-\d+-\d+T\d+:\d+:\d+)\.(\d+)\]", line)
        if not stamp:
            continue
        for pattern, kind in kinds:
            found = re.search(pattern, line)
            if found:
                at = calendar.timegm(time.strptime(stamp[1], "%Y-%m-%dT%H:%M:%S")) + int(stamp[2]) / 1000
                told.setdefault(found[1], {}).setdefault(kind, at)
    return told
