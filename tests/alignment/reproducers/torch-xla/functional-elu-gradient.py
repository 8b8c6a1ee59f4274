"""nn.functional.elu: v1.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_function[name='elu'], trial 0 of base seed 77.
torch:xla: difference of its own forward gives 0.0621978336 at (1,), as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([-2.434951], "float32"))
    v1 = x0.expand((2,))  # layout
    v2 = v1.requires_grad_()  # layout
    v3 = torch.nn.functional.elu(v2)
    v3.backward(torch.tensor(np.array([-0.45430756, 0.71000445], "float32")))
    return v1.grad

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
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(on_device).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, torch:xla {actual}".split())
sys.exit(1)
