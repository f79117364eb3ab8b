#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh CONFIG [FLAGS...]: one training on all GPUs of this node.
set -euo pipefail

config=${1:?which file of configs/?}
shift
gpus=${GPUS:-4}
name=$(basename "$config" .yaml)

export OMP_NUM_THREADS=4
torchrun --standalone --nproc_per_node="$gpus" train.py \
  --config "$config" --out "runs/$name" "$@"
