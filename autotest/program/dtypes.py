"""What the name of a dtype says of its numbers: ``"bfloat16"`` are floating, ``"complex64"`` complex ones."""

from __future__ import annotations


def is_floating(dtype: str) -> bool:
    """Whether its numbers are real floating ones, of whatever precision."""
    return dtype.startswith(("float", "bfloat"))


def is_complex(dtype: str) -> bool:
    """Whether its numbers are complex."""
    return dtype.startswith("complex")


def is_differentiable(dtype: str) -> bool:
    """Whether tensors of it may require a gradient, and are compared with a tolerance."""
    return is_floating(dtype) or is_complex(dtype)


__all__ = ["is_complex", "is_differentiable", "is_floating"]
