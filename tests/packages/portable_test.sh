#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# portable_test.sh TARBALL SOURCE [NVML]: the tarball in a root of Debian 11, whose C library is older than that
# it was built with. NVML stands for NVIDIA's library. Needs root, mmdebstrap and the package mirrors;
# BASE names a tar of such a root, which saves making one.
set -euo pipefail
fail() { echo "portable_test: FAILED: $*" >&2; exit 1; }

if [[ -z ${SCHEDMATE_DEB_TEST_INSIDE:-} ]]; then # in mounts of its own, which end with it
  [[ $(id -u) == 0 ]] || fail "needs root"
  SCHEDMATE_DEB_TEST_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
work=$(mktemp -d)
root=$work/root
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
if [[ ${BASE:-} ]]; then
  mkdir "$root" && tar -C "$root" -xf "$BASE"
else
  mmdebstrap --quiet --variant=minbase bullseye "$root"
fi
mount -t proc proc "$root/proc"
[[ -c $root/dev/null ]] || mknod -m 666 "$root/dev/null" c 1 3
tar -C "$root/opt" -xf "$1"
cp -r "$2/examples/classifier" "$root/opt/job"
touch "$root/opt/kernel.log"

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp chroot "$root" /bin/sh -euc "cd /opt/*-x86_64; $1"; }
inside '/lib/x86_64-linux-gnu/libc.so.6 | head -1; ./setup'
inside 'bin/schedmate facts /opt/job --gpus 4 --command "./run.sh configs/resnet50.yaml" | grep "^model_name  *ResNet-50"' || fail "facts"
inside 'bin/schedmate simulate --trace helios:share/schedmate/venus/venus_sept2020_days0-12.csv.gz --policy lucid --out /tmp/out' >/dev/null || fail "simulate"
if [[ ${3:-} ]]; then
  cp "$3" "$root/opt/nvml.so"
  inside 'bin/schedmate-probe --once --set nvml.library=/opt/nvml.so --kernel-log /opt/kernel.log' >"$work/sample" || fail "NVML"
  grep -q '"pci":"0000:1b:00","used_pct":40.0' "$work/sample" || { cat "$work/sample"; fail "no GPU by NVML"; }
fi
inside 'for each in schedmated schedmate-reader; do bin/$each --help >/dev/null; done' || fail "daemon"
inside 'mv "$PWD" /opt/möved-x86_64'
inside 'bin/schedmate version' 2>/dev/null && fail "moved, and it runs without ./setup"
inside './setup' >/dev/null || fail "./setup after a move"
echo "ok: facts, simulator, ${3:+NVML, }daemon; moved"
