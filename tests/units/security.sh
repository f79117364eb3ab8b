#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How much of the system a unit leaves open, at most 2.0 of 10: security.sh UNIT
set -eu
command -v systemd-analyze > /dev/null || { echo "skipped: no systemd-analyze (package systemd)"; exit 77; }
exec systemd-analyze security --offline=true --threshold=20 --no-pager "$1"
