#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# why_earlier.sh SCHEDMATE SHARED [OUT]: six queues, each made twice at the same time on a real Slurm. In the one `why` is
# asked what starts its waiting job earlier and the first change of the named kind is really made; the other is left
# alone. Then the two starts are compared with each other and with what was told. As why_blockers.sh; some twelve minutes.
set -uo pipefail
export TZ=UTC
schedmate=$(realpath "$1") testbed=${SLURM_TESTBED:-$2/testbed/slurm-testbed.sh}
if ! [ -x "$testbed" ] || [ "$(id -u)" != 0 ] || ! command -v slurmctld slurmdbd mariadbd munged > /dev/null; then
  echo "skipped: needs root, Slurm, MariaDB and the test bed (set SLURM_TESTBED to slurm-testbed.sh)"
  exit 77
fi
work=$(mktemp -d /tmp/whyXXXX) dir=$work/tb
out=${3:-$work/out}
mkdir -p "$out"
chmod 755 "$work"
trap '"$testbed" down "$dir" --purge; rm -rf "$work"' EXIT
# Queue | kind of change that is made, each on two nodes; `other` has a node that is empty.
queues=(half:gpus free:gpus backfill:limit other:partition maintenance:limit begin:release)
{
  echo "AccountingStorageEnforce=associations"
  node=0
  for queue in "${queues[@]%:*}"; do
    for twin in told left; do
      echo "PartitionName=$queue-$twin Nodes=n$node AllowAccounts=$queue DefMemPerCPU=100"
      node=$((node + 1))
    done
  done
  echo "PartitionName=spare Nodes=n$node AllowAccounts=other DefMemPerCPU=100"
} > "$work/conf"
"$testbed" up "$dir" -n 13 -g 8 -a -p "${SLURM_TESTBED_PORT:-23000}" -i "$work/conf" || exit 1
eval "$("$testbed" env "$dir")"
scontrol delete PartitionName=gpu
# Who runs what: each user's jobs last about as long as that user's past ones.
declare -A lasts=([games]=300 [irc]=30 [www-data]=60)
for user in "${!lasts[@]}"; do
  for queue in "${queues[@]%:*}"; do
    sacctmgr -i add account "$queue"
    sacctmgr -i add user "$user" account="$queue"
  done
done > "$out/sacctmgr.log" 2>&1
sleep 2
job() { # USER QUEUE-TWIN ARGUMENT...
  local user=$1 partition=$2; shift 2
  (cd / && setpriv --reuid="$(id -u "$user")" --regid="$(id -g "$user")" --clear-groups \
    sbatch --parsable -o /dev/null -e /dev/null --mem=10 -A "${partition%-*}" -p "$partition" "$@" \
    --wrap "sleep ${lasts[$user]}")
}
shown() { for what in config "job -d" node partition reservation; do scontrol show $what; done; }
start_of() { date -d "$(sacct -n -X -P -j "$1" -o Start | tail -1)" +%s; }

# A past: each user's runs on all nodes.
for queue in "${queues[@]%:*}"; do
  for user in "${!lasts[@]}"; do
    job "$user" "$queue-told" --gres=gpu:1 -t 10 > /dev/null
    job "$user" "$queue-left" --gres=gpu:1 -t 10 > /dev/null
  done
done
while [ -n "$(squeue -h)" ]; do sleep 2; done
sleep 3
fields=JobID,JobIDRaw,JobName,User,Account,Partition,QOS,State,ExitCode,Submit,Eligible,Start,End,ElapsedRaw
fields+=,TimelimitRaw,NNodes,NodeList,ReqTRES,AllocTRES,Priority,Reason,WorkDir,SubmitLine
sacct --allusers --duplicates --starttime now-1hours --endtime now --parsable2 --format "$fields" > "$out/past.txt"
"$schedmate" history import "sacct:$out/past.txt" --state-dir "$work/state" > "$out/import.txt" 2>&1

declare -A subject
make() { # QUEUE TWIN
  local on=$1-$2
  case $1 in
    half) job games "$on" --gres=gpu:4 -t 10; subject[$on]=$(job irc "$on" --gres=gpu:8 -t 10) ;;
    free) job games "$on" --gres=gpu:5 -t 10; subject[$on]=$(job irc "$on" --gres=gpu:8 -t 10) ;;
    backfill)
      job games "$on" --gres=gpu:4 -t 8; job www-data "$on" --gres=gpu:8 -t 5
      subject[$on]=$(job irc "$on" --gres=gpu:4 -t 60) ;;
    other) job games "$on" --gres=gpu:8 -t 10; subject[$on]=$(job irc "$on" --gres=gpu:8 -t 10) ;;
    maintenance)
      scontrol create reservation ReservationName="maint-$2" StartTime=now+6minutes Duration=1 Users=root Flags=maint \
        Nodes="$(sinfo -h -p "$on" -o %N)"
      subject[$on]=$(job irc "$on" --gres=gpu:4 -t 60) ;;
    begin) subject[$on]=$(job irc "$on" --gres=gpu:4 -t 10 --begin=now+5minutes) ;;
  esac > /dev/null
}
for queue in "${queues[@]%:*}"; do make "$queue" told; make "$queue" left; done
sleep 10
change() { # QUEUE ID CHANGE-AS-JSON
  local value
  value=$(python3 -c 'import json, sys; c = json.loads(sys.argv[1]); print(c.get("gpus") or c.get("limit_s") or c.get("partition") or "")' "$3")
  case $3 in
    *'"change": "gpus"'*) scancel "$2"; job irc "$1-told" --gres=gpu:"$value" -t 10 ;;
    *'"change": "limit"'*) scontrol update JobId="$2" TimeLimit=$((value / 60)); echo "$2" ;;
    *'"change": "partition"'*) scontrol update JobId="$2" Partition="$value"; echo "$2" ;;
    *) scontrol update JobId="$2" StartTime=now; echo "$2" ;;
  esac
}
declare -A told
for each in "${queues[@]}"; do
  queue=${each%:*} kind=${each#*:} id=${subject[$queue-told]}
  shown > "$out/$queue.txt"
  "$schedmate" why "$id" --from "$out/$queue.txt" --state-dir "$work/state" --json > "$out/$queue.json" 2> "$out/$queue.err"
  "$schedmate" why "$id" --from "$out/$queue.txt" --state-dir "$work/state" > "$out/$queue.screen" 2>&1
  told[$queue]=$(python3 -c '
import json, sys
why = json.load(open(sys.argv[1]))
told = [c for c in why["earlier"] if c["change"] == sys.argv[2]]
print(json.dumps(told[0]) if told else "")' "$out/$queue.json" "$kind")
  [ -n "${told[$queue]}" ] && subject[$queue-told]=$(change "$queue" "$id" "${told[$queue]}")
done
while squeue -h -t PD -u irc | grep -q .; do sleep 2; done
sleep 2

right=0
printf '%-12s %-70s %9s %9s %9s %9s\n' queue change "told, s" "real, s" "told, s" "real, s" | tee "$out/table.txt"
for queue in "${queues[@]%:*}"; do
  with=$(start_of "${subject[$queue-told]}") without=$(start_of "${subject[$queue-left]}")
  row=$(python3 -c '
import json, sys, datetime
why, change = json.load(open(sys.argv[1])), json.loads(sys.argv[2] or "{}")
since = why["now"]
def after(instant): return "never" if instant is None else round(instant - since)
print("%-70s %9s %9d %9s %9d" % (change.get("text", "nothing was told")[:70], after(change.get("start_s")), int(sys.argv[3]) - since,
                               after(change.get("instead_of_s")), int(sys.argv[4]) - since))
sys.exit(0 if change and int(sys.argv[3]) < int(sys.argv[4]) - 30 else 1)' "$out/$queue.json" "${told[$queue]}" "$with" "$without") && right=$((right + 1))
  printf '%-12s %s\n' "$queue" "$row" | tee -a "$out/table.txt"
done
echo "$right of ${#queues[@]} changes started the job earlier than its twin" | tee -a "$out/table.txt"
[ "$right" = "${#queues[@]}" ]
