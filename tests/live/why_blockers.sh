#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# why_blockers.sh SCHEDMATE SHARED [OUT]: makes each situation of situations.txt on a real Slurm and compares what
# `schedmate why` names with what was made. As root, with Slurm and MariaDB; skipped (77) where there is no test bed.
# OUT keeps what scontrol showed and what was answered. Some five minutes.
set -uo pipefail
export TZ=UTC
here=$(dirname "$(realpath "$0")")
schedmate=$(realpath "$1") testbed=${SLURM_TESTBED:-$2/testbed/slurm-testbed.sh}
if ! [ -x "$testbed" ] || [ "$(id -u)" != 0 ] || ! command -v slurmctld slurmdbd mariadbd munged > /dev/null; then
  echo "skipped: needs root, Slurm, MariaDB (scripts/deps.sh live) and the test bed (set SLURM_TESTBED to slurm-testbed.sh)"
  exit 77
fi
work=$(mktemp -d /tmp/whyXXXX) dir=$work/tb
out=${3:-$work/out}
mkdir -p "$out"
chmod 755 "$work"
trap '"$testbed" down "$dir" --purge; rm -rf "$work"' EXIT
cat > "$work/conf" <<CONF
Licenses=matlab:1
AccountingStorageEnforce=associations,limits,qos
PartitionName=small Nodes=n[0-1] MaxTime=00:10:00 MaxNodes=1 DefMemPerCPU=100
PartitionName=closed Nodes=n[4-5] DefMemPerCPU=100
CONF
"$testbed" up "$dir" -n 6 -g 8 -a -p "${SLURM_TESTBED_PORT:-23000}" -i "$work/conf" || exit 1
eval "$("$testbed" env "$dir")"
{
  sacctmgr -i add qos four MaxTRESPerUser=gres/gpu=4
  sacctmgr -i add qos single MaxJobsPerUser=1
  sacctmgr -i add account lab
  sacctmgr -i add account tight GrpTRES=gres/gpu=2
  sacctmgr -i add user games account=lab qos=normal,four,single defaultqos=normal
  sacctmgr -i add user irc account=lab MaxJobs=1
  sacctmgr -i add user www-data account=tight
} > "$out/sacctmgr.log" 2>&1
sleep 2

as() { # USER COMMAND...
  local user=$1; shift
  (cd / && setpriv --reuid="$(id -u "$user")" --regid="$(id -g "$user")" --clear-groups "$@")
}
owner=games
job() { as "$owner" sbatch --parsable -o /dev/null -e /dev/null --mem=10 "$@" --wrap "sleep 3600"; }
waiting() { id=$(job "$@"); }
fill() { local i; for i in "$@"; do job -w "n$i" --gres=gpu:8 -t 30 > /dev/null; done; runs $#; }
runs() { # until so many do
  local i
  for ((i = 0; i < 150; i++)); do [ "$(squeue -h -t R | wc -l)" -ge "$1" ] && return; sleep 0.2; done
  echo "$name: $1 jobs do not run" >&2
}
clear_all() {
  local i each
  owner=games
  squeue -h -o %A | sort -u | xargs -r scancel
  for ((i = 0; i < 200; i++)); do [ -z "$(squeue -h)" ] && break; sleep 0.2; done
  for each in $(scontrol -o show reservation | sed -n 's/^ReservationName=\([^ ]*\).*/\1/p'); do
    scontrol delete ReservationName="$each"
  done
  scontrol update PartitionName=closed State=UP
  for i in 5; do scontrol update NodeName="n$i" State=RESUME 2> /dev/null; done
}

make_priority() { fill 0 1 2 3 4; job -N 6 --gres=gpu:8 -t 30 > /dev/null; sleep 1; waiting --gres=gpu:4 -t 60; }
make_gpus() { fill 0 1 2 3 4 5; waiting --gres=gpu:8 -t 30; }
make_fragmentation() {
  local i
  for i in 0 1 2 3 4 5; do job -w "n$i" --gres=gpu:4 -t 30 > /dev/null; done
  runs 6; waiting --gres=gpu:8 -t 30
}
make_qos_gpus() { job --qos=four --gres=gpu:4 -t 30 > /dev/null; runs 1; waiting --qos=four --gres=gpu:1 -t 30; }
make_qos_jobs() { job --qos=single --gres=gpu:1 -t 30 > /dev/null; runs 1; waiting --qos=single --gres=gpu:1 -t 30; }
make_user_jobs() { owner=irc; job --gres=gpu:1 -t 30 > /dev/null; runs 1; waiting --gres=gpu:1 -t 30; }
make_account_gpus() { owner=www-data; job --gres=gpu:2 -t 30 > /dev/null; runs 1; waiting --gres=gpu:1 -t 30; }
make_dependency() {
  local first
  first=$(job --gres=gpu:1 -t 30); runs 1; waiting --gres=gpu:1 -t 30 --dependency="afterok:$first"
}
make_dependency_never() {
  local first
  first=$(as games sbatch --parsable -o /dev/null -e /dev/null --mem=10 --gres=gpu:1 -t 5 --wrap "exit 1")
  waiting --gres=gpu:1 -t 30 --dependency="afterok:$first"
}
make_held_by_user() { fill 0 1 2 3 4 5; waiting --gres=gpu:1 -t 30; as games scontrol hold "$id"; }
make_held_by_admin() { fill 0 1 2 3 4 5; waiting --gres=gpu:1 -t 30; scontrol hold "$id"; }
make_begin_time() { waiting --gres=gpu:1 -t 30 --begin=now+2hours; }
reserve() { # NAME BEGIN ARGUMENT...
  local reserved=$1 begin=$2; shift 2
  scontrol create reservation ReservationName="$reserved" StartTime="$begin" Duration=60 Nodes=ALL Users=games "$@" > /dev/null
}
make_maintenance() { reserve maint now+20minutes Flags=maint; waiting --gres=gpu:1 -t 60; }
make_own_reservation() { reserve course now+60minutes; waiting --gres=gpu:1 -t 10 --reservation=course; }
make_partition_down() { scontrol update PartitionName=closed State=DOWN; waiting -p closed --gres=gpu:1 -t 30; }
make_partition_time() { waiting -p small --gres=gpu:1 -t 60; }
make_partition_nodes() { waiting -p small -N 2 --gres=gpu:1 -t 5; }
drain() { scontrol update NodeName=n5 State=DRAIN Reason=fan; }
make_drained_node() { drain; waiting -w n5 --gres=gpu:1 -t 30; }
make_busy_node() { fill 2; waiting -w n2 --gres=gpu:1 -t 30; }
make_array_throttle() { waiting --array=0-3%1 --gres=gpu:1 -t 30; runs 1; }
make_licence() { job -L matlab --gres=gpu:1 -t 30 > /dev/null; runs 1; waiting -L matlab --gres=gpu:1 -t 30; }
make_memory() {
  local i
  for i in 0 1 2 3 4 5; do job -w "n$i" --mem=511900 --gres=gpu:1 -t 30 > /dev/null; done
  runs 6; waiting --mem=1000 --gres=gpu:1 -t 30
}
make_cpus() {
  local i
  for i in 0 1 2 3 4 5; do job -w "n$i" -c 62 --gres=gpu:1 -t 30 > /dev/null; done
  runs 6; waiting -c 8 --gres=gpu:1 -t 30
}
make_full_beside_a_drain() { fill 0 1 2 3 4; drain; waiting --gres=gpu:8 -t 30; }
make_limit_behind_others() {
  fill 0 1 2 3 4; job --qos=four --gres=gpu:4 -t 30 > /dev/null; runs 6
  job -N 6 --gres=gpu:8 -t 30 > /dev/null; waiting --qos=four --gres=gpu:1 -t 30
}

total=0 right=0 asked=${ONLY:-}
printf '%-20s %-16s %-16s %-50s %s\n' situation made named "Slurm says" sentence | tee "$out/table.txt"
while IFS='|' read -r name kind words; do
  name=${name// /} kind=${kind// /} words=${words# }
  [[ -z $name || $name == \#* ]] && continue
  [[ -n $asked && " $asked " != *" $name "* ]] && continue
  clear_all
  "make_$name"
  for ((i = 0; i < 50; i++)); do
    scontrol show job "$id" | grep -q 'JobState=PENDING Reason=None' || break
    sleep 0.2
  done
  sleep 3
  for what in config "job -d" node partition reservation; do scontrol show $what; done > "$out/$name.txt"
  "$schedmate" why "$id" --from "$out/$name.txt" --state-dir "$work/state" --json > "$out/$name.json" 2> "$out/$name.err"
  "$schedmate" why "$id" --from "$out/$name.txt" --state-dir "$work/state" > "$out/$name.screen" 2>&1
  read -r named says text < <(python3 -c '
import json, sys
blocked = json.load(open(sys.argv[1]))["blocked_by"] or {"reason": "none", "text": "", "scheduler_says": ""}
print(blocked["reason"], blocked["scheduler_says"] or "-", blocked["text"])' "$out/$name.json" 2> /dev/null || echo "- - $(cat "$out/$name.err")")
  total=$((total + 1)) verdict=WRONG
  if [[ $named == "$kind" && $text == *"$words"* ]]; then right=$((right + 1)) verdict=""; fi
  printf '%-20s %-16s %-16s %-50s %s %s\n' "$name" "$kind" "$named" "$says" "$text" "$verdict" | tee -a "$out/table.txt"
done < "$here/situations.txt"
clear_all
echo "$right of $total blockers are named rightly" | tee -a "$out/table.txt"
[ "$right" = "$total" ]
