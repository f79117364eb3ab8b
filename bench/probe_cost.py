#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a probe costs its node: probe_cost.py PROGRAM NVML [SECONDS]. PROGRAM is schedmate-probe, or "schedmate probe" in
quotes; NVML a library as tests/fake_nvml builds them. A server in this process takes every message."""
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading
import time


class Taker(http.server.BaseHTTPRequestHandler):
    taken = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Taker.taken += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def processes(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]



def cpu_s(pid):
    """So far, in the resolution of the scheduler."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def memory(pid):
    rows = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return {name: int(rows[name].split()[0]) / 1024 for name in ("Rss", "Pss", "Anonymous")}


def largest(pid, count=8):
    """The files, and the rest, that take the most anonymous memory: what no other process shares for long."""
    sizes, name = {}, ""
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            name = words[5].rsplit("/", 1)[-1] if len(words) > 5 else "no file"
        elif words[0] in ("Rss:", "Anonymous:"):
            sizes.setdefault(name, {"Rss:": 0, "Anonymous:": 0})[words[0]] += int(words[1]) / 1024
    most = sorted(sizes.items(), key=lambda each: -each[1]["Anonymous:"])[:count]
    return ", ".join(f"{name} {size['Anonymous:']:.1f} of {size['Rss:']:.1f}" for name, size in most)


def main():
    program, library = sys.argv[1].split(), sys.argv[2]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    folder = pathlib.Path(tempfile.mkdtemp())
    server = http.server.HTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "secret").write_text("s" * 40)
    (folder / "secret").chmod(0o600)
    (folder / "kernel.log").write_text("")
    each = subprocess.Popen([*program, "--node", "n1", "--set", f"probe.secret_file={folder}/secret", "--set",
                             f"nvml.library={library}", "--address", f"http://127.0.0.1:{server.server_port}",
                             "--kernel-log", str(folder / "kernel.log")])
    time.sleep(5)  # the start is not what it costs
    before = {pid: cpu_s(pid) for pid in processes(each.pid)}
    began, most = time.time(), {}
    while time.time() - began < seconds:
        for pid in processes(each.pid):
            try:
                most[pid] = max(most.get(pid, memory(pid)), memory(pid), key=lambda m: m["Rss"])
            except OSError:
                pass
        time.sleep(5)
    passed = time.time() - began
    used = sum(cpu_s(pid) - before.get(pid, 0) for pid in processes(each.pid))
    print(f"{Taker.taken} messages; {100 * used / passed:.3f} % of a core over {passed:.0f} s")
    for pid, sizes in most.items():
        print(f"process {pid}: " + ", ".join(f"{name} {size:.1f} MiB" for name, size in sizes.items()))
        if pathlib.Path(f"/proc/{pid}").exists():
            print(f"  anonymous of resident MiB: {largest(pid)}")
    print(f"together: Pss {sum(sizes['Pss'] for sizes in most.values()):.1f} MiB")
    each.kill()


main()
