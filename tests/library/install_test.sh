#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh BUILD SOURCE JOB: what is installed for libraries, in a prefix of its own, serves a
# project that knows no more than the prefix: by CMake's package, and by pkg-config.
set -euo pipefail
build=$1 source=$2 job=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
export HOME=$work XDG_STATE_HOME=$work/state

fail() { echo "install_test: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$prefix" --component library >"$work/install.log" ||
  { cat "$work/install.log"; fail "cmake --install"; }
installed=$(cd "$prefix" && find . -type f | sort)
for file in include/schedmate.h include/schedmate_policy.h include/schedmate/library.hpp include/schedmate/result.hpp; do
  grep -qx "./$file" <<<"$installed" || fail "$file is not installed"
done

cmake -S "$source" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/consumer.log" 2>&1 &&
  cmake --build "$work/consumer" >>"$work/consumer.log" 2>&1 ||
  { cat "$work/consumer.log"; fail "the consumer's project"; }
for program in scheduler scheduler_c; do
  "$work/consumer/$program" "$job" >"$work/$program.json" || fail "$program gave $?"
  grep -q '"amount": 20' "$work/$program.json" || fail "$program: no 20 epochs"
done
diff <(grep -v wall_ms "$work/scheduler.json") <(grep -v wall_ms "$work/scheduler_c.json") ||
  fail "C and C++ answer differently"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name schedmate.pc)")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion schedmate) == 0.1.* ]] || fail "pkg-config: version"
read -ra flags < <(pkg-config --cflags --libs schedmate)
libdir=$(pkg-config --variable=libdir schedmate)
${CC:-cc} -std=c99 -Wall -Wextra -pedantic -Werror "$source/scheduler.c" "${flags[@]}" \
  -Wl,-rpath,"$libdir" -o "$work/by_pkg_config"
"$work/by_pkg_config" "$job" >"$work/by_pkg_config.json"
grep -q '"amount": 20' "$work/by_pkg_config.json" || fail "by pkg-config: no 20 epochs"
echo "installed $(wc -l <<<"$installed") files; CMake, pkg-config, C and C++ serve the job"
