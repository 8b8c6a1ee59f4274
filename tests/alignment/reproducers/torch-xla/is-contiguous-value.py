"""is_contiguous: v2 differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_shape.py::TestViews.test_contiguous_after_a_view, trial 0 of base seed 77.
torch is the specification: torch:xla differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[[-1.3907261, 1.494625, -0.31884652, -1.2870867], [0.62629163, 1.9759072, -1.2078056,
    -0.9829524], [-0.16629225, 1.775977, 0.864519, 1.6703075]], [[1.9943956, 0.28504813, 0.16551054,
    -1.0086124], [1.8424248, -1.9388413, -1.7607968, 0.05739653], [-0.80808765, -1.8372886,
    -0.041225493, 1.514489]]], "float32")
C6 = np.array([[[0.795617, -0.72198105, -0.033887506], [0.66380525, 0.49652565, -0.1673671]],
    [[-0.22944486, 0.15634584, -0.728848], [0.32454753, -0.76945686, 0.10816717]], [[-0.23029721,
    0.4809847, -0.7778752], [0.3075899, -0.08198178, 0.43971932]], [[0.28498542, 0.97363746,
    -0.7066854], [-0.5413134, 0.91302454, 0.13344193]]], "float32")
C7 = np.array([[0.9295299, -0.10618448, -0.2848332, 0.12648225, -0.14368773, 0.16594124],
    [0.88290775, -0.19521904, -0.875422, -0.16546714, -0.65762055, 0.936285], [0.71018994,
    0.067819715, -0.9138309, 0.45398748, 0.7540562, 0.527205], [-0.23300493, -0.34739625, 0.3327788,
    0.8142705, -0.42622352, 0.52986693]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = x0.permute(2, 0, 1)
    v2 = v1.is_contiguous()
    v3 = v1.contiguous()
    v4 = v1.contiguous()
    v5 = v4.view(4, 6)
    torch.autograd.backward([v3, v5], [torch.tensor(C6), torch.tensor(C7)])
    return v2

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
    expected = run(torch)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = run(on_device)
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, torch:xla {actual}".split())
sys.exit(1)
