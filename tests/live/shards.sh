# SPDX-License-Identifier: Apache-2.0
# Sourced by slurm_shards.sh and ray_shards.sh: an experiment on the bundled Venus days in $work/book, once on this machine, and
# whether what shards made is the same.
shards=4
make_book() {
  mkdir -p "$work/book"
  cat > "$work/book/shared.toml" << 'EXPERIMENT'
title = "Shards"
host = "fifo"
perturbations = 7
[[trace]]
name = "venus"
[[arm]]
policy = "sjf:estimate=last_k:{at}"
[[arm]]
policy = "backfill_easy:estimate=last_k"
[sweep]
values = ["1", "5"]
EXPERIMENT
  cd "$work/book" || exit 1
  "$program" evaluate shared.toml --out out > "$work/single" || exit 1
  mv out alone
}
check_book() { # WHERE
  local runs
  runs=$(find out/shared.runs -type f | wc -l)
  [ "$runs" = 14 ] || { echo "FAILED: $runs of 14 runs were kept by the shards"; exit 1; }
  [ -e out/shared.csv ] && { echo "FAILED: a shard wrote a CSV"; exit 1; }
  "$program" evaluate shared.toml --out out > "$work/merged" || { cat "$work/merged"; exit 1; }
  cmp alone/shared.csv out/shared.csv && cmp alone/shared.manifest out/shared.manifest || { echo "FAILED: $1"; exit 1; }
  [ -e out/shared.runs ] && { echo "FAILED: runs were left"; exit 1; }
  echo "ok: $1: $(wc -l < out/shared.csv) lines, as on one machine"
}
