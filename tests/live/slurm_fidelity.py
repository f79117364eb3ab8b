#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator beside what slurm_order.py saw of a real Slurm: slurm_fidelity.py OUT BENCH [--svg FILE].

OUT has its runs, BENCH is build/release/bench/slurm_fidelity. What a Slurm does otherwise than the simulator is given to it as settings,
or measured in the runs: one delay from a job's nodes to its script, one from the end of its script until Slurm knows, one from there until
the next job has the nodes; when priorities are calculated. Each run is simulated eight times, with delays drawn for each job from those of all
jobs, since a queue like this one goes another way for a tenth of a second. It counts in tenths of a second here. Nothing else of how the runs
went is told to it."""
import argparse
import collections
import csv
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

from order_bed import FILLER, SPAN
from slurm_order import interval

TENTHS, DRAWS = 10, 8
PLAIN = ("bf_interval=10,bf_resolution=10,bf_window=14400,bf_max_job_test=1000,weight_age=1000,weight_job_size=0,weight_fairshare=2000,"
          f"max_age_d={168 * TENTHS / 1440:.6f},half_life_d={168 * TENTHS / 1440:.6f},calc_period_min=10")
# Slurm reserves whole nodes, and all users are in one account.
AS_SLURM = PLAIN + ",fairshare_in_account=true,bf_whole_nodes=true"


def runs_in(out):
    for path in sorted(pathlib.Path(out).glob("*-*.json")):
        yield json.loads(path.read_text())


def delays_of(runs):
    """In seconds, over all jobs of all runs: until the script begins; until its end is known; until the nodes can go on to the next, which
    the fastest tenth shows, since the others wait for a pass of backfilling, which the simulator has, too."""
    begin, known, over = [], [], []
    for run in runs:
        ends = sorted(job["completed"] for job in run["jobs"] if "completed" in job)
        waits_until = max(job["allocated"] for job in run["jobs"] if "allocated" in job)
        for job in run["jobs"]:
            if len(job["stamps"]) == 2 and "allocated" in job and "completed" in job:
                begin.append(job["stamps"][0] - job["allocated"])
                known.append(job["completed"] - job["stamps"][1])
        starts = sorted(job["allocated"] for job in run["jobs"] if "allocated" in job)
        for end in ends:  # while jobs wait, the first start after an end is of that end
            after = next((start for start in starts if start > end), None)
            if after and end < waits_until:
                over.append(after - end)
    return begin, known, [sorted(over)[len(over) // 10]]


def simulated(bench, run, delays, folder, policy, draw):
    """Starts and ends in seconds by job, by who orders."""
    first = min(job["submit"] for job in run["jobs"])
    zero = first - (first - run.get("controller_began", first)) % 60
    users = {}
    with open(folder / "t.csv", "w") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_s,duration_s,limit_s".split(","))
        for job in sorted(run["jobs"], key=lambda each: (each["submit"], int(each["id"]))):
            users.setdefault(job["user"], len(users))
            rows.writerow([job["id"], job["user"], "gpu", job["gpus"], 1, 1, "COMPLETED", round(TENTHS * (job["submit"] - zero)),
                           round(TENTHS * (job["run"] + sum(draw.choice(each) for each in delays))), TENTHS * 60 * job["limit"]])
    (folder / "vc_config.csv").write_text("vc,node num\ngpu,8\n")
    with open(folder / "past.csv", "w") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["user", "gpus", "run_s"])
        rows.writerows([job["user"], job["gpus"], TENTHS * job["run"]] for job in run["past"])
    order = ",".join(str(each) for each in (SPAN, *(TENTHS * run["order"][key] for key in ("least_work_s", "most_work_s", "ageing_s")), 2 * TENTHS))
    made = subprocess.run([bench, folder / "t.csv", folder / "past.csv", policy, order], capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(f"FAILED: {made.stderr}")
    told = collections.defaultdict(dict)
    for row in csv.DictReader(made.stdout.splitlines()):
        told[row["by"]][row["job_id"]] = (int(row["start_s"]) / TENTHS, int(row["end_s"]) / TENTHS - delays[2][0])
    return told["ordered" if run["arm"] == "act" else "itself"], zero


def curve(values, points=60):
    values = sorted(values)
    return [values[min(len(values) - 1, int(i * len(values) / points))] for i in range(points + 1)]


def svg(panels):
    """Figure 11 of the paper: the share of jobs that had ended after so long, real and simulated."""
    side, left, top, gap = 300, 50, 40, 70
    most = 50 * (1 + int(max(max(real + made) for _, real, made in panels) / 50))
    width = left + len(panels) * (side + gap)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + side + 70}" role="img" aria-label="JCT on a real Slurm and in the simulator">'
    yield ("<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.tick{fill:#777}.frame{fill:#fff;stroke:#999}"
           ".grid{stroke:#eee;fill:none}</style>")
    yield f'<rect width="{width}" height="{top + side + 70}" fill="#fff"/>'
    for number, (title, real, made) in enumerate(panels):
        x0 = left + number * (side + gap)
        yield f'<text x="{x0}" y="{top - 14}" class="title">{title}</text>'
        yield f'<rect x="{x0}" y="{top}" width="{side}" height="{side}" class="frame"/>'
        for part in range(5):
            x, y = x0 + side * part / 4, top + side * (1 - part / 4)
            yield f'<path d="M{x} {top}V{top + side}M{x0} {y}H{x0 + side}" class="grid"/>'
            yield f'<text x="{x}" y="{top + side + 16}" class="tick" text-anchor="middle">{most * part / 4:.0f} s</text>'
            yield f'<text x="{x0 - 6}" y="{y + 4}" class="tick" text-anchor="end">{25 * part} %</text>'
        for values, colour, style in ((real, "#1b6ca8", ""), (made, "#c8553d", 'stroke-dasharray="5 3"')):
            points = curve(values)
            line = " ".join(f"{x0 + side * value / most:.1f},{top + side * (1 - i / (len(points) - 1)):.1f}" for i, value in enumerate(points))
            yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" {style}/>'
    yield f'<text x="{left}" y="{top + side + 44}" fill="#1b6ca8">Slurm</text><text x="{left + 60}" y="{top + side + 44}">simulated (dashed)</text></svg>'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("bench")
    parser.add_argument("--svg")
    args = parser.parse_args()
    runs = list(runs_in(args.out))
    delays = delays_of(runs)
    mean_and_median = [f"{statistics.mean(each):.3f} ({statistics.median(each):.3f})" for each in delays]
    print("delays, s, mean (median): to the script {}, until its end is known {}, to the next job {}".format(*mean_and_median))
    print("| order | seed | mean JCT s | simulated | makespan s | simulated | as it comes: JCT, makespan |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    curves, off = collections.defaultdict(lambda: ([], [])), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for run in runs:
            jobs = [job for job in run["jobs"] if job["user"] != FILLER]
            first = min(job["submit"] for job in jobs)
            real_jct = [job["end"] - job["submit"] for job in jobs]
            real_span = max(job["end"] for job in jobs) - first

            def replay(given, policy, seed):
                """Its JCTs, and its makespan."""
                told, zero = simulated(args.bench, run, given, pathlib.Path(folder), policy, random.Random(seed))
                return [told[job["id"]][1] + zero - job["submit"] for job in jobs], max(told[job["id"]][1] + zero for job in jobs) - first

            made = [replay(delays, AS_SLURM, seed) for seed in range(DRAWS)]
            bare_jct, bare_span = replay([[0], [0], [0]], PLAIN, 0)
            means, spans = [statistics.mean(jct) for jct, _ in made], [span for _, span in made]
            percent = lambda value, of: 100 * (value / of - 1)
            jct, span = percent(statistics.mean(means), statistics.mean(real_jct)), percent(statistics.mean(spans), real_span)
            off[run["arm"], "JCT"].append(jct)
            off[run["arm"], "makespan"].append(span)
            curves[run["arm"]][0].extend(real_jct)
            for each, _ in made:
                curves[run["arm"]][1].extend(each)
            print(f"| {run['arm']} | {run['seed']} | {statistics.mean(real_jct):.1f} | {statistics.mean(means):.1f} ± {statistics.stdev(means):.1f} ({jct:+.1f} %) | {real_span} | "
                  f"{statistics.mean(spans):.0f} ± {statistics.stdev(spans):.0f} ({span:+.1f} %) | {percent(statistics.mean(bare_jct), statistics.mean(real_jct)):+.1f} %, "
                  f"{percent(bare_span, real_span):+.1f} % |", flush=True)
    for (arm, what), values in off.items():
        print(f"{arm}, {what}: off by {statistics.mean(values):+.1f} ± {interval(values):.1f} % on average, {max(map(abs, values)):.1f} % at most")
    print("\n| share of jobs that had ended | " + " | ".join(f"{arm}: Slurm, simulated" for arm in curves) + " |\n| --- |" + " --- |" * len(curves))
    for share in (10, 25, 50, 75, 90, 99):
        at = lambda values: sorted(values)[min(len(values) - 1, int(share / 100 * len(values)))]
        print(f"| {share} % | " + " | ".join(f"{at(real):.0f} s, {at(made):.0f} s" for real, made in curves.values()) + " |")
    if args.svg:
        titles = {"own": "Slurm's own order", "act": "ordered by SchedMate"}
        pathlib.Path(args.svg).write_text("\n".join(svg([(titles[arm], *curves[arm]) for arm in ("own", "act") if arm in curves])) + "\n")


if __name__ == "__main__":
    main()
