"""nn.CELU: x0.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_gradient_at_the_corners[name='CELU'], trial 0 of base seed 77.
torch:xla: difference of its own forward gives -0.00214897971 at (2, 1), as torch does"""
import sys
import numpy as np

X0 = np.array([[-6.0, 5.0, -2.0, 4.0, -2.0], [5.0, -3.0, -4.0, 0.0, -5.0], [5.0, -6.0, -3.0, -2.0,
    4.0], [5.0, 3.0, 0.0, 2.0, 1.0]], "float32")
C3 = np.array([[0.44383502, -0.39909625, 0.9988953, -0.47851348, -0.7502966], [-0.54342556,
    0.8523866, -0.74033165, -0.16070628, -0.70118225], [0.5928228, -0.8669603, 0.16098118,
    -0.9609282, -0.67607915], [0.32225215, -0.9600098, 0.9151125, 0.07991648, 0.8155414]],
    "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.CELU()
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
