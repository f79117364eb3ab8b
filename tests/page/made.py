# SPDX-License-Identifier: Apache-2.0
"""Documents of the API as a daemon would answer them, those that are still to come among them; and hostile ones."""
import datetime
import random

NOW = 1_600_000_000
# Whoever gets one of these run on the page has won: they set a flag that the tests look for.
HOSTILE = [
    "<img src=x onerror=\"window.hacked=1\">", "<script>window.hacked=1</script>", "\"><svg onload=window.hacked=1>",
    "javascript:window.hacked=1", "'-window.hacked-'", "</title><script>window.hacked=1</script>", "{{constructor.constructor('window.hacked=1')()}}",
    "\u202egnp.exe\u202c", "a" * 400, "<a href=\"javascript:window.hacked=1\">x</a>", "&lt;b&gt;&amp;", "<style>body{display:none}</style>",
    "--x: url(http://evil.invalid/)", "red; background: url(//evil.invalid/x)", "\u0000\u001b[31m\r\n", "..%2f..%2f", "#/jobs/1", "__proto__", "constructor",
]
USERS = ["ann", "bo", "carla", "dmitri", "eve", "farid", "gita", "hugo", "ines", "jo", "kim"]


def timed(document, **instants):
    """RFC 3339 beside the seconds, as the API has them."""
    for name, value in instants.items():
        document |= {name: value if value is None else datetime.datetime.fromtimestamp(value, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), f"{name}_s": value}
    return document


NAMES = ["bert-large", "resnet50-im1k", "llama-ft", "vit-b16", "gpt2-medium", "t5-base", "diffusion-256", "yolo-coco"]


def quantiles(draws, low, spread):
    return {"p10": NOW + low, "p50": NOW + low + spread // 3, "p90": NOW + low + spread}


def job(number, draws, state=None, user=None, name=None):
    state = state or draws.choices(["pending", "running", "completed", "failed", "cancelled"], [30, 30, 30, 6, 4])[0]
    submitted = NOW - draws.randrange(60, 400_000)
    started = min(NOW - 30, submitted + draws.randrange(5, 40_000)) if state != "pending" else None
    ended = None if state in ("pending", "running") else min(NOW - 10, started + draws.randrange(30, 80_000))
    made = {"id": str(number), "name": name or draws.choice(NAMES) + f"-{draws.randrange(100)}", "user": user or draws.choice(USERS), "partition": f"vc{number % 5}",
            "state": state, "gpus": draws.choice([1, 1, 2, 4, 8, 8, 16]), "nodes": [], "held": state == "pending" and draws.random() < 0.05, "restarts": 0,
            "eta": None, "held_up_by": None, "health": None, "verdict": None, "progress": None}
    timed(made, submitted=submitted, started=started, ended=ended)
    if state == "running":
        made["eta"] = {"start_s": None, "end_s": quantiles(draws, draws.randrange(60, 90_000), draws.randrange(60, 30_000)), "as_of_s": NOW, "samples": 60, "by": "last_k"}
        of = draws.randrange(500, 100_000)
        made["progress"] = {"step": draws.randrange(of), "of": of, "step_time_s": round(draws.uniform(0.05, 3), 3), "loss": round(draws.uniform(0.1, 4), 4), "remaining_s": None, "as_of_s": NOW}
        made["health"] = draws.choices(["ok", "slow", "hung"], [94, 4, 2])[0]
        made["nodes"] = [{"node": f"node{number % 40:02}", "gpus": [number % 8]}]
    if state == "pending":
        low = draws.randrange(30, 60_000)
        made["eta"] = {"start_s": quantiles(draws, low, draws.randrange(60, 20_000)), "end_s": quantiles(draws, low + 9000, draws.randrange(90, 40_000)), "as_of_s": NOW, "samples": 60, "by": "last_k"}
    if state == "failed":
        made["health"] = "failed"
    return made


def jobs(count, seed=1):
    draws = random.Random(seed)
    return {str(number): job(number, draws) for number in range(1, count + 1)}


def cluster(known, user="root", role="operator"):
    nodes = []
    draws = random.Random(7)
    for number in range(40):
        name = f"node{number:02}"
        mine = [{"id": each["id"], "user": each["user"], "gpus": each["nodes"][0]["gpus"]} for each in known.values()
                if each["state"] == "running" and each["nodes"] and each["nodes"][0]["node"] == name]
        held = {gpu for each in mine for gpu in each["gpus"]}
        node = {"name": name, "partition": f"vc{number % 5}", "gpus": 8, "held": min(8, len(held) + number % 2), "state": "up", "reason": "", "jobs": mine[:10], "suspect": None, "gpus_state": None, "probe": None}
        if number == 3:
            node |= {"state": "drained", "reason": "schedmate:venus/12 Xid 79: a GPU fell off the bus", "jobs": [], "held": 0}
        if number == 11:
            node |= {"state": "down", "reason": "not responding", "jobs": [], "held": 0}
        if number == 17:
            node["suspect"] = {"why": "kernel: Xid 63 on GPU 2, twice in an hour; steps of 2 jobs take 1.6 times as long as elsewhere", "action": None}
        nodes.append(node)
    states = [each["state"] for each in known.values()]
    gpus = sum(node["gpus"] for node in nodes)
    return {"schema": "schedmate.cluster.v1", "nodes": nodes, "queue": {"pending": states.count("pending") + (0 if role == "operator" else 9), "running": states.count("running")}, "breaker_open": False,
            "now": "2020-09-13T12:26:40Z", "now_s": NOW, "name": "venus", "caller": {"user": user, "role": role},
            "modes": {"order": "act", "recover": "approve", "pack": "shadow", "annotate": "shadow", "notify": "shadow"}, "actions_waiting": 2, "trouble": None, "stopped": None, "order_effect": None, "first_forecasts": {"before": 110, "inside": 684, "after": 206},
            "history": [timed({"gpus_used": min(gpus, int(150 + 120 * abs((i % 60) / 30 - 1) + draws.randrange(20))), "gpus": gpus, "waiting": int(30 + 40 * abs((i % 80) / 40 - 1))}, at=NOW - 86400 + 600 * i) for i in range(144)]}


def action(number, kind, state, why, call, mode="act", before=""):
    ladder = {"shadowed": ["planned", "shadowed"], "waiting": ["planned", "waiting"], "verified": ["planned", "intended", "called", "verified"], "failed": ["planned", "intended", "called", "failed"],
              "rejected": ["planned", "waiting", "rejected"], "undone": ["planned", "intended", "called", "verified", "undone"]}[state]
    steps = [timed({"state": each, "by": "root (uid 0)" if each in ("rejected", "undone") else "schedmate", "note": "seen in the reading after the call" if each == "verified" else ""}, when=NOW - 40_000 + 60 * number + 5 * i) for i, each in enumerate(ladder)]
    return {"schema": "schedmate.action.v1", "id": number, "kind": kind, "state": state, "target": [], "call": {"kind": kind, **call}, "why": why, "mode": mode, "before": before, "undoes": 0, "steps": steps}


def actions():
    made = [action(number, "start", draw, ["first in the order of backfill_easy", "fits on 1 node with 4 free GPUs"], {"job": str(number), "nodes": [{"node": f"node{number % 40:02}", "gpus": [0, 1, 2, 3]}]})
            for number, draw in enumerate(["verified"] * 30 + ["failed"] + ["shadowed"] * 6, 1)]
    made.append(action(40, "drain_node", "verified", ["kernel: Xid 79 on node03, GPU 5 fell off the bus", "nvml: GPU 5 is lost"], {"nodes": [{"node": "node03", "gpus": []}], "text": "schedmate:venus/40 Xid 79"}))
    made.append(action(41, "requeue_excluding", "waiting", ["job 7 failed: a GPU fell off the bus", "witnesses: kernel, nvml", "requeues of this job: 1 of 2"], {"job": "7", "nodes": [{"node": "node03", "gpus": []}], "restarts": 1}, "approve"))
    made.append(action(42, "drain_node", "waiting", ["kernel: Xid 63 on node17", "drained already: 2, the cap is 2"], {"nodes": [{"node": "node17", "gpus": []}]}, "approve"))
    made.append(action(43, "hold", "rejected", ["its dataset is not there"], {"job": "9"}, "approve"))
    return {each["id"]: each for each in made}


EVIDENCE = [{"file": "train.py", "line": 22, "text": "loader = DataLoader(data, batch_size=args.batch_size // world)"}, {"file": "<command>", "line": 0, "text": "--batch-size 256"}]


def rich_job(base):
    """With all that is to come."""
    start = base["started_s"] or NOW - 5000
    made = dict(base, schema="schedmate.job.v1", note=None, diagnosis=None, exit_code=1 if base["state"] == "failed" else None, exit_signal=0 if base["state"] == "failed" else None)
    made["request"] = {"name": base["name"], "user": base["user"], "partition": base["partition"], "dir": "/data/runs", "command": "python train.py", "output": "job.log", "gpus": base["gpus"], "limit_s": None}
    made["facts"] = {"schema": "schedmate.facts.v1", "facts": {
        "model_name": {"value": "bert-large-uncased", "confidence": 0.97, "source": "code", "evidence": EVIDENCE[:1]}, "batch_size": {"value": 64, "confidence": 0.97, "source": "code", "evidence": EVIDENCE},
        "length": {"value": {"amount": 90, "unit": "epochs"}, "confidence": 0.8, "source": "config", "evidence": [{"file": "conf/a.yaml", "line": 4, "text": "epochs: 90"}]},
        "precision": {"value": "bf16-amp", "confidence": 0.9, "source": "command", "evidence": [{"file": "<command>", "line": 0, "text": "--bf16"}]},
        "dataset": {"value": None, "confidence": 0, "source": None, "evidence": []}}, "degraded": []}
    spread = {"p10": 15000, "p50": 20000, "p90": 32000}
    made["advice"] = {"source": "similar", "known": True, "not_known": None, "held_s": spread, "duration_s": spread, "early_end": 0.18, "time_limit": {"suggested_s": 43200, "slurm": "12:00:00", "risk": 0.05},
                      "runs_by_state": {"completed": 9, "failed": 2}, "neighbours_of_others": 2,
                      "neighbours": [{"job_id": str(100 + i), "score": 0.99 - i / 50, "why": "same program; batch_size 64 here, 32 there", "gpus": 8, "duration_s": 14000 + 2700 * i, "state": "failed" if i == 2 else "completed",
                                      "step_time_s": 0.35 + i / 20, "series": [{"since_start_s": 90 * j, "step": (420 - 40 * i) * j} for j in range(60)]} for i in range(3)]}
    if base["state"] == "pending":
        made["advice"] |= {"known": False, "not_known": "the past runs differ too much", "duration_s": None, "time_limit": None}
    made["progress"] = {"step": 41_200, "of": 90_000, "step_time_s": 0.42, "loss": 1.834, "remaining_s": None, "as_of_s": NOW, "series": [{"at_s": start + 60 * i, "step": int(412 * i * (1 if i < 60 else 0.97)), "loss": 6 / (1 + i / 12) + 1.2} for i in range(100)]}
    made["use"] = {"readings": 800, "gpu_pct_mean": 93.0, "memory_mib_max": 31000.0, "series": [{"since_start_s": 60 * i, "gpu_pct": 88 + (i * 7) % 11, "memory_pct": 61 + i % 3} for i in range(100)]}
    made["attempts"] = [timed({"restarts": 0, "nodes": [{"node": "node03", "gpus": [0, 1]}], "state": "node_fail", "why": "Xid 79 on node03"}, started=start - 9000, ended=start - 700),
                        timed({"restarts": 1, "nodes": base["nodes"], "state": base["state"], "why": None}, started=base["started_s"], ended=base["ended_s"])]
    made["actions"] = [actions()[1]]
    if base["state"] == "failed":
        made["diagnosis"] = {"class": "infrastructure", "component": "gpu", "reason": "a GPU fell off the bus (Xid 79)", "recommendation": "restart_elsewhere", "confidence": 0.96, "advice": ["drain node03 and have GPU 5 looked at", "start again without node03"], "nodes": ["node03"],
                             "evidence": [{"file": "rank3.err", "line": 8812, "text": "RuntimeError: CUDA error: unspecified launch failure", "role": "cause", "count": 1}, {"file": "rank0.err", "line": 9120, "text": "NCCL WARN Call to recv failed: Connection reset by peer", "role": "cascade", "count": 7},
                                          {"file": "rank0.err", "line": 9140, "text": "Sending process 4711 closing signal SIGTERM", "role": "teardown", "count": 8}],
                             "witness": [{"name": "kernel", "asked": True, "agrees": True, "says": "Xid 79 on node03 at 11:58:02", "events": [{"node": "node03", "time": "11:58:02", "rule": "xid_79", "text": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."}]},
                                         {"name": "nvml", "asked": True, "agrees": True, "says": "GPU 5 is lost", "events": []}, {"name": "scheduler", "asked": False, "agrees": None, "says": "", "events": []}], "seen": {"jobs": 3, "users": 2}}
    return made


def ledger():
    return timed({"schema": "schedmate.ledger.v1", "used_gpu_h": 91_240.5, "used_method": "GPUs times run time of attempts that have ended", "jobs": 3120,
            "lost": [{"cause": "infrastructure", "gpu_h": 812.4, "attempts": 11, "method": "GPUs times run time of the attempts whose log says so"}, {"cause": "user_script", "gpu_h": 2210.0, "attempts": 140, "method": "GPUs times run time of the attempts whose log says so"},
                     {"cause": "node_fail", "gpu_h": 96.1, "attempts": 3, "method": "GPUs times run time"}],
            "idle": {"gpu_h": 7120.3, "sampled_gpu_h": 60_400.0, "method": "time between two samples that both show 0 %"},
            "saved": [{"kind": "repeat_avoided", "gpu_h": 402.0, "count": 9, "method": "one more run of jobs that failed twice of the same cause at the same step"}],
            "days": [{"day": None, "used_gpu_h": 5000, "lost_gpu_h": 100, "idle_gpu_h": 300, "saved_gpu_h": 0}] + [{"day": f"2020-09-{day:02}", "used_gpu_h": 6000 + 180 * (day % 4), "lost_gpu_h": 150 + 40 * (day % 5), "idle_gpu_h": 90 + 30 * (day % 7), "saved_gpu_h": 25 + 6 * (day % 3)} for day in range(1, 14)]}, since=NOW - 14 * 86400)


def spoil(document, draws):
    """Every text of it hostile; what the page goes by (ids, states, kinds, schemas) stays."""
    keep = {"id", "state", "kind", "schema", "role", "health", "job", "mode", "recommendation", "class", "next", "hash", "day"}
    if isinstance(document, dict):
        return {key: value if key in keep and isinstance(value, str) else spoil(value, draws) for key, value in document.items()}
    if isinstance(document, list):
        return [spoil(each, draws) for each in document]
    return draws.choice(HOSTILE) if isinstance(document, str) else document
