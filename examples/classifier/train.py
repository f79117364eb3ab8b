"""Trains an image classifier. Settings: defaults < --config FILE < flags."""

import argparse
import os

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel

from data import build_loaders
from models import build_model


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", help="YAML file with any of the settings below")
    parser.add_argument("--data-dir", default="data/cifar10")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=128, help="over all GPUs")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--optimizer", choices=["sgd", "adamw"], default="sgd")
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--amp", action="store_true", help="bfloat16 autocast")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="runs/default")
    args = parser.parse_args()
    if args.config:
        with open(args.config) as file:
            parser.set_defaults(**yaml.safe_load(file))
        args = parser.parse_args()
    return args


def build_optimizer(args, model):
    if args.optimizer == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    return torch.optim.SGD(
        model.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.weight_decay
    )


def train_one_epoch(model, loader, optimizer, args, device):
    model.train()
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("LOCAL_RANK", 0))
    device = torch.device("cuda", rank)
    if world > 1:
        dist.init_process_group("nccl")

    train_loader, test_loader = build_loaders(args.data_dir, args.batch_size // world, world)
    model = build_model(args.model, num_classes=10).to(device)
    if world > 1:
        model = DistributedDataParallel(model, device_ids=[rank])
    optimizer = build_optimizer(args, model)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)

    for epoch in range(args.epochs):
        loss = train_one_epoch(model, train_loader, optimizer, args, device)
        schedule.step()
        if rank == 0:
            print(f"epoch {epoch + 1}/{args.epochs} loss {loss:.4f}", flush=True)
            torch.save(model.state_dict(), os.path.join(args.out, "last.pt"))


if __name__ == "__main__":
    main()
