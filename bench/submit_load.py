#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many submissions the daemon acknowledges in a second, each after its record is safe (docs/api/README.md).

  submit_load.py SCHEDMATED [SECONDS [CONNECTIONS]]

wrk asks by TCP as fast as it is answered; afterwards every acknowledged submission must be an action of the journal, and
once the cluster was called, a job. Prints the rate, percentiles of the answers and how long the calls took to follow.
"""
import hashlib
import json
import pathlib
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time

LUA = """
wrk.method = "POST"
wrk.body = '{"command": "python train.py", "gpus": 1, "limit_s": 3600}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer %s"
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init(args) made = 0; refused = 0 end
function response(status, headers, body) if status == 202 then made = made + 1 else refused = refused + 1 end end
function done(summary, latency, requests)
  local all, no = 0, 0
  for _, thread in ipairs(threads) do all = all + thread:get("made"); no = no + thread:get("refused") end
  io.write(string.format('{"made": %%d, "refused": %%d, "seconds": %%f, "p50_ms": %%f, "p99_ms": %%f, "max_ms": %%f}\\n',
    all, no, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
"""


def main():
    daemon = sys.argv[1]
    seconds, connections = (sys.argv[2:] + ["10", "64"][len(sys.argv) - 2:])[:2]
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "jobs.csv").write_text("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_s,duration_s\n"
                                     "1,ann,all,1,1,1,COMPLETED,1,60\n")
    (folder / "cluster.toml").write_text('[[vc]]\nname = "all"\nnodes = 125\ngpus_per_node = 8\n')
    token = "smt_" + secrets.token_hex(32)
    (folder / "tokens").write_text(f"{hashlib.sha256(token.encode()).hexdigest()}\towner\tann\t0\tann's\n")
    (folder / "tokens").chmod(0o600)
    config = folder / "config.toml"
    config.write_text(f'state_dir = "{folder}/state"\n[listen]\nunix = "{folder}/api.sock"\ntcp = "127.0.0.1:18642"\n'
                      f'[access]\ntokens_file = "{folder}/tokens"\n[cluster.replay]\n'
                      f'trace = "helios:{folder}/jobs.csv"\nfile = "{folder}/cluster.toml"\nspeed = 1\n'
                      '[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
    (folder / "submit.lua").write_text(LUA % token)
    replay = subprocess.Popen([daemon, "--config", config, "--replay"], stderr=subprocess.DEVNULL)
    while not (folder / "state" / "replay.sock").exists():
        time.sleep(0.05)
    served = subprocess.Popen([daemon, "--config", config], stderr=subprocess.DEVNULL)
    time.sleep(3)
    try:
        made = subprocess.run(["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", folder / "submit.lua",
                               "http://127.0.0.1:18642/api/v1/jobs"], capture_output=True, text=True, check=True)
        told = json.loads(made.stdout.splitlines()[-1])
        ended = time.time()
        print(f"{told['made']} submissions acknowledged in {told['seconds']:.1f} s: {told['made'] / told['seconds']:.0f}/s, "
              f"{told['refused']} not; p50 {told['p50_ms']:.1f} ms, p99 {told['p99_ms']:.1f} ms, longest {told['max_ms']:.0f} ms")
        file = sqlite3.connect(f"file:{folder}/state/journal.sqlite?mode=ro", uri=True)
        count = lambda: file.execute("SELECT count(*) FROM actions WHERE kind = 'submit'").fetchone()[0]
        open_ones = lambda: file.execute("SELECT count(*) FROM actions WHERE kind = 'submit' AND state != 'verified'").fetchone()[0]
        print(f"{count()} submissions in the journal")
        while open_ones() > 0 and time.time() - ended < 120:
            time.sleep(0.2)
        print(f"all but {open_ones()} are seen on the cluster {time.time() - ended:.1f} s after the last")
        status = pathlib.Path(f"/proc/{served.pid}/status").read_text()
        print("RssAnon:", int([line.split()[1] for line in status.split("\n") if line.startswith("RssAnon")][0]) // 1024, "MiB")
    finally:
        for each in (served, replay):
            each.terminate()
            each.wait()


main()
