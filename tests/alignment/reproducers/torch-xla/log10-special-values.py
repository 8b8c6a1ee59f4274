"""log10: v1 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_elementwise.py::test_unary_of_special_values[name='log10'], trial 0 of base seed 77.
torch:xla: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[1.74075, -1.687954, 0.0, 1.9256775], [0.7618481, 0.2603265, 2.3109996,
    1.1754944e-38], [-1e-45, 2.7286031, np.nan, np.inf], [-0.11986911, -2.99712, 1.3549796,
    1.1754944e-38], [0.91049075, 2.9640338, -0.11886203, 2.870512]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    return torch.log10(x0)

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
