# SPDX-License-Identifier: Apache-2.0
"""A daemon with its reader beside a real Slurm, for the tests here: the Slurm is the one that SLURM_CONF names."""
import atexit
import json
import os
import pathlib
import pwd
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "daemon"))
from site_of import Site, Webhook, expect  # noqa: E402, F401

OWNER = "games"
STEPS = "".join(f"step {n}/1000 loss {5 - n / 500:.3f} 1.5 s/it\n" for n in range(1, 300))
NCCL = "RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, unhandled cuda error, " \
       "NCCL version 2.19.3\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure " \
       "'uncorrectable NVLink error detected during the execution'\n"
XID = "[  900.000000] NVRM: Xid (PCI:0000:12:00): 79, pid=5, name=x, GPU has fallen off the bus.\n"


def slurm(*words, check=True, text=None):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=30, input=text)
    if check and done.returncode != 0:
        raise SystemExit(f"FAILED: {words}: {done.stderr}")
    return done.stdout


ACT = '[mode]\norder = "shadow"\nrecover = "act"\nnotify = "act"\nannotate = "shadow"\n'


def gpus(lost=False, ecc=0, links=0, used=80):
    return json.dumps({"schema": "schedmate.gpus.v1", "node": "", "library": "", "driver": "", "gpus": [
        {"index": i, "pci": f"0000:{16 + i:02x}:00.0", "lost": lost and i == 2, "ecc_uncorrected_volatile": ecc if i == 3 else 0,
         "nvlinks": [{"link": 0, "active": True, "replay": 0, "recovery": links if i == 4 else 0, "crc_flit": 0, "crc_data": 0}],
         "load": {"gpu_pct": used, "memory_busy_pct": 40, "memory_used_mib": 1000, "memory_total_mib": 4000,
                  "temperature_c": 50, "power_w": 300}} for i in range(8)]}) + "\n"


class SlurmSite(Site):
    def __init__(self, programs, work, modes, settings="", recover="witness_wait_s = 5\n", caps=None, slurm_settings=""):
        self.daemon, self.schedmate, self.reader_program = programs
        self.folder = pathlib.Path(work)
        self.folder.mkdir()
        self.folder.chmod(0o755)
        self.state = self.folder / "state"
        self.webhook = Webhook()
        secret = self.folder / "secret"
        secret.write_text("0123456789abcdef0123456789abcdef\n")
        secret.chmod(0o600)
        self.config = self.folder / "config.toml"
        limits = "".join(f"{key} = {value}\n" for key, value in {
            "drained_pct_max": 50, "breaker_pct": 100, "burst": 1000, "requeues_per_user_hour": 1000, "actions_per_hour": 1000,
            **(caps or {})}.items())
        self.config.write_text(f'''state_dir = "{self.state}"
[listen]
unix = "{self.folder}/api.sock"
[cluster]
connector = "slurm"
name = "bed"
[cluster.slurm]
via = "{os.environ.get('SLURM_VIA', 'auto')}"
conf = "{os.environ['SLURM_CONF']}"
{slurm_settings}[probe]
secret_file = "{secret}"
[notify]
webhook = "{self.webhook.url}"
[caps]
{limits}[recover]
{recover}{modes}{settings}''')
        self.home = self.give_home(OWNER, {})
        self.home.chmod(0o755)
        self.reader = self.begin_reader(self.reader_program)
        self.process = None

    def begin(self):
        self.process = subprocess.Popen([self.daemon, "--config", self.config], stderr=open(self.folder / "err", "a"))
        atexit.register(self.process.kill)
        self.wait(self.answers, "it answers")
        return self.process

    def probe(self, node):
        """With its own two files."""
        state, log = self.folder / f"{node}.json", self.folder / f"{node}.log"
        state.write_text(gpus())
        log.write_text("")
        made = subprocess.Popen([self.schedmate, "probe", "--config", self.config, "--node", node, "--every", "1",
                                 "--address", f"unix:{self.folder}/api.sock", "--nvml-from", state, "--kernel-log", log],
                                stderr=subprocess.DEVNULL)
        atexit.register(made.kill)
        return made

    def break_gpu(self, node):
        with open(self.folder / f"{node}.log", "a") as log:
            log.write(XID)
        with open(self.folder / f"{node}.json", "a") as state:
            state.write(gpus(lost=True))

    def idle_gpu(self, node):
        with open(self.folder / f"{node}.json", "a") as state:
            state.write(gpus(used=0))

    def mend_gpu(self, node):
        with open(self.folder / f"{node}.json", "a") as state:
            state.write(gpus())

    def submit(self, script, *flags, name="train"):
        """A job of the owner, whose log is in its home."""
        file = self.home / f"{name}.sh"
        file.write_text("#!/bin/bash\n" + script)
        file.chmod(0o755)
        entry = pwd.getpwnam(OWNER)
        made = slurm("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", "sbatch", "--parsable",
                     "--requeue", "-t", "60", "-J", name, "-D", self.home, "-o", self.home / "%x-%j.out", *flags, file)
        return made.strip()

    def job(self, id):
        return self.ask("GET", f"/api/v1/jobs/{id}")[1]

    def actions(self, kind=None):
        made = self.ask("GET", "/api/v1/actions?limit=1000")[1]["actions"]
        return sorted((each for each in made if kind in (None, each["call"]["kind"])), key=lambda each: each["id"])


def in_slurm(id):
    """State, restarts, nodes of a job."""
    text = slurm("squeue", "-h", "-j", id, "-t", "all", "-O", "State:20,RestartCnt:10,NodeList:30", check=False).split()
    return (text + ["", ""])[:3] if len(text) > 1 else ("", "", "")


def node_state(name):
    text = slurm("scontrol", "show", "node", name)
    reason = re.search(r"Reason=(.*?) \[", text)
    return re.search(r"State=(\S+)", text)[1], reason[1] if reason else ""


def calls_in_sdiag():
    """How often each kind of request has come to the controller."""
    text = slurm("sdiag")
    return {kind: int(count) for kind, count in re.findall(r"(REQUEST_\w+)\s*\(.*?count:\s*(\d+)", text)}
