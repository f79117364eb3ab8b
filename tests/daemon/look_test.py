# SPDX-License-Identifier: Apache-2.0
"""look_test.py SCHEDMATED TRACE: a word at listen.look_port lets the daemon read the cluster now, and a flood of them not
more often than once a second."""
import socket
import sys
import time

from site_of import Site, expect

daemon, trace = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
site = Site(daemon, trace, 20, "speed = 1\n[order]\npolicy = \"fifo\"\n", f"look_port = {port}\n")
text = site.config.read_text()
site.config.write_text(text.replace('[cluster]\n', '[cluster]\npoll_ms = 15000\n'))
process = site.begin()
door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def readings():
    lines = site.ask("GET", "/metrics")[1].splitlines()
    return int(next(line for line in lines if line.startswith("schedmate_readings_total")).split()[1])


def knock(times=1):
    for _ in range(times):
        door.sendto(b"anything", ("127.0.0.1", port))


time.sleep(1)
first = readings()
time.sleep(1)
expect("it reads rarely by itself", readings() == first)
knock()
time.sleep(1.2)
expect(f"a word lets it read twice ({readings() - first})", readings() == first + 2)
begun, first = time.time(), readings()
while time.time() < begun + 6:
    knock(100)
    time.sleep(0.01)
expect(f"a flood once a second ({readings() - first} in 6 s)", 4 <= readings() - first <= 9)
expect("it answers", site.answers())
site.end(process)
