"""Explain how to import the dual ``torch``, which is an object of the package and not a module with submodules."""

raise ImportError(
    "autotest.torch is an object, made of two frameworks' modules, and not a module itself: write "
    "`from autotest import torch`, then `F = torch.nn.functional` or `nn = torch.nn`"
)
