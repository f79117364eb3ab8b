#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon bears and needs, beside a replay whose jobs mostly wait. One run, one table: asked, measured.

  daemon_load.py BUILD [--jobs 30000] [--history 1000000] [--state DIR] [--seconds 60] [--soak MINUTES [--speed 60]] [--json]

BUILD is a release build with schedmated, schedmate-reader and bench/made_history; wrk and hey are Debian's. A history
takes minutes to make; --state names a folder where it is kept for the next run. --soak follows the bundled days at that
speed instead, and says whether anything grows. The machine's load stands beside the table: others' work counts in all
times. As root the jobs are of user "nobody", whose tree the reader reads.
"""
import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import pwd
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "daemon"))
from site_of import Site  # noqa: E402

LUA = """
wrk.method = "POST"
wrk.body = '{"command": "python train.py", "gpus": 1, "limit_s": 3600}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer %s"
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init(args) made = 0 end
function response(status, headers, body) if status == 202 then made = made + 1 end end
function done(summary, latency, requests)
  local all = 0
  for _, thread in ipairs(threads) do all = all + thread:get("made") end
  io.write(string.format('{"made": %%d, "asked": %%d, "seconds": %%f, "p50_ms": %%f, "p99_ms": %%f}\\n',
    all, summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
"""
rows = []


def tell(what, asked, measured, **figures):
    rows.append({"what": what, "asked": asked, "measured": measured, **figures})
    print(f"{what:44} {asked:>14}   {measured}", file=sys.stderr, flush=True)


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def mib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def cpu_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def owner():
    return "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def made_trace(folder, jobs):
    """As many submissions within a second, on 1,000 GPUs that are enough for some of them."""
    folder.mkdir()
    (folder / "venus_vc_config.csv").write_text(",num\nall,125\n")
    with gzip.open(folder / "jobs.csv.gz", "wt") as file:
        file.write("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_s,duration_s\n")
        file.writelines(f"{i},u{i % 200},all,{1 + i % 8},1,1,COMPLETED,{1 + i % 2},{3600 * (1 + i % 24)}\n" for i in range(jobs))
    return folder / "jobs.csv.gz"


def made_history(options, state):
    """Into the state folder. Gives what is to be called in the end: the history goes back to where it is kept."""
    if options.history == 0:
        return lambda: None
    kept = pathlib.Path(options.state or tempfile.mkdtemp())
    kept.mkdir(mode=0o700, exist_ok=True)
    if not (kept / "index").exists():
        subprocess.run([options.build / "bench" / "made_history", str(options.history), kept], check=True)

    def move(here, there):
        for file in [*here.glob("history.sqlite*"), here / "index"]:
            shutil.move(file, there / file.name)

    move(kept, state)
    return lambda: move(state, kept)


class Load:
    def __init__(self, options):
        self.options = options
        folder = pathlib.Path(tempfile.mkdtemp())
        trace = made_trace(folder / "trace", options.jobs)
        self.site = Site(options.build / "schedmated", trace, options.jobs,
                         'speed = 1\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
        self.site.folder.chmod(0o755)
        with open(self.site.config, "a") as config:
            config.write(f'[reader]\nsocket = "{self.site.folder}/reader.sock"\nuid_min = 0\n')
        self.put_back = made_history(options, self.site.state)
        self.tree = self.site.folder / "tree"
        shutil.copytree(ROOT / "examples" / "classifier", self.tree)
        self.reader = subprocess.Popen([options.build / "schedmate-reader", "--config", self.site.config], stderr=subprocess.DEVNULL)
        self.headers = ["-H", f"Authorization: Bearer {self.site.tokens['olga']}"]
        self.url = f"http://127.0.0.1:{self.site.port}"
        self.start()

    def start(self):
        began = time.time()
        self.process = self.site.start()
        self.site.wait(lambda: self.site.answers() and self.get("/api/v1/jobs?limit=1")[0] == 200, "it answers")
        return time.time() - began, cpu_s(self.process)

    def all(self):
        time.sleep(8)  # a forecast has been made
        self.idle()
        self.flood()
        self.restart()
        self.listeners()
        self.submissions()
        self.sustained()
        tell("own memory after the load, MiB", "-", f"{self.least_mib():.0f} ({self.live()} jobs)", mib=mib(self.process))
        self.restart()
        self.ends()

    def get(self, path):
        connection = self.site.by_socket()
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def submission(self, **more):
        return {"command": "python train.py --epochs 3", "dir": str(self.tree), "gpus": 1, "limit_s": 3600, "user": owner(), **more}

    def gets(self, seconds, pause):
        """How long a job's document takes, in ms, again and again."""
        times, ends = [], time.time() + seconds
        while time.time() < ends:
            began = time.perf_counter()
            self.get("/api/v1/jobs/17")
            times.append(1000 * (time.perf_counter() - began))
            time.sleep(pause)
        return times

    def idle(self):
        tell("live jobs; jobs in the history", "30000; 1 M", f"{self.options.jobs}; {self.options.history}")
        times = self.gets(20, 0.005)
        tell("GET of a job, ms: p99", "5", f"{quantile(times, .99):.1f} (p50 {quantile(times, .5):.2f}, longest {max(times):.0f})",
             p50_ms=quantile(times, .5), p99_ms=quantile(times, .99))
        times, cpu = [], cpu_s(self.process)
        for _ in range(20):
            began = time.perf_counter()
            size = len(self.get("/api/v1/jobs?limit=100000")[1])
            times.append(1000 * (time.perf_counter() - began))
        tell("list of all, ms: median", "100", f"{statistics.median(times):.0f} (longest {max(times):.0f}; {size / 1e6:.1f} MB; "
             f"with all else {50 * (cpu_s(self.process) - cpu):.0f} ms of CPU)", median_ms=statistics.median(times))
        held = []
        for _ in range(100):  # forecasts come and go
            time.sleep(0.2)
            held.append(mib(self.process))
        tell("own memory (RssAnon) over 20 s, MiB: most", "250", f"{max(held):.0f} (least {min(held):.0f})", mib=max(held))

    def flood(self):
        """Two times 60 connections of another user, while this one asks."""
        asking = [subprocess.Popen(["wrk", "-t1", "-c60", "-d10s", "-H", f"Authorization: Bearer {self.site.tokens['ann']}",
                                    f"{self.url}/api/v1/{path}"], stdout=subprocess.PIPE, text=True) for path in ("cluster", "jobs?limit=1000")]
        time.sleep(1)
        times = self.gets(8, 0.02)
        each = [float(each.communicate()[0].split("Requests/sec:")[1].split()[0]) for each in asking]
        tell("GET beside another user's flood, ms: p99", "-", f"{quantile(times, .99):.1f} (p50 {quantile(times, .5):.1f}; "
             f"the flood: {sum(each):.0f} a second)", p50_ms=quantile(times, .5), p99_ms=quantile(times, .99))

    def submissions(self):
        lua = self.site.folder / "submit.lua"
        lua.write_text(LUA % self.site.tokens["ann"])
        cpu = cpu_s(self.process)
        asked = subprocess.run(["wrk", "-t2", "-c64", "-d10s", "-s", lua, self.url + "/api/v1/jobs"], capture_output=True, text=True, check=True)
        told = json.loads(asked.stdout.splitlines()[-1])
        tell("submissions acknowledged in 10 s, a second", "2000",
             f"{told['made'] / told['seconds']:.0f} ({told['asked'] - told['made']} not; p50 {told['p50_ms']:.0f}, p99 {told['p99_ms']:.0f} ms; "
             f"{1000 * (cpu_s(self.process) - cpu) / max(1, told['made']):.2f} ms of CPU each)", per_s=told["made"] / told["seconds"])

    def sustained(self):
        """hey asks 300 times a second, each a job of the same tree; one more a second is followed until its advice is there."""
        seconds = self.options.seconds
        first = self.followed("first")
        tell("advice on a first submission, s", "-", f"{first:.1f}")
        asking = subprocess.Popen(["hey", "-z", f"{seconds}s", "-c", "20", "-q", "15", "-o", "csv", "-m", "POST", "-T", "application/json",
                                   *self.headers, "-d", json.dumps(self.submission()), self.url + "/api/v1/jobs"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        waits, threads = [], []
        for second in range(seconds - 5):
            threads.append(threading.Thread(target=lambda n=second: waits.append(self.followed(f"n{n}"))))
            threads[-1].start()
            time.sleep(1)
        answers = list(csv.DictReader(io.StringIO(asking.communicate()[0])))
        for thread in threads:
            thread.join()
        made = sum(row["status-code"] == "202" for row in answers)
        times = [1000 * float(row["response-time"]) for row in answers]
        tell(f"submissions sustained for {seconds} s, a second", "300", f"{made / seconds:.0f} ({len(answers) - made} not; p99 {quantile(times, .99):.0f} ms)",
             per_s=made / seconds)
        tell("advice on resubmissions meanwhile, s: p99", "2", f"{quantile(waits, .99):.1f} (p50 {quantile(waits, .5):.1f}, of {len(waits)})",
             p50_s=quantile(waits, .5), p99_s=quantile(waits, .99))

    def followed(self, name):
        """Seconds from the acknowledgement of a submission to the advice on it; after half a minute infinity."""
        token = self.site.tokens["olga"]
        action = self.site.ask("POST", "/api/v1/jobs", self.submission(name=name), token=token)[1]["id"]
        began, job = time.time(), None
        while time.time() - began < 30:
            job = job or self.site.ask("GET", f"/api/v1/actions/{action}", token=token)[1]["job"]
            if job and self.site.ask("GET", f"/api/v1/jobs/{job}", token=token)[1].get("advice"):
                return time.time() - began
            time.sleep(0.05)
        return float("inf")

    def live(self):
        queue = json.loads(self.get("/api/v1/cluster")[1])["queue"]
        return queue["pending"] + queue["running"]

    def least_mib(self):
        """Between forecasts."""
        held = []
        for _ in range(60):
            time.sleep(0.2)
            held.append(mib(self.process))
        return min(held)

    def listeners(self, count=1000):
        before, waits = self.least_mib(), []
        ready = selectors.DefaultSelector()
        for i in range(count):
            each = socket.create_connection(("127.0.0.1", self.site.port), source_address=(f"127.0.0.{2 + i % 8}", 0))
            each.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.site.tokens['olga']}\r\n\r\n".encode())
            ready.register(each, selectors.EVENT_READ)
        sent, asked = {}, []

        def submit():
            for n in range(20):
                time.sleep(0.5)
                sent[f"page-{n}"] = time.time()
                self.site.ask("POST", "/api/v1/jobs", {"command": "true", "name": f"page-{n}"}, token=self.site.tokens["olga"])
            time.sleep(3)
            asked.append(True)

        asking = threading.Thread(target=submit)
        asking.start()
        seen = set()
        while not asked:
            for key, _ in ready.select(0.1):
                text = key.fileobj.recv(1 << 16).decode(errors="replace")
                for part in text.split('"name":"')[1:]:
                    name = part.split('"')[0]
                    if name in sent and (name, key.fd) not in seen:
                        seen.add((name, key.fd))
                        waits.append(time.time() - sent[name])
        more = self.least_mib() - before
        tell(f"memory of {count} listeners, MiB", "64", f"{more:.1f}", mib=more)
        tell("from submission to a listener, s: p99", "2", f"{quantile(waits, .99):.2f} (p50 {quantile(waits, .5):.2f}; "
             f"{len(waits)} of {20 * count} came)", p99_s=quantile(waits, .99))
        asking.join()
        for key in list(ready.get_map().values()):
            key.fileobj.close()

    def restart(self):
        jobs = self.live()
        self.process.kill()
        self.process.wait()
        ready, cpu = self.start()
        tell("ready after kill -9, s", "2", f"{ready:.2f} ({cpu:.2f} of CPU; {jobs} jobs)", s=ready)
        time.sleep(3)

    def ends(self):
        began = time.time()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        tell("end after SIGTERM, s", "5", f"{time.time() - began:.2f} (exit {code})", s=time.time() - began)
        self.reader.terminate()
        self.reader.wait()
        self.site.end()


def soak(options):
    """The bundled days at that speed: each minute what the process holds, while somebody looks."""
    site = Site(options.build / "schedmated", ROOT / "data/venus/venus_sept2020_days0-12.csv.gz", 100_000,
                f'speed = {options.speed}\n[order]\npolicy = "backfill_easy"\n[mode]\norder = "act"\n')
    process = site.start()
    site.wait(site.answers, "it answers")
    held = []
    for minute in range(1, options.soak + 1):
        for _ in range(60):
            time.sleep(1)
            for path in ("jobs?limit=1000", "cluster", "ledger", "actions?limit=100"):
                site.ask("GET", "/api/v1/" + path)
        base = pathlib.Path(f"/proc/{process.pid}")
        held.append({"minute": minute, "mib": round(mib(process), 1), "files": len(list((base / "fd").iterdir())),
                     "threads": len(list((base / "task").iterdir())),
                     "journal_mib": round(sum(each.stat().st_size for each in site.state.glob("journal.sqlite*")) / 2**20, 1)})
        print(held[-1], file=sys.stderr, flush=True)
    process.terminate()
    code = process.wait(timeout=30)
    site.end()
    quarter = max(1, len(held) // 4)
    for what, allowed in (("mib", 8), ("files", 4), ("threads", 0)):
        early, late = (statistics.median(each[what] for each in part) for part in (held[quarter:2 * quarter] or held, held[-quarter:]))
        tell(f"growth of {what}, last quarter over second", "none", f"{late - early:+.1f} (at the end {late:.1f}; "
             f"{'no growth' if late - early <= allowed else 'GROWS'})", early=early, late=late)
    tell("journal at the end, MiB", "64 + log", f"{held[-1]['journal_mib']}")
    tell("exit after SIGTERM", "0", str(code))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    for name, usual in (("--jobs", 30_000), ("--history", 1_000_000), ("--seconds", 60), ("--soak", 0), ("--speed", 60)):
        parser.add_argument(name, type=int, default=usual)
    parser.add_argument("--state")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = os.getloadavg()
    if options.soak:
        soak(options)
    else:
        site = Load(options)
        try:
            site.all()
        finally:
            for each in (site.process, site.reader):
                each.kill()
                each.wait()
            site.put_back()
    tell("load of the machine, before and after", "-", f"{load[0]:.1f}, {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    if options.json:
        print(json.dumps(rows))


main()
