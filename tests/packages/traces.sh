#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# traces.sh ROOT: every file of a system, with what it holds where packages write into files of others.
# Left out: what apt and dpkg keep for themselves, logs, and copies that tools make of what they change.
set -euo pipefail
cd "$1"
find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./debs -o -path ./source -o -path ./tmp \
  -o -path ./home -o -path ./run/systemd -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \) -prune \
  -o -not -name '*-' -printf '%p %M %u:%g\n' | sort
find ./etc -xdev -type f -not -name '*-' -not -name ld.so.cache -exec sha256sum {} + | sort -k2
