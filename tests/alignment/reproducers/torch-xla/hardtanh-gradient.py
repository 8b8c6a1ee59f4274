"""nn.Hardtanh: x0.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_gradient_at_the_corners[name='Hardtanh'], trial 0 of base seed 77.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([[-2.0, -2.0, -4.0, -2.0, -1.0], [4.0, 3.0, 5.0, -1.0, -4.0], [-4.0, -6.0, 1.0, 2.0,
    4.0], [2.0, 6.0, 6.0, 2.0, -1.0]], "float32")
C3 = np.array([[-0.7254604, -0.37547493, -0.83292186, 0.042875648, -0.30138934], [0.045069575,
    0.21786547, -0.550781, 0.435696, 0.7388884], [-0.69633627, 0.15118158, 0.49575353, -0.34153342,
    -0.38139653], [0.5048281, 0.90859866, 0.19936371, 0.08993602, 0.34597087]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.Hardtanh()
    v2 = m1(x0)
    v2.backward(torch.tensor(C3))
    return x0.grad

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
