#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much each model of a library, program or shell built-in is good for: what changes without it.

  reader_study off CASES.jsonl TREES > off.jsonl      (make reader_study; bench/reader_study.cpp)
  scripts/readers.py --scorer score_facts.py off.jsonl CASES.jsonl ...

Per model: labelled jobs that use it, jobs of which a fact changes without it, and how many labelled
fields become wrong or right; jobs without labels count for the first two. With --bound N, ends with 1
when a model that changes nothing is left although N jobs or more were read and no sentence below
defends it. `FILE` is a file of src/python/natives, `command NAME` a program or built-in of
src/command. What no job uses is listed last.
"""
import argparse, collections, json, pathlib, re, sys

from labelled import FIELDS, label_of, load_scorer

# Why a model stays although no job shows what it is good for.
DEFENDED = {
    "speechbrain": "the recipes of the most used speech toolkit; no job of the sets is one, and "
                   "without it nothing of a recipe is read",
    "hydra_overrides": "the words of detectron2's lazy configs and of the repositories built on it; "
                       "no job of the sets is one",
    "command seq": "says how many runs a loop starts, which decides whether two jobs are alike; the "
                   "labels do not hold it",
    "command cat": "a setting that stands in a file of the tree",
    "command read": "`while read` over a file of settings; shares its code with here-documents",
    "command nvidia-smi": "the GPUs of a node, in `--nproc_per_node=$(nvidia-smi -L | wc -l)`",
    "command python device count": "the same, asked of torch",
    "command tr": "the same, from CUDA_VISIBLE_DEVICES",
    "command tee": "the program of `python train.py | tee log` is the one before the bar",
    "command set": "`set --` gives a script its words",
    "command unset": "a variable that is taken back is not that of the run",
    "command test": "the code of `[`",
    "command basename": "the code of dirname",
    "command readlink": "the code of realpath",
    "command chdir": "the code of cd",
    "command ssh": "says that what runs on another machine is not followed",
    "command xargs": "says that what it starts is not followed",
    "command parallel": "the same",
}
ROWS = "One row of a table, without code; without it, it would be taken for the program"


def all_models(root):
    """Names of all models, as the sources have them."""
    study = (root / "bench/reader_study.cpp").read_text()
    names = set(re.findall(r'\{"(\w+)", natives::add_', study))
    for file, table in (("builtins.cpp", "builtins()"), ("printers.cpp", "run_printer(Shell")):
        text = (root / "src/command" / file).read_text()
        text = text[text.rindex(table + (" {" if "(" in table and table.endswith(")") else "")):]
        names |= {"command " + n for n in re.findall(r'\{"([^"]+)",\s', text[:text.index("};")])}
    text = (root / "src/command/programs.cpp").read_text()
    text = text[text.index("programs = std::to_array"):text.index("});")]
    for row in re.findall(r'\{"([^"]+)", "[^"]*",\s+Role', text):
        names |= {"command " + name for name in row.split()}
    names |= {"command " + n for n in ("make", "python device count", "console script",
                                       "accelerate config")}
    return names


def rows_without_code(root):
    """Programs, wrappers and launchers of one row, and built-ins that do nothing or set a status."""
    text = (root / "src/command/programs.cpp").read_text()
    text = text[text.index("programs = std::to_array"):text.index("});")]
    names = {name for row in re.findall(r'\{"([^"]+)", "[^"]*",\s+Role', text) for name in row.split()}
    for file in ("builtins.cpp", "printers.cpp"):
        names |= set(re.findall(r'\{"([^"]+)",\s+\[\]\(Shell', (root / "src/command" / file).read_text()))
    return {"command " + name for name in names}


def right_fields(scorer, case, facts):
    return {f for f in FIELDS if scorer.right(f, (facts.get(f) or {}).get("value"), label_of(case, f))}


def values(facts):
    return {f: (cell or {}).get("value") for f, cell in facts.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scorer", required=True)
    parser.add_argument("--bound", type=int, default=0)
    parser.add_argument("study")
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    scorer = load_scorer(args.scorer)
    cases = {c["id"]: c for path in args.cases for c in map(json.loads, open(path))}
    root = pathlib.Path(__file__).resolve().parent.parent
    whole, used, tried = {}, collections.Counter(), set()
    changed, lost, gained = collections.Counter(), collections.Counter(), collections.Counter()
    for row in map(json.loads, open(args.study)):
        if "off" not in row:
            whole[row["id"]] = row.get("facts", {})
            used.update(row["used"])
            continue
        tried.add(row["off"])
        before, after = whole[row["id"]], row.get("facts", whole[row["id"]])
        changed[row["off"]] += values(before) != values(after)
        if not cases[row["id"]].get("labels"):
            continue
        good, still = (right_fields(scorer, cases[row["id"]], f) for f in (before, after))
        lost[row["off"]] += len(good - still)
        gained[row["off"]] += len(still - good)
    print(f"{len(whole)} jobs\n{'model':34} {'used':>5} {'changed':>8} {'lost':>5} {'gained':>7}")
    for name in sorted(used, key=lambda n: (-changed[n], -used[n], n)):
        print(f"{name:34} {used[name]:5} {changed[name]:8} {lost[name]:5} {gained[name]:7}")
    names = all_models(root)
    unused = sorted(names - set(used))
    print("used by no job:", ", ".join(unused) or "none")
    kept = {**dict.fromkeys(rows_without_code(root), ROWS), **DEFENDED}
    idle = sorted(n for n in names if not changed[n] and (n in tried or not used[n]))
    print(f"{len(idle)} of {len(names)} models change nothing. {ROWS}:")
    print("  " + ", ".join(n.removeprefix("command ") for n in idle if kept.get(n) == ROWS))
    for name in idle:
        if kept.get(name) != ROWS:
            print(f"  {name:34} {kept.get(name, 'nothing defends it')}")
    left = [n for n in idle if n not in kept]
    return 1 if args.bound and len(whole) >= args.bound and left else 0


if __name__ == "__main__":
    sys.exit(main())
