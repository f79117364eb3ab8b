#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits how likely a fact is right, on labelled jobs, and says how good that is on others.

  make reader_study; reader_study facts CASES.jsonl TREES > CASES.read     (bench/reader_study.cpp)
  scripts/confidence.py --scorer score_facts.py CASES.jsonl:CASES.read ... \\
      [--unread u,v:F+F] [--table rules/confidence.toml] [--diagram docs/images/confidence.svg]

A logistic model with an L2 penalty. Every figure is of answers whose repository was in another part
of the ten that cross-validation makes of the repositories. Sets whose errors were read while rules
were written have fewer errors than new jobs: `opened` is a feature of theirs, which the table leaves
out. --unread names the sets (with `:` their fields) whose errors nobody has read.
"""
import argparse
import collections
import hashlib
import json
import math
import pathlib
import sys

try:
    import numpy  # faster by far, and not needed
except ImportError:
    numpy = None

from labelled import FIELDS, HARD, label_of, load_scorer

PARTS = 10
PENALTY = 3.0          # of a weight that all fields share
SPECIAL_PENALTY = 3.0  # of one that a field has beside it
LEAST_USES = 8         # of a feature that is learned from
SPECIAL = ("rank", "close rival", "rules", "chain", "others known")  # learned by field, too
HOPED = 0.97


def read_rows(args, scorer):
    """One row an answer: a value, or that there is none although a rule found something."""
    unread = {}
    for one in args.unread.split(",") if args.unread else []:
        name, _, fields = one.partition(":")
        unread[name] = set(fields.split("+")) if fields else set(FIELDS)
    rows, jobs = [], 0
    for pair in args.sets:
        cases, read = pair.split(":")
        name = pathlib.Path(cases).stem
        labels = {c["id"]: c for c in map(json.loads, open(cases))}
        for job in map(json.loads, open(read)):
            jobs += 1
            case = labels[job["id"]]
            for field in FIELDS:
                features = job["features"].get(field)
                if features is None:
                    continue
                value = (job["facts"].get(field) or {}).get("value")
                want = label_of(case, field)
                rows.append({"repo": case["repo"], "set": name, "field": field, "id": job["id"],
                             "right": scorer.right(field, value, want), "known": value is not None,
                             "unread": field in unread.get(name, ()), "features": features})
    return rows, jobs


# ---- the model ------------------------------------------------------------------------------


def columns_of(rows):
    """Features that enough answers have, as (field or "", name)."""
    uses = collections.Counter()
    for row in rows:
        for name, value in row["features"].items():
            if value:
                uses["", name] += 1
                if name in SPECIAL:
                    uses[row["field"], name] += 1
    return sorted(key for key, count in uses.items() if count >= LEAST_USES)


class Design:
    """The features of all answers, each centred and in units of its spread; looks at no label."""

    def __init__(self, rows, fields=FIELDS, penalty=PENALTY):
        self.fields = fields
        self.columns = columns_of(rows)
        self.place = {key: i for i, key in enumerate(self.columns)}
        self.mean, self.spread = [0.0] * len(self.columns), [1.0] * len(self.columns)
        for at, (field, name) in enumerate(self.columns):
            if field:  # the field's own: in the units of all
                self.mean[at] = self.mean[self.place["", name]]
                self.spread[at] = self.spread[self.place["", name]]
                continue
            values = [row["features"].get(name, 0.0) for row in rows]
            self.mean[at] = sum(values) / len(values)
            spread = math.sqrt(sum((v - self.mean[at]) ** 2 for v in values) / len(values))
            self.spread[at] = spread if spread > 1e-9 else 1e9  # the same everywhere: no weight
        self.bases = {f: len(self.columns) + i for i, f in enumerate(["", "opened"] + fields)}
        self.size = len(self.columns) + len(self.bases)
        self.penalty = [SPECIAL_PENALTY if field else penalty for field, _ in self.columns]
        self.penalty += [0.01, 0.01] + [0.5] * len(fields)
        for row in rows:
            row["x"] = self.vector(row)

    def vector(self, row):
        x = []
        for at, (field, name) in enumerate(self.columns):
            if field and field != row["field"]:
                continue
            x.append((at, (row["features"].get(name, 0.0) - self.mean[at]) / self.spread[at]))
        x += [(self.bases[""], 1.0), (self.bases[row["field"]], 1.0)]
        if not row["unread"]:
            x.append((self.bases["opened"], 1.0))
        return x

    def fit(self, rows):
        return minimise([r["x"] for r in rows], [float(r["right"]) for r in rows], self.penalty,
                        self.size)

    def table(self, w):
        """(base of each field, weights) in the units of the features."""
        shared, special = 0.0, collections.Counter()
        weights = []
        for at, (field, name) in enumerate(self.columns):
            weight = w[at] / self.spread[at]
            if field:
                special[field] -= weight * self.mean[at]
            else:
                shared -= weight * self.mean[at]
            weights.append((field, name, weight))
        base = {"": w[self.bases[""]] + shared}
        for field in self.fields:
            base[field] = base[""] + w[self.bases[field]] + special[field]
        return base, weights


def probability(w, x):
    return min(0.99, max(0.02, 1 / (1 + math.exp(-sum(w[at] * v for at, v in x)))))


def newton(xs, ys, penalty, size):
    """The same minimum as below, by numpy."""
    x = numpy.zeros((len(xs), size))
    for row, entries in enumerate(xs):
        for at, v in entries:
            x[row, at] = v
    w = numpy.zeros(size)
    for _ in range(30):
        p = 1 / (1 + numpy.exp(-x @ w))
        slope = x.T @ (p - numpy.array(ys)) + numpy.array(penalty) * w
        curve = (x * (p * (1 - p))[:, None]).T @ x + numpy.diag(penalty)
        step = numpy.linalg.solve(curve, slope)
        w = w - step * min(1.0, 3 / numpy.abs(step).max())
        if numpy.abs(step).max() < 1e-4:
            break
    return w.tolist()


def minimise(xs, ys, penalty, size):
    """L-BFGS on the penalised log loss, which has one minimum."""
    if numpy is not None:
        return newton(xs, ys, penalty, size)

    def value_and_slope(w):
        loss = 0.5 * sum(p * v * v for p, v in zip(penalty, w))
        slope = [p * v for p, v in zip(penalty, w)]
        for x, y in zip(xs, ys):
            z = sum(w[at] * v for at, v in x)
            loss += math.log1p(math.exp(-abs(z))) + max(z, 0) - y * z
            miss = (1 / (1 + math.exp(-z)) if z > -700 else 0.0) - y
            for at, v in x:
                slope[at] += miss * v
        return loss, slope

    w = [0.0] * size
    loss, slope = value_and_slope(w)
    past = []
    for _ in range(120):
        step = list(slope)
        used = []
        for s, y, rho in reversed(past):
            a = rho * sum(p * q for p, q in zip(s, step))
            used.append(a)
            step = [p - a * q for p, q in zip(step, y)]
        if past:
            s, y, _ = past[-1]
            scale = sum(p * q for p, q in zip(s, y)) / sum(q * q for q in y)
        else:
            scale = 1 / max(1.0, math.sqrt(sum(g * g for g in slope)))
        step = [scale * p for p in step]
        for (s, y, rho), a in zip(past, reversed(used)):
            b = rho * sum(p * q for p, q in zip(y, step))
            step = [p + (a - b) * q for p, q in zip(step, s)]
        fall = sum(g * p for g, p in zip(slope, step))
        length = 1.0
        while True:
            new = [p - length * q for p, q in zip(w, step)]
            new_loss, new_slope = value_and_slope(new)
            if new_loss <= loss - 1e-4 * length * fall or length < 1e-6:
                break
            length /= 2
        s = [p - q for p, q in zip(new, w)]
        y = [p - q for p, q in zip(new_slope, slope)]
        curve = sum(p * q for p, q in zip(s, y))
        if curve > 1e-10:
            past = (past + [(s, y, 1 / curve)])[-10:]
        done = loss - new_loss < 1e-5 * max(1.0, loss)
        w, loss, slope = new, new_loss, new_slope
        if done:
            break
    return w


def cross_validate(design, rows):
    """Each row gets `p` from a model that saw no answer to its repository."""
    def part(repo):
        return int(hashlib.sha256(repo.encode()).hexdigest(), 16) % PARTS
    for at in range(PARTS):
        w = design.fit([r for r in rows if part(r["repo"]) != at])
        for row in rows:
            if part(row["repo"]) == at:
                row["p"] = probability(w, row["x"])


# ---- how good it is -------------------------------------------------------------------------


def bins_of(rows, key="p"):
    bins = collections.defaultdict(list)
    for row in rows:
        bins[min(9, int(row[key] * 10))].append(row)
    return bins


def calibration_error(rows, key="p"):
    return sum(abs(sum(r["right"] for r in b) - sum(r[key] for r in b))
               for b in bins_of(rows, key).values()) / max(1, len(rows))


def auc(rows, key="p"):
    """Of right against wrong answers; half a point for a draw."""
    ranked = sorted(rows, key=lambda r: r[key])
    at, below, won = 0, 0, 0.0
    wrong = sum(not r["right"] for r in rows)
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][key] == ranked[at][key]:
            end += 1
        bad = sum(not r["right"] for r in ranked[at:end])
        won += (end - at - bad) * (below + bad / 2)
        below += bad
        at = end
    return won / max(1, wrong * (len(rows) - wrong))


def auc_by_field(rows, key="p", least=10, fields=FIELDS):
    out = {}
    for field in fields:
        own = [r for r in rows if r["field"] == field]
        if sum(not r["right"] for r in own) >= least:
            out[field] = auc(own, key)
    return out


def cut(rows, hoped, key="p"):
    """The lowest bound above which the share of right answers is `hoped`: (bound, answered)."""
    best, right = (1.0, 0), 0
    for n, row in enumerate(sorted(rows, key=lambda r: -r[key]), 1):
        right += row["right"]
        if right / n >= hoped:
            best = (row[key], n)
    return best


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def report(title, rows):
    wrong = sum(not r["right"] for r in rows)
    print(f"\n{title}: {len(rows)} answers, {wrong} wrong")
    for name, key in (("rules' own rank", "rank"), ("base rate of the field", "field_rate"),
                      ("fitted", "p")):
        by_field = auc_by_field(rows, key)
        print(f"  {name:24} calibration error {100 * calibration_error(rows, key):5.1f} points   "
              f"AUC over all {auc(rows, key):.3f}   within fields {mean(by_field.values()):.3f} "
              f"({len(by_field)} fields)")
    for field, value in auc_by_field(rows).items():
        own = [r for r in rows if r["field"] == field]
        print(f"    {field:14} {len(own):4} answers {sum(not r['right'] for r in own):4} wrong   "
              f"AUC {value:.3f}   mean confidence {mean(r['p'] for r in own):.3f}   "
              f"right {mean(r['right'] for r in own):.3f}")
    print("  confidence    answers  mean   right")
    for at, own in sorted(bins_of(rows).items()):
        print(f"  {at / 10:.1f} to {at / 10 + 0.1:.1f}    {len(own):5}  {mean(r['p'] for r in own):.3f}  "
              f"{mean(r['right'] for r in own):.3f}")


def add_rates(rows):
    for row in rows:
        others = [r for r in rows if r["field"] == row["field"] and r["repo"] != row["repo"]]
        row["field_rate"] = mean(r["right"] for r in others)
        row["rank"] = 1 / (1 + math.exp(-row["features"]["rank"]))


# ---- what is written ------------------------------------------------------------------------


def write_table(path, design, rows, careful, about):
    base, weights = design.table(design.fit(rows))
    lines = about + [
        "# `careful`: of the answers with at least that confidence, 97 % were right.",
        f"careful = {careful:.3f}", ""]
    for field in [""] + design.fields:
        lines += ["[[field]]", f'name = "{field or "other"}"', f"base = {base[field]:.4f}", ""]
    for field, name, weight in weights:
        lines += ["[[weight]]"] + ([f'field = "{field}"'] if field else [])
        lines += [f"feature = {json.dumps(name)}", f"weight = {weight:.4f}", ""]
    pathlib.Path(path).write_text("\n".join(lines[:-1]) + "\n")


def write_diagram(path, groups):
    """Mean confidence against share of right answers; the area of a point is its number of answers."""
    side, edge = 320, 44
    at = lambda x, y: (edge + x * side, 16 + (1 - y) * side)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + edge + 150} {side + 64}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    for tick in range(0, 11, 2):
        (x, y0), (_, y1) = at(tick / 10, 0), at(tick / 10, 1)
        out.append(f'<path d="M{x:.0f} {y0:.0f}V{y1:.0f}M{edge} {at(0, tick / 10)[1]:.0f}h{side}" '
                   'stroke="#ddd" fill="none"/>')
        out.append(f'<text x="{x:.0f}" y="{y0 + 16:.0f}" text-anchor="middle">{tick / 10}</text>')
        out.append(f'<text x="{edge - 6}" y="{at(0, tick / 10)[1] + 4:.0f}" text-anchor="end">{tick / 10}</text>')
    (x0, y0), (x1, y1) = at(0, 0), at(1, 1)
    out.append(f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" stroke="#999" stroke-dasharray="4 3"/>')
    for n, (name, key, rows, colour) in enumerate(groups):
        points = sorted((mean(r[key] for r in b), mean(r["right"] for r in b), len(b))
                        for b in bins_of(rows, key).values())
        path_of = " ".join(f"{at(p, q)[0]:.1f},{at(p, q)[1]:.1f}" for p, q, _ in points)
        out.append(f'<polyline points="{path_of}" fill="none" stroke="{colour}"/>')
        for p, q, count in points:
            x, y = at(p, q)
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{max(1.5, 0.5 * math.sqrt(count)):.1f}" '
                       f'fill="{colour}" fill-opacity="0.5"><title>{count} answers</title></circle>')
        out.append(f'<text x="{edge + side + 10}" y="{40 + 18 * n}" fill="{colour}">{name}</text>')
    out.append(f'<text x="{edge + side / 2}" y="{side + 52}" text-anchor="middle">confidence</text>')
    out.append(f'<text x="12" y="{16 + side / 2}" text-anchor="middle" '
               f'transform="rotate(-90 12 {16 + side / 2})">right</text></svg>')
    pathlib.Path(path).write_text("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scorer", required=True)
    parser.add_argument("--unread", default="")
    parser.add_argument("--table")
    parser.add_argument("--diagram")
    parser.add_argument("sets", nargs="+", metavar="CASES:READ")
    args = parser.parse_args()
    rows, jobs = read_rows(args, load_scorer(args.scorer))
    repos = len({r["repo"] for r in rows})
    print(f"{len(rows)} answers of {jobs} jobs of {repos} repositories; "
          f"{PARTS} parts by repository; {len(columns_of(rows))} features")
    design = Design(rows)
    cross_validate(design, rows)
    add_rates(rows)
    unread = [r for r in rows if r["unread"]]
    report("all sets", rows)
    report("sets whose errors nobody has read", unread)
    shown = [r for r in unread if r["known"]]
    careful, answered = cut([r for r in shown if r["field"] in HARD], HOPED)
    asked = sum(r["field"] in HARD for r in shown)
    print(f"\n--min-confidence auto = {careful:.3f}: {answered} of {asked} answers to nine hard fields "
          f"({100 * answered / max(1, asked):.1f} %) are kept")
    for name, some in (("all sets, all fields", [r for r in rows if r["known"]]),
                       ("unread, all fields", shown)):
        kept = [r for r in some if r["p"] >= careful]
        print(f"  {name}: {100 * len(kept) / max(1, len(some)):.1f} % kept, "
              f"{100 * mean(r['right'] for r in kept):.1f} % of them right "
              f"({100 * mean(r['right'] for r in some):.1f} % of all)")
    if args.table:
        write_table(args.table, design, rows, careful, [
            "# How likely a fact is right: a logistic model of what was seen while a job was read",
            f"# (src/facts/confidence.cpp). Fitted by scripts/confidence.py on {len(rows)} answers of {jobs}",
            f"# labelled jobs of {repos} repositories; docs/confidence.md says how good it is. Not by hand."])
    if args.diagram:
        write_diagram(args.diagram, [("fitted, unread sets", "p", unread, "#1a6"),
                                     ("fitted, all sets", "p", rows, "#36c"),
                                     ("rules' own rank", "rank", rows, "#c63")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
