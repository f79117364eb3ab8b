#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/packing/syn_profiles.csv and syn_pairs.csv: invented workloads and how they slow each
other down on one GPU. Nothing in them was measured; the released Lucid tables may not be
redistributed, so the project ships these, marked syn_, for traces that bring none.

Model: a workload asks for a share c of the GPU's compute, b of its memory bandwidth and h of the
host. Two of them on one GPU: each is slowed by what is asked beyond 1 of each resource, in proportion
to its own dependence on it, plus a small cost of switching. Speeds are at most 1. The sharing score is
a rule on the utilisations alone, as Lucid's decision tree has it: memory utilisation above 46 % -> 2, else
GPU utilisation up to 36 % -> 0, else 1.
Prints the mean speed by the sum of the two scores, beside the means of the released table.
"""
import csv, os

ROWS = [  # model, data set, batch sizes, compute, bandwidth, host at the middle batch, memory MiB, memory per doubling
    ("syn_resnet18", "syn_images_small", (32, 64, 128), .46, .30, .20, 2300, 900),
    ("syn_resnet50", "syn_images_large", (32, 64, 128), .86, .62, .25, 6100, 3900),
    ("syn_mobilenet", "syn_images_small", (32, 64, 128), .33, .24, .26, 1900, 500),
    ("syn_efficientnet", "syn_images_small", (32, 64, 128), .52, .38, .22, 3000, 1400),
    ("syn_vit_base", "syn_images_large", (32, 64), .93, .60, .18, 9800, 6000),
    ("syn_unet", "syn_medical", (16, 32), .80, .66, .12, 7900, 4400),
    ("syn_bert_base", "syn_questions", (16, 32), .95, .58, .08, 10300, 5200),
    ("syn_lstm", "syn_language", (64, 128), .40, .48, .10, 2700, 800),
    ("syn_translation", "syn_sentences", (32, 64), .74, .42, .14, 5200, 2600),
    ("syn_gan", "syn_faces", (32, 64, 128), .62, .50, .12, 3300, 1500),
    ("syn_pointnet", "syn_shapes", (32, 64, 128), .21, .15, .30, 2400, 700),
    ("syn_actor_critic", "syn_walker", (64, 128), .10, .04, .42, 1800, 100),
    ("syn_recommender", "syn_ratings", (64, 128), .12, .16, .22, 2100, 200),
]

def configurations():
    for model, data, batches, compute, bandwidth, host, memory, per_doubling in ROWS:
        for i, batch in enumerate(batches):
            for amp in (0, 1):
                step = i - (len(batches) - 1) / 2
                grow = 1 + .12 * step
                yield {"model": model, "dataset": data, "batchsize": batch, "amp": amp,
                       "c": min(.99, compute * grow * (.82 if amp else 1)),
                       "b": min(.99, bandwidth * grow * (.88 if amp else 1)),
                       "h": host, "gmem": round((memory + per_doubling * i) * (.78 if amp else 1))}

K1, K2 = .55, .50

# K1 and K2 were set so that the means by score sum come near those of the released table.
def speed(own, other):
    over = lambda key: max(0.0, own[key] + other[key] - 1)
    return 1 / (1 + K1 * over("c") * (.4 + .6 * own["c"]) + K2 * over("b") * (.4 + .6 * own["b"]) + .2 * over("h") + .06 * other["c"] * own["c"])

def main():
    rows = list(configurations())
    for own in rows:
        own["label"] = 2 if own["b"] > .46 else 0 if own["c"] <= .36 else 1
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "packing")
    with open(os.path.join(folder, "syn_profiles.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow("model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label".split(","))
        for r in rows:
            out.writerow([r["model"], r["dataset"], r["batchsize"], r["amp"], "1.0", f"{100 * r['c']:.1f}", f"{100 * r['b']:.1f}", f"{r['gmem']:.1f}", r["label"]])
    sums = {}
    with open(os.path.join(folder, "syn_pairs.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow("model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,batchsize2,amp2,speed2,gpu_util,gmem_util,gmem".split(","))
        for i, a in enumerate(rows):
            for b in rows[i:]:
                s1, s2 = round(speed(a, b), 3), round(speed(b, a), 3)
                out.writerow([a["model"], a["dataset"], 1, a["batchsize"], a["amp"], f"{s1:.3f}", b["model"], b["dataset"], 1, b["batchsize"], b["amp"], f"{s2:.3f}",
                              f"{min(100, 100 * (a['c'] + b['c'])):.1f}", f"{min(100, 100 * (a['b'] + b['b'])):.1f}", a["gmem"] + b["gmem"]])
                sums.setdefault(a["label"] + b["label"], []).extend((s1, s2))
    print("scores", [sum(r["label"] == k for r in rows) for k in range(3)], "configurations", len(rows))
    for k, theirs in enumerate((1.01, .99, .945, .86, .755)):
        if k in sums: print(f"score sum {k}: ours {sum(sums[k]) / len(sums[k]):.3f}, released {theirs}")

main()
