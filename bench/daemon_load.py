#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the daemon answers, and what it needs, beside a replay of many jobs that all wait (docs/daemon.md).

  daemon_load.py SCHEDMATED JOBS [SECONDS]

A made trace: JOBS submissions within its first second, on 1,000 GPUs that are enough for some of them. While the daemon
follows, GETs are asked one after the other for SECONDS; prints percentiles of their times, the time that a list of
everything takes, and the memory of the process that is its own (RssAnon).
"""
import http.client
import pathlib
import socket
import subprocess
import sys
import tempfile
import time


def main():
    daemon, jobs = sys.argv[1], int(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    folder = pathlib.Path(tempfile.mkdtemp())
    rows = "".join(f"{i},u{i % 200},all,{1 + i % 8},1,1,COMPLETED,{1 + i % 2},{3600 * (1 + i % 24)}\n" for i in range(jobs))
    (folder / "jobs.csv").write_text("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_s,duration_s\n" + rows)
    (folder / "cluster.toml").write_text('[[vc]]\nname = "all"\nnodes = 125\ngpus_per_node = 8\n')
    config = folder / "config.toml"
    config.write_text(f'state_dir = "{folder}/state"\n[listen]\nunix = "{folder}/api.sock"\n[cluster.replay]\n'
                      f'trace = "helios:{folder}/jobs.csv"\nfile = "{folder}/cluster.toml"\nspeed = 1\n'
                      '[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
    replay = subprocess.Popen([daemon, "--config", config, "--replay"], stderr=subprocess.DEVNULL)
    while not (folder / "state" / "replay.sock").exists():
        time.sleep(0.05)
    began = time.time()
    served = subprocess.Popen([daemon, "--config", config], stderr=subprocess.DEVNULL)

    def get(path):
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
        connection.sock.connect(f"{folder}/api.sock")
        start = time.perf_counter()
        connection.request("GET", path)
        body = connection.getresponse().read()
        return 1000 * (time.perf_counter() - start), body

    while not (folder / "api.sock").exists():
        time.sleep(0.05)
    while b'"next":null' not in get("/api/v1/jobs?limit=100000")[1] or b'"pending"' not in get("/api/v1/jobs?limit=100000")[1]:
        time.sleep(0.2)
    print(f"{jobs} jobs seen after {time.time() - began:.1f} s")
    time.sleep(5)
    took, ends = [], time.time() + seconds
    while time.time() < ends:
        took.append(get("/api/v1/jobs/17")[0])
        time.sleep(0.005)
    took.sort()
    print("GET of a job, ms: " + ", ".join(f"p{int(100 * q)} {took[int(q * (len(took) - 1))]:.2f}" for q in (0.5, 0.9, 0.99, 1)))
    lists = sorted(get("/api/v1/jobs?limit=100000")[0] for _ in range(10))
    print(f"list of all, ms: median {lists[5]:.0f}, longest {lists[-1]:.0f}")
    status = pathlib.Path(f"/proc/{served.pid}/status").read_text()
    print("RssAnon:", int([line.split()[1] for line in status.split("\n") if line.startswith("RssAnon")][0]) // 1024, "MiB")
    for each in (served, replay):
        each.terminate()
        each.wait()


main()
