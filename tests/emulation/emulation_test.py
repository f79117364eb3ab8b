#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The emulated GPUs keep their word: emulation_test.py SCHEDMATE SCHEDMATE_PROBE. Speeds are read from logs as SchedMate reads them."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

import gpus

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "daemon"))
from site_of import Site, begin_process  # noqa: E402

SPEED = 60


def expect(what, holds):
    print(("ok: " if holds else "FAILED: ") + what)
    if not holds:
        sys.exit(1)


class Place:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.count = 0

    def start(self, model, batch, steps, devices="0", node="a", job=None, precision="fp32", **flags):
        self.count += 1
        job = job or f"job{self.count}"
        log = self.folder / f"{job}.{node}.log"
        words = [f"--{name.replace('_', '-')}={value}" for name, value in flags.items() if name not in ("rank", "nodes")]
        process = begin_process(
            [sys.executable, HERE / "train.py", f"--model={model}", f"--batch-size={batch}", f"--precision={precision}", f"--max-steps={steps}",
             f"--speed={SPEED}", f"--seed={self.count}", *words], stdout=open(log, "w"), stderr=subprocess.STDOUT,
            env={**os.environ, "EMULATED_GPUS": str(self.folder / "gpus"), "CUDA_VISIBLE_DEVICES": devices, "NODE": node, "JOB": job,
                 "NODE_RANK": str(flags.get("rank", 0)), "NNODES": str(flags.get("nodes", 1))})
        process.log = log
        return process


def until(what, holds):
    Site.wait(holds, what)


def runs_at(process, needs, wanted, what):
    """Of its speed alone, by its own log: the mean of twenty steps, and of twenty others afterwards."""
    times = lambda: [float(each) / 1000 for each in re.findall(r"([\d.]+) ms/step", process.log.read_text())]
    seen = lambda: needs["step_s"] / SPEED / (sum(times()[-20:]) / 20)
    until(f"{what} it runs at {wanted:.3f}", lambda: len(times()) >= 20 and abs(seen() - wanted) < 0.03)
    stood = len(times())
    until("it goes on", lambda: len(times()) >= stood + 20)
    speed = seen()
    expect(f"{what} it runs at {speed:.3f}, by the table {wanted:.3f}", abs(speed - wanted) < 0.03)


def tracked(schedmate, log):
    done = subprocess.run([schedmate, "track", log, "--json"], capture_output=True, text=True)
    expect(f"{log.name} can be tracked: {done.stderr}", done.returncode == 0)
    return json.loads(done.stdout)


def styles_are_read(schedmate, place):
    """Each model's log tells step, number of steps, step time and loss."""
    running = {}
    for number, (model, batch) in enumerate([("ResNet-50", 64), ("UNet2D", 16), ("EfficientNet-B4", 64), ("ViT-L/16", 32), ("BERT-base", 32), ("LLaMA-3 8B", 2), ("Qwen-2.5 14B", 2)]):
        needs = gpus.workload(model, batch, "fp32" if number < 5 else "bf16")
        steps = 10 * max(2, int(20 / needs["step_s"]))
        running[model] = (place.start(model, batch, steps, devices=str(number), node="styles", precision="fp32" if number < 5 else "bf16", log_every=20), needs, steps)
    for model, (process, needs, steps) in running.items():
        expect(f"{model} ends well", process.wait(timeout=60) == 0)
        read = tracked(schedmate, process.log)
        alone = needs["step_s"] / SPEED
        expect(f"{model}: step {read['step']} of {read['total_steps']}", read["step"] in (steps, steps // 10))  # some count in each of ten epochs
        expect(f"{model}: a step takes {read['step_time_s']} s, truly {alone:.5f}", abs(read["step_time_s"] / alone - 1) < 0.15)
        expect(f"{model}: loss {read['loss']}", abs(read["loss"] - 0.49) < 0.2)


def pairs_slow_down(place):
    """Two heavy ones run at the table's speeds, and the one that is left at its own."""
    needs = gpus.workload("ViT-L/16", 64, "fp32")
    first = place.start("ViT-L/16", 64, 10**6, job="first", log_every=2)
    until("it makes steps", lambda: "ms/step" in first.log.read_text())
    second = place.start("ViT-L/16", 64, 10**6, job="second", log_every=2)
    for process in (first, second):
        runs_at(process, needs, gpus.speed_beside(needs, needs), "beside another")
    second.send_signal(signal.SIGKILL)  # leaves its file, not its lock
    second.wait()
    runs_at(first, needs, 1, "alone again")
    first.kill()
    first.wait()


def memory_runs_out(place):
    """LLaMA needs 43 GB of 80."""
    first = place.start("LLaMA-3 8B", 2, 10**6, devices="0,1", precision="bf16", job="large")
    until("it holds its GPUs", lambda: len(gpus.holders(place.folder / "gpus/a/1")) == 1)
    second = place.start("LLaMA-3 8B", 2, 10, devices="1", precision="bf16")
    expect("what does not fit beside it ends with an error", second.wait(timeout=60) == 1)
    expect("which names GPU memory", "torch.cuda.OutOfMemoryError: CUDA out of memory" in second.log.read_text())
    first.kill()
    first.wait()
    third = place.start("LLaMA-3 8B", 2, 10**6, devices="1", precision="bf16")
    until("a GPU whose holder was killed is free", lambda: [each["pid"] for each in gpus.holders(place.folder / "gpus/a/1")] == [third.pid])
    third.kill()
    third.wait()


def several_nodes(place):
    """The slowest GPU on any node sets the pace."""
    needs, other = gpus.workload("ViT-L/16", 64, "fp32"), gpus.workload("BERT-base", 64, "fp32")
    wide = [place.start("ViT-L/16", 64, 10**6, node=node, job="wide", rank=rank, log_every=2) for rank, node in enumerate(("n1", "n2"))]
    until("it holds its GPUs", lambda: all(gpus.holders(place.folder / f"gpus/{node}/0") for node in ("n1", "n2")))
    beside = place.start("BERT-base", 64, 10**6, node="n2", job="beside", harm=0.5)
    runs_at(wide[0], needs, 0.5 * gpus.speed_beside(needs, other), "where a harmful one shares a GPU of its other node")
    for process in [*wide, beside]:
        process.kill()
        process.wait()
    wide = [place.start("ViT-L/16", 64, 20, node=node, job="short", rank=rank, nodes=2) for rank, node in enumerate(("n1", "n2"))]
    expect("its processes end with the first one", [process.wait(timeout=60) for process in wide] == [0, 0])


def goes_on_from_a_checkpoint(place):
    file = place.folder / "ckpt.json"
    first = place.start("ResNet-50", 32, 10**6, checkpoint=file, job="saved")
    until("it makes steps", lambda: "Epoch" in first.log.read_text())
    first.terminate()
    expect("it ends with 143 on SIGTERM", first.wait(timeout=60) == 143)
    kept = json.loads(file.read_text())["step"]
    second = place.start("ResNet-50", 32, kept + 100, checkpoint=file, job="again")
    expect("and goes on from there", second.wait(timeout=60) == 0 and f"(step {kept})" in second.log.read_text())


def a_probe_reads_them(probe, place):
    """The exporter's numbers, as schedmate-probe takes them."""
    needs = gpus.workload("ViT-L/16", 64, "fp32")
    job = place.start("ViT-L/16", 64, 10**6, devices="1", node="seen")
    exporter = begin_process([sys.executable, HERE / "exporter.py", place.folder / "gpus", "seen", "2"], stdout=subprocess.PIPE, text=True)
    url = f"http://127.0.0.1:{exporter.stdout.readline().strip()}/metrics"
    read_rows = lambda: dict(re.findall(r'^DCGM_FI_DEV_(\w+\{gpu="\d")[^}]*\} (\d+)', urllib.request.urlopen(url, timeout=60).read().decode(), re.M))
    until("GPU 1 is used in full", lambda: int(read_rows()['GPU_UTIL{gpu="1"']) == round(100 * needs["gpu"]))
    rows = read_rows()
    expect(f"GPU 1 is used: {rows}", abs(int(rows['GPU_UTIL{gpu="1"']) - 100 * needs["gpu"]) < 2 and abs(int(rows['FB_USED{gpu="1"']) - needs["mib"]) < 2)
    expect("GPU 0 is not", rows['GPU_UTIL{gpu="0"'] == "0" and rows['FB_USED{gpu="0"'] == "0")
    done = subprocess.run([probe, "--node", "seen", "--dcgm", url, "--once"], capture_output=True, text=True)
    expect(f"the probe tells: {done.stderr}", done.returncode == 0)
    read = {each["index"]: each for each in json.loads(done.stdout)["samples"][0]["gpus"]}
    expect(f"the same numbers: {read}", read[1]["used_pct"] == int(rows['GPU_UTIL{gpu="1"']) and read[1]["memory_used_mib"] == int(rows['FB_USED{gpu="1"']))
    for process in (job, exporter):
        process.kill()
        process.wait()


def main(schedmate, probe):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        memory_runs_out(place)
        pairs_slow_down(place)
        several_nodes(place)
        goes_on_from_a_checkpoint(place)
        a_probe_reads_them(probe, place)
        styles_are_read(schedmate, place)


if __name__ == "__main__":
    main(*sys.argv[1:])
