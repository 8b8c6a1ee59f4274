"""log10: v1 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_elementwise.py::test_unary[name='log10'], trial 1 of base seed 77.
torch:xla: NumPy gives 0.661988462 at (1,), as torch does"""
import sys
import numpy as np

X0 = np.array([1.2158725816595155, 4.59185813802129, 0.42412687529257354, 4.376038895209911,
    1.108956098324116], "float64")
C2 = np.array([-0.9498926673445462, 0.19753574421232056, -0.3478175052175017, 0.2720730964083088,
    -0.27098640987900474], "float64")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.log10(x0)
    v1.backward(torch.tensor(C2))
    return v1

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
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, torch:xla {actual}".split())
sys.exit(1)
