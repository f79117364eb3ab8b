# SPDX-License-Identifier: Apache-2.0
"""launch_test.py PROGRAM: what runs a job on its node (schedmate_launch.py), without a Ray: how jobs end, and that nothing outlives them."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../daemon"))
from site_of import Site, begin_process, expect  # noqa: E402

launcher = os.path.realpath(sys.argv[1])
folder = tempfile.mkdtemp()
runs = 0


def begin(command, *words):
    global runs
    runs += 1
    mark = f"test-{os.getpid()}-{runs}"
    program = begin_process([sys.executable, launcher, "--run", mark, *words, "--", command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, start_new_session=True)
    return mark, program


def begin_rank(rank, command):
    return begin_process([sys.executable, launcher, "--run", f"test-{os.getpid()}-pair", "--node", "a=0", "--node", "b=1", "--rank", rank, "--", command])


def run(command, *words):
    mark, program = begin(command, *words)
    said = program.communicate(timeout=60)[0].decode()
    return program.returncode, said, mark


def sleeping(tag):
    """Processes whose command line has the tag."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/stat") as file:
                is_zombie = ") Z" in file.read()
        except OSError:
            continue
        if tag.encode() in words and words[0].endswith(b"sleep") and not is_zombie:
            found.append(int(pid))
    return found


def wait_until_there(tag, count):
    Site.wait(lambda: len(sleeping(tag)) == count, f"{count} processes sleep {tag}")


def expect_gone(tag, what):
    Site.wait(lambda: not sleeping(tag), what)
    print("ok:", what)


code, said, mark = run("echo $CUDA_VISIBLE_DEVICES $SCHEDMATE_NODE $SCHEDMATE_JOB $SCHEDMATE_RUN; pwd; exit 3", "--node", "w1=0,2", "--job",
                       "7", "--dir", folder)
expect("GPUs, node, job and folder are as asked", said == f"0,2 w1 7 {mark}\n{os.path.realpath(folder)}\n")
expect("its code is the job's", code == 3)
expect("a signal is the job's", run("kill -SEGV $$")[0] == -signal.SIGSEGV)
expect("a job that is too late never runs", run("echo ran", "--start-by", "5")[:2] == (75, "schedmate: too late: it may have been started elsewhere since\n"))
code, said, _ = run("echo ran", "--start-by", str(int(time.time()) + 600), "--output", "out", "--dir", folder)  # clock: it is given ten minutes
expect("output goes to its file", said == "" and open(f"{folder}/out").read() == "ran\n")
run("echo again", "--output", "out", "--dir", folder)
expect("a second attempt appends", open(f"{folder}/out").read() == "ran\nagain\n")
ends = os.path.join(folder, "ends")
os.mkdir(ends)
for name, text in (("sm-old-1-1", ""), ("sm-model.pt", "weights")):
    with open(f"{ends}/{name}", "x") as file:
        file.write(text)
    os.utime(f"{ends}/{name}", (0, 0))
mark = run("true", "--ends", ends)[2]
expect("a job that ends well is noted, and such notes older than a week go", set(os.listdir(ends)) == {mark, "sm-model.pt"})
os.unlink(f"{ends}/sm-model.pt")
for command, words in (("false", ()), ("kill -TERM $$", ()), ("sleep 1000", ("--limit", "1")), ("true", ("--start-by", "5"))):
    run(command, "--ends", ends, *words)
expect("no other end is", os.listdir(ends) == [mark])
code, said, _ = run("true", "--ends", "/nowhere")
expect("a folder that cannot be written is told, and the job has ended well", code == 0 and "cannot note its end in /nowhere" in said)
expect("a folder that is not there is told", run("true", "--dir", "/nowhere")[0] == 126)

MANY = "sleep {0} & setsid sleep {0} & (setsid sh -c 'sleep {0} & sleep {0}' &) ; sleep {0}"
tags = [f"{number}.{os.getpid()}" for number in range(1001, 1008)]  # this run's
code, said, _ = run(MANY.format(tags[0]).replace(f"; sleep {tags[0]}", "; sleep 0.3"))
expect("a job ends well", code == 0)
expect_gone(tags[0], "it leaves nothing that it has started")
code, said, _ = run(MANY.format(tags[1]), "--limit", "1")
expect("a limit ends it", code == 124 and "limit of 1 s" in said)
expect_gone(tags[1], "and all of it")


def ended_by(number, tag, what, command=MANY, count=5):
    _, program = begin(command.format(tag))
    wait_until_there(tag, count)
    os.kill(program.pid, number)
    program.communicate(timeout=60)
    expect_gone(tag, what)
    return program.returncode


expect("a stop is a job's end", ended_by(signal.SIGTERM, tags[2], "a stop ends all of it") == -signal.SIGTERM)
ended_by(signal.SIGTERM, tags[3], "a job that does not heed a stop ends, too", "trap '' TERM; sleep {0} & sleep {0}", 2)
expect("SIGKILL of what runs it is seen",
       ended_by(signal.SIGKILL, tags[4], "SIGKILL of what runs it ends all of it") == -signal.SIGKILL)

# Two nodes of one job, on one machine: the end of one is not the end of the other.
second = begin_rank("1", f"sleep {tags[6]}")
wait_until_there(tags[6], 1)
expect("the first node ends well", begin_rank("0", "true").wait(timeout=60) == 0)
expect("the second node runs on", len(sleeping(tags[6])) == 1)
second.terminate()
second.wait(timeout=60)
expect_gone(tags[6], "until it is stopped")

package = os.path.join(folder, "_ray_pkg_sm_x_1_1")
os.mkdir(package)
shutil.copy(launcher, package)
subprocess.run([sys.executable, f"{package}/{os.path.basename(launcher)}", "--run", f"test-{os.getpid()}-package", "--", "true"], check=True)
expect("the folder that was unpacked for it goes with it", not os.path.exists(package))

# What Ray runs it from is killed: the program has another parent.
tag = tags[5]
watcher = begin_process([sys.executable, "-c", "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True).wait()",
                         sys.executable, launcher, "--run", f"test-{os.getpid()}-orphan", "--", MANY.format(tag)])
wait_until_there(tag, 5)
watcher.kill()
watcher.wait()
expect_gone(tag, "a job whose watcher is gone ends")
