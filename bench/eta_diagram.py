#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reliability diagram of forecasts (docs/eta.md), as SVG: which share came true by the instant that
was told for it. Each argument is NAME=FILE, what eta_scores printed; all go in the order given.

    bench/eta_diagram.py NAME=scores.csv... > docs/images/eta_reliability.svg
"""
import csv
import sys

SHARES = (10, 25, 50, 75, 90)
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8e6c8a", "#b08900", "#3d405b")
SIDE, LEFT, TOP, GAP = 300, 50, 40, 70


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["what"], row["way"]): row for row in csv.DictReader(file)}


def panel(title, what, x0, series):
    def x(share):
        return x0 + SIDE * share / 100

    def y(share):
        return TOP + SIDE * (1 - share / 100)

    yield f'<text x="{x0}" y="{TOP - 14}" class="title">{title}</text>'
    yield f'<rect x="{x0}" y="{TOP}" width="{SIDE}" height="{SIDE}" class="frame"/>'
    for share in SHARES:
        yield f'<path d="M{x(share)} {TOP}V{TOP + SIDE}M{x0} {y(share)}H{x0 + SIDE}" class="grid"/>'
        yield f'<text x="{x(share)}" y="{TOP + SIDE + 16}" class="tick" text-anchor="middle">{share}</text>'
        yield f'<text x="{x0 - 6}" y="{y(share) + 4}" class="tick" text-anchor="end">{share}</text>'
    yield f'<path d="M{x0} {TOP + SIDE}L{x0 + SIDE} {TOP}" class="ideal"/>'
    for colour, (_, rows) in zip(COLOURS, series):
        row = rows.get((what, "eta"))
        if row is None:
            continue
        for column, style in (("raw_below_pct", 'stroke-dasharray="3 4" opacity="0.5"'), ("below_pct", "")):
            came = [float(share) for share in row[column].split()]
            line = " ".join(f"{x(told)},{y(share):.1f}" for told, share in zip(SHARES, came))
            yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" {style}/>'
        for told, share in zip(SHARES, (float(share) for share in row["below_pct"].split())):
            yield f'<circle cx="{x(told)}" cy="{y(share):.1f}" r="3" fill="{colour}"/>'


def main():
    series = [(name, rows_of(path)) for name, _, path in (arg.partition("=") for arg in sys.argv[1:])]
    if not series:
        sys.exit(__doc__)
    width, below = LEFT + 2 * SIDE + GAP + 20, TOP + SIDE + 34
    height = below + 20 * ((len(series) + 1) // 2) + 44
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
          ' aria-label="Reliability of forecasts of starts and ends">')
    print("<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.tick{fill:#777}"
          ".frame{fill:#fff;stroke:#999}.grid{stroke:#eee;fill:none}.ideal{stroke:#999;fill:none}</style>")
    print(f'<rect width="{width}" height="{height}" fill="#fff"/>')
    for line in panel("Starts of waiting jobs", "start", LEFT, series):
        print(line)
    for line in panel("Ends of running jobs", "end", LEFT + SIDE + GAP, series):
        print(line)
    print(f'<text x="{LEFT}" y="{below}" class="tick">across: told, % to have happened by then; '
          "up: % that had; dashed: samples before calibration</text>")
    for i, (colour, (name, _)) in enumerate(zip(COLOURS, series)):
        x, y = LEFT + (i % 2) * (SIDE + GAP), below + 24 + 20 * (i // 2)
        print(f'<circle cx="{x + 5}" cy="{y - 4}" r="4" fill="{colour}"/><text x="{x + 16}" y="{y}">{name}</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
