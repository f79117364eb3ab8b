#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs several draws of jobs on a real Slurm and writes its accounting, for bench/duration_study.cpp.

  duration_bed.py FOLDER DRAWS JOBS SECONDS > dump.txt

Slurm must be up (SLURM_CONF set, with slurmdbd) and the users u<draw><n> are made. FOLDER: users may read it. Each of
DRAWS draws has six users of its own, and JOBS jobs that are submitted within SECONDS. What is drawn (by the number of the
draw): each user has four programs with a length of their own, spread by a log-normal factor; every user asks for a limit of
their own habit (1 to 6 times the program's usual length, in whole minutes); jobs fail or are cancelled at a random moment;
Slurm itself kills what outlasts its limit. One node is lost on the way if NODE_STOP names a command that does it.
A job learns its length from the environment, so no submission shows it.
"""
import os, random, subprocess, sys, time

FIELDS = ("JobIDRaw,JobID,User,Partition,State,ExitCode,Submit,Start,End,ElapsedRaw,TimelimitRaw,ReqTRES,AllocTRES,"
          "NodeList,WorkDir,SubmitLine")
SCRIPT = "#!/bin/sh\nsleep $LENGTH\nexit $CODE\n"


def draw_jobs(draw, jobs, seconds):
    rng = random.Random(1000 + draw)
    programs = []
    for user in range(6):
        habit = rng.choice([1.1, 1.5, 2, 3, 6])
        for number in range(4):
            programs.append((f"u{draw}{user}", f"train{number}.sh", rng.choice([1, 1, 1, 2]), rng.lognormvariate(3.6, 0.7),
                             rng.choice([0.1, 0.3, 0.6]), habit, rng.choice([0, 0.1, 0.3])))
    for _ in range(jobs):
        user, program, gpus, usual, spread, habit, fails = rng.choice(programs)
        length = usual * rng.lognormvariate(0, spread)
        limit = max(1, -(-usual * habit // 60))
        end, code = rng.random(), 0
        cancel = None
        if end < fails:
            length, code = length * rng.random(), 1
        elif end < fails + 0.08:
            cancel = length * rng.random()
        yield (rng.uniform(0, seconds), user, program, gpus, int(limit), max(1, int(length)), code, cancel, rng.randrange(5))


def submit(folder, job):
    _, user, program, gpus, limit, length, code, _, seed = job
    home = f"{folder}/{user}"
    line = ["sbatch", "--parsable", f"--time={limit}", f"--gres=gpu:{gpus}", "--output=/dev/null",
            *(["--no-requeue"] if seed % 2 else []), program, "--seed", str(seed)]
    done = subprocess.run(line, cwd=home, user=user, group=user, extra_groups=[], capture_output=True, text=True,
                          env={**os.environ, "LENGTH": str(length), "CODE": str(code)})
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
    return done.stdout.strip()


def main():
    folder, draws, count, seconds = sys.argv[1], *map(int, sys.argv[2:5])
    for draw in range(draws):
        for number in range(6):
            user = f"u{draw}{number}"
            subprocess.run(["useradd", "--no-create-home", "--user-group", user], capture_output=True)
            os.makedirs(f"{folder}/{user}", exist_ok=True)
            for program in range(4):
                with open(f"{folder}/{user}/train{program}.sh", "w") as script:
                    script.write(SCRIPT)
    jobs = sorted((job for draw in range(draws) for job in draw_jobs(draw, count, seconds)), key=lambda job: job[0])
    begin, cancels = time.monotonic(), []
    lost = "NODE_STOP" not in os.environ
    while jobs or cancels:
        now = time.monotonic() - begin
        while jobs and jobs[0][0] <= now:
            job = jobs.pop(0)
            number = submit(folder, job)
            if number and job[7] is not None:
                cancels.append((now + job[7], number))
        for at, number in [each for each in cancels if each[0] <= now]:
            subprocess.run(["scancel", number], capture_output=True)
        cancels = [each for each in cancels if each[0] > now]
        if not lost and now > seconds / 2:
            lost = True
            subprocess.run(os.environ["NODE_STOP"], shell=True, stdout=sys.stderr)
        time.sleep(0.2)
    while subprocess.run(["squeue", "-h"], capture_output=True, text=True).stdout.strip():
        time.sleep(2)
    time.sleep(5)  # slurmdbd is told in the background
    sys.stdout.write(subprocess.run(["sacct", "--allusers", "--allocations", "--parsable2", "--starttime", "now-1days", "--format",
                                     FIELDS], capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}).stdout)


if __name__ == "__main__":
    main()
