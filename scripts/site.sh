# SPDX-License-Identifier: Apache-2.0
# Sourced by demo.sh and live.sh: the bundled days of Venus as a cluster at 600 times real time, a process of its own, and
# a daemon beside it. $schedmate names the program.

# site_settings FOLDER: the settings, FOLDER/site.toml; what is added to the file later counts, too.
site_settings() {
  cat >"$1/site.toml" <<EOF
state_dir = "$1/state"
listen.unix = "$1/api.sock"
cluster.name = "venus"
cluster.poll_ms = 50
cluster.replay.trace = "helios:data/venus/venus_sept2020_days0-12.csv.gz"
cluster.replay.speed = 600
order.policy = "backfill_easy"
mode.order = "act"
EOF
}

# site_start FOLDER: sets $cluster and $daemon to the ids of the two processes.
site_start() {
  "${schedmate}d" --config "$1/site.toml" --replay &
  cluster=$!
  timeout 20 bash -c "until [[ -S $1/state/replay.sock ]]; do sleep 0.1; done"
  "${schedmate}d" --config "$1/site.toml" &
  daemon=$!
}

# Ends both and waits for them.
site_stop() {
  local each
  for each in "$daemon" "$cluster"; do
    kill "$each" 2>/dev/null || true
    wait "$each" || true
  done
}
