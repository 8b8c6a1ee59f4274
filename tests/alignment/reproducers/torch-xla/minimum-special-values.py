"""minimum: v2 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_elementwise.py::test_arithmetic_of_special_values[name='minimum'], trial 0 of base seed 77.
torch:xla: NumPy gives nan at (0, 3), as torch does"""
import sys
import numpy as np

X0 = np.array([[-0.4362074, -2.9448147, 1.5557845, 3.4028235e+38, -3.4028235e+38, np.nan],
    [0.8752011, 2.0226958, 2.951991, -2.013732, 1.6671956, 1.1974442], [2.31647, 0.20706141,
    -0.8806702, -2.7213798, 2.9445894, -np.inf], [0.6862595, -0.8382473, -0.3557092, -2.976326,
    -1.2264776, 1e-45], [-1.9061644, 1.965655, 1.0351992, 3.4028235e+38, -1.5819168, -2.4637427],
    [0.0, -2.7937427, -3.4028235e+38, 0.9974965, -1.9207139, -0.68359756]], "float32")
X1 = np.array([[0.02928245, -1e-45, -0.7317649, np.nan, -np.inf, 2.6607735], [-0.19991624,
    1.0908749, 0.48493278, 2.6375864, -1.2850266, 0.27082324], [np.inf, 0.38950956, 0.0, 2.432917,
    -2.0843816, 0.5136672], [-2.4155216, -2.116501, 1.4203941, -1.4969549, 1.4329937, 0.5632547],
    [1.1754944e-38, 2.9522386, 2.444254, -2.6048136, 2.932079, 0.97993493], [0.56418824,
    -0.86805093, 2.1455724, -0.14465845, np.nan, -3.4028235e+38]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    return torch.minimum(x0, x1)

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
