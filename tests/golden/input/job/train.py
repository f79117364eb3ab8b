import argparse

import torch
import yaml
from work import find_task, net

parser = argparse.ArgumentParser()
parser.add_argument("--config")
parser.add_argument("--epochs", type=int, default=10)
args = parser.parse_args()
config = yaml.safe_load(open(args.config))
# batch_size = 512
task = find_task("denoising")
optimizer = torch.optim.SGD(net.parameters(), lr=config["lr"])
for epoch in range(args.epochs):
    optimizer.step()
