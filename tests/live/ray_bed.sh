# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests beside it. ray_up SHARED [NAME=VALUE...]: a real Ray in $work/tb that goes with the test, with the
# test bed's variables; skipped (77) where there is none. $dashboard is its URL, $RAY_VENV where Ray is installed.
ray_up() {
  here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
  testbed=${RAY_TESTBED:-$1/testbed/ray-testbed.sh}
  shift
  export RAY_TESTBED=$testbed
  export RAY_VENV=${RAY_VENV:-$here/../../build/ray}
  if ! [ -r "$testbed" ] || ! [ -x "$RAY_VENV/bin/ray" ]; then
    echo "skipped: needs Ray (scripts/deps.sh ray puts it into build/ray; or set RAY_VENV) and the test bed (set RAY_TESTBED to ray-testbed.sh)"
    exit 77
  fi
  RAY_VENV=$(realpath "$RAY_VENV")
  exec 9> "/tmp/schedmate-ray-bed-$(id -u).lock" # two at once would share ports, and see each other's jobs
  flock -w 600 9 || { echo "another test has had a Ray for ten minutes"; exit 1; }
  work=$(mktemp -d /tmp/ryXXXX)
  export RTB_DIR=$work/tb RTB_WORKERS=3 RTB_GPUS=4 RTB_CPUS=8 RTB_PORT=${RAY_TESTBED_PORT:-27000} "$@"
  export EMULATED_GPUS=$work/gpus
  dashboard=http://127.0.0.1:$((RTB_PORT + 1))
  trap ray_down EXIT
  ray_start || exit 1
}
ray_start() { # a node that is not there after a minute, on a machine that is busy, is there the next time
  local attempt
  for attempt in 1 2 3; do
    bash "$testbed" start > "$work/up.log" 2>&1 9>&- && return
    ray_stop
  done
  cat "$work/up.log"
  return 1
}
ray_stop() { bash "$testbed" stop > /dev/null 2>&1 9>&-; }
ray_down() {
  local pid
  for pid in ${started:-}; do kill "$pid" 2> /dev/null; done
  ray_stop
  [ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"
}
