#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small real training in plain Python: a network of two layers learns two spirals.

It logs in the style of a framework, saves checkpoints, and fails in the way it is told to:
  exception  a batch of the wrong shape
  killed     SIGKILL, as from the kernel's out-of-memory killer: no last word
  disk-full  the checkpoint goes to a device without space (/dev/full)
  refused    a connection to a server that does not listen
"""

import argparse
import json
import math
import os
import random
import signal
import socket
import sys
import time


def spirals(count, rng):
    points = []
    for _ in range(count):
        label = rng.randrange(2)
        t = rng.random() * 3
        angle = 2 * t + math.pi * label
        noise = [rng.gauss(0, 0.05) for _ in range(2)]
        points.append(([t * math.cos(angle) / 3 + noise[0], t * math.sin(angle) / 3 + noise[1]], label))
    return points


class Network:
    """tanh hidden layer, sigmoid output, trained by stochastic gradient descent."""

    def __init__(self, hidden, rng):
        self.w1 = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(hidden)]
        self.w2 = [rng.gauss(0, 1 / math.sqrt(hidden)) for _ in range(hidden + 1)]

    def forward(self, x):
        if len(x) != 2:
            raise ValueError(f"expected inputs of 2 numbers, got {len(x)}")
        h = [math.tanh(w[0] * x[0] + w[1] * x[1] + w[2]) for w in self.w1]
        z = sum(w * a for w, a in zip(self.w2, h + [1.0]))
        return h, 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))

    def step(self, batch, lr):
        loss = 0.0
        for x, label in batch:
            h, p = self.forward(x)
            loss -= math.log(max(p if label else 1 - p, 1e-12))
            delta = (p - label) * lr / len(batch)
            for j, a in enumerate(h):
                back = delta * self.w2[j] * (1 - a * a)
                self.w2[j] -= delta * a
                for k, value in enumerate(x + [1.0]):
                    self.w1[j][k] -= back * value
            self.w2[-1] -= delta
        return loss / len(batch)


def plain(args, step, loss, seconds):
    print(f"step {step}/{args.steps} | loss {loss:.4f} | dt {seconds * 1000:.2f}ms", flush=True)


def hf(args, step, loss, seconds):
    done = "#" * (10 * step // args.steps)
    print(f"\r{100 * step // args.steps:3d}%|{done:<10}| {step}/{args.steps} [00:00<00:00, {1 / seconds:.2f}it/s]",
          end="", file=sys.stderr, flush=True)
    print({"loss": round(loss, 4), "learning_rate": args.lr, "epoch": round(step / args.steps, 2)}, flush=True)


def megatron(args, step, loss, seconds):
    print(f" iteration {step:8d}/{args.steps:8d} | elapsed time per iteration (ms): {seconds * 1000:.1f} | "
          f"learning rate: {args.lr:.3E} | global batch size: {args.batch_size:5d} | lm loss: {loss:.6E} |", flush=True)


def mmengine(args, step, loss, seconds):
    stamp = time.strftime("%m/%d %H:%M:%S")
    print(f"{stamp} - mmengine - INFO - Epoch(train)  [1][{step:4d}/{args.steps}]  lr: {args.lr:.4e}  "
          f"time: {seconds:.4f}  data_time: 0.0001  loss: {loss:.4f}", flush=True)


STYLES = {"plain": plain, "hf": hf, "megatron": megatron, "mmengine": mmengine}


def save(network, path):
    with open(path, "w") as file:
        json.dump({"w1": network.w1, "w2": network.w2}, file)
    print(f"Saved checkpoint to {path}", flush=True)


def fail(how, network):
    if how == "exception":
        network.step([([0.0, 0.0, 0.0], 1)], 0.1)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "disk-full":
        save(network, "/dev/full")
    if how == "refused":
        with socket.socket() as closed:  # a port that nobody listens on
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--style", choices=STYLES, default="plain")
    parser.add_argument("--fail", choices=["none", "exception", "killed", "disk-full", "refused"], default="none")
    parser.add_argument("--fail-at", type=int, default=60)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pace", type=float, default=0, help="seconds to sleep in each step")
    parser.add_argument("--out", default=".")
    args = parser.parse_args()
    print(" ".join(f"{name}={value}" for name, value in sorted(vars(args).items())), flush=True)

    rng = random.Random(args.seed)
    data = spirals(512, rng)
    network = Network(args.hidden, rng)
    os.makedirs(args.out, exist_ok=True)
    began = time.perf_counter()
    for step in range(1, args.steps + 1):
        loss = network.step(rng.sample(data, args.batch_size), args.lr)
        time.sleep(args.pace)
        if step % 5 == 0:
            now = time.perf_counter()
            STYLES[args.style](args, step, loss, (now - began) / 5)
            began = now
        if step % 50 == 0:
            save(network, os.path.join(args.out, f"step{step}.json"))
        if step == args.fail_at:
            fail(args.fail, network)
    print("training finished", flush=True)


if __name__ == "__main__":
    main()
