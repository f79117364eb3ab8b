# SPDX-License-Identifier: Apache-2.0
"""Runs one job of SchedMate on the node of a Ray cluster on which Ray has started this program.

The job has the GPUs that SchedMate chose, and nothing of it is left once this program has ended: not when
the job ends, is stopped or reaches its limit, and not when this program, Ray's supervisor of it or the
whole raylet is killed. Several --node: one process on each, in a placement group. Standard library only,
but for `ray` where there are several nodes.
"""
import argparse
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time

TOO_LATE = 75  # it never ran: beyond --start-by, or without room for all of its nodes
LIMIT = 124
LOOK_S = 0.2
WEEK_S = 7 * 86400
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def say(text):
    print("schedmate: " + text, flush=True)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def parents():
    """The parent of each process, by pid."""
    made = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            words = read(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if len(words) > 1 and words[0] != b"Z":
                made[int(name)] = int(words[1])
    return made


def processes_of(run, roots, spared):
    """Those that carry the mark of this run in their environment, and all below these roots."""
    parent = parents()
    mark = b"SCHEDMATE_RUN=" + run.encode()
    found = {pid for pid in parent if mark in read(f"/proc/{pid}/environ").split(b"\0")}
    found |= {pid for pid, of in parent.items() if of in roots}
    while True:
        more = {pid for pid, of in parent.items() if of in found} - found
        if not more:
            return found - spared - {os.getpid()}
        found |= more


def sweep(run, roots, spared, first=signal.SIGKILL):
    """Ends all of them; a process that is born meanwhile is found in the next round. `first`: what they are sent a second before."""
    told, kills_from = set(), time.monotonic() + (0 if first == signal.SIGKILL else 1)
    until = kills_from + 1
    while time.monotonic() < until:
        left = processes_of(run, roots, spared)
        if not left:
            return
        is_over = time.monotonic() >= kills_from
        for pid in left if is_over else left - told:
            try:
                os.kill(pid, signal.SIGKILL if is_over else first)
            except OSError:
                pass
        told |= left
        time.sleep(0.02 if is_over else 0.05)


def stand_guard(run):
    """A process of its own that waits for the end of this one, however it comes, and sweeps. Its pid and
    what is open as long as this process is."""
    reading, writing = os.pipe()
    guard = os.fork()
    if guard:
        os.close(reading)
        return guard, writing
    os.setsid()
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    os.close(writing)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the log must not wait for this process
        os.dup2(null, stream)
    while os.read(reading, 1):
        pass
    sweep(run, set(), set())
    os._exit(0)


class Stopped(Exception):
    pass


def stop(_number, _frame):
    raise Stopped


def environment(asked):
    made = dict(os.environ)
    gpus = asked.node[asked.rank].partition("=")[2] if asked.node else ""
    made["CUDA_VISIBLE_DEVICES"] = gpus
    made["SCHEDMATE_RUN"] = asked.run
    made["SCHEDMATE_JOB"] = asked.job
    made["SCHEDMATE_NODE"] = asked.node[asked.rank].partition("=")[0] if asked.node else ""
    made["NODE_RANK"] = str(asked.rank)
    made["NNODES"] = str(len(asked.node))
    if asked.master:
        made["MASTER_ADDR"], _, made["MASTER_PORT"] = asked.master.rpartition(":")
    return made


def wait_for(child, asked, parent):
    """How it ended; nothing: it is to be ended, and why."""
    until = time.monotonic() + asked.limit if asked.limit else None
    while True:
        code = child.poll()
        if code is not None:
            return code, ""
        if until and time.monotonic() > until:
            return None, "limit"
        if os.getppid() != parent:
            return None, "orphan"
        time.sleep(LOOK_S)


def run_here(asked):
    """One process with all that it starts; the exit code."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0)
    guard, kept_open = stand_guard(asked.run)
    spared = {guard}
    output = None
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    code, why = None, "stopped"
    try:
        if asked.output:
            output = open(os.path.join(asked.dir or ".", asked.output), "ab")
        child = subprocess.Popen(["/bin/sh", "-c", asked.command], cwd=asked.dir or None, env=environment(asked),
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        code, why = wait_for(child, asked, parent)
    except OSError as error:
        say(f"cannot run: {error}")
        code, why = 126, ""
    except Stopped:
        pass
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sweep(asked.run, {os.getpid()}, spared, signal.SIGKILL if code is not None or why == "orphan" else signal.SIGTERM)
    os.close(kept_open)  # the guard looks once more, and goes
    try:
        os.waitpid(guard, 0)
    except OSError:
        pass
    if why == "limit":
        say(f"its limit of {asked.limit} s was reached")
        return LIMIT
    if why:
        return -signal.SIGTERM
    return code


def run_rank(asked_words, python, script):
    """In a worker of Ray on one node of several: what its process prints, line by line, then its exit code."""
    import subprocess
    child = subprocess.Popen([python, script] + asked_words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in child.stdout:
        yield line
    yield child.wait()


def bundles_of(asked):
    made, selectors = [], []
    for node, pin in zip(asked.node, asked.pin):
        bundle = {}
        gpus = node.partition("=")[2]
        if asked.counted:
            bundle[asked.counted] = len(gpus.split(","))
        kind, _, name = pin.partition("=")
        selectors.append({"ray.io/node-id": name} if kind == "id" else {})
        if kind == "resource":
            bundle[name] = 0.001
        if not bundle:
            bundle["CPU"] = 0.001
        made.append(bundle)
    return made, selectors


def master_of(asked, host):
    """Where the processes of a job on several nodes meet."""
    return f"{host}:{20000 + int(asked.job or 0) % 10000}"


def run_gang(asked, words):
    """All of its nodes or none; the first process that fails ends the others."""
    import threading

    import ray
    from ray.util.placement_group import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
    bundles, selectors = bundles_of(asked)
    more = {"bundle_label_selector": selectors} if any(selectors) else {}
    group = placement_group(bundles, strategy="STRICT_SPREAD", **more)
    code, lock = [None], threading.Lock()
    over = threading.Event()
    try:
        if not group.wait(max(1, int(asked.start_by - time.time()))):
            say("too late: there was no room for all of its nodes")
            return TOO_LATE
        host = ray.get(ray.remote(num_cpus=0)(lambda: ray.util.get_node_ip_address()).options(
            scheduling_strategy=PlacementGroupSchedulingStrategy(group, 0)).remote())
        master = master_of(asked, host)

        def follow(rank, parts):
            ended = -signal.SIGKILL
            try:
                for part in parts:
                    each = ray.get(part)
                    if isinstance(each, int):
                        ended = each
                        continue
                    with lock:
                        sys.stdout.buffer.write(b"" if rank == 0 else b"[node %d] " % rank)
                        sys.stdout.buffer.write(each)
                        sys.stdout.buffer.flush()
            except Exception as error:
                say(f"node {rank} is lost: {type(error).__name__}")
            with lock:
                if ended != 0 and code[0] is None:
                    code[0] = ended
            if ended != 0:
                over.set()

        threads = []
        for rank in range(len(asked.node)):
            counted = {"num_gpus": bundles[rank]["GPU"]} if asked.counted == "GPU" else {}
            task = ray.remote(run_rank).options(num_cpus=0, max_retries=0, num_returns="streaming",
                                                scheduling_strategy=PlacementGroupSchedulingStrategy(group, rank),
                                                **counted)
            parts = task.remote(["--rank", str(rank), "--master", master] + words, asked.python, script_name())
            threads.append(threading.Thread(target=follow, args=(rank, parts), daemon=True))
            threads[-1].start()
        while not over.is_set() and any(thread.is_alive() for thread in threads):
            over.wait(LOOK_S)
        return code[0] or 0
    except Stopped:
        return -signal.SIGTERM
    finally:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)
        remove_placement_group(group)  # and what runs in it
        ray.shutdown()


def script_name():
    return os.path.basename(__file__)


def remove_package():
    """The folder that Ray has unpacked for this attempt alone, and would keep for others."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if os.path.basename(folder).startswith("_ray_pkg_sm_"):
        shutil.rmtree(folder, ignore_errors=True)


def note_end(folder, run):
    """An empty file that says that this attempt has ended well, for the case that Ray's head forgets it. Those of
    last week go."""
    try:
        with open(os.path.join(folder, run), "x"):
            pass
    except OSError as error:
        return say(f"cannot note its end in {folder}: {error}")
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        for each in files:
            with contextlib.suppress(OSError):  # another attempt that ends may take it away
                seen = each.stat(follow_symlinks=False)
                if each.name.startswith("sm-") and not seen.st_size and seen.st_mtime < time.time() - WEEK_S:
                    os.unlink(each.path)


def end(code, asked=None):
    """As its job has ended: with that code, or by that signal. `asked`: of a whole job, not of its part on one node,
    since the others may share the folder."""
    sys.stdout.flush()
    if asked:
        if code == 0 and asked.ends:
            note_end(asked.ends, asked.run)
        remove_package()
    if code >= 0:
        os._exit(code)
    signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    os.kill(os.getpid(), -code)
    time.sleep(1)
    os._exit(128 - code)


def read_words(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--job", default="")
    parser.add_argument("--run", required=True, help="mark of all that belongs to this attempt")
    parser.add_argument("--start-by", type=int, default=0)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--dir", default="")
    parser.add_argument("--output", default="")
    parser.add_argument("--node", action="append", default=[], help="NAME=GPU,GPU...")
    parser.add_argument("--pin", action="append", default=[], help="id=NODE_ID or resource=NAME, of each node")
    parser.add_argument("--counted", default="", help="the resource by which Ray counts its GPUs")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--ends", default="", help="folder in which an attempt that ends well is noted")
    parser.add_argument("--rank", type=int, default=-1)
    parser.add_argument("--master", default="")
    parser.add_argument("command")
    return parser.parse_args(words)


def main():
    asked = read_words(sys.argv[1:])
    if asked.start_by and asked.rank < 0 and time.time() > asked.start_by:
        say("too late: it may have been started elsewhere since")
        end(TOO_LATE, asked)
    if len(asked.node) > 1 and asked.rank < 0:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, stop)
        end(run_gang(asked, sys.argv[1:]), asked)
    is_whole = asked.rank < 0
    if not is_whole:  # nodes may be on one machine: each ends its own part
        asked.run += f".{asked.rank}"
    asked.rank = max(asked.rank, 0)
    end(run_here(asked), asked if is_whole else None)


if __name__ == "__main__":
    main()
