#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh CONFIG [FLAGS...]: one training on all GPUs of this node. Flags win over the file.
set -euo pipefail
cd "$(dirname "$0")"

config=${1:?which file of configs/?}
shift
gpus=${GPUS:-4}
name=$(basename "$config" .yaml)

export OMP_NUM_THREADS=4
torchrun --standalone --nproc_per_node="$gpus" train.py \
  --config "$config" --data-dir "${DATA_DIR:-data/cifar10}" --out "runs/$name" "$@"
