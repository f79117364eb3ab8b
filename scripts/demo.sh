#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh: replays the bundled Venus days (docs/formats/helios.md) under every policy. The policies
# that need a duration get one from the past (`last_k`), never the true one.
set -euo pipefail
cd "$(dirname "$0")/.."

build/release/schedmate simulate \
  --trace helios:data/venus/venus_sept2020_days0-12.csv.gz \
  --policy fifo \
  --policy sjf:estimate=last_k \
  --policy srtf:estimate=last_k \
  --policy qssf \
  --policy tiresias \
  --policy horus \
  --policy lucid \
  --policy backfill_easy \
  --out demo-out
[[ -s demo-out/report.html ]] || { echo "demo: no demo-out/report.html was written" >&2; exit 1; }
