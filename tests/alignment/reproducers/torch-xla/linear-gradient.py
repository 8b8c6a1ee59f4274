"""nn.Linear: m0.weight.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_optimizer.py::TestOptimizers.test_sgd_upwards, trial 1 of base seed 77.
rounding, piled up: every call agrees when it is given the same operands"""
import sys
import numpy as np

A0 = np.array([[0.16649511, 0.44063795, 0.34005123], [0.24921368, 0.325406, -0.43510747],
    [0.0946388, 0.34850687, -0.34996632], [-0.008625558, -0.24777254, -0.32043687]], "float32")
A1 = np.array([0.42666534, -0.22489321, -0.17694889, -0.08757627], "float32")
A2 = np.array([[-0.2512188, -0.40718073, 0.050341666, 0.3913254], [-0.1487379, -0.2987175,
    -0.042344987, -0.05237335]], "float32")
X0 = np.array([[3.7441275, 0.741887, 5.8442307], [0.42061985, -0.570179, 5.7504387], [5.879614,
    5.077425, 4.283469], [4.422844, 2.0314143, 0.17214435], [5.503365, 4.4261227, 6.4122663]],
    "float32")
X1 = np.array([[4.173459, 0.2491759], [5.153979, 4.146498], [5.6215944, 3.5941234], [2.0100565,
    5.1203685], [6.898073, 4.4105577]], "float32")

def program(torch):
    m0 = torch.nn.Linear(3, 4)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
    m2 = torch.nn.Tanh()
    m3 = torch.nn.Linear(4, 2)
    with torch.no_grad():
        m3.weight.copy_(torch.tensor(A2))
        m3.bias.copy_(torch.tensor(np.array([0.41845715, 0.20733315], "float32")))
    m5 = torch.nn.Sequential(m0, m2, m3)
    v6 = m5.parameters()
    v7 = list(v6)
    o8 = torch.optim.SGD(v7, lr=0.1, momentum=0.9, maximize=True)
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v11 = m0(x0)
    v12 = m2(v11)
    v13 = m3(v12)
    v14 = torch.nn.functional.mse_loss(v13, x1)
    o8.zero_grad()
    v14.backward()
    o8.step()
    v18 = m0(x0)
    v19 = m2(v18)
    v20 = m3(v19)
    v21 = torch.nn.functional.mse_loss(v20, x1)
    o8.zero_grad()
    v21.backward()
    o8.step()
    v25 = m0(x0)
    v26 = m2(v25)
    v27 = m3(v26)
    v28 = torch.nn.functional.mse_loss(v27, x1)
    o8.zero_grad()
    v28.backward()
    o8.step()
    v32 = m0(x0)
    v33 = m2(v32)
    v34 = m3(v33)
    v35 = torch.nn.functional.mse_loss(v34, x1)
    o8.zero_grad()
    v35.backward()
    o8.step()
    return m0.weight.grad

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
