#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# node_test.sh FOLDER: a stand-in for a site's test of nodes (nccl-tests and the like), as recover.test_command runs it: a job
# on the nodes. FOLDER says what is wrong: a file NODE (that node is bad), NODE-NODE (what lies between these two is), norun
# (the test cannot be made), hang. 0: they are well; 1: they are not; 75: it could not be made.
folder=$1
[ -e "$folder/norun" ] && exit 127
[ -e "$folder/hang" ] && exec sleep 3600
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST") || exit 75
echo "$(date +%s) $(echo $nodes)" >> "$folder/tests"
srun --ntasks-per-node=1 true || exit 75
for one in $nodes; do
  [ -e "$folder/$one" ] && exit 1
  for other in $nodes; do
    [ -e "$folder/$one-$other" ] && exit 1
  done
done
exit 0
