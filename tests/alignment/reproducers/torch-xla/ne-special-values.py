"""ne: v2 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_elementwise.py::test_relations_of_special_values[name='ne'], trial 0 of base seed 77.
torch:xla: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[3.349911, 0.73669887, 0.86232257, 2.126938, -2.8272762, -0.12410939],
    [-3.4028235e+38, -3.3802943, np.inf, 0.46560025, 0.7996104, 0.041349173], [2.3890555, 1.316561,
    np.nan, -3.1528153, 1e-45, 3.5091865], [3.5281131, 3.6142185, 3.4028235e+38, 3.9391768,
    2.0521686, 3.4028235e+38], [0.20174336, -3.4796968, 1.0638177, -3.2592883, 1.9039547, 0.0],
    [3.4028235e+38, -3.4028235e+38, 3.2102602, np.nan, -1e-45, 0.026900053]], "float32")
X1 = np.array([[-0.24973834, 0.8366821, 0.3010795, -3.9540606, -1.5485889, -0.07632887],
    [-3.0446644, np.inf, -1e-45, -0.0, -0.082936406, -np.inf], [1.1754944e-38, -2.5936031,
    1.4331386, 1.1754944e-38, 3.9910166, -2.6405215], [3.6000164, np.inf, -0.0939337, -1.6483637,
    -0.9672128, 2.7287037], [0.22272563, 3.5210192, -3.4028235e+38, 1.4671328, np.nan, np.inf],
    [np.nan, -0.82862675, -1e-45, -3.065905, 0.0, -0.0]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    return torch.ne(x0, x1)

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
if expected.shape == actual.shape and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, torch:xla {actual}".split())
sys.exit(1)
