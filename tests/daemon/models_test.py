#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Language models for what users ask the daemon: models_test.py SCHEDMATED SCHEDMATE_READER TRACE.
Needs root, to be several users; without: skipped."""
import http.server
import json
import os
import pathlib
import pwd
import shutil
import sys
import threading

from readings_test import asked_by
from site_of import Site, expect

ANN, BOB, CAT, DAN = "nobody", "games", "mail", "news"
TOKEN = "smt-token-of-the-lab-4711"
TASK = ("import torch\nfrom work import find_task, net\n# batch_size = 512\ntask = find_task('denoising')\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor epoch in range(10):\n    optimizer.step()\n")
FAILURE = "step 1 loss 2.5\n{}\nfatal: the fan tray of n7 reports a hardware fault 0x17\n"


class Lab(http.server.ThreadingHTTPServer):
    """A chat server. It hangs for prompts with one of the words in `hangs`, until `go_on` is set."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen, self.hangs, self.says, self.go_on = [], set(), None, threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def texts(self):
        """Of the prompts, without the canary's."""
        return [text for text in map(json.dumps, self.seen) if "quorvelash" not in text]

    def reply_to(self, body):
        if "quorvelash" in json.dumps(body):
            return {"word": "quorvelash"}
        if self.says is not None:
            return self.says
        if '"component"' in json.dumps(body.get("response_format", {})):
            return {"reason": "the fan tray reports a hardware fault", "line": 3, "class": "infrastructure",
                    "component": "other"}
        return {"thought": "seen", "action": None,
                "answer": {"task": {"value": "denoising", "file": "train.py", "line": 4},
                           "batch_size": {"value": 512, "file": "train.py", "line": 3}}}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append({**body, "authorization": self.headers.get("Authorization")})
        if any(word in json.dumps(body) for word in self.server.hangs):
            self.server.go_on.wait()
        said = self.server.reply_to(body)
        text = said if isinstance(said, str) else json.dumps(
            {"model": "m", "choices": [{"index": 0, "finish_reason": "stop",
                                        "message": {"role": "assistant", "content": json.dumps(said)}}],
             "usage": {"prompt_tokens": 500, "completion_tokens": 10}})
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            pass  # nobody waits any more

    def log_message(self, *_):
        pass


class House(Site):
    """A daemon and its reader that may ask the lab."""

    def __init__(self, programs, lab, settings="", deadline_s=20):
        self.daemon, self.reader, trace = programs
        super().__init__(self.daemon, trace, 20, '[order]\npolicy = "fifo"\n', listen="\n")
        self.folder.chmod(0o755)
        token = self.folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        with open(self.config, "a") as config:
            config.write(f'[reader]\nsocket = "{self.folder}/reader.sock"\nuid_min = 0\ndeadline_s = {deadline_s}\n')
            if lab:
                config.write(f'[llm.lab]\nurl = "{lab.url}"\nmodel = "m"\ntoken_file = "{token}"\n{settings}')
        self.homes = {}
        for user in (ANN, BOB, CAT, DAN):
            home = self.homes[user] = self.folder / user
            home.mkdir()
            (home / "train.py").write_text(TASK)
            for each in (home, home / "train.py"):
                shutil.chown(each, user, pwd.getpwnam(user).pw_gid)
                each.chmod(0o700)

    def begin_all(self, use=None):
        if use:
            with open(self.config, "a") as config:
                config.write(f'[llm]\nuse = "{use}"\n')
        self.process = self.begin()
        self.reads = self.begin_reader(self.reader)

    def advise(self, user, word="plain"):
        return self.post(user, "advise", self.job(user, word))

    def asks(self, user, word):
        """Status and answer, whatever they are."""
        return asked_by(self, user, "POST", "/api/v1/advise", self.job(user, word))[::2]

    def job(self, user, word):
        return {"dir": str(self.homes[user]), "command": f"python train.py --name {word}"}

    def diagnose(self, user, text):
        return self.post(user, "diagnose", {"text": text})

    def post(self, user, what, body):
        status, _, answer = asked_by(self, user, "POST", f"/api/v1/{what}", body)
        expect(f"{what} for {user}: {status} {answer.get('message', '')}", status == 200)
        return answer

    def end_all(self):
        self.process.terminate()
        expect("the daemon ends with 0", self.process.wait(timeout=60) == 0)
        self.reads.terminate()
        expect("so does the reader", self.reads.wait(timeout=60) == 0)
        self.end()


def is_by_model(advice):
    task = advice["facts"]["facts"]["task"]
    return task["value"] == "denoising" and task["source"] == "model"


def degraded(answer):
    return json.dumps(answer["facts"]["degraded"] if "facts" in answer else answer["degraded"])


def without_times(answer):
    text = json.loads(json.dumps(answer))
    text.get("facts", {}).pop("wall_ms", None)
    return text


def found_in(pid, *words):
    """Those of the words that a process could read in its memory."""
    found = set()
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                span, rights = line.split()[:2]
                begin, end = (int(each, 16) for each in span.split("-"))
                if "r" in rights and "[v" not in line:
                    try:
                        memory.seek(begin)
                        piece = memory.read(end - begin)
                        found.update(word for word in words if word.encode() in piece)
                    except OSError:
                        pass
    except OSError:
        pass
    return found


def text_of(pid, what):
    """Of a process; nothing where it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""


def children_of(pid):
    found = []
    for each in pathlib.Path("/proc").iterdir():
        try:
            if each.name.isdigit() and int(each.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found += [int(each.name), *children_of(int(each.name))]
        except OSError:
            pass
    return found


class Together:
    """Questions at once."""

    def __init__(self, *works):
        self.done = [None] * len(works)
        self.threads = [threading.Thread(target=self.run, args=each, daemon=True) for each in enumerate(works)]
        for each in self.threads:
            each.start()

    def run(self, number, work):
        self.done[number] = work()

    def results(self):
        for each in self.threads:
            each.join()
        return self.done


def with_and_without(programs):
    plain, unused, lab = House(programs, None), None, Lab()
    plain.begin_all("none")
    unused = House(programs, lab)
    unused.begin_all("none")
    for user, text in ((ANN, FAILURE.format("x")), (BOB, "CUDA error: out of memory\n")):
        expect("with use = none a diagnosis is as without a table of models",
               plain.diagnose(user, text) == unused.diagnose(user, text))
    answers = [without_times(each.advise(ANN)) for each in (plain, unused)]
    for each, house in zip(answers, (plain, unused)):
        each.update(json.loads(json.dumps(each).replace(str(house.folder), "HERE")))
    expect("so is advice", answers[0] == answers[1] and not lab.seen)
    expect("and both say so", "model: not asked" in degraded(unused.diagnose(ANN, FAILURE.format("x"))))
    for each in (plain, unused):
        each.end_all()
    return answers[0]["facts"]["facts"]


def contributes(programs, rules):
    lab = Lab()
    house = House(programs, lab)
    house.begin_all("lab")
    advice = house.advise(ANN)
    expect("a model fills a gap, with the line that proves it", is_by_model(advice)
           and advice["facts"]["facts"]["task"]["evidence"][0]["line"] == 4)
    expect("what no line proves is dropped", advice["facts"]["facts"]["batch_size"]["value"] is None
           and advice["facts"]["cost"]["model_dropped"] == 1 and advice["facts"]["cost"]["model_calls"] == 1)
    expect("the daemon has the token", lab.seen[0]["authorization"] == f"Bearer {TOKEN}")
    verdict = house.diagnose(BOB, FAILURE.format("the password = hunter2hunter2"))
    expect(f"a model names a cause that no rule knows: {verdict['reason']}", verdict["by"] == "scan/model"
           and verdict["class"] == "infrastructure" and verdict["root_line"] == 3)
    expect("no secret leaves", not any("hunter2" in text for text in lab.texts()))
    count = len(lab.texts())
    expect("another's advice on the same is asked for anew", is_by_model(house.advise(BOB)) and len(lab.texts()) > count)
    expect("with nothing of the first", not any(str(house.homes[ANN]) in text or ANN in text for text in lab.texts()[count:]))
    ledger = "".join(each.read_text() for each in house.state.glob("tokens-*"))
    expect(f"each pays by uid: {ledger.split()}", all(f" uid-{pwd.getpwnam(user).pw_uid}\n" in ledger for user in (ANN, BOB)))
    lies(house, lab, rules)
    house.end_all()


def lies(house, lab, rules):
    lab.says = {"thought": "", "action": None, "answer": {"task": {"value": "translation", "file": "train.py", "line": 4},
                                                         "optimizer": {"value": "AdamW", "file": "/etc/passwd", "line": 1}}}
    advice = house.advise(CAT)
    expect("a lie changes nothing", advice["facts"]["facts"] == rules and advice["facts"]["cost"]["model_dropped"] > 0)
    for what, says in (("no JSON", "Sure! Here it is:"), ("nothing of the schema", {"class": "n7"}), ("2 MiB", "x" * (2 << 20)),
                       ("brackets", "[" * 100000), ("another's words", {"result": {"user": ANN}})):
        lab.says = says
        verdict = house.diagnose(CAT, FAILURE.format("x"))
        expect(f"{what}: the rules' answer stands: {degraded(verdict)[:90]}", verdict["class"] == "other"
               and "model" in degraded(verdict))
    lab.says = None
    expect("others are served", house.diagnose(BOB, FAILURE.format("y"))["by"] == "scan/model")


def budgets(programs):
    lab = Lab()
    house = House(programs, lab, "tokens_per_user = 1200\n")
    house.begin_all("lab")
    said = [house.diagnose(ANN, FAILURE.format(n)) for n in range(5)]
    expect("a user's tokens are used up", [each["by"] for each in said][0] == "scan/model" and "tokens_per_user" in degraded(said[-1]))
    count = len(lab.seen)
    expect("then nothing is sent for that user", "tokens_per_user" in degraded(house.diagnose(ANN, FAILURE.format("z")))
           and len(lab.seen) == count)
    expect("another still has answers", house.diagnose(BOB, FAILURE.format("x"))["by"] == "scan/model")
    house.reads.terminate()
    house.process.terminate()
    house.process.wait()
    house.reads.wait()
    house.begin_all()
    expect("a restart forgets no budget", "tokens_per_user" in degraded(house.diagnose(ANN, FAILURE.format("w"))))
    house.end_all()


def beside_a_flood(house, lab):
    """All else is answered while those of a flood that ask a model wait for it; they have its answers afterwards."""
    lab.seen.clear()
    flood = Together(*[lambda n=n: house.asks(ANN, f"slowly-{n}-") for n in range(12)])
    waiting = lambda: [n for n in range(12) if any(f"slowly-{n}-" in text for text in lab.texts())]
    house.wait(lambda: len(waiting()) >= 2, "a model is asked")
    first = waiting()
    look_for_token(house)
    for user in 3 * (BOB, ANN):
        house.diagnose(user, "CUDA error: out of memory\n")
    expect("another's question is answered beside a flood", house.diagnose(BOB, FAILURE.format("x"))["by"] == "scan/model"
           and is_by_model(house.advise(CAT)))
    expect("while the flood waits", not any(flood.done[n] for n in first))
    lab.go_on.set()
    statuses, answers = zip(*flood.results())
    expect(f"the flood is answered: {statuses}", set(statuses) == {200} and all(is_by_model(answers[n]) for n in first))
    reasons = {degraded(each) for each in answers if not is_by_model(each)}
    expect(f"and says why without a model: {reasons}", all("no answer from the model lab" in each for each in reasons))


def hangs(programs):
    lab = Lab()
    house = House(programs, lab, "deadline_s = 600\n[agent]\ndeadline_s = 600\n", deadline_s=1800)
    house.begin_all("lab")
    expect("it knows the server", is_by_model(house.advise(DAN)))
    lab.hangs = {"slowly"}
    beside_a_flood(house, lab)
    lab.go_on.clear()
    lab.hangs = {"messages"}  # for everybody, now
    Together(lambda: house.asks(DAN, "last"))
    house.wait(lambda: any("last" in text for text in lab.texts()), "a model is asked once more")
    house.end_all()
    print("ok: whoever waits for a model does not hold up the end")
    house = House(programs, lab, "deadline_s = 1\n", deadline_s=1800)
    house.begin_all("lab")
    answers = Together(lambda: house.advise(CAT), lambda: house.advise(DAN),
                       lambda: house.diagnose(BOB, "CUDA error: out of memory\n")).results()
    reasons = [degraded(each) for each in answers]
    expect(f"of a server that hangs for all, the answers are those of the rules: {reasons}", "in time" not in reasons[2]
           and not any(is_by_model(each) or "no answer from the model lab" not in degraded(each) for each in answers[:2]))
    house.end_all()
    lab.go_on.set()


def look_for_token(house):
    children = children_of(house.reads.pid)
    texts = [text_of(pid, what) for pid in children for what in ("environ", "cmdline", "fd/0")]
    expect(f"a child's order does not name it: {len(texts)} texts", any(b"python train.py" in each for each in texts)
           and not any(word in each for each in texts for word in (TOKEN.encode(), b"token_file", b"127.0.0.1")))
    found = [found_in(pid, TOKEN, "slowly") for pid in (*children, house.reads.pid)]
    expect(f"no child has it in its memory, nor the reader: {found}", {"slowly"} in found
           and not any(TOKEN in each for each in found))
    expect("the daemon has, so that it would have been found", TOKEN in found_in(house.process.pid, TOKEN))


def is_gone(programs):
    lab = Lab()
    house = House(programs, lab, "attempts = 1\n")
    house.begin_all("lab")
    lab.shutdown()
    lab.server_close()
    advice = house.advise(ANN)
    expect(f"a server that is gone: {degraded(advice)}", "no answer from the model lab" in degraded(advice)
           and not is_by_model(advice))
    house.end_all()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIPPED: needs root, to be several users")
        sys.exit(77)
    rules = with_and_without(sys.argv[1:4])
    contributes(sys.argv[1:4], rules)
    budgets(sys.argv[1:4])
    is_gone(sys.argv[1:4])
    hangs(sys.argv[1:4])
