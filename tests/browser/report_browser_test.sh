#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report_browser_test.sh SAMPLE_REPORT PNG_COLOURS FOLDER: opens a report in headless Chromium,
# light and dark. Fails on a blank screenshot, a console message, a wrong number of canvases. Screenshots
# stay in FOLDER to be looked at. Exit 77 = skipped.
set -u
sample=$1 colours=$2 folder=$3

chromium=$(command -v chromium || command -v chromium-browser) || {
  echo "skipped: no chromium here (apt-get install chromium)"
  exit 77
}
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# browse LOG OPTIONS...: one page load, at most 50 s, as root in a container too.
browse() {
  log=$1
  shift
  timeout -k 5 50 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-dev-shm-usage --disable-background-networking --disable-component-update \
    --disable-sync --disable-extensions --hide-scrollbars --user-data-dir="$profile" \
    --enable-logging=stderr --virtual-time-budget=4000 "$@" 2> "$log"
}

# look NAME URL EXPECTED OPTIONS...: screenshot; EXPECTED is light or dark.
look() {
  name=$1 url=$2 expected=$3
  shift 3
  png=$folder/report_$name.png
  rm -f "$png"
  browse "$folder/$name.log" --window-size=1280,2100 --screenshot="$png" "$@" "$url" > /dev/null ||
    { fail "$name: chromium ended with $?"; return; }
  grep CONSOLE "$folder/$name.log" && fail "$name: console message"
  found=$("$colours" "$png") || { fail "$name: no readable screenshot"; return; }
  # shellcheck disable=SC2086 # four numbers, split on purpose
  set -- $found
  echo "$name: $1 x $2, $3 colours, corner lightness $4"
  # Text alone gives some 100 shades; nine lines with their antialiasing give far more.
  [ "$3" -gt 500 ] || fail "$name: only $3 colours, the figures are missing"
  case $expected in
    light) [ "$4" -gt 200 ] || fail "$name: background is not light" ;;
    dark) [ "$4" -lt 60 ] || fail "$name: background is not dark" ;;
  esac
}

report=$folder/report.html
"$sample" "$report" > /dev/null || fail "sample_report ended with $?"
page=file://$report

look light "$page" light
look dark "$page" dark --blink-settings=preferredColorScheme=0
look chosen "$page?theme=dark" dark
look narrow "$page" light --window-size=500,3600

browse "$folder/dom.log" --dump-dom "$page" > "$folder/dom.html" ||
  fail "dump: chromium ended with $?"
canvases=$(grep -o '<canvas' "$folder/dom.html" | wc -l)
[ "$canvases" -eq 4 ] || fail "expected 4 canvases, found $canvases"
buttons=$(grep -o 'aria-pressed="true"' "$folder/dom.html" | wc -l)
[ "$buttons" -eq 9 ] || fail "expected 9 names in the legend, found $buttons"
grep -q '&lt;/script&gt;&lt;b&gt;&amp;"</button>' "$folder/dom.html" ||
  fail "the hostile label is not shown as text"

[ "$failures" -eq 0 ] && echo "all checks passed"
exit "$((failures > 0))"
