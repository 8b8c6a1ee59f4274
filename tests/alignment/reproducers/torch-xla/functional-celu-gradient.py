"""nn.functional.celu: v1.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_function[name='celu'], trial 0 of base seed 77.
torch:xla: difference of its own forward gives -0.00380433463 at (2, 2), as torch does"""
import sys
import numpy as np

X0 = np.array([[113.0, 113.0, 113.0], [0.089065075, 6.243689, -7.634411], [5.1863265, 0.14419699,
    -1.283519], [3.0373292, 0.1330905, -5.5538607], [-1.3578837, -5.5304995, 3.3179688], [113.0,
    113.0, 113.0]], "float32")
C4 = np.array([[-0.43816674, 0.37293494, -0.10111022], [-0.6747098, 0.6015264, 0.5762036],
    [-0.78325737, -0.77301633, -0.98240316], [-0.078183174, -0.36477983, 0.27743864]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    v1 = x0[1:5:1,]  # layout
    v2 = v1.requires_grad_()  # layout
    v3 = torch.nn.functional.celu(v2)
    v3.backward(torch.tensor(C4))
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
