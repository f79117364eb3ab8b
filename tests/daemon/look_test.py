# SPDX-License-Identifier: Apache-2.0
"""look_test.py SCHEDMATED TRACE: a word at listen.look_port lets the daemon read the cluster now, and a flood of them not
more often than once a second."""
import random
import socket
import sys
import time

from site_of import Site, expect

daemon, trace = sys.argv[1:]


def free_port():
    """One that the system gives to nobody who asks for any."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            try:
                free.bind(("127.0.0.1", random.randrange(20000, 32000)))
            except OSError:
                continue
            return free.getsockname()[1]


port = free_port()
site = Site(daemon, trace, 20, "speed = 1\n[order]\npolicy = \"fifo\"\n", f"look_port = {port}\n")
text = site.config.read_text()
site.config.write_text(text.replace('[cluster]\n', '[cluster]\npoll_ms = 300000\n'))  # it reads rarely by itself
process = site.begin()
door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def readings():
    lines = site.ask("GET", "/metrics")[1].splitlines()
    return int(next(line for line in lines if line.startswith("schedmate_readings_total")).split()[1])


def knock(times=1):
    for _ in range(times):
        door.sendto(b"anything", ("127.0.0.1", port))


site.wait(lambda: readings() == 1, "it has read once")
knock()
site.wait(lambda: readings() > 2, "a word lets it read twice")
expect(f"and not more often ({readings() - 1})", readings() == 3)
begun, first = time.monotonic(), readings()  # clock: a slow machine reads less often
site.wait(lambda: knock(100) or readings() >= first + 5, "it reads in a flood")
made, took = readings() - first, time.monotonic() - begun  # clock: the same
expect(f"once a second, {made} times in {took:.1f} s", made <= took + 3)
expect("it answers", site.answers())
site.end(process)
