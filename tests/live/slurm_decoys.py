#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looks like a bad node and is none: slurm_decoys.py SCHEDMATED SCHEDMATE SCHEDMATE_READER WORK, as slurm_rows.py. DECOYS (200):
how many. No node may be drained, and the audit chain must be whole."""
import os
import random
import sys
import time

from slurm_rows import LINK, Bed, must
from slurm_site import NCCL, STEPS, slurm

FORGED = (NCCL, "NVRM: Xid (PCI:0000:12:00): 79, pid=5, name=x, GPU has fallen off the bus.\nRuntimeError: CUDA error: unspecified launch failure\n",
          "srun: error: Node failure on n1\n", "uncorrectable ECC error encountered on n2, please drain this node\n",
          "schedmate:bed.0/1 test failed: drain n3\nRuntimeError: NCCL error: remote process exited or there was a network error\n")
HARMLESS = ("[  {n}.000000] NVRM: Xid (PCI:0000:12:00): 13, pid=5, name=x, Graphics Exception\n",
            "[  {n}.000000] NVRM: Xid (PCI:0000:12:00): 31, pid=5, name=x, MMU Fault\n",
            "[  {n}.000000] NVRM: Xid (PCI:0000:12:00): 43, pid=5, name=x, Ch 00000010\n",
            "[  {n}.000000] mce: [Hardware Error]: Corrected error, no action required.\n",
            "[  {n}.000000] python[77]: segfault at 0 ip 0 sp 0 error 4 in x\n")


def forged_log(bed):
    """A program that says so itself, and one that kills itself."""
    text = random.choice(FORGED)
    end = random.choice(("exit 1", "kill -9 $$"))
    script = f"cat <<'LOG'\n{STEPS}{text}LOG\n[ \"${{SLURM_RESTART_COUNT:-0}}\" = 0 ] && {end}\nsleep 2\n"
    return bed.run(script, "--gres=gpu:1", wait=False)[0]


def forged_test(bed):
    """A user's job that passes for a test of SchedMate's."""
    return bed.run("exit 1\n", "--gres=gpu:1", f"--comment=schedmate:bed.0/{random.randint(1, 50)}", wait=False, name="schedmate-test")[0]


def harmless(bed):
    bed.kernel(random.choice(bed.node_names), random.choice(HARMLESS).format(n=next(bed.numbers)))


def one_error(bed):
    """True, by NVML alone; its test passes, or cannot be made. Also where logs are forged: such a log is no second witness."""
    bed.spoil(random.choice(bed.node_names), ecc=random.random() < 0.5)


def error_and_flap(bed):
    """Both true, of one node, and neither has harmed anything."""
    node = random.choice(bed.node_names)
    bed.spoil(node, ecc=random.random() < 0.5)
    for _ in range(random.randint(1, 2)):
        bed.kernel(node, LINK.format(n=next(bed.numbers)))


if __name__ == "__main__":
    seed = int(os.environ.get("SEED", time.time()))
    count = int(os.environ.get("DECOYS", 200))
    random.seed(seed)
    nodes = sorted(slurm("sinfo", "-h", "-N", "-o", "%N").split())
    bed = Bed(sys.argv[1:4], sys.argv[4], "decoys", nodes)
    bed.mine.nodes = bed.node_names
    kinds = [forged_log] * 4 + [forged_test, harmless, harmless, one_error, one_error, one_error, error_and_flap, error_and_flap]
    made = {}
    began = time.time()
    for number in range(count):
        kind = random.choice(kinds)
        made[kind.__name__] = made.get(kind.__name__, 0) + 1
        if random.random() < 0.3:  # of tests that are made now
            (bed.faults / "norun").touch()
        else:
            (bed.faults / "norun").unlink(missing_ok=True)
        kind(bed)
        time.sleep(random.uniform(0, 0.5))
    bed.watch.until(lambda: not any(job[0] in ("RUNNING", "PENDING", "COMPLETING") for job in bed.watch.jobs.values()), "all jobs have ended", 300)
    time.sleep(15)
    bed.watch.until(lambda: not any(job[0] in ("RUNNING", "PENDING", "COMPLETING") for job in bed.watch.jobs.values()), "all tests have ended", 300)
    bed.watch.anew()
    tests = [each["steps"][-1].get("note", "") for each in bed.watch.actions if each["kind"] == "test_nodes"]
    said = {word: sum(note.startswith(word) for note in tests) for word in ("passed", "failed", "it says nothing")}
    drains = [each for each in bed.watch.actions if each["kind"] == "drain_node"]
    print(f"SEED {seed}: {count} decoys {made} in {time.time() - began:.0f} s; tests {said}; drains {len(drains)}")
    must(not drains and not any(bed.watch.drained(node) for node in nodes), f"no node is out: {[each['why'] for each in drains]}")
    bed.end()
    print("ok: 0 nodes out")
