#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh [build] [test] [monitoring] [browser] [live] [ray] [fuzz] [deb]: installs the Debian packages of these
# sets that are missing. Touches nothing, and needs no network, when all are there. The services of `live` and
# `monitoring` are not started.
set -euo pipefail

build_set=(
  g++ cmake ninja-build pkg-config # compiler and build
  ccache                           # what was compiled once
  libfmt-dev                       # text
  libexpected-dev                  # tl::expected, the result type
  libcli11-dev                     # command line
  libtomlplusplus-dev              # cluster files
  nlohmann-json3-dev               # summary.json
  libsimdjson-dev                  # large JSON traces
  zlib1g-dev libzstd-dev           # .gz and .zst traces
  libtree-sitter-dev               # syntax trees of Python code
  libyaml-cpp-dev                  # YAML configs
  libssl-dev                       # content hashes, TLS
  libcurl4-openssl-dev             # model servers
  libcpp-httplib-dev               # the tests' model server
  libmicrohttpd-dev                # the daemon's front door
  libsqlite3-dev libhiredis-dev    # the history
  libxgboost-dev                   # the estimator gbdt
  python3                          # man pages, the trainer of the demonstration
)
test_set=(
  doctest-dev                           # unit tests
  clang-format-19 clang-tidy-19         # style and static checks
  time                                  # measuring scripts
  redis-server                          # shared history and workers: their conformance suites
  coinor-cbc                            # a second opinion on allocations
  python3-jsonschema                    # the daemon's replies against their schemas
  man-db                                # the man pages
  libslurm-dev                          # the module that asks Slurm by its library
  systemd                               # systemd-analyze: what the units leave open
)
monitoring_set=(
  prometheus # promtool: metrics and alert rules
)
browser_set=(
  chromium fonts-dejavu-core       # opens report.html
  chromium-driver python3-selenium # uses the page of the daemon
  nodejs                           # its parts without a browser
)
fuzz_set=(
  clang-19 libclang-rt-19-dev # fuzz targets
)
live_set=(
  slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins # a real Slurm on loopback
  slurmdbd slurm-wlm-mysql-plugin mariadb-server              # its accounting
)
deb_set=(
  dpkg-dev debhelper dh-python fakeroot libslurm-dev # packages
  lintian mmdebstrap                                 # their tests
  patchelf                                           # the portable tarball
)

say() { printf 'deps: %s\n' "$*" >&2; }

missing() { # prints those of its arguments that are not installed
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

retry() { # mirrors and locks fail now and then
  local delay
  for delay in 5 15 45 0; do
    "$@" && return 0
    [[ $delay == 0 ]] || { say "failed, trying again in $delay s: $*"; sleep "$delay"; }
  done
  return 1
}

install_set() { # PURPOSE PACKAGE...
  local purpose=$1 as_root=() wanted
  mapfile -t wanted < <(missing "${@:2}")
  ((${#wanted[@]})) || return 0
  say "installing what $purpose needs: ${wanted[*]}"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || {
      say "neither root nor sudo: as root, run: apt-get install ${wanted[*]}"
      return 1
    }
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)
  retry "${apt[@]}" update >&2 || say "could not update the package lists; trying with the old ones"
  retry "${apt[@]}" install -y --no-install-recommends "${wanted[@]}" >&2 || {
    say "could not install: ${wanted[*]} (see above; are the package mirrors reachable?)"
    return 1
  }
}

# Debian starts what it installs, unless this file says no.
install_stopped() {
  local policy=/usr/sbin/policy-rc.d
  if [[ $(id -u) != 0 ]]; then
    say "to install what $1 need, run as root: scripts/deps.sh monitoring live"
    return 0
  fi
  [[ -e $policy ]] || {
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  }
  install_set "$@"
}

# Looks at the accessibility of the daemon's page. The tests say so where they go without it.
fetch_axe() {
  local there here
  there=$(cd "$(dirname "$0")/.." && pwd)/build/axe
  [[ ! -e $there/axe.min.js ]] || return 0
  here=$(mktemp -d)
  if command -v npm >/dev/null && (cd "$here" &&
    npm pack --silent --fetch-retries=1 --fetch-timeout=20000 axe-core@4.14.1 &&
    tar xzf axe-core-*.tgz package/axe.min.js) >/dev/null 2>&1; then
    mkdir -p "$there" && mv "$here/package/axe.min.js" "$there/"
  else
    say "axe-core is not here, and npm cannot fetch it: the page is tested without"
  fi
  rm -rf "$here"
}

# A real Ray for the tests on one, which say so where they are skipped without it.
fetch_ray() {
  local there
  there=$(cd "$(dirname "$0")/.." && pwd)/build/ray
  install_set "Ray" python3-venv curl || return 1
  [[ ! -e $there/complete ]] || return 0
  say "installing Ray into build/ray"
  local authorities=/etc/ssl/certs/ca-certificates.crt
  [[ ! -e $authorities ]] || export PIP_CERT=$authorities
  if python3 -m venv "$there" && "$there/bin/pip" install -q 'ray[default]==2.60.0'; then
    touch "$there/complete"
  else
    say "Ray could not be installed (python3-venv, a package index): the tests on a real Ray are skipped"
    rm -rf "$there"
  fi >&2
}

command -v dpkg-query >/dev/null || {
  say "not a Debian system: install the packages that CMake needs yourself (this script lists them)"
  exit 0
}
for name in "$@"; do
  case $name in
    build) install_set "the build" "${build_set[@]}" ;;
    test) install_set "the tests" "${test_set[@]}" ;;
    monitoring) install_stopped "the tests of metrics and alerts" "${monitoring_set[@]}" ;;
    browser) install_set "the tests in a browser" "${browser_set[@]}" && fetch_axe ;;
    fuzz) install_set "the fuzz targets" "${fuzz_set[@]}" ;;
    live) install_stopped "the tests on a real Slurm" "${live_set[@]}" ;;
    ray) fetch_ray ;;
    deb) install_set "the packages" "${deb_set[@]}" ;;
    *) say "unknown set '$name'; use: deps.sh [build] [test] [monitoring] [browser] [live] [ray] [fuzz] [deb]"; exit 2 ;;
  esac
done
