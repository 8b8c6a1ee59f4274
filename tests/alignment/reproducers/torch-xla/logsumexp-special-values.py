"""logsumexp: v1 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_reduction.py::test_of_special_values[name='logsumexp'], trial 1 of base seed 77.
torch: NumPy gives nan at (1,), as torch:xla does"""
import sys
import numpy as np

X0 = np.array([[0.11032379, -1.0564349, 0.40042555, 1e-45], [-0.062197268, 0.59567225, np.inf,
    -0.7650464], [1.1426815, -1.9260986, 3.4028235e+38, -np.inf], [1.0210744, -1.6579232,
    3.4028235e+38, 0.4903165], [1.264352, -0.6035362, 1.1754944e-38, 1.7830168]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    return torch.logsumexp(x0, dim=1)

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
