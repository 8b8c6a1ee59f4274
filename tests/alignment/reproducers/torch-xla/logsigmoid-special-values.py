"""nn.LogSigmoid: v2 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_module_of_special_values[name='LogSigmoid'], trial 1 of base seed 77.
torch:xla: NumPy gives -inf at (1, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[-6.4195642, 7.606693, 4.562217, -1.6987765, -7.890321], [-np.inf, -7.523731, -0.0,
    4.616467, -2.9276688], [5.3157363, -0.0, -4.6975813, 3.223886, 4.1695743]], "float32")

def program(torch):
    m0 = torch.nn.LogSigmoid()
    x0 = torch.tensor(X0)
    return m0(x0)

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
