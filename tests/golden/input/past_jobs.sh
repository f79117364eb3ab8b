#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# past_jobs.sh: an invented past of two users of examples/classifier, for the walk of an owner
# (commands.txt): submissions with advice, and how each of them ended.
set -euo pipefail
monday=1760313600 # 2025-10-13

past_job() { # HOUR USER END DURATION COMMAND [FLAG...]
  local id="$2-$1"
  schedmate advise examples/classifier --command "$5" --gpus 4 --user "$2" --job-id "$id" --record \
    --submit-time $((monday + $1 * 3600)) >/dev/null
  schedmate history finish "$id" --state "$3" --duration-s "$4" "${@:6}" >/dev/null
}

large="./run.sh configs/resnet50.yaml"
past_job 1 ann completed 58m "$large --seed 1"
past_job 3 ann completed 59m "$large --seed 2"
past_job 5 bob failed 45 "./run.sh configs/resnet18.yaml --batch-size 8192"
past_job 7 ann completed 57m "$large --seed 3"
past_job 9 ann timeout 50m "$large --seed 4"
past_job 11 ann completed 61m "$large --seed 5"
past_job 13 ann completed 58m "$large --seed 6"
past_job 15 ann cancelled 9m "$large --seed 7"
past_job 25 ann completed 60m "$large --seed 8"
past_job 27 ann failed 3m "$large --seed 9" --log input/failed.log
