#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alerts and dashboard name only what the daemon exports: monitoring_test.py SCHEDMATED TRACE FOLDER"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon"))
from probe_message import SECRET  # noqa: E402
from site_of import Site  # noqa: E402


def expect(what, holds):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print("ok:", what)


def exported(text):
    """Names, and by name the values of its label."""
    found = {}
    for line in text.splitlines():
        name, label = re.match(r"(\w*)(?:\{(.*?)\})?", line).groups()
        if not line.startswith("#"):
            found.setdefault(name, set()).update(re.findall(r'(\w+="\w+")', label or ""))
    return found


def strange(expression, known):
    """What an expression names and nobody exports."""
    wrong = [name for name in re.findall(r"\bschedmate_\w+", expression) if name not in known]
    for name, labels in re.findall(r"\b(schedmate_\w+)\{(.*?)\}", expression):
        wrong += [f"{name}{{{each}}}" for each in re.findall(r'\w+="\w+"', labels) if each not in known.get(name, ())]
    return wrong


def main():
    daemon, trace, folder = sys.argv[1:4]
    folder = pathlib.Path(folder)
    site = Site(daemon, trace, 60, '[order]\npolicy = "fifo"\n')
    site.give_probe_secret(SECRET)
    each = site.start()
    site.wait(site.answers, "it answers")
    site.wait(lambda: "schedmate_readings_total" in site.ask("GET", "/metrics")[1], "it counts")
    known = exported(site.ask("GET", "/metrics")[1])
    each.terminate()
    each.wait()
    site.end()
    rules = (folder / "alerts.yml").read_text()
    expressions = re.findall(r"expr: (?:\|\n((?: {10}.*\n)+)|(.*))", rules)
    expressions = ["".join(each) for each in expressions]
    expect(f"{len(expressions)} rules have an expression", len(expressions) == rules.count("- alert:"))
    board = json.loads((folder / "grafana_schedmate.json").read_text())
    targets = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for expression in expressions + targets:
        expect(f"exported: {expression.strip()}", "schedmate_" in expression and not strange(expression, known))
    expect("a name that nobody exports is found", strange("rate(schedmate_none_total[5m])", known) == ["schedmate_none_total"])
    expect("and a value of a label", strange('schedmate_nodes{state="odd"} > 0', known) == ['schedmate_nodes{state="odd"}'])
    shown = set(re.findall(r"schedmate_\w+", " ".join(targets)))
    expect(f"the dashboard shows all of it {known.keys() - shown}", known.keys() <= shown)
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    expect("its panels have places and ids of their own", len(set(places)) == len(places) == len({panel["id"] for panel in board["panels"]}))
    promtool = shutil.which("promtool")
    if not promtool:
        print("skipped: promtool (apt-get install prometheus)")
        return
    for words in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run([promtool, *words], cwd=folder, capture_output=True, text=True)
        expect(f"promtool {' '.join(words)} {done.stdout if done.returncode else ''}{done.stderr}", done.returncode == 0)


main()
