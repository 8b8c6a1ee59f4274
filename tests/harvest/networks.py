"""Two small networks in ordinary style, and some steps of training."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.down = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.second(nn.functional.relu(self.norm(self.first(x))))
        return nn.functional.relu(y + self.down(x), inplace=True)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 8), nn.MaxPool2d(2), Block(8, 16))
        self.head = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(x).mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(2)])
        self.head = nn.Linear(32, 50)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = tokens.shape[1]
        mask = torch.triu(torch.full((length, length), float("-inf")), diagonal=1)
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.head(x)


def images(steps: int) -> float:
    return _trained(ResNet(), lambda: (torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))), steps)


def texts(steps: int) -> float:
    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        tokens = torch.randint(0, 50, (4, 13))
        return tokens[:, :-1], tokens[:, 1:].reshape(-1)

    return _trained(Transformer(), batch, steps)


def _trained(network: nn.Module, batch: Callable[[], tuple[torch.Tensor, torch.Tensor]], steps: int) -> float:
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(steps):
        inputs, targets = batch()
        logits = network(inputs)
        loss = nn.functional.cross_entropy(logits.reshape(len(targets), -1), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())
