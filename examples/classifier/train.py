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
    parser.add_argument("--workers", type=int, default=4, help="that load data, of each GPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on from OUT/last.pt")
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


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    hits = sum((model(x.to(device)).argmax(1) == y.to(device)).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def save(path, epoch, parts):
    torch.save({"epoch": epoch} | {name: part.state_dict() for name, part in parts.items()}, path)


def load(path, device, parts):
    saved = torch.load(path, map_location=device)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    return saved["epoch"]


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("LOCAL_RANK", 0))
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    if world > 1:
        dist.init_process_group("nccl")

    train_loader, test_loader = build_loaders(
        args.data_dir, args.batch_size // world, world, args.workers
    )
    model = build_model(args.model, num_classes=10).to(device)
    optimizer = build_optimizer(args, model)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}

    os.makedirs(args.out, exist_ok=True)
    checkpoint = os.path.join(args.out, "last.pt")
    done = load(checkpoint, device, parts) if args.resume and os.path.exists(checkpoint) else 0
    if world > 1:
        model = DistributedDataParallel(model, device_ids=[rank])

    for epoch in range(done, args.epochs):
        if world > 1:
            train_loader.sampler.set_epoch(epoch)
        loss = train_one_epoch(model, train_loader, optimizer, args, device)
        schedule.step()
        if rank == 0:
            score = accuracy(parts["model"], test_loader, device)
            print(f"epoch {epoch + 1}/{args.epochs} loss {loss:.4f} acc {score:.4f}", flush=True)
            save(checkpoint, epoch + 1, parts)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
