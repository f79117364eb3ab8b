#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jobs.sh: how many compilers may run at once: one a core, each with 1.5 GB of memory.
set -euo pipefail
cores=$(nproc)
by_memory=$(awk '/^MemAvailable:/ {print int($2 / 1500000)}' /proc/meminfo)
jobs=$((by_memory < cores ? by_memory : cores))
echo $((jobs > 1 ? jobs : 1))
