#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site/test_nodes.sh beside programs that stand for Slurm's, NVIDIA's and nccl-tests': test_nodes_test.py SCRIPT"""
import os
import pathlib
import subprocess
import sys
import tempfile

SRUN = """#!/bin/bash
mpi=
while [[ $1 == --* ]]; do [[ $1 == --mpi=* ]] && mpi=1; shift; done
[ -e $FAKES/srun_fails ] && { echo "srun: error: Unable to allocate resources"; exit 1; }
[ -n "$mpi" ] && { SEVERAL=1 "$@"; exit; }
code=0
for node in $(seq $SLURM_JOB_NUM_NODES); do
  command -v "$1" > /dev/null || { echo "slurmstepd: error: execve(): $1: No such file or directory"; exit 2; }
  FAKE_NODE=$node "$@"; one=$?; [ $one -gt $code ] && code=$one
done
exit $code
"""
SMI = """#!/bin/bash
[ -e $FAKES/smi_hangs ] && exec sleep 60
for gpu in 0 1; do
  if [ -e $FAKES/lost ] && [ $FAKE_NODE = 2 ] && [ $gpu = 1 ]; then
    echo "Unable to determine the device handle for GPU0000:86:00.0: Unknown Error"; exit 15
  fi
  [ -e $FAKES/missing ] && [ $gpu = 1 ] && continue
  echo "$gpu, $(cat $FAKES/ecc 2> /dev/null || echo 0), $([ -e $FAKES/pending ] && echo Yes || echo No)"
done
"""
PERF = """#!/bin/bash
[ -e $FAKES/perf_hangs ] && exec sleep 60
[ -n "$SEVERAL" ] && [ -e $FAKES/no_mpi ] && { echo "error while loading shared libraries: libmpi.so.40"; exit 127; }
[ -e $FAKES/nccl ] && { echo "Test NCCL failure common.cu:958 'unhandled system error'"; exit 3; }
echo "# Out of bounds values : $(cat $FAKES/wrong 2> /dev/null || echo '0 OK')"
if [ -n "$SEVERAL" ]; then echo "# Avg bus bandwidth    : $(cat $FAKES/several 2> /dev/null || echo 90.5)"
else echo "# Avg bus bandwidth    : $(cat $FAKES/one_$FAKE_NODE 2> /dev/null || echo 230.1)"; fi
"""
DCGMI = """#!/bin/bash
[ -e $FAKES/diag ] && { echo "| Memory                    | Fail                                           |"; exit 1; }
echo "| Memory                    | Pass                                           |"
"""

# What is planted (name and text), settings, nodes, exit code, words of the answer.
CASES = [
    ([], [], 1, 0, "well"),
    ([], [], 2, 0, "between nodes: 90.5 GB/s"),
    ([("lost", "")], [], 2, 1, "bad: nvidia-smi"),
    ([("missing", "")], [], 2, 1, "2 GPUs of 4 answer"),
    ([("ecc", "3")], [], 1, 1, "3 uncorrected memory errors"),
    ([("ecc", "[N/A]")], [], 1, 0, "well"),
    ([("pending", "")], [], 1, 1, "waits for a reset"),
    ([("smi_hangs", "")], ["TIME=5"], 1, 1, "nvidia-smi hangs"),
    ([("diag", "")], [], 1, 1, "dcgmi diag: | Memory"),
    ([("diag", "")], ["DIAG=0"], 1, 0, "well"),
    ([("nccl", "")], [], 1, 1, "within a node: Test NCCL failure"),
    ([("wrong", "4 FAILED")], [], 1, 1, "wrong results"),
    ([("perf_hangs", "")], ["TIME=5"], 1, 1, "within a node hangs"),
    ([("one_2", "150")], ["BUS_ONE=200"], 2, 1, "within a node: 150 GB/s, and 200"),
    ([("one_2", "150")], [], 2, 0, "well"),
    ([("several", "12.5")], ["BUS_SEVERAL=40"], 2, 1, "between nodes: 12.5 GB/s, and 40"),
    ([("no_mpi", "")], [], 2, 75, "not tested: all_reduce_perf"),
    ([("srun_fails", "")], [], 2, 75, "not tested: srun"),
    ([("no_smi", "")], [], 1, 75, "no nvidia-smi"),
    ([("no_perf", "")], [], 1, 0, "all_reduce_perf is not here"),
    ([], ["TIEM=3"], 1, 75, "unknown setting 'TIEM=3'"),
]


def outcome(script, planted, settings, nodes):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in {"srun": SRUN, "nvidia-smi": SMI, "all_reduce_perf": PERF, "dcgmi": DCGMI}.items():
            if (name, planted[:1]) not in (("nvidia-smi", [("no_smi", "")]), ("all_reduce_perf", [("no_perf", "")])):
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)
        for name, text in planted:
            (folder / name).write_text(text)
        env = {"PATH": f"{folder}:/usr/bin:/bin", "FAKES": str(folder), "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_NUM_NODES": str(nodes),
               "SLURM_GPUS_ON_NODE": "2"}
        done = subprocess.run([script, *settings], env=env, capture_output=True, text=True, timeout=50)
        return done.returncode, done.stdout + done.stderr


failed = 0
for planted, settings, nodes, code, words in CASES:
    seen, said = outcome(os.path.realpath(sys.argv[1]), planted, settings, nodes)
    if (seen, words in said) != (code, True):
        failed += 1
        print(f"FAILED: {planted} {settings} {nodes}: {seen} and not {code}, or without '{words}': {said}")
print(f"{len(CASES) - failed} of {len(CASES)} cases")
sys.exit(failed > 0)
