#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ray_shards.sh PROGRAM SHARED: an experiment as tasks of Ray; the CSV is that of one machine.
set -uo pipefail
. "$(dirname "$(realpath "$0")")/ray_bed.sh"
. "$(dirname "$(realpath "$0")")/shards.sh"
program=$(realpath "$1")
ray_up "$2"
make_book
cat > tasks.py << 'TASKS'
import os, subprocess, sys
import ray
program, shards, book = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ray.init(address="auto", log_to_driver=False)

@ray.remote(num_cpus=1)
def shard(number):
    ran = subprocess.run([program, "evaluate", "shared.toml", "--out", "out", "--shard", f"{number}/{shards}"],
                         cwd=book, capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr

for status, text in ray.get([shard.remote(k + 1) for k in range(shards)]):
    print(text.strip())
    if status:
        sys.exit(status)
TASKS
"$RAY_VENV/bin/ray" job submit --address "$dashboard" -- "$RAY_VENV/bin/python" "$PWD/tasks.py" "$program" "$shards" "$PWD" > "$work/tasks" 2>&1 ||
  { cat "$work/tasks"; exit 1; }
grep "runs are there" "$work/tasks"
check_book "$shards tasks of Ray"
