#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_test.sh LIBRARY PROGRAM SOURCE: the Python package, from the tree under each Python 3.9 and
# later that runs here, and from a wheel in a fresh environment under the usual one.
set -euo pipefail
library=$1 program=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SCHEDMATE_LIBRARY=$library SCHEDMATE_PROGRAM=$program PYTHONDONTWRITEBYTECODE=1
export HOME=$work XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config

say() { printf 'python_test: %s\n' "$*"; }

pythons=()
for name in python3 python3.9 python3.10 python3.11 python3.12 python3.13; do
  python=$(command -v "$name") || continue
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>"$work/none" || continue
  pythons+=("$python")
done
[[ ${#pythons[@]} -gt 0 ]] || { say "no Python 3.9 or later"; exit 1; }

for python in "${pythons[@]}"; do
  say "from the tree: $("$python" --version)"
  (cd "$source" && PYTHONPATH=python "$python" tests/library/python_cases.py)
  (cd "$source" && PYTHONPATH=python "$python" tests/library/python_policy_cases.py)
done

python=${pythons[0]}
say "from the wheel, unpacked: $("$python" --version)"
(cd "$work" && PYTHONPATH=$source/python "$python" -c '
import schedmate_build, sys, zipfile
name = schedmate_build.build_wheel(".")
zipfile.ZipFile(name).extractall("unpacked")
rows = {row.split(",")[0] for row in open("unpacked/" + name.split("-py3")[0] + ".dist-info/RECORD")}
sys.exit(rows != set(zipfile.ZipFile(name).namelist()))')
(cd "$work" && unset SCHEDMATE_LIBRARY && PYTHONPATH=$work/unpacked "$python" -c "
import schedmate
trace = schedmate.__path__[0] + '/data/venus/venus_sept2020_days0-12.csv.gz'
assert 'lucid' in schedmate.simulate('helios:' + trace, 'lucid')['labels']")

if ! "$python" -c 'import ensurepip, venv' 2>"$work/none"; then
  say "no ensurepip (python3-venv), so not by pip; all else answered"
  exit 0
fi
say "by pip install: $("$python" --version)"
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" --disable-pip-version-check install --quiet --no-index "$source"
cd "$work"
unset SCHEDMATE_LIBRARY
"$work/venv/bin/python" -c "import schedmate; print(schedmate.facts('$source/examples/classifier', \
command='python train.py --epochs 20')['facts']['length']['value'])" | grep -q "'amount': 20"
"$work/venv/bin/python" "$source/tests/library/python_cases.py" -k Documents
"$work/venv/bin/python" "$source/tests/library/python_policy_cases.py" -k Faults -k own_policy
[[ ! -e $source/python/schedmate/__pycache__ ]] || { say "__pycache__ in the tree"; exit 1; }
say "all answered"
