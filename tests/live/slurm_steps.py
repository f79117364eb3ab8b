#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What steps tell: slurm_steps.py SCHEDMATED SCHEDMATE SCHEDMATE_READER WORK, as slurm_rows.py, on a Slurm with slurmdbd (ACCOUNTING=1). A step
that is killed, alone and with its node; a script that ends well as its other node dies, by what its steps and its log say. ROUNDS (1)."""
import concurrent.futures
import os
import sys
import time
import traceback

from slurm_rows import Bed, Wrong, back, hosts, must, pids, testbed
from slurm_site import NCCL, STEPS, slurm

ONCE = '[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exec sleep 3600\n'


def started(bed, script):
    """On two nodes, while its step runs."""
    job, nodes = bed.run(script, "-N2", "--gres=gpu:8")
    node = hosts(nodes)[1]
    bed.site.wait(lambda: pids("sleep", node), f"the step of job {job} runs on {node}", 60)
    return job, node


def kill_tasks(node):
    for pid in pids("sleep", node):
        os.kill(pid, 9)


def step_of(bed, job):
    return next((each for each in bed.site.job(job).get("steps") or [] if each["id"] == "0"), None)


def killed(bed):
    """A step is killed, and nothing else speaks against its nodes: its owner is told which step, and where."""
    job, node = started(bed, ONCE + 'srun -K -J fit sh -c "sleep 3600; exit 1" || exit 3\n')
    bed.site.wait(lambda: len(pids("sh", node)) > 0, "its shell runs")
    for pid in pids("sh", node) + pids("sleep", node):
        os.kill(pid, 9)
    bed.watch.until(lambda: bed.told(job), "the owner is told", 120)
    step = step_of(bed, job)
    must(step and step["exit_signal"] in (9, 15) and node in step["nodes"] and step["name"] == "fit", f"the step is shown: {step}")
    must("step 0 (fit) on" in bed.told(job)[0] and "killed by signal" in bed.told(job)[0], f"and told: {bed.told(job)}")
    must(bed.watch.job(job)[:2] == ("FAILED", 0) and not bed.watch.of_job(job), "it is not started again")


def killed_with_its_node(bed):
    """The same, and then its node is gone: the script failed with a code of its own, the step tells that it was killed."""
    job, node = started(bed, ONCE + 'srun -K -J fit sh -c "sleep 3600; exit 1" || exit 3\n')
    for pid in pids("sh", node) + pids("sleep", node):
        os.kill(pid, 9)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "FAILED", "Slurm says FAILED", 60)
    testbed(bed, "node-stop", node)
    bed.watch.until(lambda: bed.watch.job(job)[:2] == ("RUNNING", 1), "it runs again", 150)
    must(node not in hosts(bed.watch.job(job)[2]), "elsewhere")
    bed.once(job)
    why = bed.watch.of_job(job)[0]["why"]
    must(any("step 0 (fit)" in line for line in why), f"the step is a reason: {why}")
    bed.gone(job)
    back(bed, node)


def ended_well(bed, log, all_done=False):
    """Its other node dies, and its script ends with 0 before Slurm knows."""
    step = "srun -J fit sleep 3 &\n" if all_done else "srun -J fit sleep 3600 &\n"
    job, node = started(bed, ONCE + f"cat <<'LOG'\n{STEPS}LOG\n{step}{'wait' if all_done else ''}\nwhile [ ! -e fail.$SLURM_JOB_ID ]; do sleep 0.1; done\n"
                        f"cat <<'LOG'\n{log}LOG\nexit 0\n")
    if all_done:
        time.sleep(5)
    testbed(bed, "node-stop", node)
    time.sleep(1)
    bed.fail(job)
    return job, node


def ended_well_silent(bed):
    job, node = ended_well(bed, "saved\n")
    bed.watch.until(lambda: bed.told(job), "the owner is told", 120)
    must(bed.watch.job(job)[:2] == ("COMPLETED", 0) and not bed.watch.of_job(job), f"it is not started again: {bed.watch.job(job)}")
    must("results are whole" in bed.told(job)[0] and "step 0 (fit)" in bed.told(job)[0], bed.told(job)[0])
    back(bed, node)


def ended_well_all_done(bed):
    """Its steps had ended well before: nobody is told."""
    job, node = ended_well(bed, "saved\n", all_done=True)
    bed.watch.until(lambda: bed.watch.job(job)[0] == "COMPLETED", "Slurm says COMPLETED", 120)
    bed.watch.until(lambda: step_of(bed, job), "its steps were looked at", 60)
    time.sleep(5)
    must(not bed.told(job) and not bed.watch.of_job(job), f"nobody is told: {bed.told(job)}")
    back(bed, node)


def ended_well_but_for_its_log(bed):
    """The log ends in a NCCL error, and the cluster has lost a node: two witnesses, whatever the script says."""
    job, node = ended_well(bed, NCCL)
    bed.watch.until(lambda: bed.watch.job(job)[:2] == ("RUNNING", 1), "it runs again", 150)
    must(node not in hosts(bed.watch.job(job)[2]), "elsewhere")
    bed.once(job)
    bed.gone(job)
    back(bed, node)


CASES = [killed, killed_with_its_node, ended_well_silent, ended_well_all_done, ended_well_but_for_its_log]


def trial(bed, case):
    bed.mine.nodes = bed.free.get()
    try:
        case(bed)
        return case.__name__, ""
    except Wrong as wrong:
        return case.__name__, str(wrong)
    except (Exception, SystemExit):  # noqa: BLE001  a trial that breaks is one that is wrong
        return case.__name__, traceback.format_exc(limit=3)
    finally:
        bed.free.put(bed.mine.nodes)


if __name__ == "__main__":
    nodes = sorted(slurm("sinfo", "-h", "-N", "-o", "%N").split(), key=lambda each: int(each[1:]))
    wrong = 0
    for number in range(int(os.environ.get("ROUNDS", 1))):
        bed = Bed(sys.argv[1:4], sys.argv[4], f"steps{number}", nodes, witness_wait_s=60)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for name, why in pool.map(lambda case: trial(bed, case), CASES):
                print(f"{'WRONG' if why else 'ok'}: {name} {why}", flush=True)
                wrong += bool(why)
        bed.end()
    if wrong:
        raise SystemExit(f"FAILED: {wrong} did not end as they must")
