"""nn.functional.gelu: v1 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::TestWithParameters.test_gelu_by_tanh_of_doubles, trial 0 of base seed 77.
torch:xla: torch._refs.nn.functional.gelu gives -0.000113648481 at (1, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[-2.5595583015208665, -4.2245920310404, -2.492953704657025, -2.3352152079564745],
    [-3.897202575292871, -3.56703579097132, -4.671867428705748, -4.197533065883805],
    [-2.596394334388802, -3.2971198079182953, -2.039314816449954, -3.6010581544120317],
    [-4.8614855721060914, -3.381735080095004, -4.597973796261547, -4.318716555683661]], "float64")
C2 = np.array([[-0.5041711661590098, 0.19808146565774265, -0.2718594093445937, 0.282426310819181],
    [0.06948451210130646, -0.6656109644011339, 0.1914256096738024, -0.8233108994676062],
    [-0.546095740294146, -0.6433363840032016, -0.8298658413022355, -0.766209717093888],
    [0.7233513739240124, -0.7954393165456926, -0.5849107217008336, 0.07645447557679608]], "float64")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.functional.gelu(x0, approximate="tanh")
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
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 4.210071410216369e-10, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, torch:xla {actual}".split())
sys.exit(1)
