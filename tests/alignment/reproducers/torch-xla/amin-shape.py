"""amin: v1 differs in shape between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_reduction.py::test_extremes_share_the_gradient_of_ties[name='amin'], trial 0 of base seed 77.
torch:xla: NumPy gives shape (), as torch does"""
import sys
import numpy as np

X0 = np.array([[1.0, 1.0, 0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0,
    0.0, 1.0]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.amin(x0)
    return v1

try:
    import torch
    import torch_xla
    torch.empty(1, device='xla')
    from typing import Any
    class OnDevice:
        """torch, or a module of it, whose functions put what they make on a device."""

        def __init__(self, inner: Any, device: str) -> None:
            self.inner, self.device = inner, device
        def __getattr__(self, name: str) -> Any:
            found = getattr(self.inner, name)
            return OnDevice(found, self.device) if callable(found) or hasattr(found, "__path__") else found
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            import torch
            with torch.device(self.device):
                return self.inner(*args, **kwargs)
    on_device = OnDevice(torch, 'xla')
    expected = tuple(program(torch).shape)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = tuple(program(on_device).shape)
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: torch has shape {expected}, torch:xla {actual}".split())
sys.exit(1)
