#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systemd has nothing to say about the units: verify.sh UNITS PROGRAMS
set -eu
command -v systemd-analyze > /dev/null || { echo "skipped: no systemd-analyze (package systemd)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for unit in "$1"/*; do
  sed "s#/usr/bin/schedmate#$2/schedmate#" "$unit" > "$folder/$(basename "$unit")"
done
said=$(systemd-analyze verify --man=no "$folder"/* 2>&1) || { echo "$said"; exit 1; }
[ -z "$said" ] || { echo "$said"; exit 1; }
