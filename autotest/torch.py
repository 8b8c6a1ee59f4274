"""Explains how to import the dual ``torch``, which is an object of the package and not a module with submodules."""

raise ImportError(
    "autotest.torch is an object, not a module: write "
    "`from autotest import torch`, then `F = torch.nn.functional` or `nn = torch.nn`"
)
