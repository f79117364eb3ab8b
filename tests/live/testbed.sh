# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests beside it. testbed_up SHARED OPTION...: a real Slurm in $work/tb that goes with the test; skipped (77)
# where there is none. The port is SLURM_TESTBED_PORT, or each test's own; SLURM_EXTRA is further lines of slurm.conf.
export TZ=UTC
testbed_up() {
  testbed=${SLURM_TESTBED:-$1/testbed/slurm-testbed.sh}
  shift
  if ! [ -x "$testbed" ] || [ "$(id -u)" != 0 ] || ! command -v slurmctld > /dev/null || ! command -v munged > /dev/null; then
    echo "skipped: needs root, Slurm (scripts/deps.sh live) and the test bed (set SLURM_TESTBED to slurm-testbed.sh)"
    exit 77
  fi
  work=$(mktemp -d /tmp/slXXXX) dir=$work/tb
  chmod 755 "$work"
  trap 'testbed_down' EXIT
  printf '%s\n' PriorityType=priority/multifactor PriorityWeightAge=1000 ${SLURM_EXTRA:-} > "$work/conf"
  "$testbed" up "$dir" -i "$work/conf" "$@" > "$work/up.log" 2>&1 || { cat "$work/up.log"; exit 1; }
  eval "$("$testbed" env "$dir")"
}
testbed_down() {
  local pid
  for pid in ${started:-}; do kill "$pid" 2> /dev/null; done
  "$testbed" down "$dir" --purge > /dev/null 2>&1
  [ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"
}
