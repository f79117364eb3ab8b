#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages of a build, from --help alone: man_pages.py BUILD VERSION

BUILD/man/man1 gets schedmate(1) and a page for each command, BUILD/man/man8 the other programs.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SYSTEM_PROGRAMS = ("schedmated", "schedmate-reader", "schedmate-probe")
ROW = re.compile(r"^ {2,4}(\S+(?: \S+)*)(?: {2,}(\S.*))?$")


def help_of(words):
    done = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"})
    return done.stdout


def commands_of(text):
    return re.findall(r"^  ([a-z]+) ", text.partition("\nSubcommands:\n")[2], re.M)


def roff(text):
    """As text that roff takes for nothing else."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga")
    return re.sub(r"^(?=[.'])", r"\\&", text).replace("'", r"\(aq")


def rows(lines):
    """Flags, arguments or commands, each with what it is for, which may go on below."""
    for line in lines:
        row = ROW.match(line)
        if row:
            yield ".TP\n" + r"\fB" + roff(row[1]) + r"\fR"
            line = row[2] or ""
        if line.strip():
            yield roff(line.strip())


def section(title, lines):
    yield ".SH " + title.upper()
    if title.startswith("Example"):
        yield ".nf\n" + "\n".join(roff(line) for line in lines) + "\n.fi"
    else:
        yield from rows(lines)


def parts(text):
    """What is said of it, how it is called, and the sections: each a title with a colon, and its rows."""
    said, usage, sections = [], "", []
    for line in text.splitlines():
        if line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
        elif line.startswith(" "):
            if not sections:
                sections.append(("Options", []))
            sections[-1][1].append(line)
        elif line.endswith(":"):
            sections.append((line[:-1], []))
        elif line:
            said.append(line)
    return said, usage, sections


def page(name, number, version, text, others):
    said, usage, sections = parts(text)
    yield f'.TH {roff(name.upper())} {number} "" "SchedMate {version}" "SchedMate"'
    yield f".SH NAME\n{roff(name)} \\- {roff(said[0])}"
    yield ".SH SYNOPSIS\n" + r"\fB" + roff(usage) + r"\fR"
    if len(said) > 1:
        yield ".SH DESCRIPTION\n" + "\n".join(roff(line) for line in said[1:])
    for title, lines in sections:
        yield from section(title, lines)
    yield ".SH SEE ALSO\n" + ",\n".join(others)
    yield ".PP\nThe guides are in /usr/share/doc/schedmate/docs, or below the prefix of the installation."


def main():
    build, version = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    out = build / "man"
    shutil.rmtree(out, ignore_errors=True)

    def write(name, number, words, others):
        path = out / f"man{number}" / f"{name}.{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        see = [f"\\fB{roff(other)}\\fR({at})" for other, at in others if other != name]
        path.write_text("\n".join(page(name, number, version, help_of(words), see)) + "\n")

    program = str(build / "schedmate")
    commands = commands_of(help_of([program]))
    write("schedmate", 1, [program], [(f"schedmate-{each}", 1) for each in commands] + [("schedmated", 8)])
    for each in commands:
        write(f"schedmate-{each}", 1, [program, each], [("schedmate", 1), ("schedmated", 8)])
    for each in SYSTEM_PROGRAMS:
        write(each, 8, [str(build / each)],
              [("schedmate", 1), *((other, 8) for other in SYSTEM_PROGRAMS)])


main()
