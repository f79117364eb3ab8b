#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A probe as a process beside a daemon: probe_test.py SCHEDMATE SCHEDMATED TRACE FAKE_NVML_FOLDER"""
import http.client
import http.server
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "daemon"))
from probe_message import SECRET, gpus, key_of, sealed  # noqa: E402
from site_of import Site, begin_process, expect  # noqa: E402


def own_address():
    """One that is not 127.0.0.1; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.connect(("192.0.2.1", 9))
            return any_socket.getsockname()[0]
        except OSError:
            return "127.0.0.2"


class House:
    """A daemon whose replay runs in real time, and probes beside it."""

    def __init__(self, schedmate, schedmated, trace):
        self.schedmate = schedmate
        self.site = Site(schedmated, trace, 60, '[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
        self.folder = self.site.folder
        text = self.site.config.read_text().replace("[cluster.replay]", "[cluster.replay]\nspeed = 1")
        self.site.config.write_text(text)
        self.secret = self.site.give_probe_secret(SECRET)
        # The replay was started before its speed was known, and that no job ends during the test.
        jobs = self.folder / "jobs.csv"
        head, *rows = jobs.read_text().splitlines()
        jobs.write_text("\n".join([head, *(row.rsplit(",", 1)[0] + ",1000000" for row in rows)]) + "\n")
        self.site.end()
        self.site.serve()
        self.daemon = None
        self.start()

    def start(self):
        self.daemon = self.site.start()
        self.site.wait(self.site.answers, "it answers")
        self.site.wait(lambda: self.nodes(), "it has read the cluster")

    def nodes(self):
        status, made = self.site.ask("GET", "/api/v1/cluster")
        return made["nodes"] if status == 200 else []

    def node(self, name):
        return next(each for each in self.nodes() if each["name"] == name)

    def gpu(self, name, index=0):
        """Nothing of one that is not known: a probe without a core is silent for a while."""
        return (self.node(name)["gpus_state"] or [{}] * 8)[index]

    def wait_for_gpu(self, name, index, what, **states):
        self.site.wait(lambda: states.items() <= self.gpu(name, index).items(), what)

    def listen(self, tcp, names=""):
        """Starts the daemon again, with another door."""
        self.daemon.terminate()
        self.daemon.wait()
        lines = [line for line in self.site.config.read_text().splitlines() if not line.startswith(("tcp =", "names ="))]
        at = lines.index("[listen]") + 1
        self.site.config.write_text("\n".join(lines[:at] + [f'tcp = "{tcp}:{self.site.port}"', names] + lines[at:]) + "\n")
        self.start()

    def status_by(self, address, host):
        connection = http.client.HTTPConnection(address, self.site.port, timeout=60)
        connection.request("GET", "/healthz", headers={"Host": f"{host}:{self.site.port}"})
        return connection.getresponse().status

    def probe(self, node, *flags, address=None):
        return begin_process(
            [self.schedmate, "probe", "--config", self.site.config, "--node", node, "--every", "1",
             "--address", address or f"unix:{self.folder}/api.sock", *flags],
            stderr=open(self.folder / "probe.err", "a"))

    def wait_for_messages(self, count, what):
        """More of them than there were."""
        def taken():
            lines = self.site.ask("GET", "/metrics")[1].splitlines()
            return float(next(line.split()[1] for line in lines if line.startswith('schedmate_probe_messages_total{verdict="taken"}')))

        before = taken()
        self.site.wait(lambda: taken() >= before + count, what)

    def complaints(self):
        """How often probes have said that they do not reach the daemon."""
        return sum("the daemon: " in line and "well again" not in line for line in (self.folder / "probe.err").read_text().splitlines())

    def post(self, body):
        connection = self.site.by_socket()
        connection.request("POST", "/api/v1/probe", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text)

    def end(self):
        self.daemon.terminate()
        self.daemon.wait()
        self.site.end()
        shutil.rmtree(self.folder)


def run(schedmate, *flags):
    return subprocess.run([schedmate, "probe", *map(str, flags)], capture_output=True, text=True, timeout=60)


def alone(schedmate, fakes, folder):
    folder.mkdir()
    log = folder / "kernel.log"
    log.write_bytes(b"\xff\x00\n" + b"x" * 100000 + b"\nNVRM: Xid (PCI:0000:11:00): 79, pid=7, name=model, x\n")
    (folder / "gpus.json").write_text(gpus(40) + gpus(60))
    made = run(schedmate, "--once", "--json", "--nvml-from", folder / "gpus.json", "--kernel-log", log)
    told = json.loads(made.stdout)
    expect("one sample without a daemon", told["samples"][0]["gpus"][7]["used_pct"] == 60)
    expect("the kernel's Xid names its GPU", told["events"][0]["gpu"] == 1 and told["events"][0]["xid"] == 79)
    expect("and no process", "model" not in made.stdout)
    for text, what in (("", "empty"), ("{", "cut"), ("[1,2]", "another document"), ("\0" * 5000, "binary")):
        (folder / "gpus.json").write_text(text)
        told = json.loads(run(schedmate, "--once", "--json", "--nvml-from", folder / "gpus.json", "--kernel-log",
                              log).stdout)
        expect(f"a file of GPUs that is {what} is said to be none", told["samples"][0]["error"])
    told = json.loads(run(schedmate, "--once", "--json", "--kernel-log", log,
                          "--set", f"nvml.library={fakes}/healthy.so").stdout)
    expect("the library is read", told["samples"][0]["gpus"][1]["temperature_c"] == 40)
    expect("memory that is used is what was allocated", told["samples"][0]["gpus"][1]["memory_used_mib"] == 20480)
    made = run(schedmate, "--once", "--kernel-log", folder / "none")
    expect(f"a kernel's log that is not there is named: {made.stderr.strip()}",
           made.returncode == 3 and "none: cannot open" in made.stderr)
    for fake in ("hanging", "crashing", "refusing", "absent"):
        told = json.loads(run(schedmate, "--once", "--json", "--kernel-log", log, "--set",
                              f"nvml.library={fakes}/{fake}.so", "--set", f"nvml.deadline_s={1 if fake == 'hanging' else 60}").stdout)
        error = told["samples"][0]["error"]
        expect(f"a library that is {fake}: {error}", error and ("no answer within 1000 ms" in error) == (fake == "hanging"))


def keys(schedmate, folder):
    secret = folder / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o644)
    setting = ("--set", f"probe.secret_file={secret}")
    made = run(schedmate, "--derive-key", "n1", *setting)
    expect(f"a secret that others may read is refused: {made.stderr.strip()}", made.returncode == 4)
    secret.chmod(0o600)
    made = run(schedmate, "--derive-key", "n1", *setting)
    expect("the key is that of docs/probe.md", made.stdout == f"schedmate-probe-key n1 {key_of('n1')}\n")
    expect("a name that is none is refused", run(schedmate, "--derive-key", "n/1", *setting).returncode == 3)
    key = folder / "n1.key"
    key.write_text(made.stdout)
    key.chmod(0o600)
    made = run(schedmate, "--node", "n2", "--set", f"probe.key_file={key}")
    expect(f"a key of another node is refused: {made.stderr.strip()}", made.returncode == 3)
    expect("without a key it says how to get one", "--derive-key" in run(schedmate, "--node", "n2").stderr)
    secret.write_text("short")
    expect("a short secret is refused", run(schedmate, "--derive-key", "n1", *setting).returncode == 3)


class Exporter:
    """Serves what a dcgm-exporter does of `count` GPUs, or what it is told to."""

    def __init__(self, count=8):
        self.count, self.use, self.answer, self.never = count, 35, None, threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = outer.answer or (200, outer.text())
                if status is None:
                    outer.never.wait()
                self.send_response(status)
                self.send_header("Content-Type", "text/plain")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/metrics"

    def text(self):
        rows = []
        for name, value in (("GPU_UTIL", self.use), ("FB_USED", 3000), ("FB_FREE", 77000), ("GPU_TEMP", 51), ("XID_ERRORS", 0)):
            rows.append(f"# TYPE DCGM_FI_DEV_{name} gauge")
            rows += [f'DCGM_FI_DEV_{name}{{gpu="{i}",UUID="GPU-{i}",pci_bus_id="00000000:{16 + i:02X}:00.0",Hostname="n1"}} {value}'
                     for i in range(self.count)]
        return "\n".join(rows) + "\n"


def by_dcgm(house, name):
    exporter, log = Exporter(), house.folder / "dcgm.log"
    log.write_text("")
    flags = ("--dcgm", exporter.url, "--kernel-log", str(log))

    def once(deadline_s=60):
        return json.loads(run(house.schedmate, "--once", "--json", *flags, "--set", f"nvml.deadline_s={deadline_s}").stdout)["samples"][0]

    read = once()
    expect("a dcgm-exporter is read", not read.get("error") and len(read["gpus"]) == 8 and read["gpus"][7]["used_pct"] == 35
           and read["gpus"][0]["memory_total_mib"] == 80000)
    for answer in ((404, "not here"), (200, "node_load1 0.5\n"), (200, ""), (None, "")):
        exporter.answer = answer
        told = once(1 if answer[0] is None else 60).get("error")
        expect(f"an exporter that says {answer}: {told}", told and ("within 1000 ms" in told) == (answer[0] is None))
    exporter.answer = None
    probe = house.probe(name, *flags)
    house.wait_for_gpu(name, 0, "the daemon hears of it", used_pct=35)
    exporter.use = 80
    house.wait_for_gpu(name, 0, "and of what changes", used_pct=80)
    print("ok: the daemon hears what an exporter serves")
    probe.kill()
    probe.wait()


def refusals(house, name, other):
    body = json.dumps({"every_s": 10, "samples": []})
    status, said = house.post(sealed(name, 1, "", body))
    expect("a session that is not known is a conflict that names it", status == 409 and said["session"])
    session = said["session"]
    good = sealed(name, 1, session, body)
    expect("a message is taken", house.post(good)[0] == 200)
    status, said = house.post(good)
    expect("and not again", status == 409 and said["verdict"] == "replayed" and said["counter"] == 1)
    expect("a node does not speak for another", house.post(sealed(other, 5, session, body, key_of(name)))[0] == 401)
    for hours in (-1, 1):
        status, said = house.post(sealed(name, 2, session, body, time_s=int(time.time()) + 3600 * hours))  # clock: what a message says
        expect(f"a clock {hours} h off: {said['message']}", status == 409 and said["verdict"] == "late")
    expect("an unknown node is not found", house.post(sealed("nowhere", 1, session, body))[0] == 404)
    for junk in (b"", b"{", b"\xff\x00" * 1000, b"[" * 50000, json.dumps({"schema": "schedmate.probe.v1"})):
        expect("garbage is refused", house.post(junk)[0] in (400, 411))
    expect("a report that is none is refused", house.post(sealed(name, 3, session, "[]"))[0] == 400)
    expect("what is huge is refused", house.post(b"x" * 2_000_000)[0] == 413)
    house.daemon.kill()
    house.daemon.wait()
    house.start()
    status, said = house.post(sealed(name, 900, session, body))
    expect("what was sealed before a restart is not taken after it", status == 409 and said["session"] != session)


def flow(house, name):
    site, folder = house.site, house.folder
    state, log = folder / "gpus.json", folder / "kernel.log"
    state.write_text(gpus(30))
    log.write_text("[    1.000000] NVRM: Xid (PCI:0000:13:00): 48, from long ago\n")
    flags = ("--nvml-from", state, "--kernel-log", log)
    probe = house.probe(name, *flags)
    house.wait_for_gpu(name, 0, "the node's GPUs are known", used_pct=30)
    house.wait_for_messages(3, "the log was read")
    house.wait_for_gpu(name, 3, "nothing of what stood in it", xid=[])
    with open(log, "a") as more:
        more.write("[  900.000000] NVRM: Xid (PCI:0000:12:00): 79, pid=5, name=x, GPU has fallen off the bus.\n")
    site.wait(lambda: house.gpu(name, 2).get("xid"), "an Xid is heard of")
    log.rename(folder / "kernel.log.1")
    log.write_text("[  901.000000] NVRM: Xid (PCI:0000:14:00): 74, x\n")
    site.wait(lambda: house.gpu(name, 4).get("xid"), "also after the log was rotated")
    log.write_text("")
    house.wait_for_messages(3, "the log is read when it is empty")
    log.write_text("NVRM: Xid (PCI:0000:15:00): 95, x\n")
    site.wait(lambda: house.gpu(name, 5).get("xid"), "and after it was cut")
    complaints = house.complaints()
    house.daemon.kill()
    house.daemon.wait()
    with open(state, "a") as more:
        more.write(gpus(70))
    site.wait(lambda: house.complaints() > complaints, "the probe says that there is no daemon")
    house.start()
    house.wait_for_gpu(name, 0, "a daemon that comes back is told what is so now", used_pct=70)
    probe.kill()
    probe.wait()
    site.wait(lambda: house.node(name)["probe"]["silent"], "a probe that died is silent")
    expect("and its GPUs are not known", house.node(name)["gpus_state"] is None)
    probe = house.probe(name, *flags)
    site.wait(lambda: not house.node(name)["probe"]["silent"], "one that comes back is not")
    probe.kill()
    probe.wait()
    metrics = site.ask("GET", "/metrics")[1]
    expect("metrics count", "schedmate_probes_silent" in metrics and
           'schedmate_probe_messages_total{verdict="taken"}' in metrics)


def use_of_job(house):
    site, folder = house.site, house.folder

    def running():
        jobs = site.ask("GET", "/api/v1/jobs?state=running")[1]["jobs"]
        return [job for job in jobs if job["nodes"] and job["nodes"][0]["gpus"]]

    site.wait(running, "a job runs")
    job = running()[0]
    state = folder / "busy.json"
    state.write_text(gpus(55))
    (folder / "quiet.log").write_text("")
    probe = house.probe(job["nodes"][0]["node"], "--nvml-from", state, "--kernel-log", folder / "quiet.log")

    def use():
        return site.ask("GET", f"/api/v1/jobs/{job['id']}")[1]["use"]

    site.wait(lambda: use() and use()["readings"] >= 3, "the job's use is measured")
    expect(f"with its mean: {json.dumps(use())[:160]}", use()["gpu_pct_mean"] == 55 and use()["series"])
    probe.kill()
    probe.wait()
    before = use()
    house.daemon.terminate()
    house.daemon.wait()
    house.start()
    expect("a daemon that comes back goes on with it", use() and use()["readings"] >= before["readings"])


def from_another_machine(house, name):
    """By TCP, under an address and names that are not of the loopback."""
    address = own_address()
    state, log = house.folder / "far.json", house.folder / "far.log"
    state.write_text(gpus(20))
    log.write_text("")
    flags = ("--nvml-from", state, "--kernel-log", log)
    wrong = subprocess.run([house.site.daemon, "--config", house.site.config, "--check", "--set",
                            "listen.names=http://head"], capture_output=True, text=True)
    expect(f"a URL is no name: {wrong.stderr.strip()}", wrong.returncode == 3 and "listen.names" in wrong.stderr)
    house.listen(address, 'names = ["Head.example", "fd00::5"]')
    for host in (address, socket.gethostname(), "head.example", "[fd00::5]", "localhost"):
        expect(f"{host} is a name of the daemon at {address}", house.status_by(address, host) == 200)
    expect("that of another site is not", house.status_by(address, "elsewhere.example") == 421)
    for tcp, names in ((address, ""), ("0.0.0.0", f'names = ["{address}"]')):
        house.listen(tcp, names)
        probe = house.probe(name, *flags, address=f"http://{address}:{house.site.port}")
        house.site.wait(lambda: house.node(name)["gpus_state"], f"a probe is heard at {address}, listening on {tcp}")
        print(f"ok: a probe is heard at {address}, listening on {tcp}")
        probe.kill()
        probe.wait()


def main():
    schedmate, schedmated, trace, fakes = sys.argv[1:5]
    house = House(schedmate, schedmated, trace)
    alone(schedmate, fakes, house.folder / "alone")
    keys(schedmate, house.folder / "alone")
    name, other = [node["name"] for node in house.nodes()][:2]
    refusals(house, name, other)
    flow(house, name)
    use_of_job(house)
    by_dcgm(house, name)
    from_another_machine(house, name)
    house.end()


main()
