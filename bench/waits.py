#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long somebody waits because of somebody else, each beside the same without: waits.py BUILD [--json].

BUILD is a release build with schedmated and schedmate-reader. Needs root, to be several users."""
import argparse
import json
import os
import pathlib
import signal
import socket
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "daemon"), str(ROOT / "tests" / "reader")]
import users_test  # noqa: E402
from models_test import ANN, BOB, House, Lab, Together  # noqa: E402
from readings_test import asked_by  # noqa: E402
from site_of import Site  # noqa: E402

TRACE = ROOT / "data/venus/venus_sept2020_days0-12.csv.gz"
rows = []


def milliseconds(work, times):
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - began))
    return sorted(taken)


def p99(taken):
    return taken[int(0.99 * (len(taken) - 1))]


def show(what, asked_ms, beside, alone=()):
    rows.append({"what": what, "asked_ms": asked_ms, "p99_ms": p99(beside), "p50_ms": statistics.median(beside),
                 "alone_p99_ms": p99(alone) if alone else None})
    print(f"{what:48} {asked_ms:>8} {p99(beside):>8.0f} {statistics.median(beside):>8.0f} "
          f"{f'{p99(alone):.0f}' if alone else '-':>10}", flush=True)


def tails(build):
    """Of a log, by the reader, while another user's 18 diagnoses of 160 MB each are under way."""
    home = users_test.Home()
    reader = users_test.Reader(build / "schedmate-reader", "reader.deadline_s=600")
    big = home.own(home.folder / "ann/big.log", users_test.ANN, 0o600, users_test.LOG * 4000)
    small = home.own(home.folder / "bob/small.log", users_test.BOB, 0o600, users_test.LOG)
    asker, flood = users_test.Asker(reader.path), users_test.Asker(reader.path)

    def tail():
        if len(asker.ask(users_test.BOB, "tail", log=small, lines=10)["result"]["lines"]) != 10:
            raise SystemExit("waits: no tail")

    alone = milliseconds(tail, 100)
    for _ in range(18):
        flood.send(users_test.ANN, "diagnose", logs=[big] * 4)
    show("tail of a log beside another user's flood", 3000, milliseconds(tail, 100), alone)
    reader.process.kill()


def answers_beside_a_hanging_model(programs):
    lab = Lab()
    house = House(programs, lab, "deadline_s = 600\n[agent]\ndeadline_s = 600\n", deadline_s=1800)
    house.begin_all("lab")

    def diagnose():
        if asked_by(house, BOB, "POST", "/api/v1/diagnose", {"text": "CUDA error: out of memory\n"})[0] != 200:
            raise SystemExit("waits: no diagnosis")

    alone = milliseconds(diagnose, 50)
    lab.hangs = {"slowly"}
    flood = Together(*[lambda n=n: house.asks(ANN, f"slowly-{n}-") for n in range(12)])
    house.wait(lambda: any("slowly-" in text for text in lab.texts()), "a model is asked")
    show("diagnosis while another's model hangs", 8000, milliseconds(diagnose, 50), alone)
    lab.go_on.set()
    flood.results()
    house.end_all()


def logins(build):
    """With a token, while 20 others guess: each wrong one is answered later and later."""
    site = Site(build / "schedmated", TRACE, 20, '[order]\npolicy = "fifo"\n')
    process, done = site.begin(), threading.Event()

    def ask(token):
        return site.ask("GET", "/api/v1/jobs?limit=1", token=token)[0]

    def guess():
        while not done.is_set():
            ask("smt_" + 64 * "0")

    def enter():
        if ask(site.tokens["ann"]) != 200:
            raise SystemExit("waits: ann is not let in")

    alone = milliseconds(enter, 100)
    guessing = [threading.Thread(target=guess, daemon=True) for _ in range(20)]
    for each in guessing:
        each.start()
    time.sleep(2)
    show("answer with a token while 20 guess theirs", 150, milliseconds(enter, 100), alone)
    done.set()
    for each in guessing:
        each.join()
    ends(site, process)


def ends(site, process):
    """With 100 listeners that stay."""
    listeners = []
    for number in range(100):
        each = socket.create_connection(("127.0.0.1", site.port), source_address=(f"127.0.0.{2 + number % 8}", 0))
        each.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {site.tokens['olga']}\r\n\r\n".encode())
        if b" 200 " not in each.recv(4096):
            raise SystemExit("waits: a listener is not served")
        listeners.append(each)

    def stop():
        process.send_signal(signal.SIGTERM)
        process.wait()

    show("end after SIGTERM with 100 listeners", 2000, milliseconds(stop, 1))
    site.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("waits: needs root, to be several users")
    if not (options.build / "schedmated").exists():
        raise SystemExit(f"waits: {options.build}/schedmated is missing: run make build first")
    print(f"{'what, ms':48} {'asked':>8} {'p99':>8} {'p50':>8} {'alone, p99':>10}")
    tails(options.build)
    answers_beside_a_hanging_model([options.build / "schedmated", options.build / "schedmate-reader", TRACE])
    logins(options.build)
    if options.json:
        print(json.dumps(rows))


main()
