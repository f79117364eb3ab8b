# SPDX-License-Identifier: Apache-2.0
"""Starts jobs of SchedMate on a Ray cluster in a tenth of a second, where Ray's Jobs API takes one.

A job of Ray that stays: it answers HTTP in the words of the Jobs API and holds nothing that would be lost with it. Each
node has an agent, a detached actor, which runs schedmate_launch.py for every attempt there and remembers how it ended. A
driver that begins anew finds the agents by their names. Ray counts the GPUs of an attempt by a placement group, which its
first node's agent makes and which goes with it. An attempt on several nodes is followed by that agent; where it dies, the
driver ends what is left on the others, and says that the attempt runs until nothing of it does. Needs Ray's Python alone.
"""
import argparse
import contextlib
import hmac
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, RayError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import schedmate_launch

LOOK_S = 0.1
UNHEARD_S = 30  # after which a process ends whose attempt's first agent does not ask for it
ANSWER_S = 1  # of an agent; SchedMate waits for four
KEPT = 1000  # records of attempts that are over
MOST_BYTES = 1 << 20
IDLE_S = 600
NO_ANSWER = (GetTimeoutError, ActorUnavailableError)  # it may be there, and may have done what it was asked


class Part:
    """One process of an attempt, on this node."""

    def __init__(self, words, log):
        self.log, self.heard, self.is_lost = log, time.monotonic(), False
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, schedmate_launch.__file__, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=dict(os.environ, RAY_ADDRESS=ray.get_runtime_context().gcs_address, PYTHONUNBUFFERED="1"))

    def code(self):
        return self.process.poll()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()

    def news(self, offset):
        """What the log has from there on: whole lines while it runs and there are any, at most MOST_BYTES. And how it ended, once all is read."""
        code = self.code()
        with open(self.log, "rb") as file:
            file.seek(offset)
            fresh = file.read(MOST_BYTES)
        if code is None and len(fresh) < MOST_BYTES:
            fresh = fresh[: fresh.rfind(b"\n") + 1]
        return fresh, code if len(fresh) < MOST_BYTES else None


class Agent:
    """What runs on one node. Its methods answer at once."""

    def __init__(self, namespace):
        self.namespace, self.lock = namespace, threading.Lock()
        self.attempts, self.parts, self.stops, self.halted = {}, {}, set(), set()
        self.node = ray.get_runtime_context().get_node_id()
        self.logs = ray._private.worker._global_node.get_logs_dir_path()  # where the dashboard looks for them
        threading.Thread(target=self.end_unheard, daemon=True).start()

    def start(self, body):
        """The record of an attempt of which this is the first node; one that is known already is not begun again."""
        id = body["submission_id"]
        with self.lock:
            if id not in self.attempts:
                over = [each for each, record in self.attempts.items() if record["end_time"]]
                for each in over[: max(0, len(over) - KEPT)]:
                    del self.attempts[each]
                self.attempts[id] = record_of(id, "PENDING", entrypoint=body["words"][-1], metadata=body.get("metadata", {}),
                                              start_time=now_ms(), driver_node_id=self.node)
                threading.Thread(target=self.run, args=(id, body), daemon=True).start()
            return dict(self.attempts[id])

    def list(self):
        """Records of attempts whose first node this is, and the attempts of which processes are here for another one."""
        with self.lock:
            return [dict(each) for each in self.attempts.values()], sorted({attempt_of(id) for id, part in list(self.parts.items()) if part.code() is None})

    def stop(self, id):
        self.stops.add(id)

    def forget(self, id):
        with self.lock:
            if self.attempts.get(id, {}).get("end_time"):
                del self.attempts[id]

    # Processes of attempts whose first node is another one. A halt that comes first is one, too.
    def begin(self, id, words):
        with self.lock:
            if id not in self.halted and id not in self.parts and time.time() < schedmate_launch.read_words(words).start_by:
                self.parts[id] = Part(words, f"{self.logs}/schedmate-part-{id}.log")

    def look(self, id, offset):
        """What is new of its log, how it ended (None: it has not) and whether that was for want of being asked for."""
        part = self.parts.get(id)
        if part is None:
            return b"", -15 if id in self.halted else None, False
        part.heard = time.monotonic()
        return *part.news(offset), part.is_lost

    def halt(self, id):
        with self.lock:
            self.halted.add(id)
            if id in self.parts:
                self.parts[id].stop()

    def halt_all(self, attempt):
        for id in [each for each in list(self.parts) if attempt_of(each) == attempt]:
            self.halt(id)

    def end_unheard(self):
        while True:
            time.sleep(1)
            for id, part in list(self.parts.items()):
                if time.monotonic() - part.heard < UNHEARD_S:
                    continue
                if part.code() is None:
                    part.is_lost = True
                    part.stop()
                elif time.monotonic() - part.heard > 2 * UNHEARD_S:
                    del self.parts[id]
                    with contextlib.suppress(OSError):
                        os.unlink(part.log)

    # What follows is one attempt's thread.
    def run(self, id, body):
        group = None
        try:
            asked = schedmate_launch.read_words(body["words"])
            if asked.counted:
                bundles, selectors = schedmate_launch.bundles_of(asked)
                group = placement_group(bundles, strategy="STRICT_SPREAD" if len(bundles) > 1 else "PACK",
                                        **({"bundle_label_selector": selectors} if any(selectors) else {}))
            has_room = group is None
            while not has_room and time.time() < asked.start_by and id not in self.stops:
                has_room = group.wait(1)
            if id in self.stops:
                self.end(id, "STOPPED")
            elif not has_room or time.time() > asked.start_by:
                self.end(id, "FAILED", schedmate_launch.TOO_LATE, "schedmate: too late: there was no room for all of its nodes")
            else:
                self.follow(id, body, asked)
        except Exception as error:
            self.end(id, "FAILED", None, f"{type(error).__name__}: {error}", "AGENT_FAILED")
        finally:
            self.stops.discard(id)
            if group is not None:
                remove_placement_group(group)

    def follow(self, id, body, asked):
        """The process here and those on the other nodes, until none is left; the first that fails ends the others."""
        nodes, log = body["nodes"], f"{self.logs}/job-driver-{id}.log"
        more = ["--master", schedmate_launch.master_of(asked, ray.util.get_node_ip_address())] if len(nodes) > 1 else []
        own = Part(["--rank", "0", *more, *body["words"]], log)
        with self.lock:
            self.attempts[id]["status"] = "RUNNING"
        try:
            others = {rank: ray.get_actor(name_of(node), self.namespace) for rank, node in enumerate(nodes) if rank}
            for rank, agent in others.items():
                agent.begin.remote(f"{id}.{rank}", ["--rank", str(rank), *more, *body["words"]])
        except Exception as error:
            own.stop()
            own.process.wait()
            return self.end(id, "FAILED", None, f"a node is lost: {error}", "NODE_LOST")
        codes, first, lost, stopping, offsets = {}, None, "", False, dict.fromkeys(others, 0)
        while len(codes) < len(nodes):
            looks = {rank: agent.look.remote(f"{id}.{rank}", offsets[rank]) for rank, agent in others.items() if rank not in codes}
            until = time.monotonic() + ANSWER_S
            ends = {} if 0 in codes else {0: own.code()}
            for rank, look in looks.items():
                try:
                    text, ends[rank], unheard = ray.get(look, timeout=max(0.01, until - time.monotonic()))
                    offsets[rank] += len(text)
                    with contextlib.suppress(OSError), open(log, "ab") as file:
                        file.writelines(b"[node %d] " % rank + line for line in text.splitlines(True))
                    lost = f"node {rank} has lost sight of the first one" if unheard else lost
                except NO_ANSWER:
                    pass  # Ray says when it is lost
                except RayError as error:
                    ends[rank], lost = -9, lost or f"node {rank} is lost: {type(error).__name__}"
            codes.update((rank, code) for rank, code in ends.items() if code is not None)
            first = next((code for code in codes.values() if code), None) if not stopping else first
            stopping = stopping or bool(first or lost) or id in self.stops
            if stopping:
                own.stop()
                for rank in set(others) - set(codes):
                    others[rank].halt.remote(f"{id}.{rank}")
            time.sleep(LOOK_S)
        if lost:
            self.end(id, "FAILED", None, lost, "NODE_LOST")
        elif first or not any(codes.values()):
            if not first and asked.ends:
                schedmate_launch.note_end(asked.ends, asked.run)
            self.end(id, "FAILED" if first else "SUCCEEDED", first or 0, last_line(log) if first else "")
        else:
            self.end(id, "STOPPED")

    def end(self, id, status, code=None, message="", error_type=None):
        with self.lock:
            self.attempts[id].update(status=status, driver_exit_code=code, message=message, error_type=error_type, end_time=now_ms())


def now_ms():
    return int(1000 * time.time())


def record_of(id, status, **more):
    """As the Jobs API shows a job."""
    return {"submission_id": id, "type": "SUBMISSION", "status": status, "message": "", "error_type": None, "entrypoint": "", "metadata": {},
            "start_time": None, "end_time": None, "driver_node_id": None, "driver_exit_code": None, **more}


def attempt_of(part):
    return part.rpartition(".")[0]


def name_of(node):
    return f"agent-1-{node}"  # 1: the methods above


def last_line(path):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 2000))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


class Unheard(Exception):
    """What is asked cannot be told now."""


class Driver:
    def __init__(self, namespace, gpu_resource):
        self.namespace, self.gpu_resource, self.lock = namespace, gpu_resource, threading.RLock()
        self.agents, self.known, self.silent = {}, {}, set()  # by node: handles, what each last said; who said nothing when last asked
        self.lost = {}  # attempts whose agent has died
        self.session, self.asked_at, self.is_closing = uuid.uuid4().hex, time.monotonic(), False

    def find(self):
        """An agent on each node that is alive. One that is made now knows nothing."""
        alive = {each["NodeID"] for each in ray.nodes() if each["Alive"] and each["Resources"].get(self.gpu_resource)}
        for node in alive - set(self.agents):
            try:
                self.agents[node] = ray.get_actor(name_of(node), self.namespace)
            except ValueError:
                self.known[node] = {}
                self.agents[node] = ray.remote(Agent).options(
                    name=name_of(node), namespace=self.namespace, lifetime="detached", num_cpus=0, max_restarts=0, max_concurrency=8,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(self.namespace)

    def list(self):
        """Every attempt that an agent knows. Of one that does not answer, what it last said; where that is nothing: Unheard."""
        with self.lock:
            self.find()
            calls = {node: agent.list.remote() for node, agent in self.agents.items()}
            until, parts, self.silent = time.monotonic() + ANSWER_S, {}, set()
            for node, call in calls.items():
                try:
                    records, parts[node] = ray.get(call, timeout=max(0.01, until - time.monotonic()))
                    self.known[node] = {each["submission_id"]: each for each in records}
                except NO_ANSWER:
                    if node not in self.known:
                        raise Unheard(f"the agent of node {node} does not answer")
                    self.silent.add(node)
                except RayError:  # it has died, or could not be made
                    del self.agents[node]
                    for id, each in self.known.pop(node, {}).items():
                        self.lost[id] = each if each["end_time"] else {
                            **each, "status": "FAILED", "error_type": "NODE_LOST", "message": "its agent has died", "end_time": now_ms()}
            made = dict(self.lost)
            for node, records in self.known.items():
                made.update(records)
                if node in self.silent:  # what was to begin may have begun
                    made.update((id, {**each, "status": "RUNNING"}) for id, each in records.items() if each["status"] == "PENDING")
            # What is left of an attempt whose first agent has died, of this driver's time or before.
            left = {(node, id) for node, ids in parts.items() for id in ids if id not in made or id in self.lost}
            for node, id in left:
                self.agents[node].halt_all.remote(id)
                made[id] = {**made.get(id, record_of(id, "RUNNING", driver_node_id=node)), "status": "RUNNING", "end_time": None, "error_type": None}
            return made

    def start(self, body):
        node, id = body["nodes"][0], body["submission_id"]
        with self.lock:
            self.asked_at = time.monotonic()
            if self.is_closing:
                raise Unheard("this driver ends")
            if node not in self.agents:
                self.find()
            if node not in self.agents:
                raise Unheard(f"node {node} is not alive")
            record = ray.get(self.agents[node].start.remote(body), timeout=ANSWER_S)
            self.known.setdefault(node, {})[id] = record

    def ask(self, id, method):
        """A method of the agent that has this attempt; nothing where none has."""
        with self.lock:
            for node, records in self.known.items():
                if id in records and node in self.agents:
                    return ray.get(getattr(self.agents[node], method).remote(id), timeout=ANSWER_S)

    def forget(self, id):
        self.ask(id, "forget")
        with self.lock:
            for records in (self.lost, *self.known.values()):
                records.pop(id, None)

    def end_when_idle(self):
        """Nobody has asked for a while, and nothing runs: the agents go, too."""
        while True:
            time.sleep(IDLE_S / 10)
            with contextlib.suppress(Exception), self.lock:
                if time.monotonic() - self.asked_at < IDLE_S or not all(each["end_time"] for each in self.list().values()) or self.silent:
                    continue
                self.is_closing = True
                for agent in self.agents.values():
                    ray.kill(agent)
                os._exit(0)


def token():
    """What the dashboard asks for, too; none where it asks for none."""
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        return ""
    made = os.environ.get("RAY_AUTH_TOKEN", "")
    if not made:
        with open(os.path.expanduser(os.environ.get("RAY_AUTH_TOKEN_PATH", "~/.ray/auth_token"))) as file:
            made = file.read().strip()
    if not made:
        sys.exit("schedmate: RAY_AUTH_MODE is token, and there is none")
    return made


def answer_of(driver, method, path, body):
    """Status and what to say, to a request in the words of the Jobs API."""
    if path == "/api/version":
        return 200, {"ray_version": ray.__version__, "session_name": driver.session}
    front, jobs, rest = path.partition("/api/jobs/")
    id, _, what = rest.partition("/")
    if front or not jobs or (method, bool(id), what) not in {("GET", False, ""), ("POST", False, ""), ("GET", True, ""), ("POST", True, "stop"), ("DELETE", True, "")}:
        return 405, "no such request"
    if method == "POST" and not id:
        asked = json.loads(body)
        driver.start(asked)
        return 200, {"submission_id": asked["submission_id"]}
    driver.asked_at = time.monotonic()
    attempts = driver.list()
    if not id:
        return 200, list(attempts.values())
    if id not in attempts:
        if driver.silent:
            raise Unheard("not all agents answer")
        return 404, f"no job {id}"
    if method == "GET":
        return 200, attempts[id]
    if method == "POST":
        driver.ask(id, "stop")
        return 200, {"stopped": not attempts[id]["end_time"]}
    driver.forget(id)
    return 200, {"deleted": True}


def handler(driver, secret):
    class Handler(BaseHTTPRequestHandler):
        protocol_version, timeout = "HTTP/1.1", 10

        def serve(self):
            try:
                status, value = self.checked()
            except (Unheard, *NO_ANSWER) as error:
                status, value = 503, str(error) or type(error).__name__
            except Exception as error:
                status, value = 500, f"{type(error).__name__}: {error}"
            text = value.encode() if isinstance(value, str) else json.dumps(value).encode()
            self.close_connection = self.close_connection or status != 200  # its body may not have been read
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(value, str) else "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def checked(self):
            given, length = self.headers.get("Authorization", ""), self.headers.get("Content-Length") or "0"
            if self.headers.get("Origin") or self.headers.get("Sec-Fetch-Site"):
                return 403, "not for browsers"
            if secret and not hmac.compare_digest(given.encode(), f"Bearer {secret}".encode()):
                return 403 if given else 401, "Unauthorized"
            if not length.isdecimal() or int(length) > MOST_BYTES:
                return 413, "no such length"
            return answer_of(driver, self.command, self.path, self.rfile.read(int(length)))

        do_GET = do_POST = do_DELETE = serve

        def log_message(self, *_):
            pass

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # whoever hung up
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--gpu-resource", default="GPU")
    asked = parser.parse_args()
    secret = token()
    ray.init(address="auto", namespace=asked.namespace, log_to_driver=False, logging_level="ERROR")
    driver = Driver(asked.namespace, asked.gpu_resource)
    host = ray.util.get_node_ip_address() if secret else "127.0.0.1"  # who reaches it runs code as Ray's user
    server = Server((host, 0), handler(driver, secret))
    driver.find()
    threading.Thread(target=driver.end_when_idle, daemon=True).start()
    print(f"schedmate driver: http://{host}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
