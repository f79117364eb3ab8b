#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains nothing, on emulated GPUs (gpus.py): takes the time, the memory and the log of a model of the paper's Table 1.

Environment: EMULATED_GPUS, the folder of the GPUs; CUDA_VISIBLE_DEVICES; SCHEDMATE_NODE or NODE, SCHEDMATE_JOB or JOB; NODE_RANK of
several nodes. On SIGTERM it saves a checkpoint and exits with 143."""
import argparse
import json
import math
import os
import pathlib
import random
import signal
import sys
import time

from gpus import MEMORY_MIB, Held, OutOfMemory, workload

# What each model's trainer prints: of step N of M, epoch E of F; s: seconds a step; loss.
STYLES = {
    "ResNet-50": "Epoch: [{epoch}][{of_epoch:4d}/{per_epoch}]\tTime {s:.5f} ({mean:.5f})\tLoss {loss:.4e} ({loss:.4e})",
    "UNet2D": "epoch {epoch}/{epochs}, step {step}/{steps}, train_loss: {loss:.4f}, step time: {s:.4f}",
    "EfficientNet-B4": "Train: {epoch} [{of_epoch:4d}/{per_epoch} ({epoch_pct:3.0f}%)]  Loss: {loss:#.4g}  Time: {s:.4f}s, {rate:>7.2f}/s  LR: {lr:.3e}",
    "ViT-L/16": "step: {step}/{steps} - loss: {loss:.4f} - {ms:.3f} ms/step",
    "BERT-base": "{{'loss': {loss:.4f}, 'learning_rate': {lr:.3e}, 'epoch': {epoch_share:.3f}}}\n{pct:3.0f}%|####      | {step}/{steps} [{passed}<{left}, {per_s:.2f}it/s]",
    "LLaMA-3 8B": "[Rank 0] step={step}, skipped=0, lr=[{lr:.3e}], loss={loss:.4f}, iter time (s): {s:.4f} samples/sec: {rate:.3f}",
    "Qwen-2.5 14B": " iteration {step:8d}/{steps:8d} | consumed samples: {samples:12d} | elapsed time per iteration (ms): {ms:.1f} | learning rate: {lr:.3E} | lm loss: {loss:.6E} |",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, choices=STYLES)
    parser.add_argument("--dataset", default="ImageNet-1k")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--optimizer", default="AdamW")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--max-steps", type=int, required=True)
    parser.add_argument("--speed", type=float, default=1, help="emulated seconds in one of the clock")
    parser.add_argument("--log-every", type=float, default=10, metavar="S", help="emulated seconds between lines of the log")
    parser.add_argument("--checkpoint-every", type=float, default=600, metavar="S", help="emulated seconds")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="file; training goes on from there")
    parser.add_argument("--cold-start", type=float, metavar="S", help="emulated seconds before the first step; default: the model's")
    parser.add_argument("--fail-at", type=int, metavar="STEP", help="an error of the program's own")
    parser.add_argument("--harm", type=float, default=1, metavar="SPEED", help="times which others run, besides, that share its GPUs")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def say(line):
    print(line, flush=True)


def out_of_memory(gpu, free, needs):
    say("Traceback (most recent call last):\n  File \"train.py\", line 88, in <module>\n    outputs = model(inputs)\n"
        f"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {max(20, needs - free):.2f} MiB. GPU {gpu} has a total capacity of "
        f"{MEMORY_MIB / 1024:.2f} GiB of which {max(0, free):.2f} MiB is free.")
    sys.exit(1)


class Training:
    def __init__(self, args, needs, held):
        self.args, self.needs, self.held, self.step = args, needs, held, 0
        self.random = random.Random(args.seed)
        self.began = time.monotonic()
        if args.checkpoint and args.checkpoint.exists():
            self.step = json.loads(args.checkpoint.read_text())["step"]
            say(f"=> loaded checkpoint '{args.checkpoint}' (step {self.step})")

    def save(self):
        if self.args.checkpoint:
            new = self.args.checkpoint.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps({"step": self.step}))
            new.replace(self.args.checkpoint)

    def line(self, step_s):
        args, per_epoch = self.args, -(-self.args.max_steps // self.args.epochs)
        passed, share = time.monotonic() - self.began, self.step / args.max_steps
        clock = lambda s: f"{int(s) // 60:02}:{int(s) % 60:02}"
        epoch = min(args.epochs - 1, self.step // per_epoch)
        loss = 0.4 + 5 * math.exp(-4 * share) + self.random.gauss(0, 0.03)
        return STYLES[args.model].format(
            step=self.step, steps=args.max_steps, epoch=epoch, epochs=args.epochs, of_epoch=self.step - epoch * per_epoch,
            per_epoch=per_epoch, s=step_s, mean=step_s, ms=1000 * step_s, loss=loss, pct=100 * share, epoch_pct=100 * (self.step - epoch * per_epoch) / per_epoch, lr=args.learning_rate * (1 - share),
            rate=args.batch_size / step_s, per_s=1 / step_s, epoch_share=args.epochs * share, passed=clock(passed),
            left=clock((args.max_steps - self.step) * step_s), samples=self.step * args.batch_size)

    def run(self):
        """Steps are as fast as the slowest GPU allows at the moment; seconds of the log are those of the clock."""
        args, needs = self.args, self.needs
        say(f"=> creating model '{args.model}', dataset {args.dataset}, batch size {args.batch_size}, {args.precision}")
        time.sleep(needs["cold_start_s"] / args.speed)
        saved, done = time.monotonic(), float(self.step)
        at = time.monotonic()
        while self.step < args.max_steps:
            step_s = needs["step_s"] / args.speed / self.held.speed() * math.exp(self.random.gauss(0, 0.03))
            wait = min(args.log_every / args.speed, (args.max_steps - done) * step_s)
            time.sleep(max(0.0, at + wait - time.monotonic()))
            at += wait
            done += wait / step_s
            self.step = min(args.max_steps, int(done + 1e-6))
            if args.fail_at and self.step >= args.fail_at:
                raise ValueError(f"Expected target size {args.batch_size}, got {args.batch_size - 1} in batch {self.step}")
            say(self.line(step_s))
            if time.monotonic() - saved > args.checkpoint_every / args.speed:
                self.save()
                saved = time.monotonic()
        self.save()
        say("Training completed.")


def stop(training):
    training.save()
    say("received SIGTERM: checkpoint saved")
    os._exit(143)


def main():
    args = arguments()
    node = os.environ.get("SCHEDMATE_NODE") or os.environ.get("NODE", "node")
    job = os.environ.get("SCHEDMATE_JOB") or os.environ.get("JOB", str(os.getpid()))
    gpus = [int(each) for each in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if each]
    needs = {**workload(args.model, args.batch_size, args.precision), "harm": args.harm}
    if args.cold_start is not None:
        needs["cold_start_s"] = args.cold_start
    try:
        held = Held(os.environ["EMULATED_GPUS"], node, gpus, job, needs, args.speed)
    except OutOfMemory as error:
        out_of_memory(*error.args, needs["mib"])
    folder = pathlib.Path(os.environ["EMULATED_GPUS"])
    over = folder / f"{job}.over"
    if int(os.environ.get("NODE_RANK", 0)) > 0:  # its GPUs are held; the first node's process counts the steps
        while not over.exists():
            time.sleep(0.3)
        return
    (folder / f"{job}.began").write_text(str(time.time()))  # when its last attempt did, for who measures how long a start takes
    training = Training(args, needs, held)
    signal.signal(signal.SIGTERM, lambda *_: stop(training))
    training.run()
    if int(os.environ.get("NNODES", 1)) > 1:
        over.touch()


if __name__ == "__main__":
    main()
