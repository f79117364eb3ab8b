#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# live.sh: the daemon beside the bundled Venus days until Ctrl-C. Prints the page's address and a token for it; SCHEDMATE
# names another program, PORT another port than 8642.
set -euo pipefail
cd "$(dirname "$0")/.."

schedmate=${SCHEDMATE:-build/release/schedmate}
port=${PORT:-8642}
. scripts/site.sh

folder=$(mktemp -d)
cluster= daemon=
end() {
  trap - EXIT INT TERM
  [[ -z $daemon ]] || site_stop
  rm -r "$folder"
}
trap end EXIT
trap 'exit 0' INT TERM

site_settings "$folder"
cat >>"$folder/site.toml" <<EOF
listen.tcp = "127.0.0.1:$port"
access.tokens_file = "$folder/tokens"
EOF
token=$("$schedmate" token add live --user "$(id -un)" --role operator --config "$folder/site.toml")
site_start "$folder"
until "$schedmate" cluster --config "$folder/site.toml" >/dev/null 2>&1; do
  kill -0 "$daemon" 2>/dev/null || exit 1 # it has said why
  sleep 0.2
done
cat <<EOF

page   http://127.0.0.1:$port/
token  $token

Another terminal, by the socket:
  $schedmate jobs --address unix:$folder/api.sock
  $schedmate watch --address unix:$folder/api.sock
Ctrl-C ends it.
EOF
wait "$daemon"
