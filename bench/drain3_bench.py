#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drain3's template miner over the same corpus: drain3_bench.py CORPUS [LINES]"""
import sys
import time

from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig

config = TemplateMinerConfig()
config.profiling_enabled = False
config.drain_max_clusters = 100_000
miner = TemplateMiner(config=config)
most = int(sys.argv[2]) if len(sys.argv) > 2 else sys.maxsize
with open(sys.argv[1], "rb") as corpus:
    all_lines = sum(block.count(b"\n") for block in iter(lambda: corpus.read(1 << 20), b""))
begin = time.monotonic()
lines = 0
with open(sys.argv[1], encoding="utf-8", errors="replace") as corpus:
    for line in corpus:
        if lines == most:
            break
        miner.add_log_message(line.rstrip("\n"))
        lines += 1
took = time.monotonic() - begin
print(f"{'Drain3':<12} {lines:>10} {took:>8.2f} {lines / took:>12.0f} {len(miner.drain.clusters):>8}   (clusters)")
print(f"Drain3 read the first {lines} of {all_lines} lines, SchedMate all of them.")
