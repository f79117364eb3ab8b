#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table 2 of the paper on a real Ray with emulated GPUs, and by the simulator: ray_physical.py COMMAND OUT ...

  draw OUT [--trace data/table2/seren-141.csv] [--jobs N] [--longest S] [--seed N]
      what each job of the draw computes, by its size (paper 5.2), as a trace of the format lucid: OUT/draw; none lasts longer than S
  simulate OUT SCHEDMATE                what the simulator says of it, before any run: OUT/simulated.json
      [--start S] [--move S]            with what starts take, and moves out of the profiler, as `report` has measured them: OUT/simulated-delayed.json
  draws OUT SCHEDMATE [--count 200]     the gain of lucid+sm over lucid on so many other draws, by the simulator: OUT/draws.csv
  run OUT WORK DASHBOARD PROGRAM... --policy LABEL --repetition N   one run on a Ray that is up: OUT/LABEL-N.json; not again if it is there
  report OUT                            mean JCT and makespan beside the simulated ones, decisions, start-up; JCTs of each as OUT/jct.csv
                                        and, as shares of jobs that are done after a time, OUT/jct.svg (Figure 11)

Time is compressed SPEED times: durations, arrivals, T_prof, and how long a packing is watched. In `run` all of it is the clock's."""
import argparse
import csv
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "emulation"))
import gpus as emulated  # noqa: E402

# T_prof is 100 emulated seconds, and is to be at least five starts long: `report` has those of the runs.
SPEED, NODES, GPUS = float(os.environ.get("SPEED", "20")), 9, 8  # the last node is the profiler's
# By GPUs: fewer than 4, 4 to 8, more (paper 5.2); batch sizes of Table 1.
SIZES = {"small": [("ResNet-50", (32, 64, 128)), ("UNet2D", (8, 16, 32, 64)), ("EfficientNet-B4", (32, 64, 128))],
         "medium": [("ViT-L/16", (16, 32, 64)), ("BERT-base", (16, 32, 64))], "large": [("LLaMA-3 8B", (1, 2, 4)), ("Qwen-2.5 14B", (1, 2, 4))]}
DATASETS = {"ResNet-50": "ImageNet-1k", "UNet2D": "BraTS", "EfficientNet-B4": "ImageNet-1k", "ViT-L/16": "ImageNet-1k", "BERT-base": "SQuAD",
            "LLaMA-3 8B": "Alpaca", "Qwen-2.5 14B": "Alpaca"}
T_PROF_S, PAPER = 100, 0.232  # the paper's; by how much lucid+sm shortens lucid's mean JCT in Table 2
# The rows, of T_prof and the time for which a packing is watched, in seconds.
POLICIES = {"fifo": "fifo", "schedmate": "schedmate:estimate=last_k",
            "lucid": "lucid:profiler_nodes=1,elastic=false,packing=on,estimate=last_k,t_prof_s={prof}",
            "lucid+sm": "lucid+sm:profiler_nodes=1,elastic=false,packing=on,estimate=last_k,threshold=0.5,t_prof_s={prof},cancel_after_s={watch}"}


def policy(label, speed=1):
    return POLICIES[label].format(prof=round(T_PROF_S / speed), watch=round(60 / speed))


def simulated_policy(label):
    """Its trace has no code to read: what the user's last runs say stands for it."""
    return policy(label) + (",advice=last_k" if label.endswith("+sm") else "") + f"@{label}"


def label_of(needs):
    """The sharing score of a use, as data/interference.toml has it."""
    with open(emulated.DATA / "interference.toml", "rb") as file:
        rule = emulated.tomllib.load(file)["sharing_score"]
    if 100 * needs["memory_use"] > rule["heavy_above_memory_util_pct"]:
        return 2
    return 0 if 100 * needs["gpu"] <= rule["light_up_to_gpu_util_pct"] else 1


def read_trace(trace, most):
    with open(trace) as file:
        return list(csv.DictReader(file))[:most]


def resampled(jobs, rng):
    """As many jobs, each one of these, at gaps between arrivals that are these, too."""
    submits = sorted(int(job["submit_s"]) for job in jobs)
    gaps, now, made = [b - a for a, b in zip(submits, submits[1:])], submits[0], []
    for number, job in enumerate(rng.choices(jobs, k=len(jobs)), 1):
        made.append({**job, "job_id": str(number), "submit_s": str(now)})
        now += rng.choice(gaps)
    return made


def draw(out, jobs, longest, seed):
    """A user's jobs of one size train the same model for the most part, as resubmissions do. In `run` all are root's, whose files they
    read; so they are here, for what policies know of users."""
    rng, usual, rows, kinds = random.Random(seed), {}, [], {}
    for job in jobs:
        gpus = int(job["gpu_num"])
        duration = min(int(job["duration_s"]), longest)
        size = "small" if gpus < 4 else "medium" if gpus <= 8 else "large"
        if (job["user"], gpus) not in usual or rng.random() < 0.2:
            model, batches = rng.choice(SIZES[size])
            usual[job["user"], gpus] = model, rng.choice(batches), "bf16" if size == "large" else rng.choice(["fp32", "fp16-amp"])
        model, batch, precision = usual[job["user"], gpus]
        needs = emulated.workload(model, batch, precision)
        amp = int(precision.endswith("-amp"))
        kinds[model, batch, amp] = needs
        rows.append({"job_id": job["job_id"], "user": "root", "vc": "main", "gpu_num": gpus, "state": job["state"], "submit_time": job["submit_s"],
                     "duration": duration, "model": model, "dataset": DATASETS[model], "batchsize": batch, "amp": amp,
                     "gpu_util": round(100 * needs["gpu"], 2), "gmem_util": round(100 * needs["memory_use"], 2), "gmem": round(needs["mib"]), "share_label": label_of(needs)})
    folder = out / "draw"
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "jobs.csv", rows)
    write(folder / "single_data.csv", [{"model": model, "dataset": DATASETS[model], "batchsize": batch, "amp": amp, "gpu_util": round(100 * needs["gpu"], 2), "gmem_util":
                                        round(100 * needs["memory_use"], 2), "gmem": round(needs["mib"]), "label": label_of(needs), "interference_free": 0}
                                       for (model, batch, amp), needs in kinds.items()])
    pairs, names = [], list(kinds)
    for i, a in enumerate(names):
        for b in names[i:]:
            pairs.append({f"{name}{k + 1}": value for k, (kind, other) in enumerate([(a, b), (b, a)])
                          for name, value in zip(("model", "dataset", "gpu_num", "batchsize", "amp", "speed"),
                                                 (kind[0], DATASETS[kind[0]], 1, kind[1], kind[2], round(emulated.speed_beside(kinds[kind], kinds[other]), 4)))})
    write(folder / "colocate_info.csv", pairs)
    (folder / "cluster.toml").write_text(f'[[vc]]\nname = "main"\nnodes = {NODES}\ngpus_per_node = {GPUS}\n')
    return f"{len(rows)} jobs, {sum(int(row['gpu_num']) * int(row['duration']) for row in rows) / 3600:.0f} GPU hours, in {folder}"


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def simulate(out, schedmate, start_s, move_s):
    """start_s: emulated seconds that a start takes; move_s: that pass from the end of a profile to the start after it. As the runs had them
    (`report`), in the durations: the simulator starts at once."""
    made = {}
    for label in POLICIES:
        folder = out / "draw"
        if start_s or move_s:
            folder = out / "draw-delayed"
            folder.mkdir(exist_ok=True)
            for each in (out / "draw").iterdir():
                (folder / each.name).write_text(each.read_text())
            with open(out / "draw" / "jobs.csv") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                moves = label.startswith("lucid") and int(row["gpu_num"]) <= 4 and int(row["duration"]) + start_s > T_PROF_S
                row["duration"] = round(int(row["duration"]) + start_s + (start_s + move_s if moves else 0))
            write(folder / "jobs.csv", rows)
        rows = simulated(schedmate, folder, label, out / "simulated")
        made[label] = summary([{"submit": int(row["submit_s"]), "end": int(row["end_s"])} for row in rows])
    name = "simulated-delayed.json" if start_s or move_s else "simulated.json"
    (out / name).write_text(json.dumps(made, indent=1))
    print(json.dumps(made, indent=1))


def simulated(schedmate, folder, label, to):
    """Its jobs, as rows of the simulator's."""
    done = subprocess.run([schedmate, "simulate", "--trace", f"lucid:{folder}", "--cluster", folder / "cluster.toml", "--policy", simulated_policy(label), "--report", "none",
                           "--out", to, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{label}: {done.stderr.strip().splitlines()[-1]}")
    with open(to / f"{label}.jobs.csv") as file:
        return list(csv.DictReader(file))


def draws(out, schedmate, jobs, longest, count):
    """The most that a policy can gain over lucid is that nobody waits and nobody shares: `bound`."""
    import tempfile
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for seed in range(1, count + 1):
            folder = pathlib.Path(work)
            draw(folder, resampled(jobs, random.Random(seed)), longest, seed)
            jct = {label: statistics.mean(int(row["end_s"]) - int(row["submit_s"]) for row in simulated(schedmate, folder / "draw", label, folder / "simulated"))
                   for label in ("lucid", "lucid+sm")}
            alone = statistics.mean(int(row["duration"]) for row in csv.DictReader(open(folder / "draw" / "jobs.csv")))
            rows.append({"seed": seed, "lucid_jct_s": round(jct["lucid"]), "lucid+sm_jct_s": round(jct["lucid+sm"]),
                         "gain": round(1 - jct["lucid+sm"] / jct["lucid"], 4), "bound": round(1 - alone / jct["lucid"], 4)})
    write(out / "draws.csv", rows)
    for key in ("gain", "bound"):
        values = sorted(row[key] for row in rows)
        print(f"{key}: mean {100 * statistics.mean(values):.1f} %, median {100 * statistics.median(values):.1f}, from {100 * values[count // 40]:.1f} to "
              f"{100 * values[-1 - count // 40]:.1f} in 95 % of draws, {sum(value >= PAPER for value in values)} of {count} reach the paper's {100 * PAPER:.1f} %")


def summary(jobs):
    return {"jct_s": statistics.mean(job["end"] - job["submit"] for job in jobs), "makespan_s": max(job["end"] for job in jobs) - min(job["submit"] for job in jobs),
            "jobs": len(jobs)}


def run(args):
    from emulated_ray import EmulatedRay
    kept = args.out / f"{args.policy}-{args.repetition}.json"
    if kept.exists():
        return print(f"{kept} is there")
    with open(args.out / "draw" / "jobs.csv") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["submit_time"]))
    site = EmulatedRay(args.programs, args.work, args.dashboard, policy(args.policy, SPEED), NODES, GPUS, follow_s=1)
    first = site.submit("ResNet-50", 32, 20, speed=SPEED)  # Ray and its driver are warm from here on
    site.wait(lambda: site.jobs().get(first, {}).get("state") == "completed", "a first job is completed", 120)
    zero, began, ids = int(rows[0]["submit_time"]), time.time() + 1, {}
    for number, row in enumerate(rows):
        needs = emulated.workload(row["model"], int(row["batchsize"]), "fp16-amp" if row["amp"] == "1" else "fp32")
        duration = int(row["duration"])
        cold = min(needs["cold_start_s"], 0.3 * duration)  # of a short job the start is short, too
        steps = max(1, round((duration - cold) / needs["step_s"]))
        time.sleep(max(0, began + (int(row["submit_time"]) - zero) / SPEED - time.time()))
        flags = ["--dataset", row["dataset"], "--cold-start", round(cold, 1), "--seed", args.repetition * 1000 + number]
        id = site.submit(row["model"], row["batchsize"], steps, *flags, gpus=int(row["gpu_num"]), user="root", speed=SPEED,
                         precision="fp16-amp" if row["amp"] == "1" else "fp32", nodes=max(1, -(-int(row["gpu_num"]) // GPUS)))
        ids[id] = row
    while any(job["id"] in ids and not job["ended_s"] for job in site.jobs().values()):
        time.sleep(5)
    ended = {id: site.ask("GET", f"/api/v1/jobs/{id}")[1] for id in ids}  # the daemon lists what has ended for ten minutes
    began_s = lambda id: float((site.folder.parent / "gpus" / f"{id}.began").read_text())
    jobs = [{"id": ids[job["id"]]["job_id"], "submit": job["submitted_s"], "start": job["started_s"], "began": began_s(job["id"]), "end": job["ended_s"],
             "state": job["state"]} for job in ended.values()]
    decided = {kind: [{"job": ids[each["call"]["job"]]["job_id"], "shared_with": each["call"].get("shared_with", ""), "when": each["steps"][0]["when_s"], "nodes": each["call"].get("nodes", [])}
                      for each in site.actions(kind) if each["call"].get("job") in ids and each["state"] == "verified"] for kind in ("start", "evict")}
    kept.write_text(json.dumps({"policy": args.policy, "speed": SPEED, "jobs": jobs, "decided": decided, "summary": summary(jobs)}))
    print(json.dumps(summary(jobs)))
    site.end()


def report(out):
    delayed = out / "simulated-delayed.json"  # after the runs, with their delays; else what was said before
    told = json.loads((delayed if delayed.exists() else out / "simulated.json").read_text())
    print("| policy | runs | mean JCT, h | simulated | makespan, h | simulated | packed | evicted | not completed | start, s of the clock: median, p90 | "
          "from profile to start, s: median, p90 |\n" + "| --- " * 11 + "|")
    curves, errors = {}, {"jct_s": [], "makespan_s": []}
    for label in POLICIES:
        runs = [json.loads(path.read_text()) for path in sorted(out.glob(f"{label}-[0-9]*.json"))]
        if not runs:
            continue
        curves[label, "run"] = sorted(run["speed"] * (job["end"] - job["submit"]) for run in runs for job in run["jobs"])
        with open(out / "simulated" / f"{label}.jobs.csv") as file:
            curves[label, "simulated"] = sorted(float(row["end_s"]) - float(row["submit_s"]) for row in csv.DictReader(file))
        cells = [label, str(len(runs))]
        for key in errors:
            real, expected = statistics.mean(run["summary"][key] * run["speed"] for run in runs), told[label][key]
            errors[key].append(abs(expected / real - 1))
            cells += [f"{real / 3600:.3f}", f"{expected / 3600:.3f} ({100 * (expected / real - 1):+.1f} %)"]
        count = lambda kind, only=lambda each: True: statistics.mean(sum(map(only, run["decided"][kind])) for run in runs)
        moves = sorted(run["speed"] * each for run in runs for each in moved(run))
        took = sorted(job["began"] - job["start"] for run in runs for job in run["jobs"] if "began" in job)
        cells += [f"{count('start', lambda each: bool(each['shared_with'])):.1f}", f"{count('evict'):.1f}",
                  str(sum(job["state"] != "completed" for run in runs for job in run["jobs"])),
                  *(f"{statistics.median(each):.1f}, {each[int(0.9 * len(each))]:.1f}" if each else "" for each in (took, moves))]
        print("| " + " | ".join(cells) + " |")
    if curves:
        print("\nOn average the simulator is off by " + " and ".join(f"{100 * statistics.mean(off):.1f} % ({what})" for off, what in zip(errors.values(), ("mean JCT", "makespan"))))
        with open(out / "jct.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["policy", "source", "jct_s"])
            writer.writerows((*key, f"{jct:.0f}") for key, jcts in curves.items() for jct in jcts)
        (out / "jct.svg").write_text(figure(curves))


def moved(run):
    """Seconds from each eviction to the start after it, where nobody was waited for: on a cluster with room."""
    for end in run["decided"]["evict"]:
        after = [start["when"] for start in run["decided"]["start"] if start["job"] == end["job"] and start["when"] >= end["when"]]
        if after and min(after) - end["when"] < 10:
            yield min(after) - end["when"]


def figure(curves):
    """Shares of jobs that are done after a time, on a logarithmic axis: runs solid, simulated ones dashed."""
    colours = dict(zip(POLICIES, ("#888888", "#2a7ab9", "#e08214", "#1b7837")))
    low, high = 10, max(jcts[-1] for jcts in curves.values())
    x = lambda jct: 60 + 520 * math.log(max(jct, low) / low) / math.log(high / low)
    y = lambda share: 330 - 300 * share
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 380" font-family="sans-serif" font-size="13">', '<rect width="720" height="380" fill="white"/>',
             '<path d="M60 30V330H580" fill="none" stroke="black"/>', '<text x="320" y="372" text-anchor="middle">JCT, s</text>']
    lines += [f'<text x="52" y="{y(share) + 4:.0f}" text-anchor="end">{100 * share:.0f} %</text>' for share in (0, 0.5, 1)]
    lines += [f'<text x="{x(10 ** k):.0f}" y="350" text-anchor="middle">{10 ** k}</text>' for k in range(1, 7) if 10 ** k <= high]
    for (label, source), jcts in curves.items():
        points = " ".join(f"{x(jct):.1f},{y((i + 1) / len(jcts)):.1f}" for i, jct in enumerate(jcts))
        dashes = ' stroke-dasharray="5 4"' if source == "simulated" else ""
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colours[label]}" stroke-width="1.8"{dashes}/>')
    for i, label in enumerate(dict.fromkeys(label for label, _ in curves)):
        lines.append(f'<text x="592" y="{60 + 20 * i}" fill="{colours[label]}">{label}</text>')
    lines.append('<text x="592" y="160" fill="#444444" font-size="11">dashed: simulated</text></svg>')
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["draw", "simulate", "draws", "run", "report"])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--trace", default=ROOT / "data/table2/seren-141.csv")
    parser.add_argument("--jobs", type=int, default=82)
    parser.add_argument("--longest", type=int, default=7200, metavar="S")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=float, default=0, metavar="S")
    parser.add_argument("--move", type=float, default=0, metavar="S")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--policy", choices=POLICIES)
    parser.add_argument("--repetition", type=int, default=1)
    args = parser.parse_intermixed_args()
    words = {"simulate": 1, "draws": 1, "run": 6}.get(args.command, 0)  # behind OUT, as said above
    if len(args.words) != words:
        parser.error(f"{args.command}: {words} words behind OUT are expected, not {len(args.words)}")
    if args.command in ("simulate", "run") and not (args.out / "draw" / "jobs.csv").exists():
        parser.error(f"{args.out}/draw/jobs.csv is not there: draw first")
    if args.command == "run" and args.policy is None:
        parser.error("run: --policy is missing")
    if args.command == "draw":
        print(draw(args.out, read_trace(args.trace, args.jobs), args.longest, args.seed))
    elif args.command == "draws":
        draws(args.out, args.words[0], read_trace(args.trace, None), args.longest, args.count)
    elif args.command == "simulate":
        simulate(args.out, args.words[0], args.start, args.move)
    elif args.command == "report":
        report(args.out)
    else:
        args.work, args.dashboard, args.programs = args.words[0], args.words[1], args.words[2:]
        run(args)


main()
