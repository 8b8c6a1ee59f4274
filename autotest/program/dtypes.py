"""Classifies dtypes by name: ``"bfloat16"`` is floating, ``"complex64"`` is complex."""

from __future__ import annotations


def is_floating(dtype: str) -> bool:
    """Whether `dtype` is a real floating dtype of any precision."""
    return dtype.startswith(("float", "bfloat"))


def is_complex(dtype: str) -> bool:
    """Whether `dtype` is complex."""
    return dtype.startswith("complex")


def is_differentiable(dtype: str) -> bool:
    """Whether tensors of `dtype` may require a gradient; these are also the dtypes compared with a tolerance."""
    return is_floating(dtype) or is_complex(dtype)
