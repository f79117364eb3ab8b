#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `schedmate eta` says of the recordings of eta_bed.py, against what then happened (docs/eta.md).

  eta_bed_score.py SCHEDMATE WORK RUN... [--after MINUTES] [--before MINUTES] [--draws N]
                   [--samples N] [--every N] [--rows FILE]

All instants and durations are multiplied by 200, so that a run looks like the days that its jobs were drawn from. Of each
snapshot eta gets the accounting of the jobs that had ended by then, and nothing else. Its answers are kept in WORK.
A job counts once a day (of 432 s of the bed): at one of that day's snapshots, drawn; figures are means over the draws.
Every way's quantiles are made honest by its own last 3,000 misses that were known by then. A way that says one instant
says it at all three quantiles. What had not happened when the recording ended counts as happening then.
"""
import argparse
import bisect
import calendar
import collections
import csv
import gzip
import json
import math
import pathlib
import random
import re
import subprocess
import time

from eta_bed import FACTOR

DAY = 86400
SHARES = (0.1, 0.5, 0.9)
NEVER = 60 * DAY
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
SPAN = re.compile(r"\b(RunTime|TimeLimit|TimeMin|MaxTime|DefaultTime|PriorityMaxAge|PriorityDecayHalfLife|PriorityCalcPeriod)"
                  r"(\s*=\s*)((?:\d+-)?\d+:\d\d(?::\d\d)?)")
SECONDS = re.compile(r"\b(bf_interval|bf_resolution|bf_window|UsageRaw)=([\d.]+)")


def instant(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def date(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


class Clock:
    """The bed's clock made slower: seconds since the run began count FACTOR times."""

    def __init__(self, begin):
        self.begin = int(begin)

    def of(self, second):
        return self.begin + (second - self.begin) * FACTOR

    def shown(self, text):
        """What scontrol shows, on that clock."""
        text = DATE.sub(lambda m: date(self.of(instant(m[0]))), text)
        text = SPAN.sub(lambda m: m[1] + m[2] + self.span(m[3]), text)
        return SECONDS.sub(lambda m: f"{m[1]}={float(m[2]) * FACTOR:.0f}", text)

    @staticmethod
    def span(text):
        days, _, rest = text.rpartition("-")
        parts = [int(each) for each in rest.split(":")]
        seconds = sum(each * unit for each, unit in zip(parts, (3600, 60, 1) if len(parts) == 3 else (60, 1)))
        seconds = (seconds + int(days or 0) * DAY) * FACTOR
        return f"{seconds // DAY}-{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    def accounted(self, row):
        row = dict(row)
        for name in ("Submit", "Eligible", "Start", "End"):
            if DATE.fullmatch(row[name]):
                row[name] = date(self.of(instant(row[name])))
        for name in ("ElapsedRaw", "TimelimitRaw"):
            if row[name].isdigit():
                row[name] = str(int(row[name]) * FACTOR)
        row["SubmitLine"] = re.sub(r"-t (\d+)", lambda m: f"-t {int(m[1]) * FACTOR}", row["SubmitLine"])
        return row


def log_wait(seconds):
    return math.log(60 + min(max(seconds, 0.0), NEVER))


def quantile(values, share):
    """Of sorted values."""
    return values[int(share * (len(values) - 1) + 0.5)]


def three(values):
    values = sorted(values)
    return [quantile(values, share) for share in SHARES]


class Way:
    """Predictions of one way in order of time, made honest by how far off the earlier ones were."""

    def __init__(self):
        self.open, self.known = [], collections.deque()
        self.off = [[], [], []]

    def say(self, now, then, raw):
        """Quantiles as told, and the truth; logs."""
        while self.open and self.open[0][0] <= now:
            self.known.append(self.open.pop(0)[1])
            for values, miss in zip(self.off, self.known[-1]):
                bisect.insort(values, miss)
            if len(self.known) > 3000:
                for values, miss in zip(self.off, self.known.popleft()):
                    del values[bisect.bisect_left(values, miss)]
        truth = log_wait(then - now)
        told = list(raw)
        if len(self.known) > 30:
            told = sorted(q + quantile(off, share) for q, off, share in zip(raw, self.off, SHARES))
        bisect.insort(self.open, (then, [truth - q for q in raw]))
        return told, truth


class Run:
    """A recording, and what eta says of it."""

    def __init__(self, program, work, folder, samples, every, before):
        self.folder, self.work, self.program, self.samples = folder, work / folder.name, program, str(samples)
        events = [line.split() for line in (folder / "events.txt").read_text().splitlines()]
        self.clock = Clock(float(events[0][1]))
        self.jobs = {}
        with (folder / "sacct.txt").open() as rows:
            for row in csv.DictReader(rows, delimiter="|", quoting=csv.QUOTE_NONE):
                if row["JobIDRaw"].isdigit():
                    self.jobs[row["JobIDRaw"]] = row
        self.times = {id: {name: self.clock.of(instant(row[name])) if DATE.fullmatch(row[name]) else None
                           for name in ("Submit", "Start", "End")} for id, row in self.jobs.items()}
        self.end = max(each for row in self.times.values() for each in row.values() if each)
        self.drained = [(line[0], float(line[2])) for line in events if line[0] in ("drain", "resume")]
        self.planned = {}  # by second, then job: what Slurm plans and why it waits
        for path in (folder / "start").iterdir():
            rows = [line.split(None, 2) for line in path.read_text().splitlines()]
            self.planned[int(path.stem)] = {id: (self.clock.of(instant(when)) if DATE.fullmatch(when) else None, reason)
                                            for id, when, reason in rows}
        self.seconds = sorted(int(path.name.split(".")[0]) for path in (folder / "snap").iterdir())[::every]
        self.seconds = [second for second in self.seconds if second <= before * 60]

    def when(self, job, name):
        return self.times[job][name]

    def answers(self):
        """(second, eta's document), in order of time."""
        self.work.mkdir(parents=True, exist_ok=True)
        imported = set()
        for second in self.seconds:
            kept = self.work / f"{second:05}.json"
            if kept.exists():
                yield second, json.loads(kept.read_text())
                continue
            text = gzip.decompress((self.folder / "snap" / f"{second:05}.txt.gz").read_bytes()).decode()
            now = self.clock.of(instant(re.search(r"Configuration data as of (\S+)", text)[1]))
            queue, dump = self.work / "queue.txt", self.work / "sacct.txt"
            queue.write_text(self.clock.shown(text))
            fresh = [id for id in self.jobs if id not in imported and (self.when(id, "End") or math.inf) <= now]
            if fresh:
                imported.update(fresh)
                with dump.open("w") as out:
                    out.write("|".join(self.jobs[fresh[0]]) + "\n")
                    out.writelines("|".join(self.clock.accounted(self.jobs[id]).values()) + "\n" for id in fresh)
                self.schedmate("history", "import", f"sacct:{dump}")
            kept.write_text(self.schedmate("eta", "--from", str(queue), "--samples", self.samples, "--json"))
            yield second, json.loads(kept.read_text())

    def schedmate(self, *words):
        return subprocess.run([self.program, *words, "--state-dir", str(self.work / "state")], check=True,
                              capture_output=True, text=True).stdout

    def predictions(self):
        """One dictionary a job and snapshot: what each way says (logs of seconds from now), and what happened."""
        for second, said in self.answers():
            now = said["now"]
            planned = self.planned[second]
            waiting = sum(job["state"] == "waiting" for job in said["jobs"])
            started = sorted(((id, self.when(id, "Submit"), self.when(id, "Start")) for id in self.jobs
                              if (self.when(id, "Start") or math.inf) <= now), key=lambda each: each[2])
            for job in said["jobs"]:
                id = job["job_id"]
                row, starts, ends = self.jobs[id], self.when(id, "Start"), self.when(id, "End")
                if starts is None and ends is not None and ends < self.end:
                    continue  # cancelled while it waited
                made = {"run": self.folder.name, "second": second, "now": now, "day": second * FACTOR // DAY, "job": id,
                        "user": job["user"], "gpus": job["gpus"], "waiting": waiting, "qos": row["QOS"],
                        "partition": job["partition"], "state": row["State"].split()[0], "ways": {}}
                to_logs = lambda told: [log_wait(NEVER if q is None else q - now) for q in (told[k] for k in ("p10", "p50", "p90"))]
                if job["state"] == "running":
                    kind = "killed at the limit" if made["state"] == "TIMEOUT" else "ends by itself"
                    made.update(what="end", then=ends or self.end, known=ends is not None, reason="running", kind=kind)
                    made["ways"]["eta"] = to_logs(job["end_s"])
                    ran = now - self.when(id, "Start")
                    made["ways"]["the limit"] = [log_wait(int(row["TimelimitRaw"]) * 60 * FACTOR - ran)] * 3
                    made["ways"]["past runs, given the time so far"] = self.runs_so_far(row["User"], now, ran)
                else:
                    slurm, reason = planned.get(id, (None, "?"))
                    made.update(what="start", then=starts or self.end, known=starts is not None, reason=reason,
                                planned=slurm is not None, kind=self.kind(id, second, now, starts or self.end, reason))
                    so_far = now - self.when(id, "Submit")
                    past = self.waits_so_far(started, row["Partition"], job["partition"], so_far)
                    made["ways"] = {"eta": to_logs(job["start_s"]), "past waits, given the wait so far": past,
                                    "squeue --start": [log_wait(slurm - now)] * 3 if slurm is not None else past,
                                    "the user's last ten": self.last_ten(started, row["User"], so_far)}
                yield made

    def kind(self, id, second, now, then, reason):
        """What makes a wait hard to tell; the first that holds."""
        if reason.startswith(("QOS", "Assoc")):
            return "at a limit of its QOS"
        if reason.startswith("Nodes required"):
            return "nodes down, drained or reserved (Slurm's words)"
        if any(each > second and queue.get(id, (0, ""))[1].startswith(("QOS", "Assoc")) for each, queue in self.planned.items()):
            return "comes to such a limit while it waits"
        if self.jobs[id]["Partition"] in ("short", "small"):
            return "in a partition of some of the nodes"
        if any(now < self.clock.of(when) < then for _, when in self.drained):
            return "a node is drained or resumed before it starts"
        other = lambda each: (self.when(each, "Submit") > now and (self.when(each, "Start") or math.inf) < then
                              and self.jobs[each]["Partition"] == self.jobs[id]["Partition"])
        if any(other(each) for each in self.jobs):
            return "later submissions start before it"
        return "in order"

    def last_ten(self, started, user, so_far):
        waits = sorted([start - submit for id, submit, start in started if self.jobs[id]["User"] == user][-10:] or [0])
        return [log_wait(quantile(waits, 0.5) - so_far)] * 3

    def waits_so_far(self, started, partition, shown, so_far):
        """Of the last 300 waits in the partition that were longer than so far, what was left of them."""
        for same in (True, False):
            left = [log_wait(start - submit - so_far) for id, submit, start in reversed(started) if start - submit > so_far
                    and (not same or self.jobs[id]["Partition"] in (partition, *shown.split(",")))][:300]
            if len(left) >= 10:
                return three(left)
        return three(left) if left else [log_wait(60), log_wait(600), log_wait(so_far)]

    def runs_so_far(self, user, now, ran):
        ended = [(self.when(id, "End"), self.when(id, "End") - self.when(id, "Start"), row["User"])
                 for id, row in self.jobs.items() if self.when(id, "Start") and (self.when(id, "End") or math.inf) <= now]
        ended.sort(reverse=True)
        for same in (True, False):
            left = [log_wait(run - ran) for _, run, of in ended if run > ran and (not same or of == user)][:300]
            if len(left) >= 10:
                return three(left)
        return three(left) if left else [log_wait(60), log_wait(ran), log_wait(10 * ran)]


def pinball(truth, told):
    return sum(max(share * (truth - q), (share - 1) * (truth - q)) for q, share in zip(told, SHARES)) / 3


def score(predictions, draw, after, before):
    """Rows of scores of one draw of the snapshots at which jobs count."""
    chosen = {}
    for i, each in enumerate(predictions):
        key = (each["run"], each["what"], each["job"], each["day"])
        mark = random.Random(f"{draw} {key} {each['second']}").random()
        chosen[key] = min(chosen.get(key, (2, 0)), (mark, i))
    ways = collections.defaultdict(Way)
    rows = []
    for i in sorted(i for _, i in chosen.values()):
        each = predictions[i]
        for name, raw in each["ways"].items():
            told, truth = ways[each["run"], each["what"], name].say(each["now"], each["then"], raw)
            if not after * 60 <= each["second"] <= before * 60:
                continue
            rows.append({**{k: v for k, v in each.items() if k != "ways"}, "way": name, "draw": draw, "truth": truth,
                         "raw": raw, "told": told, "loss": pinball(truth, told), "raw_loss": pinball(truth, raw),
                         "inside": told[0] <= truth <= told[2], "raw_inside": raw[0] <= truth <= raw[2],
                         "off": abs(truth - told[1]), "minutes": abs(math.exp(truth) - math.exp(told[1])) / 60,
                         "hour": (told[1] < log_wait(3600)) == (truth < log_wait(3600))})
    return rows


def mean(rows, key):
    return sum(row[key] for row in rows) / len(rows)


def median(rows, key):
    return quantile(sorted(row[key] for row in rows), 0.5)


def spread(rows, key, times=300):
    """Of the mean: half of what 95 % of the resamples of (run, user, day) span."""
    groups = collections.defaultdict(lambda: [0.0, 0])
    for row in rows:
        group = groups[row["run"], row["user"], row["day"]]
        group[0] += row[key]
        group[1] += 1
    groups, rng, means = list(groups.values()), random.Random(1), []
    for _ in range(times):
        drawn = rng.choices(groups, k=len(groups))
        means.append(sum(group[0] for group in drawn) / sum(group[1] for group in drawn))
    means.sort()
    return (quantile(means, 0.975) - quantile(means, 0.025)) / 2


def table(rows, draws, title):
    print(f"\n{title}: {len(rows) / draws / max(1, len({row['way'] for row in rows})):.0f} jobs\n")
    print("| way | inside 80 % interval | of its own quantiles | pinball loss | own | error, log | minutes | within the hour |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for way in dict.fromkeys(row["way"] for row in rows):
        of = [row for row in rows if row["way"] == way]
        print(f"| {way} | {100 * mean(of, 'inside'):.0f} ± {100 * spread(of, 'inside'):.0f} | "
              f"{100 * mean(of, 'raw_inside'):.0f} | {mean(of, 'loss'):.3f} ± {spread(of, 'loss'):.3f} | "
              f"{mean(of, 'raw_loss'):.3f} | {median(of, 'off'):.2f} | {median(of, 'minutes'):.0f} | "
              f"{100 * mean(of, 'hour'):.0f} |")


def cut(rows, title, name, classes):
    print(f"\n{title}\n\n| {name} | jobs | share of eta's loss | inside | eta | best other | |\n| --- | --- | --- | --- | --- | --- | --- |")
    ours = [row for row in rows if row["way"] == "eta"]
    draws = len({row["draw"] for row in rows})
    whole = sum(row["loss"] for row in ours)
    for label, holds in classes:
        of = [row for row in ours if holds(row)]
        if not of:
            continue
        others = {way: mean([row for row in rows if row["way"] == way and holds(row)], "loss")
                  for way in {row["way"] for row in rows} - {"eta"}}
        best = min(others, key=others.get)
        print(f"| {label} | {len(of) / draws:.0f} | {100 * sum(row['loss'] for row in of) / whole:.0f} % | "
              f"{100 * mean(of, 'inside'):.0f} | {mean(of, 'loss'):.3f} | {others[best]:.3f} | {best} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("schedmate")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("runs", type=pathlib.Path, nargs="+")
    parser.add_argument("--after", type=float, default=10)
    parser.add_argument("--before", type=float, default=36)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--every", type=int, default=1, help="take one snapshot of so many")
    parser.add_argument("--rows")
    args = parser.parse_args()
    predictions = []
    for folder in args.runs:
        made = list(Run(args.schedmate, args.work, folder, args.samples, args.every, args.before).predictions())
        inside = [each for each in made if args.after * 60 <= each["second"] <= args.before * 60]
        print(f"{folder.name}: {len({each['second'] for each in made})} snapshots, {len({each['job'] for each in made})} jobs, "
              f"{len(inside)} predictions counted, {sum(not each['known'] for each in inside)} of them of what had not happened "
              f"at the end, {sum(each.get('planned', False) for each in inside)} of "
              f"{sum(each['what'] == 'start' for each in inside)} starts planned by Slurm")
        predictions += made
    rows = [row for draw in range(args.draws) for row in score(predictions, draw, args.after, args.before)]
    if args.rows:
        pathlib.Path(args.rows).write_text("".join(json.dumps(row) + "\n" for row in rows))
    starts, ends = [[row for row in rows if row["what"] == what] for what in ("start", "end")]
    table(starts, args.draws, "Starts")
    table([row for row in starts if row["planned"]], args.draws, "Starts that Slurm plans")
    table(ends, args.draws, "Ends")
    for run in dict.fromkeys(row["run"] for row in rows):
        table([row for row in starts if row["run"] == run], args.draws, f"Starts of {run}")
    cut(starts, "By GPUs", "GPUs", [(label, lambda r, a=a, b=b: a <= r["gpus"] <= b) for label, a, b in
                                    (("1", 1, 1), ("2 to 7", 2, 7), ("8", 8, 8), ("more", 9, 1 << 30))])
    cut(starts, "By jobs that wait", "waiting", [(label, lambda r, a=a, b=b: a <= r["waiting"] <= b) for label, a, b in
                                                 (("to 10", 0, 10), ("11 to 30", 11, 30), ("more", 31, 1 << 30))])
    for title, of in (("Starts: what makes it hard", starts), ("Ends", ends)):
        cut(of, title, "kind", [(kind, lambda r, kind=kind: r["kind"] == kind) for kind in sorted({r["kind"] for r in of})])
    cut(starts, "By Slurm's reason", "reason", [(reason, lambda r, reason=reason: r["reason"] == reason)
                                                for reason in sorted({row["reason"] for row in starts})])


if __name__ == "__main__":
    main()
