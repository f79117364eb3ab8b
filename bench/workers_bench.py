#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers beside model servers of a fixed service time (the paper's Figure 16): throughput and delay.

  workers_bench.py BUILD CASES TREES [--servers 1,2,4,8] [--service 5] [--jobs 64] [--batches 1,4,16,64] [--json]

CASES are labelled jobs (JSON lines: repo, workdir, command, gpus, nodes), TREES their checked out repositories
(checkout_trees.sh). A stand-in serves one request at a time and takes --service seconds for it: the paper's 7.5 s a job
(480 jobs an hour) divided by the factor that is printed. Every fact is asked for (agent.doubtful_below_pct = 101), so
that each job makes one call, whose answer adds nothing. Each server has a worker of its own, as a process, with two threads, so that the next
tree is read while the model thinks. Then: how long
a batch of N requests takes that are put together, for its mean and its last job; how many jobs need no call at all as
things are set; and what the workers do without any model. The machine's load stands beside the figures: others' work
counts in them.
"""
import argparse
import http.server
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "daemon"))
from redis_of import SAFE, Redis  # noqa: E402

PAPER_S = 7.5


def smallest(schema):
    """The least that fits: null where that is allowed."""
    if "anyOf" in schema:
        kinds = [each.get("type") for each in schema["anyOf"]]
        return None if "null" in kinds else smallest(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        return None if "null" in kind else smallest({**schema, "type": kind[0]})
    if kind == "object":
        return {name: smallest(part) for name, part in schema.get("properties", {}).items()}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}.get(kind)


def answer(body):
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    made = smallest(schema)
    if isinstance(made, dict) and "answer" in made and made["answer"] is None:  # the end of a conversation
        made["answer"] = smallest(next(each for each in schema["properties"]["answer"]["anyOf"] if each.get("type") != "null"))
    return made


class Server:
    """One request at a time, each as long as the last; that which only finds out about the server is free."""

    def __init__(self, service_s):
        turn, outer = threading.Lock(), self
        self.calls = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                made = answer(body)
                if "word" not in made:
                    with turn:
                        outer.calls += 1
                        time.sleep(service_s)
                text = json.dumps({"choices": [{"message": {"role": "assistant", "content": json.dumps(made)}, "finish_reason": "stop"}],
                                   "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


class Bench:
    def __init__(self, arguments, folder):
        self.program = pathlib.Path(arguments.build) / "schedmate"
        self.folder, self.redis = folder, Redis(folder, *SAFE)
        self.cases = [json.loads(line) for line in open(arguments.cases)]
        self.trees = pathlib.Path(arguments.trees)
        self.cases = [case for case in self.cases if self.tree(case).is_dir()]

    def tree(self, case):
        return self.trees / case["repo"].replace("/", "__")

    def put(self, count):
        """One after the other, before the workers begin: it takes no time of what is measured."""
        for i in range(count):
            case = self.cases[i % len(self.cases)]
            subprocess.run([self.program, "work", "advise", self.tree(case), "--command", case["command"], "--workdir", case.get("workdir", "."),
                            "--gpus", str(case["gpus"]), "--nodes", str(case["nodes"]), "--op", f"j{i}", "--redis", self.redis.where],
                           check=True, stdout=subprocess.DEVNULL)

    def workers(self, servers, count=0):
        common = [self.program, "worker", "--redis", self.redis.where, "--threads", "2" if servers else "1", "--set", "store=memory", "--set", "agent.deadline_s=600"]
        made = []
        for i in range(len(servers) or count):
            model = []
            if servers:
                model = ["--llm", "s", "--set", f"llm.s.url={servers[i].url}", "--set", "llm.s.model=stand-in", "--set", "agent.doubtful_below_pct=101",
                         "--set", "agent.tool_calls=1", "--set", "llm.s.tokens_per_day=1000000000", "--set", "llm.s.tokens_per_user=1000000000", "--set", "llm.s.deadline_s=600"]
            process = subprocess.Popen([*common, *model, "--id", f"w{i}", "--state-dir", self.folder / f"state{i}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            made.append(process)
        for process in made:
            for line in process.stderr:
                if "is ready" in line:
                    break
        return made

    def run(self, servers, jobs, count=0):
        """When each of them had ended, since the first worker began."""
        self.redis.ask("FLUSHALL")
        self.put(jobs)
        began, ends, before = time.monotonic(), [], resource.getrusage(resource.RUSAGE_CHILDREN)
        workers = self.workers(servers, count)
        while len(ends) < jobs:
            ended = int(self.redis.ask("HGET schedmate:work:counts done") or 0)
            ends += [time.monotonic() - began] * (ended - len(ends))
            time.sleep(0.02)
        for worker in workers:
            worker.terminate()
            worker.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return ends

    def calls_without(self):
        """Jobs for which nothing is asked, as things are set: each seen for the first time; submitted once more by the same user."""
        server, counts = Server(0), []
        for turn in range(2):
            none = 0
            for i, case in enumerate(self.cases):
                before = server.calls
                subprocess.run([self.program, "advise", self.tree(case), "--command", case["command"], "--workdir", case.get("workdir", "."), "--json", "--llm", "s",
                                "--user", "ann", "--job-id", f"{turn}-{i}", "--record", "--set", f"llm.s.url={server.url}", "--set", "llm.s.model=stand-in",
                                "--state-dir", self.folder / "history"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                none += server.calls == before
            counts.append(none)
        return counts, len(self.cases), server.calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("cases")
    parser.add_argument("trees")
    parser.add_argument("--servers", default="1,2,4,8")
    parser.add_argument("--service", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--batches", default="1,4,16,64")
    parser.add_argument("--without", type=int, default=90, help="jobs without a model")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if shutil.which("redis-server") is None:
        raise SystemExit("redis-server is not installed")
    made = {"service_s": arguments.service, "factor": PAPER_S / arguments.service, "load": os.getloadavg(), "throughput": [], "delay": []}
    with tempfile.TemporaryDirectory(prefix="schedmate-workers-") as name:
        bench = Bench(arguments, pathlib.Path(name))
        try:
            for count in map(int, filter(None, arguments.servers.split(","))):
                servers = [Server(arguments.service) for _ in range(count)]
                ends = bench.run(servers, arguments.jobs)
                made["throughput"].append({"servers": count, "jobs": arguments.jobs, "seconds": ends[-1], "jobs_per_hour": 3600 * arguments.jobs / ends[-1],
                                           "calls": sum(server.calls for server in servers)})
                print(made["throughput"][-1], file=sys.stderr)
            for batch in map(int, filter(None, arguments.batches.split(","))):
                servers = [Server(arguments.service) for _ in range(4)]
                ends = bench.run(servers, batch)
                made["delay"].append({"batch": batch, "servers": 4, "mean_s": statistics.mean(ends), "last_s": ends[-1]})
                print(made["delay"][-1], file=sys.stderr)
            ends = bench.run([], arguments.without, 2)
            made["without_model_jobs_per_hour"] = 3600 * arguments.without / ends[-1]
            made["cpu_s_a_job"] = bench.cpu_s / arguments.without
            none, cases, calls = bench.calls_without()
            made["no_call"] = {"jobs": cases, "without_a_call": none, "calls": calls}
        finally:
            bench.redis.process.kill()
    made["load_after"] = os.getloadavg()
    if arguments.json:
        print(json.dumps(made, indent=2))
        return
    print(f"service time {arguments.service} s a call: the paper's {PAPER_S} s by {made['factor']:.3g}; load {made['load'][0]:.1f}")
    for row in made["throughput"]:
        print(f"{row['servers']:>3} servers {row['jobs_per_hour']:>9.0f} jobs/h, as the paper's would be {row['jobs_per_hour'] / made['factor']:.0f}; "
              f"{row['jobs_per_hour'] / made['throughput'][0]['jobs_per_hour']:.2f} times; {row['calls'] / row['jobs']:.2f} calls a job")
    for row in made["delay"]:
        print(f"{row['batch']:>3} jobs at once on {row['servers']} servers: mean {row['mean_s']:.2f} s, last {row['last_s']:.2f} s")
    print(f"without a model: {made['without_model_jobs_per_hour']:.0f} jobs/h on {os.cpu_count()} cores; {made['cpu_s_a_job']:.2f} s of CPU a job, "
          f"so {3600 * os.cpu_count() / made['cpu_s_a_job']:.0f} jobs/h of cores that do nothing else")
    none, cases, calls = made["no_call"].values()
    print(f"of {cases} jobs {none[0]} need no call when they come first, {none[1]} when they come again; {calls} calls in all")


if __name__ == "__main__":
    main()
