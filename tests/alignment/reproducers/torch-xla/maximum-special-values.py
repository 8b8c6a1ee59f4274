"""maximum: v2 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_elementwise.py::test_arithmetic_of_special_values[name='maximum'], trial 1 of base seed 77.
torch:xla: NumPy gives nan at (5, 1), as torch does"""
import sys
import numpy as np

X0 = np.array([[2.7650812, 0.057271123, 1.1783215, -2.1449368, -2.8925948, -0.12074566],
    [-2.8570838, -2.799549, -2.0447655, 2.408662, -0.35140812, -0.13056612], [-2.341075,
    -0.058995128, 2.6381311, 1.1754944e-38, 0.050030947, -np.inf], [-1.173522, -3.4028235e+38,
    -2.9771414, 2.9137707, -0.6664157, np.nan], [-1.0350184, 0.5959424, 0.9539217, -1.2690277,
    -1.1292186, -1e-45], [-3.4028235e+38, -0.34071004, 1.3967037, -2.6075459, -0.6864557,
    -2.2900229]], "float32")
X1 = np.array([[np.inf, -0.0, -2.531114, -0.58269215, -0.2298379, 0.42542863], [0.48596466,
    -1.0531247, -1.6067834, -0.91944087, 2.9801822, -2.9398613], [0.32868564, np.inf, -1.9292526,
    3.4028235e+38, -2.006279, 1.660754], [2.2199228, -0.0, -1.7032024, 1.8633144, 0.9641541,
    0.9846828], [-3.4028235e+38, 0.8209299, 0.6347672, -1.0283886, -2.965381, -2.5234022],
    [2.2702253, np.nan, 1.1754944e-38, 1e-45, -0.11607039, -0.9574518]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    return torch.maximum(x0, x1)

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
