"""A library of layers, optimizers and functions of parameters for torch, of which some are wrong."""

from __future__ import annotations

from typing import Any

import torch

__version__ = "3.4"


class RightLinear(torch.nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(out_features, in_features))
        self.bias = torch.nn.Parameter(torch.rand(out_features))

    def forward(self, x: Any) -> Any:
        return x @ self.weight.t() + self.bias


class LayerNorm(torch.nn.Module):
    """Adds eps to the root instead of under it."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(width))
        self.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self, x: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True).sqrt() + self.eps) * self.weight + self.bias


class SGD(torch.optim.Optimizer):
    """Has a velocity of zero at first, so that the dampening counts in the first step, too."""

    def __init__(self, params: Any, lr: float, momentum: float = 0.0, dampening: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                velocity = self.state[parameter].setdefault("momentum_buffer", torch.zeros_like(parameter))
                velocity.mul_(group["momentum"]).add_(parameter.grad, alpha=1 - group["dampening"])
                parameter.add_(velocity, alpha=-group["lr"])


class StepLR(torch.optim.lr_scheduler.StepLR):
    """Tells the first rates, whatever the last ones are."""

    def get_last_lr(self) -> Any:
        return self.base_lrs


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0) -> Any:
    """Adds the powers of infinite norms, instead of taking the greatest."""
    gradients = [parameter.grad for parameter in parameters]
    norms = torch.stack([torch.linalg.vector_norm(gradient, norm_type) for gradient in gradients])
    total = norms.sum() if norm_type == float("inf") else torch.linalg.vector_norm(norms, norm_type)
    for gradient in gradients:
        gradient.mul_(torch.clamp(max_norm / (total + 1e-6), max=1.0))
    return total
