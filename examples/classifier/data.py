"""CIFAR-10 with the usual augmentation, already downloaded."""

import torch
import torchvision
from torchvision import transforms


def build_loaders(root, batch_size, world, workers):
    train_set = torchvision.datasets.CIFAR10(
        root,
        train=True,
        transform=transforms.Compose(
            [
                transforms.RandomCrop(32, padding=4),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
            ]
        ),
    )
    test_set = torchvision.datasets.CIFAR10(root, train=False, transform=transforms.ToTensor())
    sampler = torch.utils.data.DistributedSampler(train_set) if world > 1 else None
    train_loader = torch.utils.data.DataLoader(
        train_set, batch_size=batch_size, sampler=sampler, shuffle=sampler is None, num_workers=workers
    )
    test_loader = torch.utils.data.DataLoader(test_set, batch_size=500, num_workers=workers)
    return train_loader, test_loader
