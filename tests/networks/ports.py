"""A model and ports of it, as written by hand: a right one, one with other names, and one with a mistake."""

from __future__ import annotations

from typing import Any

import torch


class Original(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(6, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.body = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())
        self.last = torch.nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.last(self.body(self.norm(self.first(x))))


class Dense(torch.nn.Module):
    """A linear layer that stores its weight transposed."""

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.kernel = torch.nn.Parameter(torch.randn(inside, outside))
        self.shift = torch.nn.Parameter(torch.zeros(outside))

    def forward(self, x: Any) -> Any:
        return x @ self.kernel + self.shift


class Renamed(torch.nn.Module):
    """A port with other names, and one layer that stores its weight transposed."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Dense(6, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.trunk = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())
        self.last = torch.nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.last(self.trunk(self.norm(self.stem(x))))


RENAMED: dict[str, Any] = {
    "first": "stem",
    "first.weight": ("stem.kernel", "transpose"),
    "first.bias": "stem.shift",
    "body": "trunk",
}


def wrong_epsilon() -> Original:
    """A port with TensorFlow's epsilon in one layer."""
    model = Original()
    model.norm.eps = 1e-2
    return model
