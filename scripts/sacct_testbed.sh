#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sacct_testbed.sh TESTBED DIR OUT: some 300 short jobs of five users on a real Slurm (TESTBED is the path of
# slurm-testbed.sh, DIR a short name for its files), then what sacct says of them in OUT/testbed.txt.gz and
# OUT/testbed.json.gz. As root, on a machine with Slurm and MariaDB; takes about a quarter of an hour.
#
# 4 nodes of 8 fake GPUs, partition gpu on all of them and debug on two of the same. Jobs come in at about
# 1.5 times what the cluster can do, so they queue. Among them: arrays (one with %2), a het job, jobs that
# fail, run into their limit, are cancelled (waiting and running), are requeued, and a node that is lost.
set -euo pipefail
testbed=$1 dir=$(realpath -m "$2") out=$3
export TZ=UTC
users=(www-data:33 backup:34 uucp:10 games:5 irc:39)
work=/srv/sacct-testbed

cat > "$dir.conf" <<CONF
PartitionName=debug Nodes=n[0-1] MaxTime=00:03:00 DefMemPerCPU=100
AccountingStorageTRES=gres/gpu,gres/gpu:fake
CONF
"$testbed" up "$dir" -n 4 -g 8 -a -i "$dir.conf"
eval "$("$testbed" env "$dir")"
for user in "${users[@]}"; do mkdir -p "$work/${user%:*}-models"; chmod 755 "$work" "$work/${user%:*}-models"; done

submit() { # USER:UID ARGUMENT...
  local uid=${1#*:} name=${1%:*}; shift
  (cd "$work/$name-models" && setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    sbatch --parsable -o /dev/null -e /dev/null --mem=10 "$@")
}

# One line a job: second, user, GPUs, nodes, run time, limit in minutes, what happens. The draw is seeded;
# when a job is really submitted, started and ended is up to the machine.
plan() {
  awk 'BEGIN {
    srand(20261122); t = 0
    split("1 1 1 1 1 1 1 1 1 2 2 2 2 4 4 4 4 8 8 8 16", sizes, " ")
    for (i = 1; i <= 300; i++) {
      t += -1.55 * log(1 - rand())
      user = int(5 * rand() * rand() * 1.6) % 5
      gpus = sizes[1 + int(21 * rand())]; if (user == 3 && gpus > 2) gpus = 1
      run = int(5 + exp(1.2 + 2.6 * rand())); if (run > 150) run = 150
      limit = int(run / 60 * (1 + 2 * rand())) + 1
      x = rand(); what = "ok"
      if (x < 0.06) what = "fail"; else if (x < 0.075) what = "timeout"; else if (x < 0.10) what = "cancel"
      else if (x < 0.115) what = "requeue"; else if (x < 0.16) what = "debug"; else if (x < 0.18) what = "array"
      printf "%d %d %d %d %d %d %s\n", t, user, gpus, ((gpus > 8) ? 2 : 1), run, limit, what
    }
  }'
}

run_plan() {
  local second user gpus nodes run limit what id
  local begin=$SECONDS number=0
  while read -r second user gpus nodes run limit what; do
    while ((SECONDS - begin < second)); do sleep 0.2; done
    number=$((number + 1))
    case $number in
      100) "$testbed" node-stop "$dir" n3 ;;
      130) "$testbed" node-start "$dir" n3 ;;
      150) submit "${users[1]}" -J het_eval --gres=gpu:2 -t 2 : --gres=gpu:1 -t 2 --wrap "sleep 20" ;;
      160) submit "${users[2]}" -J sweep-lr --array=1-8%2 --gres=gpu:1 -t 2 --wrap "sleep 15" ;;
    esac
    local args=(-J "train_${users[$user]%:*}_$((run % 7))" -N "$nodes" --gres="gpu:$((gpus / nodes))" -t "$limit")
    case $what in
      fail) submit "${users[$user]}" "${args[@]}" --wrap "sleep $((run / 3)); exit 1" ;;
      timeout) submit "${users[$user]}" "${args[@]}" -t 1 --wrap "sleep 600" ;;
      debug) submit "${users[$user]}" "${args[@]}" -p debug -N 1 --gres=gpu:1 --wrap "sleep $run" ;;
      array) submit "${users[$user]}" "${args[@]}" -N 1 --gres=gpu:1 --array=0-3 --wrap "sleep $run" ;;
      *) id=$(submit "${users[$user]}" "${args[@]}" --wrap "sleep $run"); echo "$id" ;;
    esac
    if [[ $what = cancel ]]; then (sleep $((run / 2)); scancel "$id") & fi
    if [[ $what = requeue ]]; then (sleep $((run + 20)); scontrol requeue "$id" || true) 2> /dev/null & fi
  done < <(plan)
}

run_plan > "$dir.ids"
until [[ $(squeue -h | wc -l) -eq 0 ]]; do sleep 2; done
sleep 3
fields=JobID,JobIDRaw,JobName,User,Account,Partition,QOS,State,ExitCode,Submit,Eligible,Start,End,ElapsedRaw
fields+=,TimelimitRaw,NNodes,NodeList,ReqTRES,AllocTRES,Priority,Reason,WorkDir,SubmitLine
mkdir -p "$out"
span=(--allusers --duplicates --starttime now-1day --endtime now)
sacct "${span[@]}" --parsable2 --format "$fields" | gzip -9n > "$out/testbed.txt.gz"
sacct "${span[@]}" --json | gzip -9n > "$out/testbed.json.gz"
"$testbed" down "$dir" --purge
rm -rf "$dir.conf" "$dir.ids" "$work"
