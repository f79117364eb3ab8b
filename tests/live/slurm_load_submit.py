# SPDX-License-Identifier: Apache-2.0
"""slurm_load_submit.py SCHEDMATE [PAIRS]: how long sbatch takes with and without the hook `tag`, on the Slurm that SLURM_CONF names: in turns
of ten submissions each way, which way comes first changing from pair to pair."""
import random
import statistics
import subprocess
import sys
import time

TURN = 10


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {words}: {done.stdout}{done.stderr}")
    return done.stdout


def turn(schedmate, hooked):
    run(schedmate, "slurm", "install" if hooked else "uninstall", "--write")
    run("scontrol", "reconfigure")
    time.sleep(8)  # all nodes have read it
    spent = []
    for _ in range(TURN):
        began = time.perf_counter()
        job = run("sbatch", "--parsable", "-H", "-o", "/dev/null", "--wrap", "true").strip()
        spent.append(1000 * (time.perf_counter() - began))
        time.sleep(0.05)
    comment = run("scontrol", "show", "job", job)
    if ("schedmate-tag=" in comment) != hooked:
        raise SystemExit(f"FAILED: the hook is {'not ' if hooked else ''}there")
    return spent


def spread(values):
    values = sorted(values)
    return f"{statistics.median(values):.1f} ms (p95 {values[int(0.95 * (len(values) - 1))]:.1f}, n {len(values)})"


if __name__ == "__main__":
    schedmate, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    spent, differences = {False: [], True: []}, []
    turn(schedmate, False)  # warm
    for number in range(pairs):
        made = {}
        for hooked in ((False, True), (True, False))[number % 2]:
            made[hooked] = turn(schedmate, hooked)
            spent[hooked] += made[hooked]
        differences.append(statistics.median(made[True]) - statistics.median(made[False]))
    run(schedmate, "slurm", "uninstall", "--write")
    run("scontrol", "reconfigure")
    drawn = random.Random(1)
    means = sorted(statistics.mean(drawn.choices(differences, k=pairs)) for _ in range(2000))
    print(f"sbatch: without the hook {spread(spent[False])}; with it {spread(spent[True])}; medians of {pairs} pairs of turns differ by "
          f"{statistics.median(differences):+.1f} ms (mean {statistics.mean(differences):+.1f}, 95 % interval {means[50]:+.1f} to {means[1949]:+.1f})")
