"""Says how the dual ``torch`` is imported, which is an object of the package and no module with others below it."""

raise ImportError(
    "autotest.torch is an object, made of two frameworks' modules, and not a module itself: write "
    "`from autotest import torch`, then `F = torch.nn.functional` or `nn = torch.nn`"
)
