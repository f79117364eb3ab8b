# SPDX-License-Identifier: Apache-2.0
"""What 20 training jobs are, by their code: model, batch size, length, optimizer.

read_repositories.py                     the trees in tests/jobs of SchedMate's own source
read_repositories.py JOBS.jsonl TREES    yours: a line {"repo": FOLDER, "command", "gpus"} a job
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import schedmate

BUNDLED = Path(__file__).resolve().parents[2] / "tests/jobs"
FIELDS = ("model_name", "batch_size", "length", "optimizer")


def bundled(folder, count):
    """Unpacks files "--- PATH" with a first "command: ..."; gives (tree, command, GPUs)."""
    for path in sorted(BUNDLED.glob("*.job"))[::6][:count]:
        head, *files = path.read_text(encoding="utf-8").split("\n---- ")[0].split("\n--- ")
        told = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        for file in files:
            name, _, text = file.partition("\n")
            target = folder / path.stem / name.split()[0]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        yield folder / path.stem, told["command"], 1


def listed(jobs, trees):
    for line in Path(jobs).read_text(encoding="utf-8").splitlines():
        job = json.loads(line)
        yield Path(trees) / job["repo"], job["command"], job.get("gpus", 1)


def words(fact):
    value = None if fact is None else fact["value"]
    return "-" if value is None else " ".join(map(str, value.values())) \
        if isinstance(value, dict) else str(value)


def main(*given):
    with tempfile.TemporaryDirectory() as folder:
        began, count = time.monotonic(), 0
        for tree, command, gpus in listed(*given) if given else bundled(Path(folder), 20):
            found = schedmate.facts(tree, command=command, gpus=gpus)["facts"]
            print(f"{tree.name[:30]:32}" + "".join(f"{words(found.get(field))[:22]:24}"
                                                   for field in FIELDS).rstrip())
            count += 1
        print(f"{count} repositories in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
