# SPDX-License-Identifier: Apache-2.0
"""slurm_hooks.py SCHEDMATE SCHEDMATED DIR: hooks are installed in the Slurm of DIR, used, and removed without a trace. Prints what
was measured."""

import hashlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

schedmate, schedmated, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
conf, lua, kept = folder / "slurm.conf", folder / "job_submit.lua", folder / "job_submit.site.lua"
epilog = folder / "schedmate_epilog.sh"
log = folder / "log/slurmctld.log"
os.environ["SLURM_CONF"] = str(conf)

SITE = """
function slurm_job_submit(job, partitions, uid)
  if job.name == "refused" then
    slurm.log_user("the site wants no such job")
    return 2015
  end
  if job.name == "fails" then error("the site's script has a bug") end
  if job.name == "nothing" then return end
  if job.name == "noted" then job.admin_comment = "the site's own" end
  job.comment = "seen by the site"
  return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid)
  if job.name == "refused" then return slurm.ERROR end
  return slurm.SUCCESS
end
slurm.log_info("the site's script was loaded")
return slurm.SUCCESS
"""
NAMES = ["plain", "refused", "fails", "nothing", "noted"]


def run(*words, check=True):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
    return done


def install(*words):
    return run(schedmate, "slurm", "install", "--write", *words).stdout


def uninstall():
    return run(schedmate, "slurm", "uninstall", "--write").stdout


def reconfigure():
    run("scontrol", "reconfigure")
    time.sleep(0.6)


def files():
    """Everything beside slurm.conf and in the spool, with rights and contents; not what slurmd notes of jobs' credentials."""
    shown = {}
    for path in [*folder.iterdir(), *(folder / "spool").rglob("*")]:
        if path.is_file() and not path.name.startswith("cred_state"):
            status = path.stat()
            shown[str(path)] = (status.st_mode, status.st_uid, hashlib.sha256(path.read_bytes()).hexdigest())
    return shown


def submit(name="plain", *words):
    return run("sbatch", "--parsable", "-J", name, "-H", "-o", "/dev/null", *words, "--wrap", "true", check=False)


def said(job, key):
    found = re.search(rf"^ *{key}=(.*?) *$", run("scontrol", "show", "job", job).stdout, re.M)
    return found[1] if found else ""


def answers():
    """What becomes of each kind of submission: code, message, comment, note (a tag as "tag")."""
    told = []
    for name in NAMES:
        done = submit(name)
        job = done.stdout.strip()
        note = re.sub(r"^schedmate-tag=[0-9a-f]+\.\d+$", "tag", said(job, "AdminComment")) if job else ""
        told.append((name, done.returncode, done.stderr, said(job, "Comment") if job else "", note))
    return told


def without_tags(told):
    return [(*each[:4], each[4].replace("tag", "")) for each in told]


def controller(what, check=True):
    return run(os.environ["TESTBED"], f"ctld-{what}", str(folder), check=check)


def answers_within(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if run("scontrol", "ping", check=False).stdout.count("is UP"):
            return True
        time.sleep(0.2)
    return False


def restart():
    controller("stop")
    controller("start", check=False)
    return answers_within(8)


def spread(values):
    values = sorted(values)
    return f"median {statistics.median(values):.2f}, p95 {values[int(len(values) * 0.95) - 1]:.2f} ms ({len(values)})"


def test_tags_and_leaves_nothing():
    before = files()
    shown = run(schedmate, "slurm", "install").stdout
    assert "+JobSubmitPlugins=lua" in shown and files() == before
    assert "scontrol reconfigure" in install()
    reconfigure()
    jobs = [submit().stdout.strip() for _ in range(3)] + [submit("array", "-a", "0-3").stdout.strip()]
    tags = [said(job, "AdminComment") for job in jobs]
    assert all(re.fullmatch(r"schedmate-tag=[0-9a-f]+\.\d+", tag) for tag in tags), tags
    assert len(set(tags)) == 4, tags
    uninstall()
    reconfigure()
    assert files() == before
    assert said(submit().stdout.strip(), "AdminComment") == ""


def test_the_sites_script_is_as_before():
    lua.write_text(SITE)
    plain = conf.read_text()
    conf.write_text(plain + "JobSubmitPlugins=lua\n")
    reconfigure()
    before, told = files(), answers()
    assert [each[1] for each in told] == [0, 1, 0, 0, 0], told  # Slurm takes a job on which the script fails
    assert "no such job" in told[1][2], told
    time.sleep(1.1)
    install()  # of a script that is in use already Slurm learns by itself
    time.sleep(1.1)
    hooked = answers()
    assert without_tags(hooked) == told, (told, hooked)
    assert [each[4] for each in hooked] == ["tag", "", "", "", "the site's own"], hooked
    # Changed and broken, as Slurm takes it: what was loaded goes on; a controller does not begin with it.
    kept.write_text(SITE.replace("no such job", "no other job"))
    lua.touch()
    time.sleep(1.1)
    assert "no other job" in submit("refused").stderr
    outcomes = []
    for path, touched in ((kept, lua), (lua, lua)):
        path.write_text("function (")
        touched.touch()
        time.sleep(1.1)
        mark = log.stat().st_size
        one = submit()
        says = "using previous script" in log.read_text()[mark:]
        outcomes.append((one.returncode, says, restart()))
        path.write_text(SITE)
        assert restart()
        if path == kept:
            assert without_tags(answers()) == told
            uninstall()
            time.sleep(1.1)
            assert files() == before and answers() == told
    assert outcomes[0] == outcomes[1] == (0, True, False), outcomes
    lua.unlink()
    conf.write_text(plain)
    reconfigure()


def test_people_edit_in_between():
    plain = conf.read_text()
    for text in (plain, plain.replace("\n", "\r\n"), plain + "JobSubmitPlugins=all_partitions,\\\nthrottle\n",
                 plain + 'JobSubmitPlugins="all_partitions"', plain + "jobsubmitplugins=throttle # ours"):
        conf.write_bytes(text.encode())
        before = files()
        install()
        reconfigure()
        plugins = re.search(r"JobSubmitPlugins *= (.*)", run("scontrol", "show", "config").stdout)[1]
        assert plugins.split(",")[-1].strip() == "lua", plugins
        assert said(submit().stdout.strip(), "AdminComment").startswith("schedmate-tag=")
        with conf.open("ab") as file:
            file.write(b"# a line of a human's\n")
        uninstall()
        eol = "" if text.endswith("\n") else "\n"
        assert conf.read_bytes() == text.encode() + eol.encode() + b"# a line of a human's\n"
        conf.write_bytes(text.encode())
        reconfigure()
        assert files() == before
    conf.write_text(plain)
    reconfigure()


def test_submissions_take_as_long():
    """Nobody listens: the hook asks nobody. In turns, ten and ten."""
    spent, differences = {False: [], True: []}, []
    for turn in range(10):
        for hooked in (False, True) if turn % 2 else (True, False):
            install() if hooked else uninstall()
            reconfigure()
            submit()
            for _ in range(10):
                begun = time.perf_counter()
                done = submit()
                spent[hooked].append((time.perf_counter() - begun) * 1000)
                assert done.returncode == 0, done.stderr
        differences.append(statistics.median(spent[True][-10:]) - statistics.median(spent[False][-10:]))
    uninstall()
    reconfigure()
    print(f"sbatch: without {spread(spent[False])}; with {spread(spent[True])}; "
          f"median of ten turns' differences {statistics.median(differences):+.2f} ms")
    assert statistics.median(differences) < 5, differences


def test_ends_are_told_and_nobody_waits():
    before = files()
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    told = install("--hook", "ends", "--set", f"listen.look_port={port}")
    assert "restart slurmctld" in told and "JobSubmitPlugins" not in told
    assert restart()
    listener.settimeout(20)
    late = []
    for _ in range(20):
        run("sbatch", "-o", "/dev/null", "--wrap", f"date +%s.%N > {folder}/end")
        listener.recv(16)
        late.append((time.time() - float((folder / "end").read_text())) * 1000)
        time.sleep(0.1)
    print(f"from the end of a job to the word: {spread(late)}")
    (folder / "end").unlink()

    def takes(times=100):
        spent = []
        for _ in range(times):
            begun = time.perf_counter()
            run(str(epilog))
            spent.append((time.perf_counter() - begun) * 1000)
        return spread(spent)

    print(f"the epilog, somebody listens: {takes()}")
    flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(20_000):
        flood.sendto(b"x" * 512, ("127.0.0.1", port))
    print(f"the epilog, what was sent fills all room: {takes()}")
    listener.close()
    print(f"the epilog, nobody listens: {takes()}")
    run("sbatch", "-W", "-o", "/dev/null", "--wrap", "true")
    uninstall()
    assert restart()
    time.sleep(1)
    after = files()
    assert after == before, set(after.items()) ^ set(before.items())


def seen_late(poll_ms, port, jobs=8):
    """From the end of a job to its being seen by a daemon that reads the cluster so often."""
    house = Path(tempfile.mkdtemp())
    (house / "site.toml").write_text(
        f'state_dir = "{house}/state"\n[listen]\nunix = "{house}/api.sock"\nlook_port = {port}\n'
        f'[cluster]\nconnector = "slurm"\npoll_ms = {poll_ms}\n')
    daemon = subprocess.Popen([schedmated, "--config", house / "site.toml"], stderr=subprocess.DEVNULL)
    asks = [schedmate, "job", "--json", "--address", f"unix:{house}/api.sock"]
    late = []
    try:
        for number in range(jobs):
            time.sleep(2.3 + 0.37 * number)
            end = house / f"end{number}"
            job = run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", f"date +%s.%N > {end}").stdout.strip()
            while not end.exists() or not end.read_text():
                time.sleep(0.01)
            ended = float(end.read_text())
            while '"completed"' not in run(*asks, job, check=False).stdout:
                assert time.time() < ended + 60, job
                time.sleep(0.02)
            late.append((time.time() - ended) * 1000)
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(house)
    return spread(late)


def test_the_daemon_sees_ends():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(f"seen after an end, no hook, poll_ms 1000: {seen_late(1000, 0)}")
    install("--hook", "ends", "--set", f"listen.look_port={port}")
    assert restart()
    time.sleep(2)
    for poll_ms in (1000, 10_000):
        print(f"seen after an end, hook, poll_ms {poll_ms}: {seen_late(poll_ms, port)}")
    uninstall()
    assert restart()


for name, test in list(globals().items()):
    if name.startswith("test_") and name.startswith(os.environ.get("ONLY", "")):
        begun = time.monotonic()
        test()
        print(f"{name}: passed ({time.monotonic() - begun:.0f} s)", flush=True)
