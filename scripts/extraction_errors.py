#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/extraction_errors.toml from labelled jobs and what `schedmate facts` said of them.

  score_facts.py --schedmate BIN --cases u.jsonl --trees TREES --json u.answers.json     (and so on)
  scripts/extraction_errors.py --scorer score_facts.py --date DATE --commit COMMIT u.jsonl:u.answers.json ...

Per field, over all jobs whose label has a value: `missing` = share without an answer, `wrong` = share of the answers
that the scorer does not accept. Fields that nobody labelled take the rates of one that is read in the same way.
"""
import argparse, json, pathlib

from labelled import label_of, load_scorer

LABELLED = ["model_name", "model_family", "model_type", "task_type", "task", "dataset", "framework", "distributed",
            "batch_size", "length", "precision", "optimizer", "params_scale", "pretrained"]
LIKE = {"learning_rate": "batch_size", "sequence_length": "batch_size", "resolution": "batch_size"}
FREE_TEXT = {"task": "task_type"}  # whether the words mean the same is left to the field that sums them up

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scorer", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("sets", nargs="+", metavar="CASES:ANSWERS")
    args = parser.parse_args()
    scorer = load_scorer(args.scorer)
    counts, names, jobs = {f: [0, 0, 0] for f in LABELLED}, [], 0
    for pair in args.sets:
        cases, answers = pair.split(":")
        names.append(pathlib.Path(cases).stem)
        said = json.load(open(answers))
        for case in map(json.loads, open(cases)):
            jobs += 1
            for field in LABELLED:
                want = label_of(case, field)
                if want is None:
                    continue
                got = (said[case["id"]].get(field) or {}).get("value")
                count = counts[field]
                count[0] += 1
                count[1] += got is None
                count[2] += got is not None and not scorer.right(field, got, want)
    print(f"""# What reading code gets wrong, field by field: measured on {jobs} labelled jobs (eval/jobs, sets {' and '.join(names)}) with
# score_facts.py on {args.date}, commit {args.commit}, by scripts/extraction_errors.py. missing: share of the
# jobs with a value whose fact is null. wrong: share of the answers that are another value (another name of the right thing
# counts as wrong: an upper bound). Format: docs/formats/recipe.md.""")
    for field in LABELLED + [f for f in LIKE if f not in LABELLED]:
        like = LIKE.get(field)
        asked, missing, _ = counts[like or field]
        of_wrong = counts[FREE_TEXT.get(field, like or field)]
        rate = of_wrong[2] / max(1, of_wrong[0] - of_wrong[1])
        note = f"{asked} asked, {missing} missing, {of_wrong[2]} wrong"
        if like:
            note = f"not labelled: as {like}"
        elif field in FREE_TEXT:
            note = f"{asked} asked, {missing} missing; free text: wrong as {FREE_TEXT[field]}"
        print(f"\n[[field]]  # {note}\nname = \"{field}\"\nmissing = {missing / asked:.4f}\nwrong = {rate:.4f}")

main()
