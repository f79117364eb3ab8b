#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A daemon whose readings workers make: workers_test.py SCHEDMATED SCHEDMATE SCHEDMATE_READER TRACE. Without root (users read their
own) or redis-server: skipped."""
import json
import os
import shutil
import subprocess
import sys

from readings_test import OWNER, TellingCluster, asked_by
from redis_of import SAFE, Redis
from site_of import Site, begin_process, expect


def main(daemon, schedmate, reader, trace):
    site = Site(daemon, trace, 20, '[order]\npolicy = "fifo"\n', listen="\n")
    home = site.give_home(OWNER, {"job.log": "step 1/10 loss 0.1\n", "train.py": "import torch\nfor epoch in range(20):\n    pass\n"})
    redis = Redis(site.folder / "redis", *SAFE)
    with open(site.config, "a") as config:
        config.write(f'[workers]\nredis = "{redis.where}"\nlease_s = 2\n')
    TellingCluster(site, {"user": OWNER, "dir": str(home), "command": "python train.py", "output": "job.log"})

    def employ():
        return begin_process([schedmate, "worker", "--config", site.config], stderr=subprocess.DEVNULL)

    def made(by):
        lines = site.ask("GET", "/metrics")[1].splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(f'schedmate_worker_readings_total{{by="{by}"}}')))

    def advised(by, what):
        before = made(by)

        def counted():
            status, _, advice = asked_by(site, OWNER, "POST", "/api/v1/advise", {"dir": str(home), "command": "python train.py", "gpus": 1})
            expect(f"{what} ({advice.get('message', 'advice')})", status == 200 and advice["schema"] == "schedmate.advice.v1")
            return made(by) > before

        site.wait(counted, f"{what}: counted")  # on a busy machine workers may be late

    reads = site.begin_reader(reader)
    worker = employ()

    def workers():
        status = subprocess.run([schedmate, "work", "status", "--config", site.config, "--json"], capture_output=True, text=True)
        return json.loads(status.stdout)["figures"]["workers"]

    site.wait(lambda: workers() == 1, "the worker is there")
    process = site.begin()
    site.wait(lambda: made("workers") >= 1, "the code of submissions is read by the worker")
    job = site.ask("GET", "/api/v1/jobs?limit=1")[1]["jobs"][0]["id"]
    site.wait(lambda: site.ask("GET", f"/api/v1/jobs/{job}")[1].get("facts"), "and the daemon has the facts")
    advised("workers", "a user's request, too")
    status, _, error = asked_by(site, OWNER, "POST", "/api/v1/advise", {"dir": "/root", "command": "python train.py"})
    expect(f"whoever reads, with the rights of whoever asks: {status}", status in (403, 404))
    status, _, verdict = asked_by(site, OWNER, "POST", "/api/v1/diagnose", {"log": str(home / "job.log")})
    expect("and a diagnosis", status == 200 and verdict["schema"] == "schedmate.diagnosis.v1")

    worker.kill()
    worker.wait()
    advised("itself", "with the worker killed the daemon reads itself")
    redis.kill()
    advised("itself", "with Redis killed, too")
    redis.start()
    worker = employ()
    before = made("workers")

    def workers_again():
        asked_by(site, OWNER, "POST", "/api/v1/advise", {"dir": str(home), "command": "python train.py", "gpus": 1})
        return made("workers") > before

    site.wait(workers_again, "workers are found again")
    process.terminate()
    expect("the daemon ends with 0", process.wait(timeout=60) == 0)
    worker.terminate()
    expect("so does the worker", worker.wait(timeout=60) == 0)
    redis.kill()
    site.end(reads)


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("redis-server"):
        print("SKIPPED: needs root, to be several users, and redis-server")
        sys.exit(77)
    main(*sys.argv[1:5])
