#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# portable.sh [BUILD]: build/portable/schedmate-VERSION-linux-x86_64.tar.gz: the programs of BUILD, by
# default build/release, with the loader and the libraries of this system, for Linux systems since 2020.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
version=$(sed -n 's/^project(schedmate VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=schedmate-$version-linux-x86_64
out=build/portable/$name
programs=(schedmate schedmated schedmate-reader schedmate-probe)

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/share/schedmate" "$out/licences"
for program in "${programs[@]}"; do install -s "$build/$program" "$out/bin"; done
cp -r data/{venus,philly,recipes,synth,elastic,interference.toml,extraction_errors.toml} "$out/share/schedmate"
cp -r docs units examples/classifier LICENSE README.md "$out"
cp debian/copyright "$out/licences/schedmate" # third_party and data, too
[[ ! -d $build/man ]] || cp -r "$build/man" "$out/share"

mapfile -t libraries < <(for program in "${programs[@]}"; do ldd "$build/$program"; done |
  sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^\t\(\/[^ ]*ld-linux[^ ]*\) .*/\1/p' | sort -u)
for library in "${libraries[@]}"; do
  cp -L "$library" "$out/lib"
  file=$(realpath "$library") # which dpkg may know without /usr
  package=$({ dpkg-query -S "$file" || dpkg-query -S "${file#/usr}"; } 2>/dev/null | sed -n '1s/[:,].*//p')
  cp "/usr/share/doc/$package/copyright" "$out/licences/$package"
  dpkg-query -W -f '${Package} ${Version}\n' "$package" | head -1
done | sort -u >"$out/licences/VERSIONS"

# The kernel wants the whole path of a program's loader: a place for it, which ./setup fills.
place=$(printf '/%0.s' {1..400})
for program in "${programs[@]}"; do
  patchelf --set-interpreter "$place" --force-rpath --set-rpath "\$ORIGIN/../lib" "$out/bin/$program"
  echo "$program $(grep -abo -m1 "$place" "$out/bin/$program" | head -1 | cut -d: -f1)"
done >"$out/lib/places"
cat >"$out/setup" <<'S'
#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tells the programs where their loader is: once after unpacking, and again where the folder was moved.
set -eu
export LC_ALL=C # lengths are in bytes
here=$(cd "$(dirname "$0")" && pwd -P)
loader=$here/lib/ld-linux-x86-64.so.2
[ ${#loader} -lt 400 ] || { echo "setup: the name of this folder is too long" >&2; exit 1; }
while read -r program place; do
  { printf %s "$loader"; head -c $((400 - ${#loader})) /dev/zero; } |
    dd of="$here/bin/$program" bs=1 seek="$place" conv=notrunc 2>/dev/null
done <"$here/lib/places"
"$here/bin/schedmate" version
S
chmod +x "$out/setup"
tar -C build/portable --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -c "$name" |
  gzip -n >"build/portable/$name.tar.gz"
ls -l "build/portable/$name.tar.gz"
