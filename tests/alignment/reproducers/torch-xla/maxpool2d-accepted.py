"""nn.MaxPool2d: torch:xla accepts what torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_modules.py::test_pooling_over_more_than_there_is, trial 0 of base seed 77.
torch:xla: it accepts what torch refuses"""
import sys
import numpy as np

X0 = np.array([[[[-0.3534299, 0.31287873, -0.40091312], [-0.57559586, -0.5642282, 0.28927624],
    [0.940007, 0.10951245, -0.015287638]], [[-0.8086976, 0.18318045, 0.50328803], [0.83752966,
    0.33457875, -0.32222927], [0.79245687, 0.9425849, 0.8835716]]]], "float32")

def program(torch):
    m0 = torch.nn.MaxPool2d(5)
    x0 = torch.tensor(X0)
    return m0(x0)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

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
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    run(torch)
    sys.exit(print("cannot tell: torch accepts it, too") or 2)
except Exception as error:
    refusal = f"torch raises {type(error).__name__}: {error}"
try:
    result = run(on_device)
except Exception:
    sys.exit(print("same"))
print(*f"DIFFERS: {refusal}, torch:xla returns {result}".split())
sys.exit(1)
