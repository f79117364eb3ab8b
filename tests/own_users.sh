#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# own_users.sh COMMAND...: runs it where the people of this machine are unknown, so that the names in tests (ann, bob) are
# nobody's. For root alone, as whom the program reads files with the rights of such a user; also where this cannot be had
# (in a chroot) the command just runs.
[ $# -gt 0 ] || { echo "usage: own_users.sh COMMAND..." >&2; exit 2; }
if [ "$(id -u)" = 0 ] && unshare --mount true 2> /dev/null; then
  users=$(mktemp)
  awk -F: '$3 < 1000 || $1 == "nobody"' /etc/passwd > "$users"
  chmod 644 "$users"
  exec unshare --mount sh -c 'mount --bind "$0" /etc/passwd; rm -f "$0"; exec "$@"' "$users" "$@"
fi
exec "$@"
