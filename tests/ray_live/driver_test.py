# SPDX-License-Identifier: Apache-2.0
"""driver_test.py FOLDER: the driver on Ray and its agents (schedmate_driver.py in FOLDER), without a Ray: agents are threads here, and calls
of them fail as Ray's do."""
import json
import os
import signal
import sys
import tempfile
import time
import types

LOGS = tempfile.mkdtemp()


class RayError(Exception):
    pass


class ActorUnavailableError(RayError):
    pass


class GetTimeoutError(RayError):
    pass


class Node:
    """Of which a test says how calls of its agent fail."""
    named = {}

    def __init__(self, name):
        self.name, self.fault, self.agent = name, None, None


class Call:
    def __init__(self, node, agent, name, arguments):
        self.node, self.agent, self.name, self.arguments = node, agent, name, arguments
        self.value = None if node.fault else getattr(agent, name)(*arguments)

    def get(self):
        if self.node.fault:
            raise self.node.fault("as the test has it")
        return self.value


class Handle:
    def __init__(self, node, agent):
        self.node, self.agent = node, agent

    def __getattr__(self, name):
        return types.SimpleNamespace(remote=lambda *arguments: Call(self.node, self.agent, name, arguments))


class Group:
    def wait(self, seconds):
        time.sleep(min(seconds, 0.05))  # clock: a cluster without room
        return Group.has_room


Group.has_room, Group.removed = True, 0
NODES = {name: Node(name) for name in ("n1", "n2")}


def make(agent_class):
    def options(name, scheduling_strategy, **_):
        node = NODES[scheduling_strategy]

        def remote(namespace):
            ray.node = node.name
            node.agent = Handle(node, agent_class(namespace))
            Node.named[name] = node.agent
            return node.agent
        return types.SimpleNamespace(remote=remote)
    return types.SimpleNamespace(options=options)


def get_actor(name, _namespace):
    if name not in Node.named:
        raise ValueError(name)
    return Node.named[name]


def remove_placement_group(_group):
    Group.removed += 1


def module(name, **members):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(members)
    return made


logs = types.SimpleNamespace(get_logs_dir_path=lambda: LOGS)
ray = module("ray", __version__="0", remote=make, get_actor=get_actor, get=lambda call, timeout: call.get(), kill=lambda handle: None,
             nodes=lambda: [{"NodeID": name, "Alive": True, "Resources": {"GPU": 4}} for name in NODES],
             get_runtime_context=lambda: types.SimpleNamespace(gcs_address="", get_node_id=lambda: ray.node),
             _private=types.SimpleNamespace(worker=types.SimpleNamespace(_global_node=logs)))
ray.util = module("ray.util", get_node_ip_address=lambda: "127.0.0.1")
module("ray.exceptions", RayError=RayError, ActorUnavailableError=ActorUnavailableError, GetTimeoutError=GetTimeoutError)
module("ray.util.placement_group", placement_group=lambda bundles, **_: Group(), remove_placement_group=remove_placement_group)
module("ray.util.scheduling_strategies", NodeAffinitySchedulingStrategy=lambda node, soft: node)
sys.path.insert(0, sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../daemon"))
import schedmate_driver  # noqa: E402
from site_of import Site  # noqa: E402

schedmate_driver.UNHEARD_S = 600  # until the case that is about it
driver = schedmate_driver.Driver("test", "GPU")


def expect(what, holds):
    if not holds:
        raise SystemExit(f"FAILED: {what}: {driver.list()}")
    print("ok:", what, flush=True)


def wait(what, holds):
    Site.wait(holds, what)
    print("ok:", what, flush=True)


def ask(method, path, body=b""):
    return schedmate_driver.answer_of(driver, method, path, body)


def start(id, command, nodes=("n1",), start_by=600, counted=True):
    words = ["--run", f"{id}-{os.getpid()}", "--job", "7", "--start-by", str(int(time.time()) + start_by)]  # clock: long, or to be missed
    for node in nodes:
        words += ["--node", f"{node}=0", "--pin", f"id={node}"]
    words += ["--counted", "GPU"] if counted else []
    body = {"submission_id": id, "words": [*words, "--", command], "nodes": list(nodes), "metadata": {"sm_user": "ann"}}
    return ask("POST", "/api/jobs/", json.dumps(body).encode())


def of(id):
    return driver.list()[id]


def status(id):
    return of(id)["status"]


def log(id):
    with open(f"{LOGS}/job-driver-{id}.log") as file:
        return file.read()


def raises(error, call):
    try:
        call()
    except error as raised:
        return str(raised) or True
    return False


# How attempts end.
start("a", "echo hello; exit 3")
start("b", "true")
start("c", "sleep 100")
wait("an attempt ends with the code of its job", lambda: (status("a"), of("a")["driver_exit_code"], of("a")["driver_node_id"]) == ("FAILED", 3, "n1"))
expect("its log is where the dashboard looks for it", log("a") == "hello\n")
wait("another one well", lambda: (status("b"), of("b")["driver_exit_code"]) == ("SUCCEEDED", 0))
wait("one runs", lambda: status("c") == "RUNNING")
expect("a second start of it is none", start("c", "touch /nowhere/x")[0] == 200 and of("c")["entrypoint"] == "sleep 100")
expect("it is stopped", ask("POST", "/api/jobs/c/stop") == (200, {"stopped": True}))
wait("it is stopped", lambda: (status("c"), of("c")["driver_exit_code"]) == ("STOPPED", None))
start("d", "trap 'exit 0' TERM; echo begun; while true; do sleep 0.05; done")
wait("one runs", lambda: status("d") == "RUNNING" and log("d") == "begun\n")
wait("groups go with what they were for", lambda: Group.removed == 3)
ask("DELETE", "/api/jobs/a")
expect("one that is over is forgotten when told so", ask("GET", "/api/jobs/a")[0] == 404)
ask("DELETE", "/api/jobs/d")
expect("one that runs is not", status("d") == "RUNNING")
ask("POST", "/api/jobs/d/stop")
Group.has_room = False
start("e", "touch /nowhere/x", start_by=1)
wait("one without room is too late", lambda: of("e")["driver_exit_code"] == 75 and "schedmate: too late" in of("e")["message"])
start("f", "true")
ask("POST", "/api/jobs/f/stop")
wait("one without room yet is stopped", lambda: status("f") == "STOPPED")
Group.has_room = True

# Several nodes.
start("g", "echo $NODE_RANK of $NNODES; sleep 0.2", ("n1", "n2"))
wait("a job on two nodes ends well", lambda: status("g") == "SUCCEEDED")
expect(f"with what both have said: {log('g')!r}", sorted(log("g").splitlines()) == ["0 of 2", "[node 1] 1 of 2"])
start("h", "[ $NODE_RANK = 1 ] && exit 7; sleep 100", ("n1", "n2"))
wait("the first that fails ends the others", lambda: of("h")["driver_exit_code"] == 7)
start("i", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end", ("n1", "n2"))
wait("one with a long line ends", lambda: status("i") == "SUCCEEDED")
expect("and nothing of its log is missing", log("i").replace("[node 1] ", "").count("x") == 6000000 and log("i").count("end\n") == 2)
start("j", "sleep 100", ("n1", "n2"))
wait("one runs", lambda: status("j") == "RUNNING")

# Agents that do not answer, or are dead.
for fault in (GetTimeoutError, ActorUnavailableError):
    NODES["n1"].fault = fault
    expect(f"of an agent that does not answer ({fault.__name__}), what it last said", status("j") == "RUNNING" and status("b") == "SUCCEEDED")
    expect("and of an id that nobody knows, nothing", "agents" in raises(schedmate_driver.Unheard, lambda: ask("GET", "/api/jobs/unknown")))
    expect("a start that it does not confirm is none that is known", raises(RayError, lambda: start("x", "true")))
    another = schedmate_driver.Driver("test", "GPU")
    expect("a driver that begins anew says nothing before it has heard all", raises(schedmate_driver.Unheard, another.list))
NODES["n1"].fault = None
expect("an id that nobody knows is none once all answer", ask("GET", "/api/jobs/unknown")[0] == 404)
part = NODES["n2"].agent.agent.parts["j.1"]
NODES["n1"].fault = RayError
del Node.named["agent-1-n1"]
part.process.send_signal(signal.SIGSTOP)
first = driver.list()
expect("an attempt whose agent has died runs as long as anything of it does", first["j"]["status"] == "RUNNING" and part.code() is None)
part.process.send_signal(signal.SIGCONT)
NODES["n1"].fault = None
wait("that is ended", lambda: part.code() is not None)
expect("then it is lost", (status("j"), of("j")["error_type"], of("j")["driver_exit_code"]) == ("FAILED", "NODE_LOST", None))
expect("what had ended has", status("b") == "SUCCEEDED")
start("k", "true")
wait("a new agent is made", lambda: status("k") == "SUCCEEDED")
start("l", "sleep 100", ("n1", "n2"))
wait("one runs", lambda: status("l") == "RUNNING" and "l.1" in NODES["n2"].agent.agent.parts)
part = NODES["n2"].agent.agent.parts["l.1"]
NODES["n2"].fault = RayError
wait("an attempt that has lost another node is lost", lambda: of("l")["error_type"] == "NODE_LOST")
NODES["n2"].fault = None
schedmate_driver.UNHEARD_S = 2
wait("a process that nobody asks for ends", lambda: part.code() is not None)

# A halt that comes before what it is for.
agent = NODES["n2"].agent.agent
agent.halt("m.1")
agent.begin("m.1", ["--run", "m", "--start-by", str(2**40), "--", "touch /nowhere/x"])
expect("a halt that comes first is one, too", agent.look("m.1", 0) == (b"", -15, False) and "m.1" not in agent.parts)
agent.begin("n.1", ["--run", "n", "--start-by", "5", "--", "touch /nowhere/x"])
expect("a process that is too late is not begun", "n.1" not in agent.parts)

for method, path in (("POST", "/api/other"), ("PUT", "/api/jobs/"), ("GET", "/x/api/jobs/"), ("POST", "/api/jobs/k"), ("GET", "/api/jobs/k/stop")):
    expect(f"{method} {path} is no request", ask(method, path)[0] == 405)
ask("POST", "/api/jobs/l/stop")
os._exit(0)
