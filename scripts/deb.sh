#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh [FOLDER]: builds the Debian packages of this tree (debian/) and leaves them in FOLDER, by
# default build/deb. Uses ccache when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/deb}

fail() { printf 'deb: %s\n' "$*" >&2; exit 1; }

ours=$(sed -n 's/^project(schedmate VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
theirs=$(dpkg-parsechangelog -S Version)
[[ $ours == "$theirs" ]] || fail "CMakeLists.txt says $ours, debian/changelog $theirs"

# dpkg-buildpackage writes beside the tree that it builds: a copy, without what builds left there.
rm -rf "$out"
mkdir -p "$out/schedmate-$ours"
git ls-files -z --cached --others --exclude-standard | while IFS= read -rd '' file; do
  [[ ! -e $file ]] || printf '%s\0' "$file"
done | tar -c --null -T - | tar -x -C "$out/schedmate-$ours"

if command -v ccache >/dev/null; then
  export PATH=/usr/lib/ccache:$PATH
  # debhelper gives the build a home of its own. Clones in different places share what they compile.
  export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-10G}
fi
export DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=$(scripts/jobs.sh) noautodbgsym}
(cd "$out/schedmate-$ours" && dpkg-buildpackage -b --no-sign)
rm -rf "$out/schedmate-$ours"
ls "$out"/*.deb
