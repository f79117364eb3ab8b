#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits how likely a value of a log, or the verdict on it, is right; says how good that is.

  make log_study
  scripts/log_confidence.py --study build/release/bench/log_study --kind progress \\
      --table rules/progress_confidence.toml --diagram docs/images/progress_confidence.svg \\
      progress.jsonl ...
  scripts/log_confidence.py --study build/release/bench/log_study --kind diagnosis \\
      --healthy progress.jsonl,healthy.jsonl ... failures.jsonl ...

There are few errors on whole logs, so each log is also read with only its last lines: a label says
what is true at the end of the log, so it holds for these cuts too, and what is read of less is
wrong more often. Sets whose errors were read while rules were written have fewer errors than new logs:
`opened` is a feature of theirs, which the table leaves out; --unread names the other sets. Cuts of a log, and logs of one framework or source, stay together in
cross-validation. Right: as the shared scorers say. The model is that of confidence.py.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from confidence import (Design, auc, auc_by_field, bins_of, calibration_error, columns_of,
                        cross_validate, cut, mean, write_diagram, write_table, HOPED)

PENALTY = 10.0  # errors are few
CUTS = (120, 60, 30, 16, 8, 4)  # last lines of a progress log
BEFORE = (100, 40, 12, 3, 0)    # lines before the failure begins
FIELDS = {"progress": ["step", "total_steps", "loss", "step_time_s"],
          "diagnosis": ["class", "root_line", "no failure"]}
NOT_HEALTHY = r"error|fail|kill|crash|cancel|interrupt"
CLASS = r"(infrastructure|framework|user_script|other|none)\b"


# ---- cases and their cuts -------------------------------------------------------------------


def source_of(case):
    """What stays together: the framework of a progress log, the place that a failure is from."""
    name = case.get("framework") or case.get("source") or case["id"]
    return re.split(r"[ ,;(#:]", name.strip())[0].lower()


def cuts_of_progress(case):
    lines = case["log"].split("\n")
    yield 0, case["log"]
    for keep in CUTS:
        if keep + 1 < len(lines):
            yield len(lines) - keep - 1, "\n".join(lines[-keep - 1:])


def cuts_of_failure(case):
    lines = case["log"].split("\n")
    begins = min(case["first_error_line"], case["root_line"])
    yield 0, case["log"]
    for keep in BEFORE:
        if keep < begins:
            yield begins - keep, "\n".join(lines[begins - keep:])


def read(study, cases, cuts):
    """(case, lines left out, what the program says) of each cut."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cases.jsonl"
        with path.open("w") as out:
            for case in cases:
                for left_out, log in cuts(case):
                    out.write(json.dumps({"id": len(made), "log": log}) + "\n")
                    made.append((case, left_out))
        answers = subprocess.run([study, path], capture_output=True, text=True, check=True).stdout
    return [(*made[a["id"]], a) for a in map(json.loads, answers.splitlines())]


# ---- right and wrong ------------------------------------------------------------------------


def right_value(field, got, case):
    """None: the label does not say."""
    want = case[field]
    if field == "step_time_s":
        if want is None:
            return False
        span = re.search(r"accept ([\d.]+) to ([\d.]+)", case.get("note") or "")
        return bool(span and float(span[1]) <= got <= float(span[2])) or abs(got - want) <= 0.1 * want
    if want is None:
        return None
    if field == "loss":
        return abs(got - want) <= max(1e-3, 0.01 * abs(want))
    return abs(got - want) <= (0 if field == "total_steps" else max(1, 0.001 * abs(want)))


def right_class(got, case):
    if case["provenance"] in ("composite", "hand+rebuilt"):
        return None
    also = case.get("also_acceptable") or []
    also = also if isinstance(also, list) else [also]
    named = (re.match(CLASS, str(each)) for each in also)
    return got in {case["class"]} | {m.group(1) for m in named if m}


def row(field, right, case, left_out, features):
    return {"field": field, "right": bool(right), "repo": source_of(case), "id": case["id"],
            "whole": left_out == 0, "known": True, "unread": case["unread"], "features": features}


def progress_rows(answers):
    for case, left_out, said in answers:
        for field in FIELDS["progress"]:
            got = said["progress"][field]
            right = None if got is None else right_value(field, got, case)
            if right is not None:
                yield row(field, right, case, left_out, said["progress_features"][field])


def failure_rows(answers):
    for case, left_out, said in answers:
        made, seen = said["diagnosis"], said["diagnosis_features"]
        if made["class"] is None:  # nothing to judge
            continue
        right = right_class(made["class"], case)
        if made["class"] == "none":
            yield row("no failure", False, case, left_out, seen["no failure"])
            continue
        if right is not None:
            yield row("class", right, case, left_out, seen["class"])
        near = abs(made["root_line"] - 1 + left_out - case["root_line"]) <= 2
        yield row("root_line", near, case, left_out, seen["root_line"])


def healthy_rows(answers):
    for case, left_out, said in answers:
        if said["diagnosis"]["class"] is None:
            continue
        field = "no failure" if said["diagnosis"]["class"] == "none" else "class"
        yield row(field, field == "no failure", case, left_out, said["diagnosis_features"][field])


def load(paths, unread):
    """Cases of several sets; their ids need not differ between sets."""
    cases = []
    for path in map(pathlib.Path, paths):
        for case in map(json.loads, path.open()):
            cases.append(dict(case, id=f"{path.stem}:{case['id']}", unread=path.stem in unread))
    return cases


def healthy(case):
    return not re.search(NOT_HEALTHY, (case["framework"] + (case.get("note") or "")).lower())


# ---- how good it is -------------------------------------------------------------------------


def report(title, rows, fields):
    wrong = sum(not r["right"] for r in rows)
    print(f"\n{title}: {len(rows)} answers, {wrong} wrong, of {len({r['id'] for r in rows})} logs")
    kinds = auc_by_field(rows, fields=fields)
    print(f"  calibration error {100 * calibration_error(rows):.1f} points   AUC over all "
          f"{auc(rows):.3f}   within kinds {mean(kinds.values()):.3f} ({len(kinds)} kinds)")
    for field in fields:
        own = [r for r in rows if r["field"] == field]
        bad = [r for r in own if not r["right"]]
        print(f"    {field:12} {len(own):5} answers {len(bad):4} wrong of {len({r['id'] for r in bad}):3} logs"
              f"   AUC {auc(own):.3f}   mean confidence {mean(r['p'] for r in own):.3f}   "
              f"right {mean(r['right'] for r in own):.3f}")
    for at, own in sorted(bins_of(rows).items()):
        print(f"  {at / 10:.1f} to {at / 10 + 0.1:.1f}    {len(own):5}  {mean(r['p'] for r in own):.3f}  "
              f"{mean(r['right'] for r in own):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", required=True)
    parser.add_argument("--kind", choices=FIELDS, required=True)
    parser.add_argument("--healthy", default="")
    parser.add_argument("--unread", default="", help="names of files, without their ends")
    parser.add_argument("--table")
    parser.add_argument("--diagram")
    parser.add_argument("sets", nargs="+")
    args = parser.parse_args()
    fields, unread = FIELDS[args.kind], set(args.unread.split(","))
    if args.kind == "progress":
        rows = list(progress_rows(read(args.study, load(args.sets, unread), cuts_of_progress)))
    else:
        well = [c for c in load(filter(None, args.healthy.split(",")), unread) if healthy(c)]
        rows = list(failure_rows(read(args.study, load(args.sets, unread), cuts_of_failure)))
        rows += healthy_rows(read(args.study, well, cuts_of_progress))
    whole = [r for r in rows if r["whole"]]
    logs, sources = len({r["id"] for r in rows}), len({r["repo"] for r in rows})
    print(f"{len(rows)} answers on {logs} logs of {sources} sources; {len(columns_of(rows))} features")
    design = Design(rows, fields, PENALTY)
    cross_validate(design, rows)
    report("whole logs", whole, fields)
    report("whole logs whose errors nobody has read", [r for r in whole if r["unread"]], fields)
    report("whole and cut", rows, fields)
    asked = [r for r in whole if r["unread"] and r["field"] != "no failure"]
    careful, answered = cut(asked, HOPED)
    kept = [r for r in whole if r["p"] >= careful]
    print(f"\n--min-confidence auto = {careful:.3f}: {answered} of {len(asked)} answers on whole logs "
          f"whose errors nobody has read are kept, of all whole logs {len(kept)} of {len(whole)}, "
          f"{100 * mean(r['right'] for r in kept):.1f} % of them right "
          f"({100 * mean(r['right'] for r in whole):.1f} % of all)")
    if args.table:
        what = {"progress": "a value that `track` reads is right", "diagnosis": "a verdict is right"}
        write_table(args.table, design, rows, careful, [
            f"# How likely {what[args.kind]}: a logistic model of what was seen in the log. Fitted by",
            f"# scripts/log_confidence.py on {len(rows)} answers on {logs} labelled logs, whole and cut, of",
            f"# {sources} sources; docs/confidence.md says how good it is. Not by hand."])
    if args.diagram:
        write_diagram(args.diagram, [("whole logs", "p", whole, "#1a6"),
                                     ("whole and cut", "p", rows, "#36c")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
