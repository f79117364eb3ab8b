"""The models that --model names."""

import torchvision
from torch import nn


class SmallNet(nn.Module):
    """Three convolutions, for a first try."""

    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(128, num_classes)

    def forward(self, images):
        return self.head(self.features(images).flatten(1))


def build_model(name, num_classes):
    if name == "small":
        return SmallNet(num_classes)
    return getattr(torchvision.models, name)(num_classes=num_classes)
