#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb_test.sh FOLDER SOURCE: the packages in FOLDER on a fresh Debian 12: installed by apt, at work,
# and purged without a trace. Needs root, mmdebstrap and the package mirrors. BASE names a tar of such
# a system, which saves making one.
set -euo pipefail
packages=$(cd "$1" && pwd) source=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

fail() { echo "deb_test: FAILED: $*" >&2; exit 1; }
step() { printf '\n== %s\n' "$*"; }

# In mounts of its own, which end with it.
if [[ -z ${SCHEDMATE_DEB_TEST_INSIDE:-} ]]; then
  [[ $(id -u) == 0 ]] || fail "needs root"
  SCHEDMATE_DEB_TEST_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
work=$(mktemp -d)
root=$work/root
trap 'umount -R "$root/proc" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT

inside() { # COMMAND... as root of the fresh system
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    "${proxies[@]}" chroot "$root" "$@"
}
apt() { inside apt-get -qq -o Dpkg::Use-Pty=0 "$@" >>"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log"; fail "apt-get $*"; }; }
mapfile -t proxies < <(env | grep -iE '^(https?|no)_proxy=' || true)

step "a fresh Debian 12"
if [[ ${BASE:-} ]]; then
  mkdir "$root" && tar -C "$root" -xf "$BASE"
else
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump Acquire >"$root/etc/apt/apt.conf.d/99host"
if compgen -G '/usr/local/share/ca-certificates/*' >/dev/null; then # a site's own certificate authority
  cp -r /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
  inside update-ca-certificates >/dev/null 2>&1
fi
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir "$root/debs" "$root/source"
cp "$packages"/*.deb "$root/debs"
tar -C "$source" -c examples data scripts | tar -x -C "$root/source"
inside useradd --create-home ann
chown -R --no-dereference 1000 "$root/source"
apt update

mapfile -t all < <(cd "$root" && printf '/%s\n' debs/*.deb)
# What they stand on stays; only what they brought must go.
mapfile -t below < <(inside apt-get -s install "${all[@]}" | sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -v schedmate)
apt install "${below[@]}" python3-minimal # with which the demonstration trains

"$here/traces.sh" "$root" >"$work/before"

step "apt install ./schedmate_*.deb: what the README shows first, as a user"
one=$(cd "$root" && printf '/%s' debs/schedmate_*.deb)
apt install "$one"
by_user() { inside runuser -u ann -- bash -euc "cd /source; $1"; }
job='examples/classifier --gpus 4 --command "./run.sh configs/resnet50.yaml --seed 11"'
by_user "schedmate facts $job" >"$work/facts"
grep -q '^model_name  *ResNet-50 .*models.py:26' "$work/facts" || fail "facts"
by_user "schedmate advise $job --user ann --job-id 17 --record >/dev/null
  schedmate history finish 17 --state completed --duration-s 3540; schedmate advise $job --user ann" >"$work/advice"
grep -q '^duration: 59 min if it completes' "$work/advice" || { cat "$work/advice"; fail "advice"; }
by_user 'schedmate simulate --trace helios:/usr/share/schedmate/venus/venus_sept2020_days0-12.csv.gz --policy lucid --out ~/out' >/dev/null
[[ -s $root/home/ann/out/report.html ]] || fail "no page of the simulator"
inside bash -c '. /usr/share/bash-completion/completions/schedmate && complete -p schedmate' >/dev/null || fail "completion"
echo "ok: facts, advice, history, simulator"

step "all packages"
apt install "${all[@]}"
by_user 'SCHEDMATE=schedmate scripts/demo.sh' >"$work/demo.log" 2>&1 || { tail -20 "$work/demo.log"; fail "the demonstration"; }
echo "ok: $(grep -c '^==' "$work/demo.log") parts of the demonstration"
inside runuser -u ann -- python3 -c '
import schedmate
facts = schedmate.facts("/source/examples/classifier", command="./run.sh configs/resnet50.yaml", gpus=4)
assert "ResNet-50" in str(facts), facts
print("ok: Python answers, version", schedmate.version)'
[[ -e $root/usr/lib/schedmate/schedmate_slurm.so ]] || fail "the module for Slurm"

step "units"
mapfile -t units < <(cd "$root" && printf '/%s\n' lib/systemd/system/schedmate*)
inside systemd-analyze verify --man=no "${units[@]}" || fail "systemd-analyze verify"
for unit in schedmated schedmate-reader schedmate-worker schedmate-probe; do
  said=$(inside systemd-analyze security --offline=true "$unit.service" | tail -1)
  echo "$said"
  awk -v said="$said" 'BEGIN {exit !(match(said, /: [0-9.]+ /) && substr(said, RSTART + 2) + 0 <= 2.0)}' || fail "$unit is too open"
done

step "from package to shadow"
inside schedmated --config /etc/schedmate/schedmated.toml --check
python3 "$here/guide_settings.py" "$source/docs/operator.md" >"$root/etc/schedmate/schedmated.toml"
inside install -d -o schedmate -g schedmate /run/schedmate
daemons=()
for task in --replay ""; do
  # shellcheck disable=SC2086
  inside setpriv --reuid schedmate --regid schedmate --clear-groups schedmated --config /etc/schedmate/schedmated.toml $task 2>>"$work/daemon.log" &
  daemons+=($!)
  sleep 3
done
for _ in {1..30}; do
  grep -q 'ready on' "$work/daemon.log" && break
  sleep 1
done
inside runuser -u ann -- schedmate cluster | head -3 || { cat "$work/daemon.log"; fail "the daemon"; }
inside schedmate actions --limit 3 --json >"$work/actions.json" || fail "actions"
for process in "${daemons[@]}"; do pkill -TERM -P "$process" || true; done
wait "${daemons[@]}" || true
cat "$work/daemon.log"

step "purged"
mapfile -t names < <(inside dpkg-query -W -f '${Package}\n' '*schedmate*')
apt purge "${names[@]}"
"$here/traces.sh" "$root" >"$work/after"
diff "$work/before" "$work/after" || fail "purged, and these are left (<: gone, >: new or changed)"
echo "ok: ${#names[@]} packages left no trace among $(wc -l <"$work/before") files, users and groups"
