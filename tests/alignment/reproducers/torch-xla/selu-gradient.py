"""nn.SELU: x0.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_module[name='SELU'], trial 0 of base seed 77.
torch:xla: difference of its own forward gives 0.0222749214 at (2, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[3.5833228, -0.3937279, 1.5398548, 0.7674501, -2.6796088], [-0.76308405, 1.4533579,
    -0.10274756, 2.7996833, 3.9286287], [-3.3642492, 1.7584598, 3.1326525, 3.7305028, -0.23207104],
    [0.66105294, -0.66508067, 0.6985085, 3.6993873, -2.2373285]], "float32")
C4 = np.array([[-0.44240952, 0.8357965, 0.9600564, 0.38450563, 0.15177417], [-0.1697427,
    -0.77292943, 0.33612645, 0.5153581, -0.60354185], [0.36630905, -0.005249977, 0.94911087,
    0.7004969, 0.0052045584], [-0.2603197, -0.5660536, -0.5349543, -0.9567963, -0.27983785]],
    "float32")

def program(torch):
    m0 = torch.nn.SELU()
    m0.train(False)
    x0 = torch.tensor(X0, requires_grad=True)
    v3 = m0(x0)
    v3.backward(torch.tensor(C4))
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
