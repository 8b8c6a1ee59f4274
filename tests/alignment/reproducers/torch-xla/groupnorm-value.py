"""nn.GroupNorm: v3 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_normalisation.py::TestNormalisation.test_groups_of_a_matrix, trial 0 of base seed 77.
torch:xla: NumPy gives 0.85620738 at (2, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[-1.4832113, 1.7631203, -0.6437579, 0.79928553], [-1.1248479, 1.3837072, -1.3337283,
    -0.8520933], [0.70693004, 0.69644845, 0.25758708, -1.2880635], [-0.37930208, 1.9214708,
    0.28077662, -0.674661]], "float32")
C4 = np.array([[-0.80598795, -0.6983448, 0.9069141, 0.2062602], [-0.493515, -0.89026046, 0.82635105,
    0.008799434], [0.36053002, -0.7183473, 0.4683857, -0.92763066], [-0.88815796, -0.4055487,
    -0.25919116, 0.40085208]], "float32")

def program(torch):
    m0 = torch.nn.GroupNorm(2, 4)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array([1.0, 1.0, 1.0, 1.0], "float32")))
        m0.bias.copy_(torch.tensor(np.array([0.0, 0.0, 0.0, 0.0], "float32")))
    x0 = torch.tensor(X0, requires_grad=True)
    v3 = m0(x0)
    v3.backward(torch.tensor(C4))
    return v3

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
