"""Paths of values inside of what a call gave: ``[1]`` of a tuple, ``.weight`` of a module, ``.grad`` of a tensor."""

from __future__ import annotations

_GRADIENT = ".grad"


def gradient_of(path: str) -> str:
    """The path of the gradient of what is at `path`."""
    return path + _GRADIENT


def is_gradient(path: str) -> bool:
    """Whether `path`, or a name that ends in it, is that of a gradient."""
    return path.endswith(_GRADIENT)


def owner_of_gradient(path: str) -> str:
    """The path of what has the gradient that `path` is of; any other path as it is."""
    return path.removesuffix(_GRADIENT)


__all__ = ["gradient_of", "is_gradient", "owner_of_gradient"]
